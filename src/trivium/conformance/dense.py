"""The dense leg: cosine over every passage, and which memories have vectors at all."""

from __future__ import annotations

import numpy as np
import pytest

from trivium.conformance.bound import Bound, Reopen
from trivium.conformance.builders import (
    ALL,
    DIMENSION,
    EPOCH,
    NEXT_EPOCH,
    OTHER_SPACE,
    SPACE,
    axis,
    embed,
    forget,
    ids,
    index_lines,
    made,
    make_memory,
    moment,
    nearest,
    put,
    same_vectors,
    vector_of,
)
from trivium.errors import InvalidInput, WrongVector
from trivium.filter import EVERYTHING, Eq
from trivium.store.contract import Epoch, Facts, MadeVectors, Store, Vector
from trivium.when import to_micros

CLOSE = 1e-6  # a float32 product summed in another order


def put_embedded(store: Store, count: int, lines: int = 2) -> dict[str, tuple[Vector, ...]]:
    """Memories m000, m001 …, each with a vector for every line. Returns the vectors."""
    store.begin_epoch(EPOCH)
    memories = [
        make_memory(f"m{number:03}", "\n".join(f"text {number} {line}" for line in range(lines)))
        for number in range(count)
    ]
    put(store, *memories)
    all_made = [made(memory) for memory in memories]
    assert embed(store, *all_made) == count
    return {one.key.id: tuple(one.vectors) for one in all_made}


