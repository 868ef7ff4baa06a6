"""The HNSW graphs of one store: derived, disposable, built in the background and kept beside the vector cache.

Nobody waits for a graph: until it is there, the codes answer. One process builds at a time (a lock file); the others
see the new file at their next search.
"""

from __future__ import annotations

import os
import threading
import weakref
from pathlib import Path

from trivium.store.sqlite import hnsw
from trivium.store.sqlite.connection import fcntl
from trivium.store.sqlite.dense import Block, Integers
from trivium.store.sqlite.hnsw import GoneSince, Graph

LEAST = 16_384  # rows; fewer are compared one by one in under 0.5 ms
NEW_LIMIT = 8_192  # rows compared one by one beside the graph before it is extended
GONE_SHARE = 0.1  # of the graph; then it is built anew: wiped vectors cost .002 of recall@10 here, .007 at 0.2


class Graphs:
    """Graphs by the folder of their vector cache. Thread-safe."""

    def __init__(self, *, read_only: bool) -> None:
        self._read_only = read_only
        self._seen: dict[Path, tuple[int, Graph | None]] = {}  # with the inode of the file: it changes when replaced
        self._builders: dict[Path, threading.Thread] = {}
        self._lock = threading.Lock()
        self._stop = threading.Event()
        # Also called when Python ends: it must not end under a thread that is inside usearch.
        self.close = weakref.finalize(self, _end, self._stop, self._builders)

    def of(self, folder: Path, base: Block, gone_since: GoneSince) -> Graph | None:
        """The graph for this base, as far as there is one. What is due is begun, and not waited for."""
        if len(base) < LEAST:
            return None
        with self._lock:
            graph = self._current(folder, base)
            worn = graph is None or graph.gone_share(base) > GONE_SHARE
            due = graph is None or worn or len(base) - graph.reach(base) > NEW_LIMIT
            if due and not self._read_only:
                self._begin(folder, base, gone_since, extend=not worn)
            return graph

    def _current(self, folder: Path, base: Block) -> Graph | None:
        inode = _inode(folder)
        if inode is None:
            self._seen.pop(folder, None)
            return None
        if folder not in self._seen or self._seen[folder][0] != inode:
            graph = hnsw.view(folder / hnsw.FILE, base.vectors.shape[1])
            self._seen[folder] = (inode, graph if graph is not None and graph.fits(base) else None)
        return self._seen[folder][1]

    def _begin(self, folder: Path, base: Block, gone_since: GoneSince, *, extend: bool) -> None:
        running = self._builders.get(folder)
        if self._stop.is_set() or (running is not None and running.is_alive()):
            return

        def work() -> None:
            _build_alone(folder, base, gone_since, self._stop, extend=extend)

        self._builders[folder] = threading.Thread(target=work, name="trivium-hnsw", daemon=True)
        self._builders[folder].start()

    def erase(self, folder: Path, numbers: Integers, dimension: int) -> None:
        """Wipe vectors from the file: what was forgotten must not stay on the disk."""
        with self._lock:
            inode = _inode(folder)
            if inode is None:
                hnsw.drop(folder)  # the draft of a build that was killed
                return
            (folder / hnsw.DRAFT).unlink(missing_ok=True)
            path = folder / hnsw.FILE
            seen, graph = self._seen.get(folder, (None, None))
            hnsw.wipe(path, graph if seen == inode else hnsw.view(path, dimension), numbers)

    def wait(self) -> None:
        """Until nothing is being built."""
        for thread in tuple(self._builders.values()):
            thread.join()


def _end(stop: threading.Event, builders: dict[Path, threading.Thread]) -> None:
    stop.set()
    for thread in tuple(builders.values()):
        thread.join()


def _build_alone(folder: Path, base: Block, gone_since: GoneSince, stop: threading.Event, *, extend: bool) -> None:
    """Build, unless another process is at it. A full disk, a folder that cannot be written or was deleted meanwhile:
    there is no graph then, the codes go on answering, and a later search tries again."""
    try:
        claim = os.open(folder / "hnsw-lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError:
        return
    try:
        if fcntl is not None:
            fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
        hnsw.build(folder, base, gone_since, stop, extend=extend)
    except (OSError, RuntimeError):
        return
    finally:
        os.close(claim)


def _inode(folder: Path) -> int | None:
    try:
        return (folder / hnsw.FILE).stat().st_ino
    except OSError:
        return None
