"""The closed filter algebra and its reference meaning, `matches(memory)`.

Every store compiles these clauses to its own language; `matches` is what they must agree with.

    And(Eq("kind", "movie"), Between("metadata.year", 2010, 2019), Contains("tags", "sci-fi"))

Fields: id, kind, title, content, category, source, thread, language (text); tags, keywords (lists of text);
importance, position, uses (numbers); created_at, updated_at, occurred_at, superseded_at (times);
sensitive, superseded (true or false); metadata.PATH (any JSON value, `metadata.author.name`).

Meaning, the same in every store:
- A field that is absent (None, or a path that leads nowhere) matches nothing but `Eq(field, None)`; `Not` inverts that.
- `Eq` and `In` compare type and value: `1 == 1.0`, but `True != 1` and `"1" != 1`. On a list field (`tags`, or a JSON
  list) `Eq` is true when any element is equal.
- `Between(field, low, high)` is inclusive on both ends; None leaves an end open; only numbers compare with numbers,
  text with text (by code point), times with times. On a list, any element.
- `Contains(field, text)`: on text, a substring ignoring case (Unicode simple folding by `str.casefold`);
  on a list, an element that is equal ignoring case.

A filter that could only ever be empty by mistake is refused when it is made: a value of a type the field cannot hold,
a number that is not finite, text with half a character. So is one too deep or too long for a store to answer.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

from trivium.errors import InvalidFilter
from trivium.record import Json, Memory

Value: TypeAlias = "str | int | float | bool | datetime | None"

TEXT_FIELDS = ("id", "kind", "title", "content", "category", "source", "thread", "language")
LIST_FIELDS = ("tags", "keywords")
NUMBER_FIELDS = ("importance", "position", "uses")
TIME_FIELDS = ("created_at", "updated_at", "occurred_at", "superseded_at")
BOOL_FIELDS = ("sensitive", "superseded")
FIELDS = TEXT_FIELDS + LIST_FIELDS + NUMBER_FIELDS + TIME_FIELDS + BOOL_FIELDS
METADATA = "metadata."

# Both keep every store's own limits out of sight: SQLite 3.40 parses about 20 nested brackets inside a larger statement
# (its parser stack has 100 places) and takes expressions up to 1,000 deep, where `a AND b AND c` counts as 2.
MAX_DEPTH = 16
MAX_CONDITIONS = 500

_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Eq:
    """The field, or an element of it, equals the value; None asks for an absent field."""

    field: str
    value: Value

    def __post_init__(self) -> None:
        check_field(self.field)
        check_value(self.field, self.value)

    def matches(self, memory: Memory) -> bool:
        found = read(memory, self.field)
        if self.value is None:
            return found is None
        return any(same(element, self.value) for element in elements(found))


@dataclass(frozen=True, slots=True)
class In:
    """The field, or an element of it, equals one of the values."""

    field: str
    values: tuple[Value, ...]

    def __post_init__(self) -> None:
        check_field(self.field)
        if not isinstance(self.values, tuple):
            raise InvalidFilter(f"{self.field}: `In` takes a tuple of values, not {self.values!r}")
        for value in self.values:
            check_value(self.field, value)

    def matches(self, memory: Memory) -> bool:
        found = read(memory, self.field)
        if found is None:
            return None in self.values
        return any(same(element, value) for element in elements(found) for value in self.values if value is not None)


@dataclass(frozen=True, slots=True)
class Between:
    """The field, or an element of it, is at least `low` and at most `high`; None leaves an end open."""

    field: str
    low: Value = None
    high: Value = None

    def __post_init__(self) -> None:
        check_field(self.field)
        check_value(self.field, self.low)
        check_value(self.field, self.high)
        if self.field in BOOL_FIELDS:
            raise InvalidFilter(f"{self.field}: true and false have no order; use =")
        if self.low is None and self.high is None:
            raise InvalidFilter(f"{self.field}: a range needs a lower or an upper end")

    def matches(self, memory: Memory) -> bool:
        return any(
            (self.low is None or at_most(self.low, element)) and (self.high is None or at_most(element, self.high))
            for element in elements(read(memory, self.field))
        )


@dataclass(frozen=True, slots=True)
class Contains:
    """The text has this part, or the list this element, ignoring case."""

    field: str
    text: str

    def __post_init__(self) -> None:
        check_field(self.field)
        if self.field in NUMBER_FIELDS + TIME_FIELDS + BOOL_FIELDS:
            raise InvalidFilter(f"{self.field}: `contains` is for text and lists; use =, <, > or between")
        if not isinstance(self.text, str):
            raise InvalidFilter(f"{self.field}: `contains` looks for text, not {self.text!r}")
        check_value(self.field, self.text)

    def matches(self, memory: Memory) -> bool:
        found = read(memory, self.field)
        wanted = self.text.casefold()
        if isinstance(found, str):
            return wanted in found.casefold()
        if isinstance(found, (tuple, list)):
            return any(isinstance(element, str) and element.casefold() == wanted for element in found)
        return False


@dataclass(frozen=True, slots=True)
class And:
    """Every clause holds; with none, everything matches."""

    clauses: tuple[Filter, ...]

    def __post_init__(self) -> None:
        check_size(self)

    def matches(self, memory: Memory) -> bool:
        return all(clause.matches(memory) for clause in self.clauses)


@dataclass(frozen=True, slots=True)
class Or:
    """At least one clause holds; with none, nothing matches."""

    clauses: tuple[Filter, ...]

    def __post_init__(self) -> None:
        check_size(self)

    def matches(self, memory: Memory) -> bool:
        return any(clause.matches(memory) for clause in self.clauses)


@dataclass(frozen=True, slots=True)
class Not:
    """The clause does not hold."""

    clause: Filter

    def __post_init__(self) -> None:
        check_size(self)

    def matches(self, memory: Memory) -> bool:
        return not self.clause.matches(memory)


Filter: TypeAlias = Eq | In | Between | Contains | And | Or | Not


def all_of(clauses: Iterable[Filter]) -> Filter:
    """One filter that asks for all of them, nested conjunctions laid flat."""
    flat: list[Filter] = []
    for clause in clauses:
        flat.extend(clause.clauses if isinstance(clause, And) else (clause,))
    return flat[0] if len(flat) == 1 else And(tuple(flat))


def conjuncts(where: Filter) -> tuple[Filter, ...]:
    """The clauses that must all hold; an explanation names the first one that does not."""
    return where.clauses if isinstance(where, And) else (where,)


def children(where: Filter) -> tuple[Filter, ...]:
    """The clauses directly inside a filter; none inside a condition."""
    if isinstance(where, Not):
        return (where.clause,)
    return where.clauses if isinstance(where, And | Or) else ()


def may_be_absent(name: str) -> bool:
    """Whether a memory can be without this field. Text and lists are never absent: they are empty."""
    return name.startswith(METADATA) or name in ("position", "occurred_at", "superseded_at")


def check_size(where: Filter) -> None:
    """Refuse what is nested too deeply or has too many conditions. Parts were checked when they were made, so this
    never recurses deeper than the limit."""
    depth, conditions = _size(where)
    if depth > MAX_DEPTH:
        raise InvalidFilter(f"where: nested more than {MAX_DEPTH} deep; write it flatter")
    if conditions > MAX_CONDITIONS:
        raise InvalidFilter(
            f"where: more than {MAX_CONDITIONS} conditions; many values of one field go in one `in (…)`"
        )


def _size(where: Filter) -> tuple[int, int]:
    """How deep, and how many conditions."""
    inner = [_size(child) for child in children(where)]
    if not inner:
        return 1, 1
    return 1 + max(depth for depth, _ in inner), sum(conditions for _, conditions in inner)


EVERYTHING = And(())


def check_field(name: str) -> None:
    if _SURROGATE.search(name):
        raise InvalidFilter(f"field {name!r} has half a character (a lone surrogate) in it")
    if name in FIELDS or (name.startswith(METADATA) and all(name[len(METADATA) :].split("."))):
        return
    raise InvalidFilter(f"unknown field {name!r}; known: {', '.join(FIELDS)}, metadata.NAME")


def check_value(name: str, value: Value) -> None:
    """Refuse a value whose type the field can never hold: a comparison with it would be silently empty."""
    if isinstance(value, str) and _SURROGATE.search(value):
        raise InvalidFilter(f"{name}: {value!r} has half a character (a lone surrogate) in it")
    if isinstance(value, int | float) and not _is_finite(value):
        raise InvalidFilter(f"{name}: a number must be finite and less than 1.8e308")
    if value is None:
        return
    fits = (
        (name.startswith(METADATA) and isinstance(value, str | int | float))
        or (name in TEXT_FIELDS + LIST_FIELDS and isinstance(value, str))
        or (name in NUMBER_FIELDS and isinstance(value, (int, float)) and not isinstance(value, bool))
        or (name in TIME_FIELDS and isinstance(value, datetime) and _is_utc_time(value))
        or (name in BOOL_FIELDS and isinstance(value, bool))
    )
    if not fits:
        raise InvalidFilter(f"{name}: {value!r} is not {_wanted(name)}")


def _is_finite(number: float) -> bool:
    try:
        return math.isfinite(number)
    except OverflowError:  # an int beyond every float
        return False


def _is_utc_time(moment: datetime) -> bool:
    """Whether it knows its zone and is within the years 1 to 9999 in UTC too."""
    try:
        return moment.utcoffset() is not None and moment.astimezone(UTC) is not None
    except OverflowError:
        return False


def _wanted(name: str) -> str:
    if name.startswith(METADATA):
        return "JSON: text (a time too is text there), a number, true, false or null"
    if name in NUMBER_FIELDS:
        return "a number"
    if name in TIME_FIELDS:
        return "a time with a time zone"
    return "true or false" if name in BOOL_FIELDS else "text"


def read(memory: Memory, name: str) -> Json | datetime | tuple[str, ...]:
    """The value of a field of a memory, None where it has none."""
    if name == "superseded":
        return memory.superseded_at is not None
    if not name.startswith(METADATA):
        value: Json | datetime | tuple[str, ...] = getattr(memory, name)
        return value
    found: Json = dict(memory.metadata)
    for step in name[len(METADATA) :].split("."):
        if not isinstance(found, dict) or step not in found:
            return None
        found = found[step]
    return found


def elements(found: Json | datetime | tuple[str, ...]) -> tuple[Json | datetime, ...]:
    if found is None:
        return ()
    if isinstance(found, (tuple, list)):
        return tuple(found)
    return (found,)


def same(found: Json | datetime, wanted: Value) -> bool:
    if isinstance(found, datetime) and isinstance(wanted, datetime):
        # Not ==, which calls an hour that a zone repeats in autumn unequal to every time of another zone.
        return found - wanted == timedelta(0)
    return isinstance(found, bool) == isinstance(wanted, bool) and found == wanted


def at_most(low: Json | datetime, high: Json | datetime) -> bool:
    """`low <= high` where the two compare at all."""
    if isinstance(low, bool) or isinstance(high, bool):
        return False
    if isinstance(low, (int, float)) and isinstance(high, (int, float)):
        return low <= high
    if isinstance(low, str) and isinstance(high, str):
        return low <= high
    return isinstance(low, datetime) and isinstance(high, datetime) and low <= high
