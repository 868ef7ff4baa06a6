"""Memories as rows of the file, and back."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence

from trivium.errors import StoreError
from trivium.filter import Filter
from trivium.record import Key, Memory
from trivium.store.contract import Facts, Order
from trivium.store.sqlite.where import compile_where, json_text
from trivium.when import from_micros, to_micros

COLUMNS = (
    "id, kind, importance, sensitive, uses, created_at, updated_at, occurred_at, superseded_at, "
    "supersedes, superseded_by, thread, position, language, content_hash, category, source, "
    "tags, keywords, title, metadata, content"
)
READ = ", ".join(f"m.{name}" for name in COLUMNS.split(", "))
INSERT = f"INSERT INTO memory (space, {COLUMNS}) VALUES (?{', ?' * len(COLUMNS.split(', '))})"
UPDATE = f"UPDATE memory SET {', '.join(f'{name} = ?' for name in COLUMNS.split(', '))} WHERE num = ?"
FACTS = "SELECT num, id, kind, importance, sensitive, uses, created_at FROM memory WHERE num IN ({})"
GET = f"""
SELECT s.name, {READ} FROM memory m JOIN space s ON s.num = m.space
WHERE s.name = ? AND m.id IN (SELECT value FROM json_each(?))
"""
FACTS_AT_ONCE = 10_000  # below SQLite's limit of parameters in one statement
ORDERS: dict[Order, tuple[str, ...]] = {
    "created": ("m.created_at",),
    "updated": ("m.updated_at",),
    "occurred": ("m.occurred_at",),
    "importance": ("m.importance",),
    "thread": ("m.thread", "m.position"),
}

EMPTY_LIST, EMPTY_OBJECT = "[]", "{}"  # how most rows have them: not worth a parse

Row = tuple[object, ...]


def to_row(memory: Memory) -> Row:
    return (
        memory.id,
        memory.kind,
        memory.importance,
        int(memory.sensitive),
        memory.uses,
        to_micros(memory.created_at),
        to_micros(memory.updated_at),
        None if memory.occurred_at is None else to_micros(memory.occurred_at),
        None if memory.superseded_at is None else to_micros(memory.superseded_at),
        memory.supersedes,
        memory.superseded_by,
        memory.thread,
        memory.position,
        memory.language,
        memory.content_hash,
        memory.category,
        memory.source,
        json_text(list(memory.tags)),
        json_text(list(memory.keywords)),
        memory.title,
        json_text(dict(memory.metadata)),
        memory.content,
    )


def from_row(space: str, row: Sequence[object]) -> Memory:
    """A row that cannot be read is an error that names it."""
    try:
        return _read(space, *row)  # type: ignore[arg-type]
    except (TypeError, ValueError) as error:
        raise StoreError(f"memory {row[0]!r} of space {space!r} cannot be read ({error}); restore a backup") from error


def _read(
    space: str, id: str, kind: str, importance: float, sensitive: int, uses: int, created_at: int, updated_at: int,
    occurred_at: int | None, superseded_at: int | None, supersedes: str | None, superseded_by: str | None,
    thread: str, position: int | None, language: str, _content_hash: str, category: str, source: str,
    tags: str, keywords: str, title: str, metadata: str, content: str,
) -> Memory:  # fmt: skip
    return Memory(
        id=id,
        space=space,
        content=content,
        created_at=from_micros(created_at),
        updated_at=from_micros(updated_at),
        kind=kind,
        title=title,
        keywords=() if keywords == EMPTY_LIST else tuple(json.loads(keywords)),
        tags=() if tags == EMPTY_LIST else tuple(json.loads(tags)),
        category=category,
        metadata={} if metadata == EMPTY_OBJECT else json.loads(metadata),
        importance=importance,
        sensitive=bool(sensitive),
        occurred_at=None if occurred_at is None else from_micros(occurred_at),
        source=source,
        thread=thread,
        position=position,
        language=language,
        supersedes=supersedes,
        superseded_by=superseded_by,
        superseded_at=None if superseded_at is None else from_micros(superseded_at),
        uses=uses,
    )


def get(connection: sqlite3.Connection, keys: Iterable[Key]) -> dict[Key, Memory]:
    by_space: dict[str, list[str]] = {}
    for key in keys:
        by_space.setdefault(key.space, []).append(key.id)
    found = {}
    for space, ids in by_space.items():
        for row in connection.execute(GET, (space, json.dumps(ids))):
            memory = from_row(row[0], row[1:])
            found[memory.key] = memory
    return found


def facts(connection: sqlite3.Connection, nums: Sequence[int]) -> dict[int, tuple[str, Facts]]:
    """Id and facts of memories by their number in the file."""
    found: dict[int, tuple[str, Facts]] = {}
    for start in range(0, len(nums), FACTS_AT_ONCE):
        some = nums[start : start + FACTS_AT_ONCE]
        rows = connection.execute(FACTS.format(", ".join("?" * len(some))), some)
        for num, id, kind, importance, sensitive, uses, created_us in rows:
            found[num] = (id, Facts(kind, importance, bool(sensitive), uses, created_us))
    return found


def scan(
    connection: sqlite3.Connection, spaces: Sequence[str], where: Filter, *, order: Order, newest_first: bool,
    limit: int | None, offset: int,
) -> Iterator[Memory]:  # fmt: skip
    condition, values = _scope(spaces, where)
    direction = "DESC" if newest_first else "ASC"
    keys = ", ".join((*(f"{column} {direction}" for column in ORDERS[order]), "s.name", "m.id"))
    rows = connection.execute(
        f"SELECT s.name, {READ} FROM memory m JOIN space s ON s.num = m.space WHERE {condition} "
        f"ORDER BY {keys} LIMIT ? OFFSET ?",
        (*values, -1 if limit is None else limit, offset),
    )
    for row in rows:
        yield from_row(row[0], row[1:])


def count(connection: sqlite3.Connection, spaces: Sequence[str], where: Filter) -> int:
    condition, values = _scope(spaces, where)
    sql = f"SELECT count(*) FROM memory m JOIN space s ON s.num = m.space WHERE {condition}"
    return int(connection.execute(sql, values).fetchone()[0])


def _scope(spaces: Sequence[str], where: Filter) -> tuple[str, list[object]]:
    condition, values = compile_where(where)
    if not spaces:
        return condition, values
    marks = ", ".join("?" * len(spaces))
    return f"s.name IN ({marks}) AND ({condition})", [*spaces, *values]
