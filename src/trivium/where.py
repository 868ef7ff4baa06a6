"""The language of `--where`: text to a filter, and (`to_text`) a filter back to text.

    kind in (movie, note) and metadata.year between 2010 and 2019 and not tags contains sci-fi
    created_at > 7d or (importance >= 0.8 and category is not null)

Conditions: = == != <> < <= > >=, in (…), between A and B, contains, is null; `not` before in, between, contains, or
before any condition; and, or, parentheses; `true` and `false` are conditions that always and never hold. Keywords may
be in any case. Fields are those of `trivium.filter`, with tag, keyword, created, updated, occurred as short names;
`metadata."odd key".x` reaches keys with spaces or quotes.

Values are words, numbers, true, false, null, or quoted ('it''s', "say \\"hi\\""). A field with a type decides how a
value is read: `tags = 2014` is the text, `created_at > 7d` is a time (see `trivium.when`), `created_at = 2026-01-31` is
the one moment at which that day begins. Under `metadata` an unquoted number is a number, and a quoted one is text.

Meaning, beyond that of the clauses:
- `a != x` is `not a = x`: it holds where the field is absent, and on a list when no element is equal.
- `a < x` is `a <= x and a != x`. On a list: an element is at most x and none equals x. `>` likewise.
- `a is null`, and `a = null`, hold where the field has nothing: no such path, JSON null, empty text in a text field,
  no tags or keywords.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, NoReturn

from trivium.errors import InvalidFilter, InvalidInput
from trivium.filter import (
    BOOL_FIELDS,
    FIELDS,
    LIST_FIELDS,
    MAX_DEPTH,
    METADATA,
    NUMBER_FIELDS,
    TEXT_FIELDS,
    TIME_FIELDS,
    And,
    Between,
    Contains,
    Eq,
    Filter,
    In,
    Not,
    Or,
    Value,
    may_be_absent,
)
from trivium.when import parse_when
from trivium.where_text import to_text

if TYPE_CHECKING:
    from lark import Lark, Token, Tree
    from lark.parsers.lalr_interactive_parser import InteractiveParser

MAX_LENGTH = 100_000  # characters; far beyond what is typed, and parsed in about a second

ALIASES = {
    "tag": "tags",
    "keyword": "keywords",
    "created": "created_at",
    "updated": "updated_at",
    "occurred": "occurred_at",
}

__all__ = ["ALIASES", "MAX_LENGTH", "parse_where", "to_text"]

_END_OF_WORD = r"(?![^\s'\"(),=<>!])"
_QUOTED = r"""'(?:[^'\\]|\\[\s\S]|'')*'|"(?:[^"\\]|\\[\s\S]|"")*\""""
_GRAMMAR = rf"""
start: any
?any: all (OR all)*                                       -> any
?all: negation (AND negation)*                            -> all
?negation: NOT+ atom                                      -> negation
    | atom
?atom: LPAR any RPAR                                      -> group
    | TRUE                                                -> everything
    | FALSE                                               -> nothing
    | FIELD OPERATOR value                                -> compare
    | FIELD NOT? IN LPAR (value (COMMA value)*)? RPAR     -> among
    | FIELD NOT? BETWEEN value AND value                  -> between
    | FIELD NOT? CONTAINS value                           -> contains
    | FIELD IS NOT? NULL                                  -> absent
?value: WORD | QUOTED

AND.2: /and{_END_OF_WORD}/i
OR.2: /or{_END_OF_WORD}/i
NOT.2: /not{_END_OF_WORD}/i
IN.2: /in{_END_OF_WORD}/i
BETWEEN.2: /between{_END_OF_WORD}/i
CONTAINS.2: /contains{_END_OF_WORD}/i
IS.2: /is{_END_OF_WORD}/i
NULL.2: /null{_END_OF_WORD}/i
TRUE.2: /true{_END_OF_WORD}/i
FALSE.2: /false{_END_OF_WORD}/i
OPERATOR: /==|!=|<>|<=|>=|=|<|>/
LPAR: "("
RPAR: ")"
COMMA: ","
FIELD: /(?!(?:and|or|in|between|contains|is|null){_END_OF_WORD})[^\s'"(),=<>!.]+(?:\.(?:[^\s'"(),=<>!.]+|{_QUOTED})?)*/i
WORD: /[^\s'"(),=<>!]+/
QUOTED: /{_QUOTED}/
%ignore /\s+/
"""

# What the parser could have taken, in the order it is told.
_EXPECTED = (
    ("FIELD", "a field (kind, tags, created_at, metadata.year …)"),
    ("OPERATOR", "an operator (=, !=, <, <=, >, >=, in, between, contains, is null)"),
    ("WORD", "a value"),
    ("IN", "`in`, `between` or `contains`"),
    ("NULL", "`null`"),
    ("COMMA", "`,`"),
    ("LPAR", "`(`"),
    ("AND", "`and`"),
    ("OR", "`or`"),
    ("RPAR", "`)`"),
    ("$END", "the end"),
)

