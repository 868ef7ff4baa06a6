"""The dense leg: cosine over the vectors of one space and epoch, exact where that is fast, else 1-bit codes first.

`VectorTable` is what one process remembers: the rows of the cache file, memory-mapped, and the tail that came since.
Rows are only ever appended; removed ones are marked. A code is the sign of every dimension, before and after a fixed
rotation: 64 bytes for 256 dimensions. The Hamming distance to the query's code makes a short list, which the real
vectors then order.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
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
GATHER_COST = 4  # a row picked out costs about as much as four in a product over all of them
EXACT_CHOSEN = 4_096  # rows picked by a filter: gathering more of them costs more than the codes
RESCORED_LEAST = 1_000  # recall@10 .986 to .999 at 100,000 rows (docs/decisions/0005-dense-codes-and-cache.md)
RESCORED_SHARE = 500  # and one in 500 rows beyond that
COARSE_SHARE = 8  # rows that the first half of the code lets through, for each one that is rescored
SAMPLED = 16_384  # rows whose distances are counted: counting all of them would cost a third of the scan
ROTATION_SEED = 7

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


def code_words(dimension: int) -> int:
    """64-bit words in a code: the signs of the vector, then those of the vector turned."""
    return 2 * -(-dimension // 64)


def codes_of(vectors: npt.NDArray[np.floating]) -> Codes:
    """A code for each row, laid out word by word. One bit a dimension is too coarse for vectors that lie close; the
    signs after a fixed rotation are as good as as many dimensions more."""
    vectors = vectors.astype(np.float32, copy=False)
    halves = [_packed(vectors > 0), _packed(vectors @ _rotation(vectors.shape[1]) > 0)]
    return np.ascontiguousarray(np.concatenate(halves, axis=1).T)


def _packed(signs: Bools) -> Codes:
    """Bits of each row, padded to whole words."""
    bits = np.packbits(signs, axis=1)
    padded = np.zeros((len(signs), -(-bits.shape[1] // 8) * 8), np.uint8)
    padded[:, : bits.shape[1]] = bits
    return padded.view(np.uint64)


@cache
def _rotation(dimension: int) -> Matrix:
    random = np.random.default_rng(ROTATION_SEED)
    return np.linalg.qr(random.standard_normal((dimension, dimension)))[0].astype(np.float32)


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
    compare_all = exact or len(block) <= EXACT_ROWS or count <= EXACT_CHOSEN
    if compare_all:
        rows = np.flatnonzero(chosen)
    else:
        wanted = max(RESCORED_LEAST, len(block) // RESCORED_SHARE, 20 * depth)
        rows = _short_list(block.codes, query, None if count == len(block) else chosen, wanted)
    all_at_once = len(rows) * GATHER_COST > len(block)
    scores = (block.vectors @ query)[rows] if all_at_once else block.vectors[rows] @ query
    return Scored(rows, scores.astype(np.float64), compare_all)


def _short_list(codes: Codes, query: Matrix, chosen: Bools | None, wanted: int) -> Integers:
    """About `wanted` rows nearest by Hamming distance: by half of the code over all rows, then by all of it."""
    mine = codes_of(query[None, :])[:, 0]
    half = len(mine) // 2
    distance = np.bitwise_count(codes[0] ^ mine[0]).astype(np.uint16)
    for word in range(1, half):
        distance += np.bitwise_count(codes[word] ^ mine[word])
    far = 64 * len(mine)
    if chosen is not None:
        distance[~chosen] = far
    rows = _nearest(distance, COARSE_SHARE * wanted, far)
    distance = distance[rows]
    for word in range(half, len(mine)):
        distance += np.bitwise_count(codes[word][rows] ^ mine[word])
    return rows[_nearest(distance, wanted, far)]


def _nearest(distance: npt.NDArray[np.uint16], wanted: int, far: int) -> Integers:
    """About `wanted` rows, whole distances at a time; none at `far` or beyond. How far to go is told by a sample."""
    step = max(1, len(distance) // SAMPLED)
    within = np.cumsum(np.bincount(distance[::step], minlength=far)[:far])
    bound = min(int(np.searchsorted(within, -(-wanted // step))), far - 1)
    return np.flatnonzero(distance <= bound)


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
