"""Posting segments, log-structured: recent entries stay a delta, a full delta becomes a segment, segments merge.

A segment covers a run of entry numbers of one space and is never appended to. Its documents are numbered from 0 in the
order of their entries. Removing an entry rewrites the posting rows of its terms, so that what was forgotten is gone
from the file and every document frequency stays exact without a list of the dead.
"""

from __future__ import annotations

import sqlite3
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from trivium.errors import NotAStore
from trivium.store.sqlite.postings import (
    Documents,
    join_postings,
    pack_postings,
    unpack_postings,
    unpack_terms,
    without,
)

DELTA_LIMIT = 1_024  # entries every reader keeps decoded in memory: 30 ms to load them in a new process
MERGE_FACTOR = 8  # segments of one size that become one of the next: each posting is rewritten about log8(n) times
LARGEST_SEGMENT = 262_144  # documents; merging larger ones would hold the write lock for many seconds

Integers = npt.NDArray[np.int64]

READ_DELTA = "SELECT num, memory, ordinal, length, terms FROM entry WHERE space = ? AND num > ? ORDER BY num"
READ_SEGMENTS = "SELECT num, documents FROM segment WHERE space = ? ORDER BY first"
READ_COLUMNS = "SELECT entries, memories, ordinals, lengths FROM segment WHERE num = ?"
READ_POSTINGS = "SELECT term, documents FROM posting WHERE segment = ?"
FIND_SEGMENT = "SELECT num, entries FROM segment WHERE space = ? AND first <= ? AND last >= ?"
ADD_SEGMENT = """
INSERT INTO segment (space, first, last, documents, length, entries, memories, ordinals, lengths)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
ADD_POSTING = "INSERT INTO posting (segment, term, documents) VALUES (?, ?, ?)"


@dataclass(frozen=True, slots=True)
class Columns:
    """What is known of each document of a segment, in order."""

    entries: Integers
    memories: Integers
    ordinals: Integers
    lengths: Integers


def read_columns(connection: sqlite3.Connection, segment: int) -> Columns:
    row = connection.execute(READ_COLUMNS, (segment,)).fetchone()
    return Columns(*(np.frombuffer(blob, np.int64) for blob in row))


def flush_due(connection: sqlite3.Connection, space: int) -> bool:
    """Whether the delta of a space is full."""
    sql = "SELECT count(*) FROM entry WHERE space = ?1 AND num > (SELECT flushed FROM space WHERE num = ?1)"
    return bool(connection.execute(sql, (space,)).fetchone()[0] >= DELTA_LIMIT)


def flush(connection: sqlite3.Connection, space: int) -> None:
    """Turn the delta of a space into a segment."""
    flushed = connection.execute("SELECT flushed FROM space WHERE num = ?", (space,)).fetchone()[0]
    rows: list[tuple[int, int, int, int]] = []
    documents: defaultdict[str, array[int]] = defaultdict(lambda: array("I"))
    frequencies: defaultdict[str, array[int]] = defaultdict(lambda: array("H"))
    for local, (num, memory, ordinal, length, blob) in enumerate(connection.execute(READ_DELTA, (space, flushed))):
        rows.append((num, memory, ordinal, length))
        for term, frequency in zip(*unpack_terms(blob), strict=True):
            documents[term].append(local)
            frequencies[term].append(frequency)
    if not rows:
        return
    columns = Columns(*np.array(rows, np.int64).T.copy())
    postings = ((term, pack_postings(documents[term], frequencies[term])) for term in sorted(documents))
    _add_segment(connection, space, columns, postings)
    connection.execute("UPDATE space SET flushed = ?, version = version + 1 WHERE num = ?", (rows[-1][0], space))
    connection.execute("DELETE FROM gone_entry WHERE space = ?", (space,))


def merge_due(connection: sqlite3.Connection, space: int) -> list[int]:
    """The neighbouring segments to merge next: MERGE_FACTOR of one size. Empty when none are due."""
    run: list[int] = []
    tier = -1
    for num, documents in connection.execute(READ_SEGMENTS, (space,)).fetchall():
        size = _tier(documents)
        if size != tier:
            run, tier = [], size
        run.append(num)
        if len(run) == MERGE_FACTOR and MERGE_FACTOR * documents <= LARGEST_SEGMENT * 2:
            return run
    return []


def newest_run(connection: sqlite3.Connection, space: int) -> list[int]:
    """The newest segments that fit into one of the largest size: after a bulk load they are better off as one."""
    run: list[int] = []
    room = 2 * LARGEST_SEGMENT
    for num, documents in reversed(connection.execute(READ_SEGMENTS, (space,)).fetchall()):
        room -= documents
        if room < 0:
            break
        run.insert(0, num)
    return run


def _tier(documents: int) -> int:
    """0 for a flushed delta, one more for every factor of MERGE_FACTOR."""
    tier, bound = 0, DELTA_LIMIT * MERGE_FACTOR // 2
    while documents >= bound:
        tier, bound = tier + 1, bound * MERGE_FACTOR
    return tier


def merge(connection: sqlite3.Connection, space: int, segments: list[int]) -> None:
    """Make one segment of neighbours, leaving out the entries that were removed since."""
    parts: list[Columns] = []
    pieces: defaultdict[str, list[tuple[Documents, npt.NDArray[np.uint16]]]] = defaultdict(list)
    base = 0
    for segment in segments:
        columns = read_columns(connection, segment)
        keep = _living(connection, space, columns.entries)
        renumber = (np.cumsum(keep) - 1 + base).astype(np.uint32)
        for term, blob in connection.execute(READ_POSTINGS, (segment,)):
            documents, frequencies = unpack_postings(blob)
            pieces[term].append((renumber[documents], frequencies))
        parts.append(Columns(*(getattr(columns, name)[keep] for name in Columns.__slots__)))
        base += int(keep.sum())
    marks = [(segment,) for segment in segments]
    connection.executemany("DELETE FROM posting WHERE segment = ?", marks)
    connection.executemany("DELETE FROM segment WHERE num = ?", marks)
    merged = Columns(*(np.concatenate([getattr(part, name) for part in parts]) for name in Columns.__slots__))
    _add_segment(connection, space, merged, _joined(pieces))
    connection.execute("UPDATE space SET version = version + 1 WHERE num = ?", (space,))


def _living(connection: sqlite3.Connection, space: int, entries: Integers) -> npt.NDArray[np.bool_]:
    """Which of a segment's entries are still there."""
    ends = (space, int(entries[0]), int(entries[-1]))
    rows = connection.execute("SELECT num FROM entry WHERE space = ? AND num BETWEEN ? AND ? ORDER BY num", ends)
    live = np.fromiter((row[0] for row in rows), np.int64)
    return np.isin(entries, live, assume_unique=True)


