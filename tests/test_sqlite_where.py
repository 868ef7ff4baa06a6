"""The SQL of a filter means what `matches` says, and uses the indexes."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.generated import filters, memories

from trivium.filter import MAX_CONDITIONS, MAX_DEPTH, And, Between, Contains, Eq, Filter, In, Not, Or
from trivium.record import Memory
from trivium.store.sqlite.where import compile_where, json_text, register_functions
from trivium.when import to_micros

SCHEMA = """
CREATE TABLE memory (
  num INTEGER PRIMARY KEY, id TEXT NOT NULL, space INTEGER NOT NULL, kind TEXT NOT NULL, title TEXT NOT NULL,
  content TEXT NOT NULL, category TEXT NOT NULL, source TEXT NOT NULL, thread TEXT NOT NULL, language TEXT NOT NULL,
  tags TEXT NOT NULL, keywords TEXT NOT NULL, metadata TEXT NOT NULL, importance REAL NOT NULL, position INTEGER,
  uses INTEGER NOT NULL, sensitive INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
  occurred_at INTEGER, superseded_at INTEGER
);
CREATE INDEX memory_kind ON memory (space, kind);
CREATE INDEX memory_created ON memory (space, created_at);
CREATE TABLE tag (space INTEGER, tag TEXT, memory INTEGER, PRIMARY KEY (space, tag, memory)) WITHOUT ROWID;
"""
COLUMNS = (
    "id", "kind", "title", "content", "category", "source", "thread", "language", "tags", "keywords", "metadata",
    "importance", "position", "uses", "sensitive", "created_at", "updated_at", "occurred_at", "superseded_at",
)  # fmt: skip
NOW = datetime(2026, 3, 1, tzinfo=UTC)
PLAIN = Memory(id="x", space="default", content="", created_at=NOW, updated_at=NOW)


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    opened = connect()
    yield opened
    opened.close()


def connect() -> sqlite3.Connection:
    opened = sqlite3.connect(":memory:")
    opened.executescript(SCHEMA)
    register_functions(opened)
    return opened


SHARED = connect()  # for the generated examples, each of which empties it


def store(connection: sqlite3.Connection, *found: Memory) -> None:
    """Puts the memories in with num 0, 1, 2 …"""
    connection.execute("DELETE FROM memory")
    connection.execute("DELETE FROM tag")
    insert = f"INSERT INTO memory (num, space, {', '.join(COLUMNS)}) VALUES (?, 7{', ?' * len(COLUMNS)})"
    for num, memory in enumerate(found):
        row = [_cell(getattr(memory, name)) for name in COLUMNS]
        connection.execute(insert, [num, *row])
        connection.executemany("INSERT INTO tag VALUES (7, ?, ?)", [(tag, num) for tag in set(memory.tags)])


def _cell(value: Any) -> object:
    if isinstance(value, datetime):
        return to_micros(value)
    return json_text(value) if isinstance(value, tuple | list | dict) else value


def found(connection: sqlite3.Connection, where: Filter, *, space: int | None = None) -> set[int]:
    sql, values = compile_where(where, space=space)
    return {
        num for (num,) in connection.execute(f"SELECT m.num FROM memory AS m WHERE m.space = 7 AND ({sql})", values)
    }


@settings(max_examples=120, deadline=None)
@given(st.lists(memories(), max_size=5), filters())
def test_sql_means_what_matches_says(given_memories: list[Memory], where: Filter) -> None:
    store(SHARED, *given_memories)
    wanted = {num for num, memory in enumerate(given_memories) if where.matches(memory)}
    assert found(SHARED, where) == wanted
    assert found(SHARED, where, space=7) == wanted
    assert found(SHARED, Not(where)) == set(range(len(given_memories))) - wanted


META: list[tuple[object, Filter, bool]] = [
    (True, Eq("metadata.x", 1), False),
    (1, Eq("metadata.x", True), False),
    (1, Eq("metadata.x", 1.0), True),
    (1e16, Eq("metadata.x", 10**16), True),
    (-0.0, Eq("metadata.x", 0), True),
    ("1", Eq("metadata.x", 1), False),
    (2**63, Eq("metadata.x", 2**63), True),
    (2**63, Eq("metadata.x", 2**63 + 1), False),
    (2**63, Between("metadata.x", 2**63 + 1, None), False),
    (10**25, Between("metadata.x", 10**25, 10**25), True),
    (10**25, Between("metadata.x", 10**25 + 1, None), False),
    (2**62, Between("metadata.x", None, 10**30), True),
    (-(2**63), Between("metadata.x", None, -(2**63) - 1), False),
    (True, Between("metadata.x", 0, 2), False),
    ("a\0b", Eq("metadata.x", "a"), False),
    ("a\0b", Eq("metadata.x", "a\0b"), True),
    ("a\0b", Contains("metadata.x", "B"), True),
    ("a\0b", Between("metadata.x", "a\0a", "a\0c"), True),
    ("Straße", Contains("metadata.x", "STRASSE"), True),
    ("\uffff", Between("metadata.x", None, "😀"), True),
    ([1, [2], {"x": 3}], Eq("metadata.x", 1), True),
    ([1, [2], {"x": 3}], Eq("metadata.x", 2), False),
    ([1, [2], {"x": 3}], Eq("metadata.x.x", 3), False),
    ([True, "a"], In("metadata.x", (1, "b")), False),
    ({"y": 1}, Eq("metadata.x", 1), False),
    ({"y": 1}, Between("metadata.x", 0, 5), False),
    ({"y": 1}, Eq("metadata.x.y", 1), True),
    ({"é": 1}, Eq("metadata.x.é", 1), True),
    ({'q"': 1}, Eq('metadata.x.q"', 1), True),
    ({"a b": {"é": [None, 2]}}, Eq("metadata.x.a b.é", 2), True),
    (None, Eq("metadata.x", None), True),
    ([None], Eq("metadata.x", None), False),
    ([], Eq("metadata.x", None), False),
    ("null", Eq("metadata.x", None), False),
    (5, Eq("metadata.y", None), True),
    (5, In("metadata.y", (5, None)), True),
]


@pytest.mark.parametrize(("value", "where", "wanted"), META)
def test_metadata_keeps_types_and_digits(
    connection: sqlite3.Connection, value: Any, where: Filter, wanted: bool
) -> None:
    memory = replace(PLAIN, metadata={"x": value})
    store(connection, memory)
    assert where.matches(memory) is wanted
    assert found(connection, where) == ({0} if wanted else set())


def test_not_is_the_complement_where_a_column_is_null(connection: sqlite3.Connection) -> None:
    store(connection, PLAIN, replace(PLAIN, position=3, occurred_at=NOW, superseded_at=NOW))
    for where in (Eq("position", 3), Between("position", 1, 5), In("position", (3, 4)), Eq("occurred_at", NOW)):
        assert found(connection, where) == {1}
        assert found(connection, Not(where)) == {0}
    assert found(connection, Eq("superseded", True)) == found(connection, Not(Eq("superseded_at", None))) == {1}
    assert found(connection, In("position", (None, 3))) == {0, 1}


def test_fifty_thousand_values(connection: sqlite3.Connection) -> None:
    store(
        connection,
        replace(PLAIN, kind="k49999", tags=("k7",), metadata={"x": ["é49999", 1]}),
        replace(PLAIN, kind="a\0b"),
        replace(PLAIN, kind="a"),
    )
    many = tuple(f"k{n}" for n in range(50_000))
    assert found(connection, In("kind", many)) == {0}
    assert found(connection, In("kind", (*many, "a\0b"))) == {0, 1}
    assert found(connection, In("tags", many)) == found(connection, In("tags", many), space=7) == {0}
    assert found(connection, In("metadata.x", tuple(f"é{n}" for n in range(50_000)))) == {0}
    assert found(connection, In("uses", tuple(range(-40_000, 0)))) == set()


def test_the_largest_filter_is_taken_inside_a_larger_statement(connection: sqlite3.Connection) -> None:
    store(connection, replace(PLAIN, metadata={"x": 1}))
    deep: Filter = Eq("metadata.x", 1)
    for level in range(MAX_DEPTH - 1):
        deep = (And, Or)[level % 2]((Eq("metadata.é", "no") if level % 2 else Eq("id", "x"), deep))
    sql, values = compile_where(deep, space=7)
    statement = (
        "WITH found AS (SELECT m.num FROM memory AS m JOIN memory AS other ON other.num = m.num"
        f" WHERE m.space IN (SELECT 7) AND ({sql})) SELECT num FROM (SELECT num FROM found ORDER BY num)"
    )
    assert connection.execute(statement, values).fetchall() == [(0,)]
    wide = And(tuple(In("metadata.x", tuple(range(9))) for _ in range(MAX_CONDITIONS)))
    assert found(connection, wide) == {0}


KIND, TIME = "memory_kind (space=? AND kind=?)", "memory_created (space=? AND created_at>?"


@pytest.mark.parametrize(
    ("where", "step"),
    [
        (Eq("kind", "note"), KIND),
        (In("kind", ("note", "fact")), KIND),
        (In("kind", tuple(f"k{n}" for n in range(100))), KIND),
        (And((Eq("kind", "note"), Not(Eq("metadata.x", 1)))), KIND),
        (Between("created_at", NOW, None), TIME),
        (Between("created_at", NOW, NOW), TIME),
        (Eq("created_at", NOW), "memory_created (space=? AND created_at=?)"),
    ],
)
def test_indexes_lead(connection: sqlite3.Connection, where: Filter, step: str) -> None:
    assert step in plan(connection, where, space=7)


@pytest.mark.parametrize(
    "where", [Eq("tags", "people"), In("tags", ("people", "infra")), And((Eq("tags", "people"), Not(Eq("uses", 1))))]
)
def test_a_tag_leads_within_one_space(connection: sqlite3.Connection, where: Filter) -> None:
    """SQLite must know from ANALYZE that a space holds many rows: without figures it believes in ten."""
    store(connection, *(replace(PLAIN, tags=("people",) if num % 100 == 0 else ("other",)) for num in range(1000)))
    connection.execute("ANALYZE")
    steps = plan(connection, where, space=7)
    assert "SEARCH m USING INTEGER PRIMARY KEY (rowid=?)" in steps
    assert "SEARCH tag USING PRIMARY KEY (space=? AND tag=?)" in steps


def test_a_tag_is_looked_up_by_its_whole_key_over_many_spaces(connection: sqlite3.Connection) -> None:
    assert "SEARCH tag USING PRIMARY KEY (space=? AND tag=? AND memory=?)" in plan(connection, Eq("tags", "people"))


def plan(connection: sqlite3.Connection, where: Filter, *, space: int | None = None) -> str:
    sql, values = compile_where(where, space=space)
    statement = f"EXPLAIN QUERY PLAN SELECT m.num FROM memory AS m WHERE m.space = ? AND ({sql})"
    return "\n".join(row[3] for row in connection.execute(statement, [7, *values]))
