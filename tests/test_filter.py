"""The reference meaning of filters, and what they refuse."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from tests.generated import filters, memories

from trivium.errors import InvalidFilter
from trivium.filter import (
    EVERYTHING,
    MAX_CONDITIONS,
    MAX_DEPTH,
    And,
    Between,
    Contains,
    Eq,
    Filter,
    In,
    Not,
    Or,
    all_of,
    conjuncts,
)
from trivium.record import Json, Memory

NOW = datetime(2026, 3, 1, tzinfo=UTC)
MOVIE = Memory(
    id="1", space="default", kind="movie", title="Interstellar", content="A crew crosses a wormhole", created_at=NOW,
    updated_at=NOW, tags=("sci-fi", "Nolan"), importance=0.7, position=3,
    metadata={"year": 2014, "author": {"name": "Straße"}, "scores": [7, 9.5, "high", [1]], "seen": True, "none": None},
)  # fmt: skip


@pytest.mark.parametrize(
    ("where", "wanted"),
    [
        (Eq("kind", "movie"), True),
        (Eq("kind", "Movie"), False),
        (Eq("tags", "sci-fi"), True),
        (Eq("tags", "nolan"), False),
        (Contains("tags", "nolan"), True),
        (Contains("tags", "nol"), False),
        (Contains("title", "STELLAR"), True),
        (Contains("metadata.author.name", "STRASSE"), True),
        (Contains("metadata.year", "2014"), False),
        (Eq("metadata.year", 2014.0), True),
        (Eq("metadata.year", "2014"), False),
        (Eq("metadata.seen", 1), False),
        (Eq("metadata.seen", True), True),
        (Eq("metadata.scores", 9.5), True),
        (Eq("metadata.scores", 1), False),
        (Eq("metadata.author", "Straße"), False),
        (Eq("metadata.none", None), True),
        (Eq("metadata.nowhere.at", None), True),
        (Eq("metadata.year.deeper", None), True),
        (Eq("occurred_at", None), True),
        (Eq("kind", None), False),
        (In("metadata.year", ("2014", 2014)), True),
        (In("metadata.year", ("2014", None)), False),
        (In("occurred_at", (NOW, None)), True),
        (In("kind", ()), False),
        (Between("metadata.year", 2014, 2014), True),
        (Between("metadata.year", 2015, None), False),
        (Between("metadata.year", "2000", "3000"), False),
        (Between("metadata.seen", 0, 2), False),
        (Between("metadata.scores", 8, 9), False),
        (Between("metadata.scores", 9, 10), True),
        (Between("created_at", NOW, None), True),
        (Between("occurred_at", None, NOW), False),
        (Between("title", "Int", "Inu"), True),
        (Eq("superseded", False), True),
        (EVERYTHING, True),
        (Or(()), False),
    ],
)
def test_meaning(where: Filter, wanted: bool) -> None:
    assert where.matches(MOVIE) is wanted
    assert Not(where).matches(MOVIE) is not wanted


def test_a_time_is_the_same_in_every_zone() -> None:
    repeated_hour = datetime(2026, 10, 25, 1, 30, tzinfo=ZoneInfo("Europe/Lisbon"))
    memory = replace(MOVIE, created_at=repeated_hour.astimezone(UTC))
    assert Eq("created_at", repeated_hour).matches(memory)
    assert Between("created_at", repeated_hour, repeated_hour).matches(memory)
    assert not Eq("created_at", repeated_hour.replace(fold=1)).matches(memory)


TOO_LATE = datetime.max.replace(tzinfo=timezone(timedelta(hours=-1)))


@pytest.mark.parametrize(
    ("make", "arguments", "words"),
    [
        (Eq, ("color", "red"), "unknown field 'color'"),
        (Eq, ("metadata.", 1), "unknown field"),
        (Eq, ("metadata.a..b", 1), "unknown field"),
        (Eq, ("metadata.\ud800", 1), "half a character"),
        (Eq, ("title", "\ud800"), "title: .* half a character"),
        (Contains, ("title", "\udfff"), "title: .* half a character"),
        (Contains, ("title", 5), "title: `contains` looks for text"),
        (Contains, ("uses", "5"), "uses: `contains` is for text"),
        (Eq, ("kind", 5), "kind: 5 is not text"),
        (Eq, ("importance", True), "importance: True is not a number"),
        (Eq, ("importance", float("nan")), "importance: a number must be finite"),
        (Eq, ("metadata.x", float("inf")), "metadata.x: a number must be finite"),
        (In, ("metadata.x", (1, 10**400)), "metadata.x: a number must be finite"),
        (Between, ("metadata.x", None, float("nan")), "metadata.x: a number must be finite"),
        (Eq, ("metadata.x", [1]), r"metadata.x: \[1\] is not JSON: text"),
        (Eq, ("metadata.x", NOW), "metadata.x: .* is not JSON: text"),
        (Eq, ("created_at", datetime(2026, 1, 1)), "created_at: .* a time with a time zone"),  # noqa: DTZ001
        (Eq, ("created_at", TOO_LATE), "created_at: .* a time with a time zone"),
        (Eq, ("sensitive", "yes"), "sensitive: 'yes' is not true or false"),
        (Between, ("sensitive", True, None), "sensitive: true and false have no order"),
        (Between, ("uses", None, None), "uses: a range needs"),
        (In, ("kind", "movie"), "kind: `In` takes a tuple"),
    ],
)
def test_refuses_what_could_only_be_empty(make: Any, arguments: tuple[Json, ...], words: str) -> None:
    with pytest.raises(InvalidFilter, match=words):
        make(*arguments)


def test_depth_and_size_are_limited() -> None:
    where: Filter = Eq("kind", "movie")
    for _ in range(MAX_DEPTH - 1):
        where = Not(where)
    assert where.matches(MOVIE) is (MAX_DEPTH % 2 == 1)
    with pytest.raises(InvalidFilter, match="nested more than"):
        Not(where)
    assert And((Eq("kind", "movie"),) * MAX_CONDITIONS).matches(MOVIE)
    with pytest.raises(InvalidFilter, match="more than 500 conditions"):
        Or((Eq("kind", "movie"),) * (MAX_CONDITIONS + 1))


def test_a_long_in_reads_the_memory_once() -> None:
    where = In("metadata.scores", (*range(100, 50_100), 7))
    assert where.matches(MOVIE)
    assert not In("metadata.scores", tuple(range(100, 50_100))).matches(MOVIE)


def test_all_of_lays_conjunctions_flat() -> None:
    a, b, c = Eq("kind", "a"), Eq("kind", "b"), Eq("kind", "c")
    assert all_of([And((a, b)), EVERYTHING, c]) == And((a, b, c))
    assert all_of([a]) == a
    assert all_of([]) == EVERYTHING
    assert conjuncts(And((a, b))) == (a, b)
    assert conjuncts(Or((a, b))) == (Or((a, b)),)


@settings(max_examples=40, deadline=None)
@given(memories(), filters(), filters())
def test_de_morgan(memory: Memory, a: Filter, b: Filter) -> None:
    assert Not(And((a, b))).matches(memory) is Or((Not(a), Not(b))).matches(memory)
    assert all_of([a, b]).matches(memory) is (a.matches(memory) and b.matches(memory))
