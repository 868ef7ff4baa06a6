"""Random memories and random filters, drawn so that they meet: few names, few values, and the odd ones among them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

from hypothesis import strategies as st

from trivium.filter import (
    BOOL_FIELDS,
    LIST_FIELDS,
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
)
from trivium.record import Json, Memory

WORDS = (
    "",
    "a",
    "A",
    "b",
    "ab",
    "ß",
    "SS",
    "é",
    "1",
    "true",
    "null",
    "and",
    "a\0b",
    "a\0",
    "it's",
    'x"y',
    "\\",
    "😀",
    "\uffff",
)
texts = st.sampled_from(WORDS) | st.text(max_size=4)
numbers = (
    st.sampled_from(
        (0, 1, -1, 0.0, -0.0, 1.0, 0.1, 0.5, 2**53, 2**53 + 1, 2.0**53, 2**63 - 1, 2**63, 2**63 + 1, 2.0**63)
    )
    | st.sampled_from(
        (-(2**63), -(2**63) - 1, 10**25, 1e25, 10**300, 1.7976931348623157e308, 5e-324, 1e16, 123456789.125)
    )
    | st.integers(-3, 3)
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
)
scalars: st.SearchStrategy[Json] = texts | numbers | st.booleans() | st.none()
KEYS = ("a", "b", "odd key", "q\"u'o", "back\\slash", "é", "n\0l", "$", "[0]", "and", "*")
keys = st.sampled_from(KEYS)
paths = st.lists(keys, min_size=1, max_size=2).map(lambda steps: "metadata." + ".".join(steps))

_START = datetime(2026, 3, 29, 1, tzinfo=UTC)
_ZONES = (UTC, timezone(timedelta(hours=-5, seconds=-7)), ZoneInfo("Europe/Lisbon"))
times = st.builds(
    lambda hours, micros, zone: (_START + timedelta(hours=hours, microseconds=micros)).astimezone(zone),
    st.integers(-2, 2) | st.integers(-24 * 3650, 24 * 3650),
    st.integers(-1, 1),
    st.sampled_from(_ZONES),
)


def json_values() -> st.SearchStrategy[Json]:
    return st.recursive(
        scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3), max_leaves=6
    )


def memories() -> st.SearchStrategy[Memory]:
    utc_times = times.map(lambda moment: moment.astimezone(UTC))
    lists = st.lists(texts, max_size=3).map(tuple)
    return st.builds(
        Memory,
        id=texts, space=st.just("default"), content=texts, kind=texts, title=texts, category=texts, source=texts,
        thread=texts, language=texts, keywords=lists, tags=lists,
        metadata=st.dictionaries(keys, json_values(), max_size=4),
        importance=st.sampled_from((0.0, 0.1, 0.5, 1.0)) | st.floats(0, 1), sensitive=st.booleans(),
        position=st.none() | st.integers(-2, 2) | st.integers(-(2**63), 2**63 - 1), uses=st.integers(0, 3),
        created_at=utc_times, updated_at=utc_times,
        occurred_at=st.none() | utc_times, superseded_at=st.none() | utc_times,
    )  # fmt: skip


def values(field: str) -> st.SearchStrategy[Value]:
    """Values the field takes, None left out."""
    if field in TEXT_FIELDS + LIST_FIELDS:
        return texts
    if field in NUMBER_FIELDS:
        return numbers
    if field in TIME_FIELDS:
        return times
    return st.booleans() if field in BOOL_FIELDS else texts | numbers | st.booleans()


@st.composite
def conditions(draw: st.DrawFn) -> Filter:
    form = draw(st.sampled_from(("eq", "in", "between", "contains")))
    typed: tuple[str, ...] = LIST_FIELDS + TEXT_FIELDS
    if form != "contains":
        typed += NUMBER_FIELDS + TIME_FIELDS + (() if form == "between" else BOOL_FIELDS)
    field = draw(st.sampled_from(typed) | paths)
    value = values(field)
    if form == "eq":
        return Eq(field, draw(st.none() | value))
    if form == "in":
        size = draw(st.sampled_from((0, 3, 30)))
        return In(field, tuple(draw(st.lists(st.none() | value, min_size=size // 2, max_size=size))))
    if form == "contains":
        return Contains(field, draw(texts))
    low, high = draw(st.tuples(value, value) | st.tuples(st.none(), value) | st.tuples(value, st.none()))
    return Between(field, low, high)


def filters() -> st.SearchStrategy[Filter]:
    def joined(inner: st.SearchStrategy[Filter]) -> st.SearchStrategy[Filter]:
        some = st.lists(inner, max_size=3).map(tuple)
        return some.map(And) | some.map(Or) | inner.map(Not)

    return st.recursive(conditions(), joined, max_leaves=6)
