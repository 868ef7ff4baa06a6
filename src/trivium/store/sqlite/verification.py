"""What can be proved by reading the file: no vector of a sensitive row, receipts that hold, indexes that agree."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable

import numpy as np

from trivium.record import content_hash
from trivium.store.contract import Finding
from trivium.store.sqlite.epochs import EpochRow
from trivium.store.sqlite.postings import unpack_postings, unpack_terms
from trivium.store.sqlite.segments import READ_POSTINGS, read_columns
from trivium.store.sqlite.vectors import Vectors

RESTORE = "trivium restore BACKUP"
REINDEX = "trivium reindex"
REEMBED = "trivium reembed"

GoneByNow = Callable[[set[int]], set[int]]  # of these vectors, the ones that the newest state no longer has

UNREADABLE = (ValueError, IndexError)  # a blob of another size, text that is not UTF-8, a document that is not there

# Each query finds rows that must not exist; the first column names one.
MUST_BE_EMPTY = (
    (
        "a sensitive memory has a vector",
        "SELECT m.id FROM vector v JOIN memory m ON m.num = v.memory WHERE m.sensitive = 1",
        REEMBED,
    ),
    (
        "a sensitive memory waits for a vector",
        "SELECT m.id FROM pending p JOIN memory m ON m.num = p.memory WHERE m.sensitive = 1",
        REEMBED,
    ),
    (
        "a vector belongs to no memory",
        "SELECT num FROM vector WHERE memory NOT IN (SELECT num FROM memory)",
        REEMBED,
    ),
    (
        "a passage belongs to no memory",
        "SELECT num FROM entry WHERE memory NOT IN (SELECT num FROM memory)",
        REINDEX,
    ),
    (
        "a memory has no passage",
        "SELECT id FROM memory WHERE num NOT IN (SELECT memory FROM entry)",
        REINDEX,
    ),
    (
        "a memory has neither a vector nor a mark that it waits for one",
        "SELECT m.id FROM memory m, epoch e WHERE m.sensitive = 0 "
        "AND NOT EXISTS (SELECT 1 FROM pending p WHERE p.epoch = e.num AND p.memory = m.num) "
        "AND NOT EXISTS (SELECT 1 FROM vector v WHERE v.epoch = e.num AND v.memory = m.num)",
        REEMBED,
    ),
    (
        "a tag points to no memory",
        "SELECT tag FROM tag WHERE memory NOT IN (SELECT num FROM memory)",
        REINDEX,
    ),
    (
        "a forgotten memory is still there",
        "SELECT r.id FROM receipt r JOIN space s ON s.name = r.space JOIN memory m ON m.space = s.num AND m.id = r.id "
        "WHERE m.created_at <= r.at",
        "trivium forget ID",
    ),
)


def findings(connection: sqlite3.Connection, vectors: Vectors, gone_by_now: GoneByNow) -> list[Finding]:
    """Everything wrong, an empty list when all is well. A file that cannot be read is a finding, not an error."""
    try:
        return _damage(connection) or _disagreements(connection, vectors, gone_by_now)
    except sqlite3.DatabaseError as error:
        return [Finding(f"the file is damaged: {error}", RESTORE)]


def _damage(connection: sqlite3.Connection) -> list[Finding]:
    """Pages that do not fit together, and texts that are not what was stored: SQLite has no checksums."""
    found = [
        Finding(f"the file is damaged: {row[0]}", RESTORE)
        for row in connection.execute("PRAGMA integrity_check(5)").fetchall()
        if row[0] != "ok"
    ]
    if found:
        return found
    for id, title, content, stored in connection.execute("SELECT id, title, content, content_hash FROM memory"):
        if content_hash(title, content) != stored:
            found.append(Finding(f"the text of memory {id!r} is not the one that was stored", RESTORE))
    return found


def _disagreements(connection: sqlite3.Connection, vectors: Vectors, gone_by_now: GoneByNow) -> list[Finding]:
    found: list[Finding] = []
    for what, query, mend in MUST_BE_EMPTY:
        rows = connection.execute(query).fetchall()
        if rows:
            found.append(Finding(f"{what}: {rows[0][0]} (and {len(rows) - 1} more)", mend))
    for num, name, flushed in connection.execute("SELECT num, name, flushed FROM space").fetchall():
        try:
            found += _check_postings(connection, num, name, flushed)
        except UNREADABLE as error:
            found.append(Finding(f"the lexical index of space {name!r} is damaged: {error}", RESTORE))
        for epoch in connection.execute("SELECT num, fingerprint, dimension FROM epoch").fetchall():
            try:
                wrong = _wrong_vectors(connection, vectors, num, EpochRow(*epoch))
                # Others wipe from the cache what they forget, also while this reads an older state.
                wrong -= gone_by_now(wrong) if wrong else set()
                if wrong:
                    what = f"{len(wrong)} cached vectors of space {name!r} disagree with the file"
                    found.append(Finding(what, "delete the -cache folder"))
            except UNREADABLE as error:
                found.append(Finding(f"the vectors of space {name!r} are damaged: {error}", RESTORE))
    return found


def _check_postings(connection: sqlite3.Connection, space: int, name: str, flushed: int) -> list[Finding]:
    """The postings, read backwards into (entry, term, frequency), are exactly what the entries say."""
    backwards: Counter[tuple[int, str, int]] = Counter()
    counts = [0, 0]
    for segment, documents, length in connection.execute(
        "SELECT num, documents, length FROM segment WHERE space = ?", (space,)
    ).fetchall():
        counts = [counts[0] + documents, counts[1] + length]
        entries = read_columns(connection, segment).entries
        for term, blob in connection.execute(READ_POSTINGS, (segment,)):
            numbers, frequencies = unpack_postings(blob)
            backwards.update(zip(entries[numbers].tolist(), [term] * len(numbers), frequencies.tolist(), strict=True))
    sums = [0, 0]
    for entry, length, blob in connection.execute(
        "SELECT num, length, terms FROM entry WHERE space = ? AND num <= ?", (space, flushed)
    ):
        sums = [sums[0] + 1, sums[1] + length]
        terms, counted = unpack_terms(blob)
        backwards.subtract(zip([entry] * len(terms), terms, counted, strict=True))
    wrong = sum(1 for count in backwards.values() if count)
    found = []
    if wrong:
        found.append(Finding(f"{wrong} postings of space {name!r} disagree with its passages", REINDEX))
    if counts != sums:
        found.append(Finding(f"the counts of space {name!r} are wrong: {counts} instead of {sums}", REINDEX))
    return found


def _wrong_vectors(connection: sqlite3.Connection, vectors: Vectors, space: int, epoch: EpochRow) -> set[int]:
    """The numbers of the vectors that are not the same in the cache and in the file."""
    version = connection.execute("SELECT version FROM space WHERE num = ?", (space,)).fetchone()[0]
    table = vectors.table(connection, space, version, epoch)
    cached = {
        int(number): row
        for block in (table.base, table.tail)
        for number, row in zip(block.numbers[block.alive], block.vectors[block.alive], strict=True)
    }
    wrong = set()
    for number, value in connection.execute(
        "SELECT num, value FROM vector WHERE epoch = ? AND space = ? AND value <> x''", (epoch.num, space)
    ):
        row = cached.pop(number, None)
        if row is None or not np.array_equal(row, np.frombuffer(value, np.float16).astype(np.float32)):
            wrong.add(number)
    return wrong | cached.keys()