class DenseSuite(Bound):
    def test_vectors_come_back_rounded_to_half_precision(self, store: Store, reopen: Reopen) -> None:
        vectors = put_embedded(store, 3)
        again = reopen(store)
        for id, wanted in vectors.items():
            assert same_vectors(again.vectors(make_memory(id).key, EPOCH.fingerprint), wanted)
        assert again.vectors(make_memory("nobody").key, EPOCH.fingerprint) == ()
        assert again.vectors(make_memory("m000").key, "no such epoch") == ()
        again.close()

    def test_the_score_is_the_cosine_of_the_best_passage(self, store: Store) -> None:
        vectors = put_embedded(store, 40, lines=3)
        query = vector_of("a question")
        wanted: dict[str, tuple[float, int]] = {}
        for id, rows in vectors.items():
            cosines = [float(np.dot(row.astype(np.float16).astype(np.float64), query)) for row in rows]
            wanted[id] = max(cosines), int(np.argmax(cosines))
        answer = nearest(store, query)
        assert answer.exact
        assert {hit.key.id: hit.ordinal for hit in answer.hits} == {id: best for id, (_, best) in wanted.items()}
        assert all(abs(hit.score - wanted[hit.key.id][0]) < CLOSE for hit in answer.hits)
        assert [hit.score for hit in answer.hits] == sorted((hit.score for hit in answer.hits), reverse=True)

    def test_the_usual_answer_is_close_to_the_exact_one(self, store: Store) -> None:
        put_embedded(store, 300, lines=1)
        found = wanted = 0
        for number in range(30):
            query = vector_of(f"question {number}")
            exact = set(ids(nearest(store, query, depth=10)))
            found += len(exact & set(ids(store.dense(SPACE, query, EPOCH.fingerprint, EVERYTHING, 10))))
            wanted += len(exact)
        assert wanted == 300
        assert found / wanted >= 0.98

    def test_ties_are_ordered_by_id_and_depth_cuts_after_that(self, store: Store) -> None:
        memories = [make_memory(id, id) for id in ["c", "a", "é", "B"]]
        store.begin_epoch(EPOCH)
        put(store, *memories)
        embed(store, *(made(memory, axis(2)) for memory in memories))
        assert ids(nearest(store, axis(2))) == ["B", "a", "c", "é"]
        assert ids(nearest(store, axis(2), depth=2)) == ["B", "a"]
        assert [hit.score for hit in nearest(store, axis(2), depth=1).hits] == [1.0]
        assert nearest(store, axis(2), depth=0).hits == ()

    def test_the_nearest_passage_is_the_first_of_equals(self, store: Store) -> None:
        memory = make_memory("a", "one\ntwo\nthree")
        store.begin_epoch(EPOCH)
        put(store, memory)
        embed(store, made(memory, axis(1), axis(0), axis(0)))
        assert [(hit.score, hit.ordinal) for hit in nearest(store, axis(0)).hits] == [(1.0, 1)]

    def test_memories_that_point_away_are_hits_too(self, store: Store) -> None:
        memory = make_memory("a", "x")
        store.begin_epoch(EPOCH)
        put(store, memory)
        embed(store, made(memory, -axis(0)))
        assert [(hit.key.id, hit.score) for hit in nearest(store, axis(0)).hits] == [("a", -1.0)]

    def test_a_zero_vector_is_done_and_never_a_hit(self, store: Store) -> None:
        silent = make_memory("a", "x\ny")
        store.begin_epoch(EPOCH)
        put(store, silent)
        embed(store, made(silent, np.zeros(DIMENSION, np.float32), axis(1)))
        assert [(hit.key.id, hit.ordinal) for hit in nearest(store, axis(0)).hits] == [("a", 1)]
        assert len(store.vectors(silent.key, EPOCH.fingerprint)) == 1
        assert store.pending_count(EPOCH.fingerprint) == 0
        assert store.verify() == []

    def test_a_dense_hit_carries_the_facts_of_its_memory(self, store: Store) -> None:
        memory = make_memory("a", "x", kind="fact", importance=0.2, uses=6, occurred_at=moment(-1))
        store.begin_epoch(EPOCH)
        put(store, memory)
        embed(store, made(memory))
        (hit,) = nearest(store, axis(0)).hits
        assert hit.facts == Facts("fact", 0.2, False, 6, to_micros(moment()))
        assert hit.terms == ()

    def test_a_dense_probe_tells_the_rank_without_depth(self, store: Store) -> None:
        put_embedded(store, 20)
        put(store, make_memory("pending", "x"))
        query = vector_of("a question")
        full = nearest(store, query).hits
        for rank, hit in enumerate(full, start=1):
            place = nearest(store, query, depth=3, probe=hit.key.id).place
            assert place is not None
            assert place.rank == rank
            assert abs(place.score - hit.score) < CLOSE
        assert nearest(store, query, probe="pending").place is None
        assert nearest(store, query, Eq("id", "m000"), probe="m001").place is None

    def test_nothing_crosses_spaces(self, store: Store) -> None:
        mine, yours = make_memory("a", "x"), make_memory("b", "y", space=OTHER_SPACE)
        store.begin_epoch(EPOCH)
        put(store, mine, yours, make_memory("c", "z", space=OTHER_SPACE))
        embed(store, made(mine, axis(0)), made(yours, axis(0)))
        answer = nearest(store, axis(0), probe="b")
        assert (ids(answer), answer.without_vector, answer.place) == (["a"], 0, None)
        there = nearest(store, axis(0), space=OTHER_SPACE)
        assert (ids(there), there.without_vector) == (["b"], 1)

    def test_without_vector_counts_memories_that_could_have_one(self, store: Store) -> None:
        store.begin_epoch(EPOCH)
        put(store, make_memory("a", "x\ny"), make_memory("b", "y"), make_memory("s", "z", sensitive=True))
        assert nearest(store, axis(0)).without_vector == 2
        embed(store, made(make_memory("a", "x\ny")))
        assert nearest(store, axis(0)).without_vector == 1
        assert nearest(store, axis(0), Eq("id", "a")).without_vector == 1

    def test_a_sensitive_memory_gets_no_vector(self, store: Store) -> None:
        secret = make_memory("s", "secret", sensitive=True)
        store.begin_epoch(EPOCH)
        put(store, secret)
        assert store.pending_count(EPOCH.fingerprint) == 0
        assert embed(store, made(secret)) == 0
        assert store.vectors(secret.key, EPOCH.fingerprint) == ()
        assert ids(nearest(store, vector_of("secret"))) == []

    def test_a_memory_that_becomes_sensitive_loses_its_vectors_and_its_mark(self, store: Store) -> None:
        memory = make_memory("a", "words")
        store.begin_epoch(EPOCH)
        store.begin_epoch(NEXT_EPOCH)
        put(store, memory)
        embed(store, made(memory))
        put(store, make_memory("a", "words", sensitive=True))
        for epoch in (EPOCH, NEXT_EPOCH):
            assert store.vectors(memory.key, epoch.fingerprint) == ()
            assert store.pending_count(epoch.fingerprint) == 0
        assert store.verify() == []

    def test_vectors_of_another_text_are_passed_over(self, store: Store) -> None:
        old, new = make_memory("a", "old"), make_memory("a", "new")
        gone, other = make_memory("gone", "x"), make_memory("b", "y")
        store.begin_epoch(EPOCH)
        put(store, new, other)
        assert embed(store, made(old), made(gone), made(other)) == 1
        assert store.vectors(new.key, EPOCH.fingerprint) == ()
        assert [waiting.id for waiting in store.pending(EPOCH.fingerprint, ALL)] == ["a"]
        assert embed(store, made(new)) == 1
        assert store.pending(EPOCH.fingerprint, ALL) == ()

    def test_put_drops_vectors_in_every_epoch_and_waits_for_new_ones(self, store: Store) -> None:
        memory = make_memory("a", "same text")
        store.begin_epoch(EPOCH)
        store.begin_epoch(NEXT_EPOCH)
        put(store, memory)
        for epoch in (EPOCH, NEXT_EPOCH):
            embed(store, made(memory), epoch=epoch)
        put(store, memory)
        for epoch in (EPOCH, NEXT_EPOCH):
            assert store.vectors(memory.key, epoch.fingerprint) == ()
            assert store.pending(epoch.fingerprint, ALL) == (memory,)
            assert nearest(store, axis(0), epoch=epoch).hits == ()

    def test_vectors_put_again_replace_the_first_ones(self, store: Store) -> None:
        memory = make_memory("a", "x\ny")
        store.begin_epoch(EPOCH)
        put(store, memory)
        embed(store, made(memory, axis(0), axis(1)))
        embed(store, made(memory, axis(2), axis(3)))
        assert same_vectors(store.vectors(memory.key, EPOCH.fingerprint), [axis(2), axis(3)])
        assert [hit.score for hit in nearest(store, axis(0)).hits] == [0.0]

    def test_forgotten_memories_are_not_found(self, store: Store) -> None:
        put_embedded(store, 30)
        forget(store, *(f"m{number:03}" for number in range(0, 30, 2)))
        found = ids(nearest(store, vector_of("a question")))
        assert sorted(found) == [f"m{number:03}" for number in range(1, 30, 2)]

    def test_a_wrong_vector_is_refused(self, store: Store) -> None:
        memory = make_memory("a", "x")
        store.begin_epoch(EPOCH)
        put(store, memory)
        for wrong in (axis(0, DIMENSION + 1), np.full(DIMENSION, np.nan, np.float32)):
            with pytest.raises(WrongVector):
                nearest(store, wrong)
            with pytest.raises(WrongVector):
                embed(store, made(memory, wrong))
        with pytest.raises(InvalidInput):
            embed(store, made(memory, axis(0), axis(1)))
        assert store.pending_count(EPOCH.fingerprint) == 1
        assert store.vectors(memory.key, EPOCH.fingerprint) == ()

    def test_an_unknown_epoch_is_an_error_and_not_an_empty_answer(self, store: Store) -> None:
        memory = make_memory("a", "x")
        store.begin_epoch(EPOCH)
        put(store, memory)
        stranger = Epoch("stranger", "no model", DIMENSION)
        with pytest.raises(InvalidInput):
            nearest(store, axis(0), epoch=stranger)
        with pytest.raises(InvalidInput):
            embed(store, made(memory), epoch=stranger)

    def test_a_writer_puts_vectors_only_in_its_space(self, store: Store) -> None:
        memory = make_memory("a", "x", space=OTHER_SPACE)
        store.begin_epoch(EPOCH)
        put(store, memory)
        with pytest.raises(InvalidInput), store.writing(SPACE) as writer:
            writer.put_vectors(EPOCH.fingerprint, [made(memory)])
        assert store.pending_count(EPOCH.fingerprint) == 1

    def test_record_words_and_vectors_may_come_in_one_transaction(self, store: Store) -> None:
        memory = make_memory("a", "x\ny")
        store.begin_epoch(EPOCH)
        with store.writing(SPACE) as writer:
            writer.put(memory, index_lines("x\ny"))
            vectors = MadeVectors(memory.key, memory.content_hash, [axis(0), axis(1)])
            assert writer.put_vectors(EPOCH.fingerprint, [vectors]) == 1
        assert store.pending_count(EPOCH.fingerprint) == 0
        assert [hit.ordinal for hit in nearest(store, axis(1)).hits] == [1]
