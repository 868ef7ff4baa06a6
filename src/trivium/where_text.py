"""A filter as text in the language of `--where`; explanations name a clause by it."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from trivium.filter import METADATA, And, Between, Contains, Eq, Filter, In, Not, Or, Value, may_be_absent

_KEYWORDS = ("and", "or", "not", "in", "between", "contains", "is", "null", "true", "false")
_PLAIN_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_PLAIN_STEP = re.compile(r"[\w-]+")


def to_text(where: Filter) -> str:  # noqa: PLR0911 a return for each clause
    """The filter in the language of `parse_where`, which reads it back to a filter of the same meaning."""
    match where:
        case And(clauses):
            return _strict(where) or _joined(" and ", clauses) or "true"
        case Or(clauses):
            return _joined(" or ", clauses) or "false"
        case Not(Eq(field, value)) if value is not None:
            return f"{_name(field)} != {_written(value)}"
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
    # Where a field is never absent, `is null` would say more than None does: that it is empty.
    kept = [value for value in values if value is not None or may_be_absent(field)]
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
    return text if _PLAIN_WORD.fullmatch(text) and text.lower() not in _KEYWORDS else _quote(text)


def _quote(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
