"""The disposable cache beside the store file: the vectors of one space and epoch as plain arrays, memory-mapped.

Three files of rows and a head that says how many of them count. Rows are appended first and the head is replaced after,
so a reader never sees half a row; a compaction writes files of the next generation and then replaces the head. One
process writes at a time (a lock file); one that cannot have the lock goes on without. To delete it loses nothing.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from trivium.store.sqlite.dense import Block, Codes, Integers, Matrix, code_words

if sys.platform != "win32":
    import fcntl

FORMAT = 2
HEAD = "head.json"
FILES = ("keys", "vectors", "codes")


@dataclass(frozen=True, slots=True)
class Head:
    """What the files hold. `last` and `last_gone` are the vector and the removal up to which they are complete."""

    format: int
    identity: str
    dimension: int
    generation: int
    rows: int
    last: int
    last_gone: int


class VectorCache:
    """The cache of one space and epoch. `identity` is the store file's: another file's cache never fits."""

    def __init__(self, folder: Path, identity: str, dimension: int) -> None:
        self._folder = folder
        self._identity = identity
        self._dimension = dimension

    def read(self) -> tuple[Head, Block] | None:
        """The cached rows, or None where there is no cache that fits."""
        head = self._head()
        if head is None:
            return None
        try:
            return head, self._map(head)
        except (OSError, ValueError):  # another process has just compacted, or a file was deleted
            return None

    def _head(self) -> Head | None:
        try:
            head = Head(**json.loads((self._folder / HEAD).read_text()))
        except (OSError, ValueError, TypeError):
            return None
        fits = (head.format, head.identity, head.dimension) == (FORMAT, self._identity, self._dimension)
        return head if fits else None

    def _map(self, head: Head) -> Block:
        rows = head.rows
        keys = np.memmap(self._file(head, "keys"), np.int64, "r", shape=(rows, 3))
        vectors: Matrix = np.memmap(self._file(head, "vectors"), np.float32, "r", shape=(rows, self._dimension))
        words = code_words(self._dimension)
        codes: Codes = np.ascontiguousarray(np.memmap(self._file(head, "codes"), np.uint64, "r", shape=(rows, words)).T)
        numbers, memories, ordinals = np.ascontiguousarray(keys.T)
        # A plain view: memmap's own bookkeeping would tax every slice.
        return Block(numbers, memories, ordinals, vectors.view(np.ndarray), codes, np.ones(rows, np.bool_))

    def append(self, block: Block, last: int) -> bool:
        """Add rows that came after those cached. False where another process is at it."""
        with self._locked() as locked:
            head = self._head()
            if not locked or head is None or (head.rows and len(block) and block.numbers[0] <= head.last):
                return False
            self._write(head, _wiped(block), "r+b")
            self._replace_head(replace(head, rows=head.rows + len(block), last=last))
            return True

    def rewrite(self, block: Block, last: int, last_gone: int) -> bool:
        """Replace everything by these rows."""
        self._folder.mkdir(parents=True, exist_ok=True)
        with self._locked() as locked:
            if not locked:
                return False
            old = self._head()
            generation = old.generation + 1 if old else 0
            head = Head(FORMAT, self._identity, self._dimension, generation, 0, last, last_gone)
            for name in FILES:  # made anew: a reader may have a file of this name mapped, from a cache that did not fit
                self._file(head, name).unlink(missing_ok=True)
            self._write(head, block, "xb")
            self._replace_head(replace(head, rows=len(block)))
            self._remove_other_generations(generation)
            return True

    def erase(self, numbers: Integers) -> None:
        """Overwrite the rows with zeros, and remove what interrupted writers left: what was forgotten must not stay on
        the disk."""
        with suppress(FileNotFoundError), self._locked(wait=True):  # a cache deleted meanwhile has nothing to wipe
            head = self._head()
            try:
                if head is not None:
                    self._wipe(head, numbers)
            except (OSError, ValueError):  # a file is missing or cut short: what cannot be wiped is removed
                head = None
            self._remove_other_generations(None if head is None else head.generation)

    def _wipe(self, head: Head, numbers: Integers) -> None:
        for name, width in zip(FILES, self._widths(), strict=True):
            path, size = self._file(head, name), head.rows * width
            if path.stat().st_size > size:  # rows of an append that was killed; nobody has them mapped
                os.truncate(path, size)
        keys = np.fromfile(self._file(head, "keys"), np.int64).reshape(head.rows, 3)
        rows = np.flatnonzero(np.isin(keys[:, 0], numbers))
        if not len(rows):
            return
        for name, width in zip(FILES[1:], self._widths()[1:], strict=True):
            cells = np.memmap(self._file(head, name), np.uint8, "r+", shape=(head.rows, width))
            cells[rows] = 0
            cells.flush()

    def _widths(self) -> tuple[int, int, int]:
        """Bytes of a row in each of the FILES."""
        return 3 * 8, 4 * self._dimension, 8 * code_words(self._dimension)

    def _write(self, head: Head, block: Block, mode: str) -> None:
        keys = np.stack([block.numbers, block.memories, block.ordinals], axis=1)
        codes = np.ascontiguousarray(block.codes.T)
        for name, width, cells in zip(FILES, self._widths(), (keys, block.vectors, codes), strict=True):
            with open(self._file(head, name), mode) as file:
                file.seek(head.rows * width)
                file.write(np.ascontiguousarray(cells).data)
                file.flush()

    def _replace_head(self, head: Head) -> None:
        draft = self._folder / f"{HEAD}.{os.getpid()}"
        draft.write_text(json.dumps(asdict(head)))
        os.replace(draft, self._folder / HEAD)

    def _remove_other_generations(self, generation: int | None) -> None:
        for path in self._folder.glob("*.bin"):
            if not path.name.endswith(f"-{generation}.bin"):
                path.unlink(missing_ok=True)

    def _file(self, head: Head, name: str) -> Path:
        return self._folder / f"{name}-{head.generation}.bin"

    @contextmanager
    def _locked(self, *, wait: bool = False) -> Iterator[bool]:
        if sys.platform == "win32" or not self._folder.exists():
            yield self._folder.exists()
            return
        lock = os.open(self._folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
                return
            yield True
        finally:
            os.close(lock)


def _wiped(block: Block) -> Block:
    """The block with zeros for rows that died before they were ever written: they must not come to the disk now."""
    if block.alive.all():
        return block
    return replace(block, vectors=block.vectors * block.alive[:, None], codes=block.codes * block.alive)