_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_MAX_DIGITS = 400  # beyond every float, and below the length at which Python refuses to read an int
_STEP = re.compile(rf"\.({_QUOTED}|[^.]*)")
_ESCAPE = re.compile(r"""\\([\s\S])|''|"\"""")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", '"': '"'}
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_EXCERPT = 60  # characters of the text shown in an error


def parse_where(text: str, *, now: datetime) -> Filter:
    """The filter that `text` describes. InvalidFilter shows the place and what was expected there."""
    if len(text) > MAX_LENGTH:
        raise InvalidFilter(f"where: longer than {MAX_LENGTH:,} characters")
    try:
        return _Reader(now).filter(_tree(text))
    except _WrongAt as wrong:
        raise InvalidFilter(_pointed(text, wrong)) from wrong.__cause__


class _WrongAt(Exception):
    """What is wrong with the text, and where. Never leaves this file."""

    def __init__(self, problem: str, start: int, length: int) -> None:
        super().__init__(problem)
        self.start = start
        self.length = length


def _pointed(text: str, wrong: _WrongAt) -> str:
    """The problem, the part of the text around it, and carets under what is wrong."""
    first = max(0, wrong.start - _EXCERPT // 2)
    shown = _UNPRINTABLE.sub(" ", text[first : first + _EXCERPT])
    before, after = "…" if first else "", "…" if first + _EXCERPT < len(text) else ""
    offset = wrong.start - first
    carets = "^" * max(1, min(wrong.length, _EXCERPT - offset))
    pointer = " " * (len(before) + offset) + carets
    return f"where: {wrong} (at character {wrong.start + 1})\n  {before}{shown}{after}\n  {pointer}"


@cache
def _parser() -> Lark:
    from lark import Lark

    return Lark(_GRAMMAR, parser="lalr", lexer="contextual", keep_all_tokens=True)


def _tree(text: str) -> Tree[Token]:
    from lark.exceptions import UnexpectedCharacters, UnexpectedToken

    parsing = _parser().parse_interactive(text)
    depth = 0
    try:
        for token in parsing.iter_parse():
            depth += (token.type == "LPAR") - (token.type == "RPAR")
            if depth > MAX_DEPTH:
                _refuse(token, f"more than {MAX_DEPTH} parentheses inside each other")
        tree: Tree[Token] = parsing.feed_eof()  # type: ignore[no-untyped-call]
    except UnexpectedToken as wrong:
        if wrong.token.type == "$END":
            raise _WrongAt(_unexpected("", parsing), len(text.rstrip()), 1) from wrong
        _refuse(wrong.token, _unexpected(str(wrong.token), parsing))
    except UnexpectedCharacters as wrong:
        at = wrong.pos_in_stream or 0
        unclosed = text[at] in "'\""
        raise _WrongAt("this quote is never closed" if unclosed else _unexpected(text[at], parsing), at, 1) from wrong
    return tree


def _refuse(token: Token, problem: str) -> NoReturn:
    raise _WrongAt(problem, token.start_pos or 0, len(token))


def _unexpected(found: str, parsing: InteractiveParser) -> str:
    accepted: set[str] = parsing.accepts()  # type: ignore[no-untyped-call]
    wanted = [words for name, words in _EXPECTED if name in accepted and not (name == "IN" and "OPERATOR" in accepted)]
    message = f"expected {' or '.join(wanted)}" + (f", found {_short(found)}" if found else "")
    after_value = accepted <= {"AND", "OR", "RPAR", "COMMA", "$END"}
    return message + (" (a value with spaces needs quotes)" if after_value and found[:1].isalnum() else "")


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:40] + "…")


