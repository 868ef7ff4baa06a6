"""Epochs in the file: which vectors there are, which serve, what waits for one, and remembered query vectors."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

import numpy as np

from trivium.errors import InvalidInput
from trivium.record import Key, Memory
from trivium.store.contract import Epoch, Vector
from trivium.store.sqlite import records

QUERY_VECTORS_KEPT = 10_000

ADD_EPOCH = "INSERT INTO epoch (fingerprint, model, dimension, serving) VALUES (?, ?, ?, ?)"
ALL_WAIT = "INSERT INTO pending (epoch, memory, space) SELECT ?, num, space FROM memory WHERE sensitive = 0"
PENDING = f"""
SELECT s.name, {records.READ} FROM pending p JOIN memory m ON m.num = p.memory JOIN space s ON s.num = m.space
WHERE p.epoch = (SELECT num FROM epoch WHERE fingerprint = ?) ORDER BY p.memory LIMIT ?
"""
PENDING_COUNT = "SELECT count(*) FROM pending WHERE epoch = (SELECT num FROM epoch WHERE fingerprint = ?)"
VECTORS = """
SELECT v.value FROM vector v JOIN memory m ON m.num = v.memory JOIN space s ON s.num = m.space
JOIN epoch e ON e.num = v.epoch
WHERE s.name = ? AND m.id = ? AND e.fingerprint = ? AND v.value <> x'' ORDER BY v.ordinal
"""


@dataclass(frozen=True, slots=True)
class EpochRow:
    """An epoch as the file numbers it."""

    num: int
    fingerprint: str
    dimension: int


def known(connection: sqlite3.Connection) -> tuple[Epoch, ...]:
    rows = connection.execute("SELECT fingerprint, model, dimension, serving FROM epoch ORDER BY num")
    return tuple(Epoch(fingerprint, model, dimension, bool(serving)) for fingerprint, model, dimension, serving in rows)


def rows(connection: sqlite3.Connection) -> list[EpochRow]:
    return [EpochRow(*row) for row in connection.execute("SELECT num, fingerprint, dimension FROM epoch")]


def row_of(connection: sqlite3.Connection, fingerprint: str) -> EpochRow:
    sql = "SELECT num, fingerprint, dimension FROM epoch WHERE fingerprint = ?"
    row = connection.execute(sql, (fingerprint,)).fetchone()
    if row is None:
        raise InvalidInput("fingerprint: this store has no vectors of that model; run `trivium reembed`")
    return EpochRow(*row)


def begin(connection: sqlite3.Connection, epoch: Epoch) -> None:
    if connection.execute("SELECT 1 FROM epoch WHERE fingerprint = ?", (epoch.fingerprint,)).fetchone():
        return
    first = connection.execute("SELECT 1 FROM epoch WHERE serving = 1").fetchone() is None
    row = (epoch.fingerprint, epoch.model, epoch.dimension, int(first))
    connection.execute(ALL_WAIT, (connection.execute(ADD_EPOCH, row).lastrowid,))


def serve(connection: sqlite3.Connection, fingerprint: str) -> list[int]:
    """Let this epoch serve and drop the others, whose numbers are returned."""
    epoch = row_of(connection, fingerprint)
    others = [row[0] for row in connection.execute("SELECT num FROM epoch WHERE num <> ?", (epoch.num,)).fetchall()]
    for other in others:
        for table in ("vector", "gone_vector", "pending"):
            connection.execute(f"DELETE FROM {table} WHERE epoch = ?", (other,))
        connection.execute("DELETE FROM epoch WHERE num = ?", (other,))
    connection.execute("UPDATE epoch SET serving = 1 WHERE num = ?", (epoch.num,))
    connection.execute("DELETE FROM query_vector WHERE fingerprint <> ?", (fingerprint,))
    return others


def pending(connection: sqlite3.Connection, fingerprint: str, limit: int) -> tuple[Memory, ...]:
    return tuple(records.from_row(row[0], row[1:]) for row in connection.execute(PENDING, (fingerprint, limit)))


def pending_count(connection: sqlite3.Connection, fingerprint: str) -> int:
    return int(connection.execute(PENDING_COUNT, (fingerprint,)).fetchone()[0])


def vectors(connection: sqlite3.Connection, key: Key, fingerprint: str) -> tuple[Vector, ...]:
    found = connection.execute(VECTORS, (*key, fingerprint))
    return tuple(np.frombuffer(row[0], np.float16).astype(np.float32) for row in found)


def kept_query(connection: sqlite3.Connection, fingerprint: str, text: str) -> Vector | None:
    sql = "SELECT value FROM query_vector WHERE fingerprint = ? AND text = ?"
    row = connection.execute(sql, (fingerprint, text)).fetchone()
    return None if row is None else np.frombuffer(row[0], np.float32)


def keep_query(connection: sqlite3.Connection, fingerprint: str, text: str, vector: Vector) -> None:
    count = connection.execute("SELECT count(*) FROM query_vector").fetchone()[0]
    if count >= QUERY_VECTORS_KEPT:
        connection.execute("DELETE FROM query_vector")  # a cache: start over rather than track its use
    value = vector.astype(np.float32).tobytes()
    connection.execute("INSERT OR REPLACE INTO query_vector VALUES (?, ?, ?)", (fingerprint, text, value))
