"""The vector tables a process has open, kept in step with the file and with the cache beside it."""

from __future__ import annotations

import shutil
import sqlite3
import threading
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import numpy as np

from trivium.errors import StoreError
from trivium.store.sqlite.dense import READ_GONE, Block, Integers, VectorTable, block_of, empty_block, joined, refreshed
from trivium.store.sqlite.epochs import EpochRow
from trivium.store.sqlite.graphs import Graphs
from trivium.store.sqlite.hnsw import Graph
from trivium.store.sqlite.hnsw import drop as drop_graph
from trivium.store.sqlite.vector_cache import Head, VectorCache
from trivium.store.sqlite.versions import Versions

CACHE_LEAST = 8_192  # rows; fewer are read from the store file in about 20 ms, a cache would only be litter
TAIL_LIMIT = 2_048  # rows kept apart from the base: a new row copies the tail, not the base
GONE_SHARE = 5  # compact when one row in five is dead
CHECKED = 64  # of the newest cached rows: those in which a restored file would differ

LAST_GONE = "SELECT coalesce(max(num), 0) FROM gone_vector WHERE epoch = ? AND space = ?"
LAST_VECTORS = """
SELECT num, memory, ordinal, value FROM vector WHERE epoch = ? AND space = ? AND num <= ? AND value <> x''
ORDER BY num DESC LIMIT ?
"""

GoneSince: TypeAlias = "Callable[[int, int, int], Integers]"  # (epoch, space, removal number) -> vectors removed since


class Vectors:
    """Tables by space and epoch. Thread-safe; each table is an immutable value that is replaced."""

    def __init__(
        self, folder: Path, identity: str, gone_since: GoneSince, *, read_only: bool, graphs: Graphs | None = None
    ) -> None:
        self._folder = folder
        self._identity = identity
        self._gone_since = gone_since
        self._read_only = read_only
        self._graphs = graphs
        self._tables: defaultdict[tuple[int, int], Versions[VectorTable]] = defaultdict(Versions)
        self._lock = threading.Lock()

    def table(self, connection: sqlite3.Connection, space: int, version: int, epoch: EpochRow) -> VectorTable:
        """The table at the version of the space that the connection's snapshot shows."""
        with self._lock:
            versions = self._tables[space, epoch.num]
            known = versions.at(version)
            if known is not None:
                return known
            old = versions.before(version) or self._opened(connection, space, epoch)
            table = refreshed(connection, epoch.num, space, epoch.dimension, old)
            if len(table.tail) > TAIL_LIMIT:
                table = self._settled(table, space, epoch)
            return versions.keep(version, table)

    def due(self, count: int) -> bool:
        """Whether so many new vectors are worth moving into the cache."""
        return count > TAIL_LIMIT

    def _opened(self, connection: sqlite3.Connection, space: int, epoch: EpochRow) -> VectorTable:
        nothing = empty_block(epoch.dimension)
        cached = self._cache(space, epoch).read()
        if cached is None:
            return VectorTable(nothing, nothing, 0, 0)
        head, block = cached
        if not _of_this_past(connection, space, epoch, head, block):
            return VectorTable(nothing, nothing, 0, 0)
        self._finish_erasing(connection, space, epoch, head, block)
        return VectorTable(block, nothing, head.last, head.last_gone)

    def _finish_erasing(
        self, connection: sqlite3.Connection, space: int, epoch: EpochRow, head: Head, block: Block
    ) -> None:
        """Wipe what a process left that was killed after it removed the rows and before it wiped them."""
        gone = connection.execute(READ_GONE, (epoch.num, space, head.last_gone)).fetchall()
        if self._read_only or not gone:
            return
        numbers = np.array([row[1] for row in gone], np.int64)
        if block.vectors[np.isin(block.numbers, numbers)].any():
            with suppress(OSError):  # a search does not fail for it
                self._wipe(space, epoch, numbers)

    def _settled(self, table: VectorTable, space: int, epoch: EpochRow) -> VectorTable:
        """The tail moved into the base: in the cache where there are enough rows, else in memory."""
        nothing = empty_block(epoch.dimension)
        if len(table) < CACHE_LEAST or self._read_only:
            return replace(table, base=joined(table.base, table.tail), tail=nothing)
        cache = self._cache(space, epoch)
        cached = cache.read()
        dead = len(table) - int(table.base.alive.sum()) - int(table.tail.alive.sum())
        try:
            if cached is not None and len(cached[1]) == len(table.base) and dead * GONE_SHARE < len(table):
                written = cache.append(table.tail, table.last)
            else:
                whole = _living(joined(table.base, table.tail))
                written = cache.rewrite(whole, table.last, table.last_gone)
            if written:  # what was removed after the state that this reader sees was not there yet to be wiped
                self._wipe(space, epoch, self._gone_since(epoch.num, space, table.last_gone))
        except OSError:  # a full or read-only disk: the cache is a convenience, the rows are safe in the file
            written = False
        cached = cache.read() if written else None
        if cached is None or cached[0].last != table.last:
            return replace(table, base=joined(table.base, table.tail), tail=nothing)
        return VectorTable(_marked(cached[1], table), nothing, table.last, table.last_gone)

    def graph(self, space: int, epoch: EpochRow, table: VectorTable) -> Graph | None:
        """The HNSW graph over the table's base, where the store was opened with one and it is ready."""
        if self._graphs is None:
            return None
        return self._graphs.of(
            self._cache_folder(space, epoch), table.base, lambda: self._gone_since(epoch.num, space, table.last_gone)
        )

    def close(self) -> None:
        if self._graphs is not None:
            self._graphs.close()

    def erase(self, space: int, epoch: EpochRow, numbers: Integers) -> None:
        """Wipe vectors from the cache files. The tables learn of it from the store file."""
        try:
            self._wipe(space, epoch, numbers)
        except OSError as error:
            cache = self._folder.name
            raise StoreError(
                f"the memories are gone from the store, but not their vectors from {cache}; delete that folder"
            ) from error

    def _wipe(self, space: int, epoch: EpochRow, numbers: Integers) -> None:
        if not len(numbers):
            return
        folder = self._cache_folder(space, epoch)
        self._cache(space, epoch).erase(numbers)
        if self._graphs is None:
            drop_graph(folder)
        else:
            self._graphs.erase(folder, numbers, epoch.dimension)

    def drop(self, epoch: int) -> None:
        """Forget every table and cache of an epoch."""
        with self._lock:
            for key in [key for key in self._tables if key[1] == epoch]:
                del self._tables[key]
        for path in self._folder.glob(f"*-{epoch}"):
            shutil.rmtree(path, ignore_errors=True)

    def _cache(self, space: int, epoch: EpochRow) -> VectorCache:
        identity = f"{self._identity}/{epoch.fingerprint}"
        return VectorCache(self._cache_folder(space, epoch), identity, epoch.dimension)

    def _cache_folder(self, space: int, epoch: EpochRow) -> Path:
        return self._folder / f"{space}-{epoch.num}"