@dataclass(frozen=True, slots=True)
class _Reader:
    """Turns a tree of the grammar into a filter. Recursion is as deep as the parentheses, which are limited."""

    now: datetime

    def filter(self, tree: Tree[Token]) -> Filter:  # noqa: PLR0911 a return for each rule
        from lark import Tree

        tokens = [child for child in tree.children if not isinstance(child, Tree)]
        inner = tuple(self.filter(child) for child in tree.children if isinstance(child, Tree))
        match tree.data:
            case "any":
                return inner[0] if len(inner) == 1 else Or(inner)
            case "all":
                return inner[0] if len(inner) == 1 else And(inner)
            case "negation":
                return Not(inner[0]) if len(tokens) % 2 else inner[0]
            case "start" | "group":
                return inner[0]
            case "everything":
                return And(())
            case "nothing":
                return Or(())
        try:
            return self.condition(tree.data, tokens)
        except InvalidFilter as refused:
            _refuse(tokens[0], str(refused))

    def condition(self, form: str, tokens: list[Token]) -> Filter:
        name = self.field(tokens[0])
        values = [token for token in tokens if token.type in ("WORD", "QUOTED")]
        if form == "compare":
            return self.compare(name, str(tokens[1]), values[0])
        if form == "among":
            made = self.among(name, values)
        elif form == "between":
            made = Between(name, self.present(name, values[0]), self.present(name, values[1]))
        elif form == "contains":
            made = Contains(name, _plain(values[0]))
        else:
            made = self.absent(name, tokens[-1])
        return Not(made) if any(token.type == "NOT" for token in tokens) else made

    def compare(self, name: str, operator: str, written: Token) -> Filter:
        if operator in ("=", "==", "!=", "<>"):
            value = self.value(name, written)
            equal = self.absent(name, written) if value is None else Eq(name, value)
            return equal if operator in ("=", "==") else Not(equal)
        value = self.present(name, written)
        within = Between(name, None, value) if operator[0] == "<" else Between(name, value, None)
        return within if operator.endswith("=") else And((within, Not(Eq(name, value))))

    def among(self, name: str, written: list[Token]) -> Filter:
        values = [self.value(name, token) for token in written]
        if None not in values or may_be_absent(name):
            return In(name, tuple(values))
        present = In(name, tuple(value for value in values if value is not None))
        return Or((present, self.absent(name, written[values.index(None)])))

    def absent(self, name: str, written: Token) -> Filter:
        if may_be_absent(name):
            return Eq(name, None)
        if name in TEXT_FIELDS:
            return Eq(name, "")
        if name in LIST_FIELDS:
            return Not(Between(name, "", None))  # every text is at least ""
        _refuse(written, f"{name} always has a value, it is never null")

    def present(self, name: str, written: Token) -> Value:
        value = self.value(name, written)
        if value is None:
            _refuse(written, "null has no order; write `is null` or `is not null`")
        return value

    def value(self, name: str, written: Token) -> Value:
        """The value in the type of the field."""
        plain = _plain(written)
        if written.type == "WORD" and plain.lower() == "null":
            return None
        if name in TIME_FIELDS:
            try:
                return parse_when(plain, now=self.now, field=name)
            except InvalidInput as wrong:
                _refuse(written, str(wrong))
        if name in NUMBER_FIELDS:
            number = _number(plain)
            return number if number is not None else _refuse(written, f"{name}: {_short(plain)} is not a number")
        if name in BOOL_FIELDS:
            fits = plain.lower() in ("true", "false")
            return plain.lower() == "true" if fits else _refuse(written, f"{name} is true or false")
        if name.startswith(METADATA) and written.type == "WORD":
            return _json_word(plain)
        return plain

    def field(self, token: Token) -> str:
        """The field's full name, or an error with the name that was probably meant."""
        head, *_ = token.split(".", 1)
        name = ALIASES.get(str(token), str(token))
        if name in FIELDS:
            return name
        if head + "." != METADATA:
            _refuse(token, f"unknown field {_short(str(token))}; {_probably(str(token))}")
        steps = [
            _unquote(step, token) if step[:1] in ("'", '"') else step for step in _STEP.findall(str(token), len(head))
        ]
        if not steps or not all(steps):
            _refuse(token, "metadata needs the name of what is in it, as in metadata.year")
        if any("." in step for step in steps):
            _refuse(token, "a metadata key with a dot in it cannot be reached by a filter")
        return METADATA + ".".join(steps)


def _plain(token: Token) -> str:
    return _unquote(str(token), token) if token.type == "QUOTED" else str(token)


def _unquote(quoted: str, token: Token) -> str:
    def replace(found: re.Match[str]) -> str:
        if found[1] is None:
            return found[0][0] if found[0][0] == quoted[0] else found[0]
        if found[1] not in _ESCAPED:
            _refuse(token, f"unknown escape \\{_UNPRINTABLE.sub(' ', found[1])} in quotes; a backslash itself is \\\\")
        return _ESCAPED[found[1]]

    return _ESCAPE.sub(replace, quoted[1:-1])


def _number(text: str) -> int | float | None:
    if not _NUMBER.fullmatch(text):
        return None
    digits = text.lstrip("+-")
    return int(text) if digits.isdigit() and len(digits) <= _MAX_DIGITS else float(text)


def _json_word(text: str) -> Value:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    number = _number(text)
    return text if number is None else number


def _probably(name: str) -> str:
    near = difflib.get_close_matches(name[:40].lower(), [*FIELDS, *ALIASES], n=1)
    if near:
        return f"did you mean {near[0]}?"
    head, _, rest = name.partition(".")
    if rest and difflib.get_close_matches(head.lower(), ["metadata"], n=1):
        return f"did you mean metadata.{rest}?"
    return f"known: {', '.join(FIELDS)}; what you put in the metadata is metadata.{name[:40]}"
