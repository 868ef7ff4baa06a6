"""The language of `--where`: text to a filter, and a filter back to text.

    kind in (movie, note) and metadata.year between 2010 and 2019 and not tags contains sci-fi
    created_at > 7d or (importance >= 0.8 and category is not null)

Conditions: = == != <> < <= > >=, in (…), between A and B, contains, is null; `not` before in, between, contains, or before
any condition; and, or, parentheses; `true` and `false` are conditions that always and never hold. Keywords may be in
any case. Fields are those of `trivium.filter`, with tag, keyword, created, updated, occurred as short names;
`metadata."odd key".x` reaches keys with spaces or quotes.

Values are words, numbers, true, false, null, or quoted ('it''s', "say \\"hi\\""). A field with a type decides how a value
is read: `tags = 2014` is the text, `created_at > 7d` is a time (see `trivium.when`). Under `metadata` an unquoted number
is a number, and a quoted one is text.

Meaning, beyond that of the clauses:
- `a != x` is `not a = x`: it holds where the field is absent, and on a list when no element is equal.
- `a < x` is `a <= x and a != x`. On a list: an element is at most x and none equals x. `>` likewise.
- `a is null` holds where the field has nothing: no such path, JSON null, empty text in a text field, no tags or keywords.
  `a = null` is the same.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, NoReturn, TypeGuard

from trivium.errors import InvalidFilter, InvalidInput
from trivium.filter import (
    BOOL_FIELDS, FIELDS, LIST_FIELDS, MAX_DEPTH, METADATA, NUMBER_FIELDS, TEXT_FIELDS, TIME_FIELDS,
    And, Between, Contains, Eq, Filter, In, Not, Or, Value,
)  # fmt: skip
from trivium.when import parse_when

if TYPE_CHECKING:
    from lark import Lark, Token, Tree

MAX_LENGTH = 100_000  # characters; far beyond what is typed, and parsed in about a second

ALIASES = {
    "tag": "tags",
    "keyword": "keywords",
    "created": "created_at",
    "updated": "updated_at",
    "occurred": "occurred_at",
}
KEYWORDS = ("and", "or", "not", "in", "between", "contains", "is", "null", "true", "false")
NULLABLE = ("position", "occurred_at", "superseded_at")

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
_PLAIN_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_PLAIN_STEP = re.compile(r"[\w-]+")
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
        tree: Tree[Token] = parsing.feed_eof()
    except UnexpectedToken as wrong:
        if wrong.token.type == "$END":
            raise _WrongAt(_unexpected("", parsing.accepts()), len(text.rstrip()), 1) from wrong
        _refuse(wrong.token, _unexpected(str(wrong.token), parsing.accepts()))
    except UnexpectedCharacters as wrong:
        found = text[wrong.pos_in_stream]
        problem = "this quote is never closed" if found in "'\"" else _unexpected(found, parsing.accepts())
        raise _WrongAt(problem, wrong.pos_in_stream, 1) from wrong
    return tree


def _refuse(token: Token, problem: str) -> NoReturn:
    raise _WrongAt(problem, token.start_pos or 0, len(token))


def _unexpected(found: str, accepted: set[str]) -> str:
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

    def filter(self, tree: Tree[Token]) -> Filter:
        tokens = [child for child in tree.children if not _is_tree(child)]
        inner = tuple(self.filter(child) for child in tree.children if _is_tree(child))
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
        if None not in values or name.startswith(METADATA) or name in NULLABLE:
            return In(name, tuple(values))
        present = In(name, tuple(value for value in values if value is not None))
        return Or((present, self.absent(name, written[values.index(None)])))

    def absent(self, name: str, written: Token) -> Filter:
        if name.startswith(METADATA) or name in NULLABLE:
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


def _is_tree(child: Tree[Token] | Token) -> TypeGuard[Tree[Token]]:
    return hasattr(child, "data")


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


def to_text(where: Filter) -> str:
    """The filter in the language of `parse_where`, which reads it back to a filter of the same meaning."""
    match where:
        case And(clauses):
            return _strict(where) or _joined(" and ", clauses) or "true"
        case Or(clauses):
            return _joined(" or ", clauses) or "false"
        case Not(clause):
            return f"not {_bracketed(clause)}"
        case Eq(field, value):
            return to_text(In(field, (None,))) if value is None else f"{_name(field)} = {_written(value)}"
        case In(field, values):
            return _in_text(field, values)
        case Between(field, low, None):
            return f"{_name(field)} >= {_written(low)}"
        case Between(field, None, high):
            return f"{_name(field)} <= {_written(high)}"
        case Between(field, low, high):
            return f"{_name(field)} between {_written(low)} and {_written(high)}"
        case Contains(field, text):
            return f"{_name(field)} contains {_word(text)}"


def _in_text(field: str, values: tuple[Value, ...]) -> str:
    can_be_absent = field in NULLABLE or field.startswith(METADATA)
    # Where a field is never absent, `is null` would say more than None does: that it is empty.
    kept = [value for value in values if value is not None or can_be_absent]
    if kept == [None]:
        return f"{_name(field)} is null"
    return f"{_name(field)} in ({', '.join(_written(value) for value in kept)})"


def _joined(word: str, clauses: tuple[Filter, ...]) -> str:
    return to_text(clauses[0]) if len(clauses) == 1 else word.join(_bracketed(clause) for clause in clauses)


def _bracketed(clause: Filter) -> str:
    """The text of a clause, in brackets where `and` or `or` stands open in it."""
    if isinstance(clause, And | Or) and len(clause.clauses) == 1:
        return _bracketed(clause.clauses[0])
    is_open = isinstance(clause, And | Or) and clause.clauses and _strict(clause) is None
    return f"({to_text(clause)})" if is_open else to_text(clause)


def _strict(where: Filter) -> str | None:
    """The text of `a < x` or `a > x` where the clause is what those are read as."""
    match where:
        case And((Between(field, low, high), Not(Eq(other, value)))) if field == other and value is not None:
            if (low, high) == (value, None):
                return f"{_name(field)} > {_written(value)}"
            if (low, high) == (None, value):
                return f"{_name(field)} < {_written(value)}"
    return None


def _name(field: str) -> str:
    if not field.startswith(METADATA):
        return field
    steps = field[len(METADATA) :].split(".")
    return METADATA + ".".join(step if _PLAIN_STEP.fullmatch(step) else _quote(step) for step in steps)


def _written(value: Value) -> str:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return _word(value) if isinstance(value, str) else repr(value)


def _word(text: str) -> str:
    return text if _PLAIN_WORD.fullmatch(text) and text.lower() not in KEYWORDS else _quote(text)


def _quote(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
