"""The dense leg: cosine over the vectors of one space and epoch, exact where that is fast, else 1-bit codes first.

`VectorTable` is what one process remembers: the rows of the cache file, memory-mapped, and the tail that came since.
Rows are only ever appended; removed ones are marked. A code is the sign of every dimension, 32 bytes for 256: the
Hamming distance to the query's code makes a short list, which the real vectors then order.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from trivium.store.sqlite.ranking import Passages
from trivium.store.sqlite.ranking import joined as joined_passages

Matrix: TypeAlias = npt.NDArray[np.float32]
Codes: TypeAlias = npt.NDArray[np.uint64]
Integers: TypeAlias = npt.NDArray[np.int64]
Bools: TypeAlias = npt.NDArray[np.bool_]
Permitted: TypeAlias = "Callable[[Integers], Bools | None]"

EXACT_ROWS = 16_384  # below this a full product takes under 0.5 ms, and codes save nothing
EXACT_CHOSEN = 4_096  # rows picked by a filter: gathering more of them costs more than the codes
RESCORED_LEAST = 2_000  # recall@10 .988 at 100,000 rows
RESCORED_SHARE = 200  # and one in 200 rows beyond that: keeps recall@10 above .98 at a million

READ_VECTORS = """
SELECT num, memory, ordinal, value FROM vector WHERE epoch = ? AND space = ? AND num > ? AND value <> x'' ORDER BY num
"""
READ_GONE = "SELECT num, vector FROM gone_vector WHERE epoch = ? AND space = ? AND num > ? ORDER BY num"


@dataclass(frozen=True, slots=True)
class Block:
    """Rows in the order of their numbers: the cached ones, or the tail."""

    numbers: Integers
    memories: Integers
    ordinals: Integers
    vectors: Matrix
    codes: Codes  # one row per 64 dimensions, one column per vector: the scan reads it straight through
    alive: Bools

    def __len__(self) -> int:
        return len(self.numbers)


@dataclass(frozen=True, slots=True)
class VectorTable:
    """The vectors of a space and epoch up to the vector number `last` and the removal number `last_gone`."""

    base: Block
    tail: Block
    last: int
    last_gone: int

    def __len__(self) -> int:
        return len(self.base) + len(self.tail)


def empty_block(dimension: int) -> Block:
    none = np.zeros(0, np.int64)
    return Block(none, none, none, np.zeros((0, dimension), np.float32), codes_of(np.zeros((0, dimension))), none > 0)


def refreshed(connection: sqlite3.Connection, epoch: int, space: int, dimension: int, old: VectorTable) -> VectorTable:
    """The table as the connection's snapshot shows it."""
    rows = connection.execute(READ_VECTORS, (epoch, space, old.last)).fetchall()
    gone = connection.execute(READ_GONE, (epoch, space, old.last_gone)).fetchall()
    if not rows and not gone:
        return old
    tail = old.tail
    if rows:
        tail = joined(tail, block_of(rows, dimension))
    numbers = np.array([row[1] for row in gone], np.int64)
    return VectorTable(
        _without(old.base, numbers),
        _without(tail, numbers),
        rows[-1][0] if rows else old.last,
        gone[-1][0] if gone else old.last_gone,
    )


def block_of(rows: list[tuple[int, int, int, bytes]], dimension: int) -> Block:
    """A block of freshly read rows. Vectors lie in the file as float16: the same values that every backend keeps."""
    numbers, memories, ordinals = np.array([row[:3] for row in rows], np.int64).T.copy()
    halves = np.frombuffer(b"".join(row[3] for row in rows), np.float16)
    vectors = halves.reshape(len(rows), dimension).astype(np.float32)
    return Block(numbers, memories, ordinals, vectors, codes_of(vectors), np.ones(len(rows), np.bool_))


def joined(one: Block, two: Block) -> Block:
    if not len(one):
        return two
    return Block(
        np.concatenate([one.numbers, two.numbers]),
        np.concatenate([one.memories, two.memories]),
        np.concatenate([one.ordinals, two.ordinals]),
        np.concatenate([one.vectors, two.vectors]),
        np.concatenate([one.codes, two.codes], axis=1),
        np.concatenate([one.alive, two.alive]),
    )


def _without(block: Block, numbers: Integers) -> Block:
    if not len(block) or not len(numbers):
        return block
    alive = block.alive & ~np.isin(block.numbers, numbers)
    return Block(block.numbers, block.memories, block.ordinals, block.vectors, block.codes, alive)


def codes_of(vectors: npt.NDArray[np.floating]) -> Codes:
    """The sign bits of each row, padded to whole 64-bit words, laid out word by word."""
    bits = np.packbits(vectors > 0, axis=1)
    padded = np.zeros((len(vectors), -(-bits.shape[1] // 8) * 8), np.uint8)
    padded[:, : bits.shape[1]] = bits
    return np.ascontiguousarray(padded.view(np.uint64).T)


@dataclass(frozen=True, slots=True)
class Scored:
    """Scored rows of a block: their positions and cosines. `exact` when every allowed row was compared."""

    rows: Integers
    scores: npt.NDArray[np.float64]
    exact: bool


def score(block: Block, query: Matrix, permitted: Bools | None, depth: int, *, exact: bool) -> Scored:
    """The cosines of the rows that may be returned: all of them, or a short list that holds the best with recall
    at least 0.98."""
    chosen = block.alive if permitted is None else block.alive & permitted
    count = int(np.count_nonzero(chosen))
    if count == len(block) and (exact or count <= EXACT_ROWS):
        return Scored(np.arange(count), (block.vectors @ query).astype(np.float64), True)
    if exact or count <= EXACT_CHOSEN:
        rows = np.flatnonzero(chosen)
    else:
        wanted = max(RESCORED_LEAST, len(block) // RESCORED_SHARE, 20 * depth)
        rows = _short_list(block.codes, query, None if count == len(block) else chosen, wanted)
    return Scored(rows, (block.vectors[rows] @ query).astype(np.float64), len(rows) == count)


def _short_list(codes: Codes, query: Matrix, chosen: Bools | None, wanted: int) -> Integers:
    """About `wanted` rows nearest by Hamming distance, whole distances at a time."""
    mine = codes_of(query[None, :])[:, 0]
    distance = np.bitwise_count(codes[0] ^ mine[0]).astype(np.uint16)
    for word in range(1, len(mine)):
        distance += np.bitwise_count(codes[word] ^ mine[word])
    far = 64 * len(mine) + 1
    if chosen is not None:
        distance[~chosen] = far
    below = np.cumsum(np.bincount(distance, minlength=far + 1)[:far])
    bound = int(np.searchsorted(below, wanted))
    return np.flatnonzero(distance <= min(bound, far - 1))


def candidates(
    table: VectorTable, query: Matrix, permitted: Permitted, depth: int, *, exact: bool
) -> tuple[Passages, bool]:
    """The scored passages of base and tail, and whether every allowed one was compared."""
    parts = []
    compared_all = True
    for block in (table.base, table.tail):
        scored = score(block, query, permitted(block.memories), depth, exact=exact)
        rows = scored.rows
        parts.append(Passages(scored.scores, block.memories[rows], block.ordinals[rows], rows))
        compared_all = compared_all and scored.exact
    return joined_passages(parts), compared_all
