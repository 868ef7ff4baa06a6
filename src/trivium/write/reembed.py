"""Vectors for rows that wait: rows of a slow embedder, and whole stores that change to another model.

What waits is marked in the store, so that any process may go on where another stopped or crashed.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass

from trivium.errors import EmbedderError, TriviumError
from trivium.models.embed import Embedder
from trivium.record import Memory
from trivium.store.contract import Epoch, Store
from trivium.write.analyse import analyse
from trivium.write.ingest import Filling, make_vectors

STOP_TIMEOUT_S = 5.0  # a remote model may take minutes to fail; nobody waits that long for `close`
BATCH = 256  # memories embedded between two short transactions

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Reembedded:
    """What `reembed` did: memories given vectors, and the epoch that serves now."""

    memories: int
    fingerprint: str
    flipped: bool


def reembed(store: Store, embedder: Embedder, progress: Progress | None = None) -> Reembedded:
    """Fill the embedder's epoch and let it serve once nothing waits in it. Resumable: what is there is kept."""
    card = embedder.card
    before = next((epoch.fingerprint for epoch in store.epochs() if epoch.serving), None)
    store.begin_epoch(Epoch(card.fingerprint, card.spec, card.dimension))
    total = store.pending_count(card.fingerprint)
    done = 0
    while filled := fill(store, Filling(card.fingerprint, embedder)):
        done += filled
        if progress is not None:
            progress(done, max(total, done))
    left = store.pending_count(card.fingerprint)
    if left:
        raise EmbedderError(f"{left} memories could not be embedded; the old vectors go on serving: run it again")
    store.serve_epoch(card.fingerprint)
    while filled := fill(store, Filling(card.fingerprint, embedder)):  # what others added just before the flip
        done += filled
    return Reembedded(done, card.fingerprint, before not in (None, card.fingerprint))


def fill(store: Store, filling: Filling, batch: int = BATCH) -> int:
    """Embed one batch of what waits. Returns how many memories got their vectors."""
    waiting = store.pending(filling.fingerprint, batch)
    by_space: defaultdict[str, list[Memory]] = defaultdict(list)
    for memory in waiting:
        by_space[memory.space].append(memory)
    filled = 0
    for space, memories in by_space.items():
        made = make_vectors([analyse(memory) for memory in memories], filling)
        with store.writing(space) as writer:
            filled += writer.put_vectors(filling.fingerprint, made)
    return filled


class Worker:
    """Fills what waits in the background, woken by `wake`. A failing embedder is tried again at the next wake."""

    def __init__(self, store: Store, find: Callable[[], Filling | None]) -> None:
        self._store = store
        self._find = find
        self._lock = threading.Lock()
        self._work = threading.Event()
        self._stopped = False
        self._idle = threading.Event()
        self._idle.set()
        self._thread: threading.Thread | None = None
        self.last_error: TriviumError | None = None

    def wake(self) -> None:
        with self._lock:
            self._idle.clear()
            self._work.set()
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="trivium-embedder", daemon=True)
                self._thread.start()

    def wait(self, timeout_s: float) -> bool:
        """True once nothing is being embedded."""
        return self._idle.wait(timeout_s)

    def stop(self) -> None:
        """End after the batch at hand, or without it where a model keeps us waiting; what is left stays marked."""
        self._stopped = True
        self._work.set()
        if self._thread is not None:
            self._thread.join(STOP_TIMEOUT_S)

    def _run(self) -> None:
        while not self._stopped:
            self._work.wait()
            self._work.clear()
            try:
                self._drain()
                self.last_error = None
            except TriviumError as error:  # the model is down, the disk is full: the rows stay marked
                self.last_error = error
            with self._lock:
                if not self._work.is_set():
                    self._idle.set()

    def _drain(self) -> None:
        filling = self._find()
        while filling is not None and not self._stopped and fill(self._store, filling, batch=32):
            pass
