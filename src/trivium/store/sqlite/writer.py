"""Writing to one space inside one transaction."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

import numpy as np

from trivium.errors import InvalidInput, NotFound, WrongVector
from trivium.record import Json, Memory
from trivium.store.contract import IndexedPassage, MadeVectors, Receipt
from trivium.store.sqlite import records, segments
from trivium.store.sqlite.postings import pack_terms, unpack_terms
from trivium.when import to_micros

FIND = "SELECT num, sensitive, content_hash FROM memory WHERE space = ? AND id = ?"
# By name: left to itself, SQLite walks all ids of the space in order to find the smallest.
WITH_HASH = """
SELECT min(id) FROM memory INDEXED BY memory_hash WHERE space = ? AND content_hash = ? AND superseded_at IS NULL
"""
AROUND = f"""
SELECT {records.READ} FROM memory m WHERE m.space = ? AND m.thread = ? AND m.thread <> '' AND m.position {{}} ?
ORDER BY m.position {{}}, m.id {{}} LIMIT ?
"""
ADD_ENTRY = "INSERT INTO entry (space, memory, ordinal, start, stop, length, terms) VALUES (?, ?, ?, ?, ?, ?, ?)"
ADD_VECTOR = "INSERT INTO vector (epoch, space, memory, ordinal, value) VALUES (?, ?, ?, ?, ?)"
ADD_PENDING = "INSERT OR IGNORE INTO pending (epoch, memory, space) SELECT num, ?, ? FROM epoch"


def is_text(id: str) -> bool:
    """False for half a character (a lone surrogate): no id in the file has it, and SQLite cannot be asked for it."""
    return id.isascii() or not any("\ud800" <= character <= "\udfff" for character in id)


class SqliteWriter:
    """See `contract.Writer`. `erased` collects vectors to wipe from the caches once the transaction has ended."""

    def __init__(self, connection: sqlite3.Connection, space: str) -> None:
        self._connection = connection
        self._name = space
        connection.execute("INSERT OR IGNORE INTO space (name) VALUES (?)", (space,))
        connection.execute("UPDATE space SET version = version + 1 WHERE name = ?", (space,))
        row = connection.execute("SELECT num, version FROM space WHERE name = ?", (space,)).fetchone()
        self.space: int = row[0]
        self._version: int = row[1]
        self.erased: dict[int, list[int]] = {}
        self.forgot = False
        self.passages_added = 0
        self.vectors_added = 0

    def get(self, ids: Iterable[str]) -> dict[str, Memory]:
        rows = self._connection.execute(records.GET, (self._name, json.dumps(list(ids))))
        memories = (records.from_row(row[0], row[1:]) for row in rows)
        return {memory.id: memory for memory in memories}

    def with_hash(self, content_hash: str) -> str | None:
        row = self._connection.execute(WITH_HASH, (self.space, content_hash)).fetchone()
        found: str | None = row[0]
        return found

    def last_position(self, thread: str) -> int | None:
        row = self._connection.execute(
            "SELECT max(position) FROM memory WHERE space = ? AND thread = ? AND thread <> ''", (self.space, thread)
        ).fetchone()
        found: int | None = row[0]
        return found

    def around(self, thread: str, position: int, reach: int) -> list[Memory]:
        def side(comparison: str, direction: str, limit: int) -> list[Memory]:
            sql = AROUND.format(comparison, direction, direction)
            rows = self._connection.execute(sql, (self.space, thread, position, limit))
            return [records.from_row(self._name, row) for row in rows]

        return [*reversed(side("<", "DESC", reach)), *side("=", "ASC", -1), *side(">", "ASC", reach)]

    def put(self, memory: Memory, passages: Sequence[IndexedPassage]) -> None:
        self._check_space(memory.space)
        found = self._connection.execute(FIND, (self.space, memory.id)).fetchone()
        if found is None:
            cursor = self._connection.execute(records.INSERT, (self.space, *records.to_row(memory)))
            num = cursor.lastrowid
            assert num is not None
            self._connection.execute("DELETE FROM receipt WHERE space = ? AND id = ?", (self._name, memory.id))
        else:
            num = found[0]
            self._remove_entries(num)
            self._remove_vectors(num)
            self._connection.execute(records.UPDATE, (*records.to_row(memory), num))
            self._connection.execute("DELETE FROM pending WHERE memory = ?", (num,))
        self._set_tags(num, memory, new=found is None)
        self._add_entries(num, passages)
        if not memory.sensitive:
            self._connection.execute(ADD_PENDING, (num, self.space))

    def reindex(self, id: str, passages: Sequence[IndexedPassage]) -> None:
        num = self._number(id)
        self._remove_entries(num)
        self._add_entries(num, passages)

    def amend(self, memory: Memory) -> None:
        self._check_space(memory.space)
        num = self._number(memory.id)
        self._refuse_new_text(num, memory)
        self._connection.execute(records.UPDATE, (*records.to_row(memory), num))
        self._set_tags(num, memory, new=False)

    def put_vectors(self, fingerprint: str, made: Iterable[MadeVectors]) -> int:
        epoch = self._connection.execute(
            "SELECT num, dimension FROM epoch WHERE fingerprint = ?", (fingerprint,)
        ).fetchone()
        if epoch is None:
            raise InvalidInput("fingerprint: these vectors are of an epoch that is not there; embed the text again")
        stored = 0
        for vectors in made:
            self._check_space(vectors.key.space)
            found = self._connection.execute(FIND, (self.space, vectors.key.id)).fetchone()
            if found is None or found[1] or found[2] != vectors.content_hash:
                continue
            self._remove_vectors(found[0], epoch[0])
            self._add_vectors(epoch, found[0], vectors)
            self._connection.execute("DELETE FROM pending WHERE epoch = ? AND memory = ?", (epoch[0], found[0]))
            stored += 1
        return stored

    def forget(self, ids: Sequence[str], at: datetime) -> Receipt:
        gone: list[str] = []
        missing: list[str] = []
        passages = vectors = 0
        for id in dict.fromkeys(ids):
            found = self._connection.execute(FIND, (self.space, id)).fetchone() if is_text(id) else None
            if found is None:
                missing.append(id)
                continue
            passages += self._remove_entries(found[0])
            vectors += self._remove_vectors(found[0])
            self._connection.execute("DELETE FROM pending WHERE memory = ?", (found[0],))
            self._connection.execute("DELETE FROM tag WHERE memory = ? AND space = ?", (found[0], self.space))
            self._connection.execute("DELETE FROM memory WHERE num = ?", (found[0],))
            self._connection.execute(
                "INSERT INTO receipt (space, id, at) VALUES (?, ?, ?)", (self._name, id, to_micros(at))
            )
            gone.append(id)
        self.forgot = self.forgot or bool(gone)
        return Receipt(self._name, tuple(gone), tuple(missing), len(gone), passages, vectors, at)

    def set_space(self, *, language: str | None = None, settings: Mapping[str, Json] | None = None) -> None:
        if language is not None:
            self._connection.execute("UPDATE space SET language = ? WHERE num = ?", (language, self.space))
        if settings is not None:
            text = json.dumps(dict(settings), ensure_ascii=False)
            self._connection.execute("UPDATE space SET settings = ? WHERE num = ?", (text, self.space))

    def note_languages(self, languages: Iterable[str]) -> None:
        row = self._connection.execute("SELECT languages FROM space WHERE num = ?", (self.space,)).fetchone()
        known = set(json.loads(row[0]))
        if not known.issuperset(languages):
            text = json.dumps(sorted(known.union(languages)))
            self._connection.execute("UPDATE space SET languages = ? WHERE num = ?", (text, self.space))

    def _check_space(self, space: str) -> None:
        if space != self._name:
            raise InvalidInput(f"space: this transaction writes to {self._name!r}, not to {space!r}")

    def _refuse_new_text(self, num: int, memory: Memory) -> None:
        sql = "SELECT content_hash, sensitive FROM memory WHERE num = ?"
        if self._connection.execute(sql, (num,)).fetchone() != (memory.content_hash, int(memory.sensitive)):
            raise InvalidInput("content: `amend` leaves the indexes alone, so it cannot change the text; use `put`")

    def _number(self, id: str) -> int:
        found = self._connection.execute(FIND, (self.space, id)).fetchone()
        if found is None:
            raise NotFound(f"no memory {id!r} in space {self._name!r}")
        return int(found[0])

    def _set_tags(self, num: int, memory: Memory, *, new: bool) -> None:
        if not new:
            self._connection.execute("DELETE FROM tag WHERE memory = ? AND space = ?", (num, self.space))
        for tag in memory.tags:
            self._connection.execute("INSERT OR IGNORE INTO tag VALUES (?, ?, ?)", (self.space, tag, num))

    def _add_entries(self, num: int, passages: Sequence[IndexedPassage]) -> None:
        self.passages_added += len(passages)
        self._connection.executemany(
            ADD_ENTRY,
            (
                (
                    self.space,
                    num,
                    passage.ordinal,
                    passage.start,
                    passage.end,
                    passage.length,
                    pack_terms(passage.terms),
                )
                for passage in passages
            ),
        )

    def _remove_entries(self, num: int) -> int:
        rows = self._connection.execute("SELECT num, length, terms FROM entry WHERE memory = ?", (num,)).fetchall()
        old = [segments.OldEntry(entry, length, tuple(unpack_terms(blob)[0])) for entry, length, blob in rows]
        segments.remove(self._connection, self.space, self._version, old)
        return len(old)

    def _add_vectors(self, epoch: tuple[int, int], num: int, made: MadeVectors) -> None:
        self.vectors_added += len(made.vectors)
        passages = self._connection.execute("SELECT count(*) FROM entry WHERE memory = ?", (num,)).fetchone()[0]
        if len(made.vectors) != passages:
            raise InvalidInput(
                f"vectors: {len(made.vectors)} for {passages} passages of {made.key.id!r}; give one each"
            )
        for ordinal, vector in enumerate(made.vectors):
            if vector.shape != (epoch[1],) or not np.isfinite(vector).all():
                raise WrongVector(
                    f"vector: of memory {made.key.id!r} has shape {vector.shape} or is not finite; "
                    f"this epoch holds {epoch[1]} finite numbers each"
                )
            # An empty row for a passage the model has nothing to say of: done, and never compared.
            value = vector.astype(np.float16).tobytes() if vector.any() else b""
            self._connection.execute(ADD_VECTOR, (epoch[0], self.space, num, ordinal, value))

    def _remove_vectors(self, num: int, epoch: int | None = None) -> int:
        rows = self._connection.execute("SELECT num, epoch FROM vector WHERE memory = ?", (num,)).fetchall()
        gone = [row for row in rows if epoch is None or row[1] == epoch]
        for vector, own in gone:
            self._connection.execute("DELETE FROM vector WHERE num = ?", (vector,))
            self._connection.execute(
                "INSERT INTO gone_vector (epoch, space, vector) VALUES (?, ?, ?)", (own, self.space, vector)
            )
            self.erased.setdefault(own, []).append(vector)
        return len(gone)
