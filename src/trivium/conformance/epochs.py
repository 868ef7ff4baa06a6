"""Embedding epochs, the memories that wait for vectors, and kept query vectors."""

from __future__ import annotations

import numpy as np
import pytest

from trivium.conformance.bound import Bound, Reopen
from trivium.conformance.builders import (
    ALL,
    EPOCH,
    NEXT_EPOCH,
    OTHER_SPACE,
    SPACE,
    axis,
    embed,
    ids,
    made,
    make_memory,
    nearest,
    put,
    vector_of,
)
from trivium.errors import InvalidInput
from trivium.store.contract import Epoch, Store


def serving(store: Store) -> dict[str, bool]:
    return {epoch.fingerprint: epoch.serving for epoch in store.epochs()}


def waiting(store: Store, epoch: Epoch = EPOCH, limit: int = ALL) -> list[str]:
    return [memory.id for memory in store.pending(epoch.fingerprint, limit)]


class EpochSuite(Bound):
    def test_the_first_epoch_serves_and_the_next_waits(self, store: Store, reopen: Reopen) -> None:
        store.begin_epoch(EPOCH)
        store.begin_epoch(Epoch(NEXT_EPOCH.fingerprint, "other", 32, serving=True))
        again = reopen(store)
        assert set(again.epochs()) == {
            Epoch(EPOCH.fingerprint, EPOCH.model, EPOCH.dimension, serving=True),
            Epoch(NEXT_EPOCH.fingerprint, "other", 32, serving=False),
        }
        again.close()

    def test_a_new_epoch_waits_for_every_memory_that_is_not_sensitive(self, store: Store) -> None:
        put(store, make_memory("a"), make_memory("s", sensitive=True), make_memory("b", space=OTHER_SPACE))
        store.begin_epoch(EPOCH)
        assert waiting(store) == ["a", "b"]
        put(store, make_memory("c"), make_memory("t", sensitive=True))
        assert store.pending_count(EPOCH.fingerprint) == 3

    def test_pending_gives_as_many_as_asked_for(self, store: Store) -> None:
        put(store, make_memory("a", minute=3), make_memory("c", minute=1), make_memory("d", minute=1))
        store.begin_epoch(EPOCH)
        put(
            store, make_memory("b", minute=1), make_memory("z", minute=0), make_memory("0", minute=1, space=OTHER_SPACE)
        )
        assert sorted(waiting(store)) == ["0", "a", "b", "c", "d", "z"]
        assert len(waiting(store, limit=2)) == 2
        assert waiting(store, limit=0) == []
        assert store.pending_count(EPOCH.fingerprint) == 6

    def test_pending_gives_whole_memories(self, store: Store) -> None:
        memory = make_memory("a", "content", title="title", metadata={"k": [1]}, tags=("t",))
        store.begin_epoch(EPOCH)
        put(store, memory)
        assert store.pending(EPOCH.fingerprint, 1) == (memory,)

    def test_marks_survive_reopening(self, store: Store, reopen: Reopen) -> None:
        put(store, make_memory("a", "x"), make_memory("b", "y"))
        store.begin_epoch(EPOCH)
        embed(store, made(make_memory("a", "x")))
        again = reopen(store)
        assert waiting(again) == ["b"]
        assert ids(nearest(again, vector_of("x"))) == ["a"]
        again.close()

    def test_beginning_an_epoch_again_changes_nothing(self, store: Store) -> None:
        put(store, make_memory("a", "x"), make_memory("b", "y"))
        store.begin_epoch(EPOCH)
        embed(store, made(make_memory("a", "x")))
        store.begin_epoch(EPOCH)
        assert serving(store) == {EPOCH.fingerprint: True}
        assert waiting(store) == ["b"]
        assert ids(nearest(store, vector_of("x"))) == ["a"]

    def test_epochs_are_filled_apart(self, store: Store) -> None:
        memory = make_memory("a", "x")
        put(store, memory)
        store.begin_epoch(EPOCH)
        store.begin_epoch(NEXT_EPOCH)
        embed(store, made(memory, axis(0)))
        assert (waiting(store), waiting(store, NEXT_EPOCH)) == ([], ["a"])
        embed(store, made(memory, axis(1)), epoch=NEXT_EPOCH)
        assert [hit.score for hit in nearest(store, axis(0)).hits] == [1.0]
        assert [hit.score for hit in nearest(store, axis(0), epoch=NEXT_EPOCH).hits] == [0.0]

    def test_epochs_may_have_different_dimensions(self, store: Store) -> None:
        memory, wide = make_memory("a", "x"), Epoch("wide", "wide model", 300)
        put(store, memory)
        store.begin_epoch(EPOCH)
        store.begin_epoch(wide)
        embed(store, made(memory, axis(0)))
        embed(store, made(memory, axis(299, 300)), epoch=wide)
        assert ids(nearest(store, axis(0))) == ["a"]
        assert [hit.score for hit in nearest(store, axis(299, 300), epoch=wide).hits] == [1.0]

    def test_serving_an_epoch_drops_the_others(self, store: Store, reopen: Reopen) -> None:
        memory, late = make_memory("a", "x"), make_memory("b", "y")
        put(store, memory, late)
        store.begin_epoch(EPOCH)
        embed(store, made(memory, axis(0)), made(late, axis(0)))
        store.begin_epoch(NEXT_EPOCH)
        embed(store, made(memory, axis(1)), epoch=NEXT_EPOCH)
        store.serve_epoch(NEXT_EPOCH.fingerprint)
        again = reopen(store)
        assert serving(again) == {NEXT_EPOCH.fingerprint: True}
        assert again.vectors(memory.key, EPOCH.fingerprint) == ()
        assert again.pending_count(EPOCH.fingerprint) == 0
        assert waiting(again, NEXT_EPOCH) == ["b"]
        answer = nearest(again, axis(1), epoch=NEXT_EPOCH)
        assert (ids(answer), answer.without_vector) == (["a"], 1)
        put(again, make_memory("c", "z"))
        assert waiting(again, NEXT_EPOCH) == ["b", "c"]
        assert again.verify() == []
        again.close()

    def test_a_dropped_epoch_may_begin_again_empty(self, store: Store) -> None:
        memory = make_memory("a", "x")
        put(store, memory)
        store.begin_epoch(EPOCH)
        embed(store, made(memory, axis(0)))
        store.begin_epoch(NEXT_EPOCH)
        store.serve_epoch(NEXT_EPOCH.fingerprint)
        store.begin_epoch(EPOCH)
        assert serving(store) == {NEXT_EPOCH.fingerprint: True, EPOCH.fingerprint: False}
        assert waiting(store) == ["a"]
        assert nearest(store, axis(0)).hits == ()

    def test_serving_the_epoch_that_serves_drops_an_unfinished_one(self, store: Store) -> None:
        store.begin_epoch(EPOCH)
        store.begin_epoch(NEXT_EPOCH)
        store.serve_epoch(EPOCH.fingerprint)
        assert serving(store) == {EPOCH.fingerprint: True}

    def test_an_unknown_epoch_cannot_serve_and_nothing_waits_for_it(self, store: Store) -> None:
        put(store, make_memory("a"))
        store.begin_epoch(EPOCH)
        with pytest.raises(InvalidInput):
            store.serve_epoch("stranger")
        assert serving(store) == {EPOCH.fingerprint: True}
        assert store.pending("stranger", ALL) == ()
        assert store.pending_count("stranger") == 0

    def test_kept_queries_come_back_exactly(self, store: Store, reopen: Reopen) -> None:
        query = vector_of("a question")
        store.begin_epoch(EPOCH)
        store.keep_query(EPOCH.fingerprint, "a question\0 ção", query)
        again = reopen(store)
        found = again.kept_query(EPOCH.fingerprint, "a question\0 ção")
        assert found is not None
        assert found.dtype == np.float32
        assert np.array_equal(found, query)
        assert again.kept_query(EPOCH.fingerprint, "a question") is None
        assert again.kept_query(NEXT_EPOCH.fingerprint, "a question\0 ção") is None
        again.close()

    def test_a_query_kept_again_is_the_last_one(self, store: Store) -> None:
        store.begin_epoch(EPOCH)
        store.keep_query(EPOCH.fingerprint, "q", axis(0))
        store.keep_query(EPOCH.fingerprint, "q", axis(1))
        found = store.kept_query(EPOCH.fingerprint, "q")
        assert found is not None
        assert np.array_equal(found, axis(1))

    def test_a_kept_query_is_no_memory(self, store: Store) -> None:
        store.begin_epoch(EPOCH)
        put(store, make_memory("a", "x"))
        store.keep_query(EPOCH.fingerprint, "q", axis(0))
        assert nearest(store, axis(0)).hits == ()
        assert [facts.name for facts in store.spaces()] == [SPACE]