def _of_this_past(connection: sqlite3.Connection, space: int, epoch: EpochRow, head: Head, block: Block) -> bool:
    """Whether the cache holds an earlier state of what the connection sees. It does not where the file was restored
    from an older copy, which may have given the same numbers to other vectors since, or where the snapshot is older."""
    if head.last_gone > connection.execute(LAST_GONE, (epoch.num, space)).fetchone()[0]:
        return False
    last = connection.execute(LAST_VECTORS, (epoch.num, space, head.last, CHECKED)).fetchall()
    beyond = block.numbers[block.numbers > (last[0][0] if last else 0)]
    gone = {row[1] for row in connection.execute(READ_GONE, (epoch.num, space, 0))} if len(beyond) else set()
    if not gone.issuperset(beyond.tolist()):
        return False
    if not last:
        return True
    rows = block_of(last, epoch.dimension)
    places = np.minimum(np.searchsorted(block.numbers, rows.numbers), len(block) - 1)
    return all(
        np.array_equal(cached[places], stored)
        for cached, stored in (
            (block.numbers, rows.numbers), (block.memories, rows.memories), (block.vectors, rows.vectors),
        )
    )  # fmt: skip


def _living(block: Block) -> Block:
    keep = block.alive
    if keep.all():
        return block
    return Block(
        block.numbers[keep],
        block.memories[keep],
        block.ordinals[keep],
        block.vectors[keep],
        np.ascontiguousarray(block.codes[:, keep]),
        block.alive[keep],
    )


def _marked(block: Block, table: VectorTable) -> Block:
    """The block with the rows marked dead that the table knows to be dead."""
    dead = np.concatenate([part.numbers[~part.alive] for part in (table.base, table.tail)])
    return replace(block, alive=~np.isin(block.numbers, dead)) if len(dead) else block
