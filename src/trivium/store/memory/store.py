"""MemoryStore: the `Store` protocol over a state that is replaced, never changed."""

from __future__ import annotations

import copy
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from trivium.errors import StoreError
from trivium.filter import Filter
from trivium.record import Key, Memory
from trivium.store.contract import (
    Bm25,
    Epoch,
    Finding,
    IndexedPassage,
    LegAnswer,
    Order,
    QueryTerm,
    SpaceFacts,
    SpaceSettings,
    Vector,
    Writer,
)
from trivium.store.memory import legs
from trivium.store.memory.faults import faults
from trivium.store.memory.state import Space, State, own
from trivium.store.memory.writer import MemoryWriter

EARLIEST = datetime.min.replace(tzinfo=UTC)


class MemoryStore:
    """A `Store` that lives as long as the object."""

    def __init__(self) -> None:
        self._state = State()
        self._pinned = threading.local()  # .state: what the reading block of this thread sees
        self._lock = (
            threading.RLock()
        )  # re-entrant, so that a thread inside a transaction gets an error, not a deadlock
        self._in_transaction = False

    def close(self) -> None:
        """Nothing to give back."""

    @contextmanager
    def reading(self) -> Iterator[None]:
        outer: State | None = getattr(self._pinned, "state", None)
        self._pinned.state = outer or self._state
        try:
            yield
        finally:
            self._pinned.state = outer

    @contextmanager
    def writing(self, space: str) -> Iterator[Writer]:
        with self._transaction() as draft:
            draft.spaces.setdefault(space, Space())
            yield MemoryWriter(draft, space)

    # Records

    def get(self, keys: Iterable[Key]) -> dict[Key, Memory]:
        rows = self._seen().rows
        return {key: own(rows[key].memory) for key in keys if key in rows}

    def scan(
        self,
        spaces: Sequence[str],
        where: Filter,
        *,
        order: Order = "created",
        newest_first: bool = False,
        limit: int | None = None,
        offset: int = 0,
    ) -> Iterator[Memory]:
        found = sorted(self._seen().matching(spaces, where), key=lambda memory: memory.key)
        found.sort(key=lambda memory: order_key(memory, order), reverse=newest_first)  # stable: ties keep (space, id)
        end = None if limit is None else offset + limit
        return iter([own(memory) for memory in found[offset:end]])

    def count(self, spaces: Sequence[str], where: Filter) -> int:
        return len(self._seen().matching(spaces, where))

    def kinds(self, spaces: Sequence[str]) -> tuple[str, ...]:
        rows = self._seen().rows
        return tuple(sorted({row.memory.kind for key, row in rows.items() if not spaces or key.space in spaces}))

    def passages(self, key: Key) -> tuple[IndexedPassage, ...]:
        row = self._seen().rows.get(key)
        return row.passages if row else ()

    def spaces(self) -> tuple[SpaceFacts, ...]:
        state = self._seen()
        return tuple(space_facts(state, name) for name in sorted(state.spaces))

    def space_settings(self, space: str) -> SpaceSettings:
        known = self._seen().spaces.get(space, Space())
        return SpaceSettings(known.language, tuple(sorted(known.languages)), copy.deepcopy(dict(known.settings)))

    def spans(self, places: Iterable[tuple[Key, int]]) -> dict[tuple[Key, int], tuple[int, int]]:
        rows = self._seen().rows
        return {
            (key, passage.ordinal): (passage.start, passage.end)
            for key, ordinal in places
            if key in rows
            for passage in rows[key].passages
            if passage.ordinal == ordinal
        }

    # Legs

    def lexical(
        self,
        space: str,
        terms: Sequence[QueryTerm],
        where: Filter,
        depth: int,
        bm25: Bm25,
        *,
        probe: str | None = None,
    ) -> LegAnswer:
        return legs.lexical(self._seen(), space, terms, where, bm25).cut(depth, probe)

    def dense(
        self,
        space: str,
        vector: Vector,
        fingerprint: str,
        where: Filter,
        depth: int,
        *,
        probe: str | None = None,
        exact: bool = False,  # noqa: ARG002 it always is
    ) -> LegAnswer:
        return legs.dense(self._seen(), space, vector, fingerprint, where).cut(depth, probe)

    def near_terms(self, space: str, term: str, distance: int) -> tuple[str, ...]:
        return legs.near_terms(self._seen(), space, term, distance)

    # Vectors

    def epochs(self) -> tuple[Epoch, ...]:
        return tuple(self._seen().epochs.values())

    def begin_epoch(self, epoch: Epoch) -> None:
        with self._transaction() as draft:
            if epoch.fingerprint in draft.epochs:
                return  # begun already: what it holds stays
            draft.epochs[epoch.fingerprint] = replace(epoch, serving=not draft.epochs)
            draft.pending.update(
                (epoch.fingerprint, key) for key, row in draft.rows.items() if not row.memory.sensitive
            )

    def serve_epoch(self, fingerprint: str) -> None:
        with self._transaction() as draft:
            draft.epochs = {fingerprint: replace(draft.epoch(fingerprint), serving=True)}
            draft.vectors = {at: vectors for at, vectors in draft.vectors.items() if at[0] == fingerprint}
            draft.pending = {at for at in draft.pending if at[0] == fingerprint}
            draft.queries = {at: vector for at, vector in draft.queries.items() if at[0] == fingerprint}

    def pending(self, fingerprint: str, limit: int) -> tuple[Memory, ...]:
        state = self._seen()
        waiting = [state.rows[key].memory for epoch, key in sorted(state.pending) if epoch == fingerprint]
        return tuple(own(memory) for memory in waiting[:limit])

    def pending_count(self, fingerprint: str) -> int:
        return sum(epoch == fingerprint for epoch, _ in self._seen().pending)

    def vectors(self, key: Key, fingerprint: str) -> tuple[Vector, ...]:
        return tuple(vector for vector in self._seen().vectors.get((fingerprint, key), ()) if vector.any())

    def kept_query(self, fingerprint: str, text: str) -> Vector | None:
        return self._seen().queries.get((fingerprint, text))

    def keep_query(self, fingerprint: str, text: str, vector: Vector) -> None:
        with self._transaction() as draft:
            draft.queries[fingerprint, text] = np.array(vector, np.float32)

    # Upkeep

    def analyzer_version(self) -> str:
        return self._seen().analyzer_version

    def set_analyzer_version(self, version: str) -> None:
        with self._transaction() as draft:
            draft.analyzer_version = version

    def tend(self, *, after_bulk: bool = False) -> None:
        """Nothing is ever due."""

    def verify(self) -> list[Finding]:
        return faults(self._seen())

    def size_bytes(self) -> int:
        """Of the texts and vectors, which is most of it."""
        state = self._seen()
        texts = sum(len(row.memory.content.encode("utf-8", "surrogatepass")) for row in state.rows.values())
        return texts + sum(vector.nbytes for vectors in state.vectors.values() for vector in vectors)

    def backup(self, target: Path) -> None:
        raise StoreError(f"a store in memory has no file to copy to {target}; export it instead")

    def _seen(self) -> State:
        return getattr(self._pinned, "state", None) or self._state

    @contextmanager
    def _transaction(self) -> Iterator[State]:
        """A copy to work on. It becomes the store's state unless an exception leaves the block."""
        with self._lock:
            if self._in_transaction:
                raise StoreError("this thread is already writing: end that block before the next write begins")
            self._in_transaction = True
            try:
                draft = self._state.copied()
                yield draft
                self._state = draft
            finally:
                self._in_transaction = False


def order_key(memory: Memory, order: Order) -> Any:  # of one order, the keys are of one type
    """What a scan sorts by; an absent value sorts before every other."""
    match order:
        case "created":
            return memory.created_at
        case "updated":
            return memory.updated_at
        case "occurred":
            return (memory.occurred_at is not None, memory.occurred_at or EARLIEST)
        case "importance":
            return memory.importance
        case "thread":
            return (memory.thread, memory.position is not None, memory.position or 0)


def space_facts(state: State, name: str) -> SpaceFacts:
    rows = state.rows_of(name)
    return SpaceFacts(
        name=name,
        memories=len(rows),
        superseded=sum(row.memory.superseded_at is not None for row in rows),
        sensitive=sum(row.memory.sensitive for row in rows),
        passages=sum(len(row.passages) for row in rows),
    )