def _joined(
    pieces: dict[str, list[tuple[Documents, npt.NDArray[np.uint16]]]],
) -> Iterator[tuple[str, bytes]]:
    for term in sorted(pieces):
        documents, frequencies = zip(*pieces[term], strict=True)
        if len(documents) == 1:
            yield term, join_postings(documents[0], frequencies[0])
        else:
            yield term, join_postings(np.concatenate(documents), np.concatenate(frequencies))


def _add_segment(
    connection: sqlite3.Connection, space: int, columns: Columns, postings: Iterable[tuple[str, bytes]]
) -> None:
    if not len(columns.entries):
        return
    cursor = connection.execute(
        ADD_SEGMENT,
        (
            space,
            int(columns.entries[0]),
            int(columns.entries[-1]),
            len(columns.entries),
            int(columns.lengths.sum()),
            columns.entries.tobytes(),
            columns.memories.tobytes(),
            columns.ordinals.tobytes(),
            columns.lengths.tobytes(),
        ),
    )
    segment = cursor.lastrowid
    connection.executemany(ADD_POSTING, ((segment, term, blob) for term, blob in postings))


@dataclass(frozen=True, slots=True)
class OldEntry:
    """An entry about to be removed."""

    num: int
    length: int
    terms: tuple[str, ...]


def remove(connection: sqlite3.Connection, space: int, version: int, entries: Iterable[OldEntry]) -> None:
    """Take entries out of the delta and out of every posting row they stand in."""
    flushed = connection.execute("SELECT flushed FROM space WHERE num = ?", (space,)).fetchone()[0]
    by_segment: defaultdict[int, list[tuple[int, OldEntry]]] = defaultdict(list)
    for entry in entries:
        connection.execute("DELETE FROM entry WHERE num = ?", (entry.num,))
        if entry.num > flushed:
            connection.execute("INSERT INTO gone_entry VALUES (?, ?, ?)", (space, version, entry.num))
            continue
        row = connection.execute(FIND_SEGMENT, (space, entry.num, entry.num)).fetchone()
        if row is None:
            raise NotAStore(f"the lexical index is damaged: no segment has passage {entry.num}; restore a backup")
        segment, blob = row
        local = int(np.searchsorted(np.frombuffer(blob, np.int64), entry.num))
        by_segment[segment].append((local, entry))
    for segment, gone in by_segment.items():
        _rewrite(connection, segment, gone)


def _rewrite(connection: sqlite3.Connection, segment: int, gone: list[tuple[int, OldEntry]]) -> None:
    by_term: defaultdict[str, list[int]] = defaultdict(list)
    for local, entry in gone:
        for term in entry.terms:
            by_term[term].append(local)
    for term, locals_ in by_term.items():
        key = (segment, term)
        row = connection.execute("SELECT documents FROM posting WHERE segment = ? AND term = ?", key).fetchone()
        if row is None:
            raise NotAStore(f"the lexical index is damaged: no postings of {term!r}; restore a backup")
        left = without(row[0], np.array(locals_, np.uint32))
        if left:
            connection.execute("UPDATE posting SET documents = ? WHERE segment = ? AND term = ?", (left, *key))
        else:
            connection.execute("DELETE FROM posting WHERE segment = ? AND term = ?", key)
    connection.execute(
        "UPDATE segment SET documents = documents - ?, length = length - ? WHERE num = ?",
        (len(gone), sum(entry.length for _, entry in gone), segment),
    )
