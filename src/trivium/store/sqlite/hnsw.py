"""An HNSW graph (Malkov and Yashunin 2016, by usearch) over the base of a vector table, and its file.

It knows vectors by their number, which is never used twice, so it outlives compactions of the table: rows it does not
know are compared beside it, rows that are gone are left out of its answers. It only makes a short list, which the
stored vectors then order.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from trivium.errors import MissingExtra
from trivium.store.sqlite.dense import Block, Integers, Matrix, Permitted, VectorTable
from trivium.store.sqlite.dense import candidates as compared
from trivium.store.sqlite.ranking import Passages, joined

# Recall@10 on 100,000 sentences of our dev sets, static embedder: .984 in 0.84 ms, .988 at 20,000. With 16 connections
# it takes 512 to come to .980, in 1.4 ms; with half the expansion it is .966.
CONNECTIVITY = 32
EXPANSION_ADD = 128
EXPANSION_SEARCH = 256
MOST = 4_096  # vectors asked for when most of the nearest may not be returned; beyond that the codes are faster
CHUNK = 256  # rows added at a time: how soon a build can be stopped
KEPT_LEAST = 1_024  # rows; a build that was stopped is kept when it got this much further
CHECKED = 32  # vectors compared with the table, twice: the last ones, where a restored store would differ, and a sample

FILE = "hnsw.usearch"
DRAFT = "hnsw.draft"
FILE_HEAD_BYTES = 8  # two uint32: how many vectors, of how many bytes; then come the vectors, in the order of adding

GoneSince: TypeAlias = "Callable[[], Integers]"  # the vectors removed since the table a graph is built from


@dataclass(frozen=True, slots=True)
class Graph:
    """A saved graph, memory-mapped. Its vectors were added in the order of their numbers."""

    index: Any
    numbers: Integers
    lock: threading.Lock = field(default_factory=threading.Lock)  # a usearch index is not for two searches at a time

    def nearest(self, query: Matrix, count: int) -> Integers:
        """About the nearest `count`, by number."""
        with self.lock:
            found = self.index.search(query, count, threads=1).keys
        return np.asarray(found).astype(np.int64)

    def reach(self, block: Block) -> int:
        """How many rows of the block, from the first, came before the end of the graph."""
        return int(np.searchsorted(block.numbers, self.numbers[-1], side="right"))

    def fits(self, block: Block) -> bool:
        """Whether it was built from these rows: the vectors looked at are in it, or were wiped since."""
        rows = np.flatnonzero(block.alive[: self.reach(block)])
        for row in {*rows[-CHECKED:].tolist(), *rows[:: max(1, len(rows) // CHECKED)].tolist()}:
            stored = self.index.get(int(block.numbers[row]))
            if stored is None or (stored.any() and not np.array_equal(stored, block.vectors[row])):
                return False
        return True

    def gone_share(self, block: Block) -> float:
        """How much of it the block no longer has."""
        shared = int(np.searchsorted(self.numbers, block.numbers[-1], side="right"))
        return 1 - np.count_nonzero(block.alive[: self.reach(block)]) / max(1, shared)


def require() -> None:
    """Raises MissingExtra where usearch is not installed."""
    try:
        import usearch.index  # noqa: F401
    except ImportError as error:
        raise MissingExtra("HNSW", "hnsw") from error


def candidates(
    graph: Graph, table: VectorTable, query: Matrix, permitted: Permitted, depth: int
) -> tuple[Passages, bool] | None:
    """The scored passages of at least `depth` memories; None where the graph does not find that many, or may return so
    few of what it finds that better ones may lie beyond."""
    base = table.base
    wanted = max(2 * depth, EXPANSION_SEARCH)
    while True:
        found = graph.nearest(query, min(wanted, len(graph.numbers)))
        rows = _living(base, found)
        allowed = permitted(base.memories[rows])
        rows = rows if allowed is None else rows[allowed]
        if 2 * len(rows) >= len(found) and len(np.unique(base.memories[rows])) >= depth:
            break
        wanted *= 4
        if wanted > min(MOST, len(graph.numbers)):
            return None
    scores = (base.vectors[rows] @ query).astype(np.float64)
    beside, _ = compared(_beside(graph, table), query, permitted, depth, exact=False)
    return joined([Passages(scores, base.memories[rows], base.ordinals[rows], rows), beside]), False


def _living(block: Block, numbers: Integers) -> Integers:
    """The rows of the block that have these numbers and are not gone."""
    rows = np.minimum(np.searchsorted(block.numbers, numbers), len(block) - 1)
    found: Integers = rows[(block.numbers[rows] == numbers) & block.alive[rows]]
    return found


def _beside(graph: Graph, table: VectorTable) -> VectorTable:
    """The rows that the graph does not know of."""
    base, new = table.base, slice(graph.reach(table.base), None)
    rest = replace(
        base,
        numbers=base.numbers[new], memories=base.memories[new], ordinals=base.ordinals[new],
        vectors=base.vectors[new], codes=base.codes[:, new], alive=base.alive[new],
    )  # fmt: skip
    return replace(table, base=rest)


def view(path: Path, dimension: int) -> Graph | None:
    """The graph in a file, or None where there is none that can be read."""
    index = _empty(dimension)
    try:
        rows, width = np.fromfile(path, np.uint32, 2).tolist()
        index.view(str(path))
    except (OSError, ValueError, RuntimeError):  # RuntimeError: how usearch says that a file is damaged
        return None
    if (rows, width) != (len(index), 2 * dimension) or not rows:
        return None
    index.expansion_search = EXPANSION_SEARCH  # else it is what the file says
    return Graph(index, np.sort(np.asarray(index.keys)).astype(np.int64))


def _empty(dimension: int) -> Any:
    from usearch.index import Index

    # The inner product is the cosine of unit vectors, and a vector wiped to zeros is far from every query.
    return Index(
        ndim=dimension, metric="ip", dtype="f16", connectivity=CONNECTIVITY,
        expansion_add=EXPANSION_ADD, expansion_search=EXPANSION_SEARCH,
    )  # fmt: skip


def build(folder: Path, base: Block, gone_since: GoneSince, stop: threading.Event, *, extend: bool) -> None:
    """Make a graph of the living rows, or add those that it lacks to the one in the file, and save it. A build that is
    told to stop goes on in a later session from what it saved. Raises OSError or RuntimeError."""
    index = _empty(base.vectors.shape[1])
    rows = np.flatnonzero(base.alive)
    old = view(folder / FILE, index.ndim) if extend else None
    if old is not None:
        index.load(str(folder / FILE))
        rows = rows[rows >= old.reach(base)]
    added = 0
    while added < len(rows) and not stop.is_set():
        some = rows[added : added + CHUNK]
        index.add(base.numbers[some].astype(np.uint64), base.vectors[some], threads=1)  # one thread keeps the order
        added += len(some)
    if added >= min(len(rows), KEPT_LEAST) > 0:
        _save(folder, index, base, gone_since)


def _save(folder: Path, index: Any, base: Block, gone_since: GoneSince) -> None:
    """Put the graph in place without a vector that is gone, however late it went: one removed before the last look is
    wiped here, one removed after it is wiped by `erase`, which finds the file in place."""
    draft = folder / DRAFT
    index.save(str(draft))
    graph = view(draft, index.ndim)
    if graph is not None:
        wipe(draft, graph, np.setdiff1d(graph.numbers, base.numbers[base.alive]))
    os.replace(draft, folder / FILE)
    wipe(folder / FILE, graph, gone_since())


def wipe(path: Path, graph: Graph | None, numbers: Integers) -> None:
    """Overwrite vectors with zeros in the file that the graph is a view of; without a graph, remove the file."""
    if graph is None:
        path.unlink(missing_ok=True)
        return
    slots = np.flatnonzero(np.isin(graph.numbers, numbers))
    if len(slots):
        shape = (len(graph.numbers), graph.index.ndim)
        cells = np.memmap(path, np.float16, "r+", offset=FILE_HEAD_BYTES, shape=shape)
        cells[slots] = 0
        cells.flush()


def drop(folder: Path) -> None:
    """Remove the file of a graph, where nobody can wipe a vector from it: it can be built again."""
    for path in (folder / FILE, folder / DRAFT):
        if path.exists():  # not in vain: where a folder should be there may be a file
            path.unlink(missing_ok=True)
