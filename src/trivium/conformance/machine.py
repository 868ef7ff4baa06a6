"""StoreMachine: the same random operations on a backend and on MemoryStore, compared after every step.

Records, orders, lexical scores and places must be equal to the last bit. Cosines may differ by what summing float32 in
another order changes, and memories that are so close may change places.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeVar
from unittest import TestCase

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from trivium.conformance import strategies as draw
from trivium.conformance.bound import OpenStore, Reopen
from trivium.conformance.builders import index_lines, moment, same_vectors
from trivium.filter import EVERYTHING, Filter
from trivium.record import Key, Memory
from trivium.store.contract import (
    Bm25,
    Epoch,
    LegAnswer,
    MadeVectors,
    Order,
    QueryTerm,
    Store,
    Vector,
    Writer,
)
from trivium.store.memory import MemoryStore

T = TypeVar("T")
CLOSE = 1e-6  # a float32 product summed in another order
ALL = 1_000
EVERY_WORD = [QueryTerm(word) for word in draw.WORDS]


class Abandoned(Exception):
    """Leaves a writing block before its end."""


class StoreMachine(RuleBasedStateMachine):
    """Bind it to a backend with `machine_for`."""

    open_store: OpenStore
    reopen: Reopen

    def __init__(self) -> None:
        super().__init__()
        self.tested: Store = self.open_store()
        self.model = MemoryStore()
        for space in draw.SPACES:  # whether an empty transaction makes a space is left to the backend
            self.write(space, lambda writer: writer.set_space(language="en"))

    @initialize(batch=st.lists(draw.memories(), min_size=4, max_size=10), epochs=st.lists(draw.epochs, max_size=2))
    def fill(self, batch: list[Memory], epochs: list[Epoch]) -> None:
        """Questions to an empty store teach little; the rules forget enough to come back to one."""
        for epoch in epochs:
            self.begin_epoch(epoch)
        for memory in batch:
            self.put(memory)

    # Writes

    @rule(memory=draw.memories())
    def put(self, memory: Memory) -> None:
        self.write(memory.space, lambda writer: writer.put(memory, index_lines(memory.content)))

    @rule(space=draw.spaces, batch=st.lists(draw.memories(), max_size=5), gone=st.lists(draw.ids, max_size=2))
    def put_and_forget_in_one_transaction(self, space: str, batch: list[Memory], gone: list[str]) -> None:
        def act(writer: Writer) -> list[str | None]:
            for memory in batch:
                writer.put(replace(memory, space=space), index_lines(memory.content))
            writer.forget(gone, moment(9))
            return [writer.with_hash(memory.content_hash) for memory in batch]

        self.write(space, act)

    @rule(space=draw.spaces, memory=draw.memories(), gone=st.lists(draw.ids, max_size=2))
    def abandon_a_transaction(self, space: str, memory: Memory, gone: list[str]) -> None:
        with suppress(Abandoned), self.tested.writing(space) as writer:
            writer.put(replace(memory, space=space), index_lines(memory.content))
            writer.forget(gone, moment(9))
            raise Abandoned

    @rule(key=st.builds(Key, draw.spaces, draw.ids), context=st.lists(draw.words, max_size=3))
    def reindex(self, key: Key, context: list[str]) -> None:
        memory = self.model.get([key]).get(key)
        if memory is not None:
            passages = draw.with_context(memory.content, context)
            self.write(key.space, lambda writer: writer.reindex(key.id, passages))

    @rule(key=st.builds(Key, draw.spaces, draw.ids), changes=draw.amendments())
    def amend(self, key: Key, changes: dict[str, Any]) -> None:
        memory = self.model.get([key]).get(key)
        if memory is not None:
            amended = replace(memory, **changes)
            self.write(key.space, lambda writer: writer.amend(amended))

    @rule(space=draw.spaces, gone=st.lists(draw.ids, max_size=3))
    def forget(self, space: str, gone: list[str]) -> None:
        self.write(space, lambda writer: writer.forget(gone, moment(9)))

    # Vectors

    @rule(epoch=draw.epochs)
    def begin_epoch(self, epoch: Epoch) -> None:
        self.tested.begin_epoch(epoch)
        self.model.begin_epoch(epoch)

    @precondition(lambda self: self.model.epochs())
    @rule(number=st.integers(0, 1))
    def serve_epoch(self, number: int) -> None:
        epoch = self.some_epoch(number)
        self.tested.serve_epoch(epoch.fingerprint)
        self.model.serve_epoch(epoch.fingerprint)

    @precondition(lambda self: self.model.epochs())
    @rule(number=st.integers(0, 1), space=draw.spaces, stale=st.sets(draw.ids, max_size=3), data=st.data())
    def put_vectors(self, number: int, space: str, stale: set[str], data: st.DataObject) -> None:
        """For every memory of the space, sensitive ones too; the stale ones with the hash of another text."""
        made = [
            MadeVectors(
                memory.key,
                "of another text" if memory.id in stale else memory.content_hash,
                [data.draw(draw.vectors) for _ in self.model.passages(memory.key)],
            )
            for memory in self.model.scan([space], EVERYTHING)
        ]
        self.write(space, lambda writer: writer.put_vectors(self.some_epoch(number).fingerprint, made))

    @precondition(lambda self: self.model.epochs())
    @rule(
        number=st.integers(0, 1),
        space=draw.spaces,
        vector=draw.vectors,
        where=draw.filters,
        depth=draw.depths,
        probe=draw.ids,
    )
    def dense(self, *, number: int, space: str, vector: Vector, where: Filter, depth: int, probe: str) -> None:
        fingerprint = self.some_epoch(number).fingerprint
        got = self.tested.dense(space, vector, fingerprint, where, depth, probe=probe, exact=True)
        wanted = self.model.dense(space, vector, fingerprint, where, ALL, probe=probe, exact=True)
        self.compare_dense(got, wanted, vector, fingerprint, depth)

    # Questions

    @rule(
        space=draw.spaces,
        terms=draw.query_terms,
        where=draw.filters,
        depth=draw.depths,
        bm25=draw.constants,
    )
    def lexical(self, *, space: str, terms: list[QueryTerm], where: Filter, depth: int, bm25: Bm25) -> None:
        probes = (None, *draw.IDS)
        self.ask(lambda store: [store.lexical(space, terms, where, depth, bm25, probe=probe) for probe in probes])

    @rule(
        spaces=st.lists(draw.spaces, max_size=2),
        where=draw.filters,
        order=draw.orders,
        newest_first=st.booleans(),
        limit=st.none() | st.integers(0, 4),
        offset=st.integers(0, 2),
    )
    def scan(
        self, *, spaces: list[str], where: Filter, order: Order, newest_first: bool, limit: int | None, offset: int
    ) -> None:
        self.ask(lambda store: store.count(spaces, where))
        self.ask(lambda store: store.kinds(spaces))
        self.ask(
            lambda store: list(
                store.scan(spaces, where, order=order, newest_first=newest_first, limit=limit, offset=offset)
            )
        )

    @rule(space=draw.spaces, distance=st.integers(0, 2))
    def near_terms(self, space: str, distance: int) -> None:
        terms = draw.WORDS + draw.UNKNOWN_WORDS
        self.ask(lambda store: [store.near_terms(space, term, distance) for term in terms])

    @rule(space=draw.spaces, position=st.integers(0, 4), reach=st.integers(0, 2))
    def thread(self, space: str, position: int, reach: int) -> None:
        self.write(space, lambda writer: (writer.last_position("t"), writer.around("t", position, reach)))

    # Upkeep

    @rule(bulk=st.booleans())
    def tend(self, bulk: bool) -> None:
        self.tested.tend(after_bulk=bulk)

    @rule()
    def reopen_it(self) -> None:
        self.tested = self.reopen(self.tested)

    # After every step

    @invariant()
    def records_are_equal(self) -> None:
        self.ask(lambda store: list(store.scan([], EVERYTHING)))
        self.ask(lambda store: store.spaces())

    @invariant()
    def lexical_scores_are_equal(self) -> None:
        self.ask(lambda store: [store.lexical(space, EVERY_WORD, EVERYTHING, ALL, Bm25()) for space in draw.SPACES])

    @invariant()
    def epochs_are_equal(self) -> None:
        self.ask(lambda store: sorted(store.epochs(), key=lambda epoch: epoch.fingerprint))
        self.ask(lambda store: [waiting(store, epoch.fingerprint) for epoch in draw.EPOCHS])

    def teardown(self) -> None:
        keys = [memory.key for memory in self.model.scan([], EVERYTHING)]
        self.ask(lambda store: [store.passages(key) for key in keys])
        for epoch in draw.EPOCHS:
            got, wanted = ([store.vectors(key, epoch.fingerprint) for key in keys] for store in self.both)
            assert all(same_vectors(one, other) for one, other in zip(got, wanted, strict=True))
        assert self.tested.verify() == []
        self.tested.close()

    @property
    def both(self) -> tuple[Store, Store]:
        return self.tested, self.model

    def write(self, space: str, act: Callable[[Writer], T]) -> None:
        with self.tested.writing(space) as writer:
            got = act(writer)
        with self.model.writing(space) as writer:
            wanted = act(writer)
        assert got == wanted

    def ask(self, question: Callable[[Store], object]) -> None:
        got, wanted = (question(store) for store in self.both)
        assert got == wanted

    def some_epoch(self, number: int) -> Epoch:
        known = sorted(self.model.epochs(), key=lambda epoch: epoch.fingerprint)
        return known[number % len(known)]

    def compare_dense(self, got: LegAnswer, wanted: LegAnswer, vector: Vector, fingerprint: str, depth: int) -> None:
        """`wanted` was not cut off. Rank by rank the scores agree, and each memory has the score the model gives it."""
        by_key = {hit.key: hit for hit in wanted.hits}
        assert got.without_vector == wanted.without_vector
        assert len({hit.key for hit in got.hits}) == len(got.hits) == min(depth, len(wanted.hits))
        assert list(got.hits) == sorted(got.hits, key=lambda hit: (-hit.score, hit.key.id))
        for hit, same_rank in zip(got.hits, wanted.hits, strict=False):
            assert abs(hit.score - same_rank.score) < CLOSE
            assert abs(hit.score - by_key[hit.key].score) < CLOSE
            passage = self.model.vectors(hit.key, fingerprint)[hit.ordinal]
            assert abs(hit.score - float(np.dot(passage, vector))) < CLOSE
            assert hit.facts == by_key[hit.key].facts
        assert (got.place is None) == (wanted.place is None)
        if got.place is not None and wanted.place is not None:
            assert abs(got.place.score - wanted.place.score) < CLOSE
            assert abs(wanted.hits[got.place.rank - 1].score - wanted.place.score) < CLOSE


def machine_for(open_store: OpenStore, reopen: Reopen, *, examples: int = 40, steps: int = 30) -> type[TestCase]:
    """A test case that runs the machine on a backend, the same way every time. `open_store` opens a new, empty store at
    every call, `reopen` closes one and opens what it left behind."""
    methods = {"open_store": staticmethod(open_store), "reopen": staticmethod(reopen)}
    bound: type[StoreMachine] = type("BoundMachine", (StoreMachine,), methods)
    case: type[TestCase] = bound.TestCase
    case.settings = settings(  # type: ignore[attr-defined]
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    return case


def waiting(store: Store, fingerprint: str) -> list[Memory]:
    """What waits for vectors, in an order of our own: a store's is its own."""
    return sorted(store.pending(fingerprint, ALL), key=lambda memory: memory.key)
