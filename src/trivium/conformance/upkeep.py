"""Receipts, threads, spaces, an empty store, and the upkeep that changes no answer."""

from __future__ import annotations

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
    find,
    forget,
    get_one,
    ids,
    index_lines,
    made,
    make_memory,
    moment,
    nearest,
    put,
    scanned,
)
from trivium.filter import EVERYTHING
from trivium.record import Key, Memory
from trivium.store.contract import Receipt, SpaceFacts, SpaceSettings, Store


def thread_of(*positions: int, thread: str = "talk", space: str = SPACE) -> list[Memory]:
    return [make_memory(f"{thread}{position}", thread=thread, position=position, space=space) for position in positions]


class UpkeepSuite(Bound):
    def test_forget_counts_what_went_from_where(self, store: Store) -> None:
        kept, gone, secret = make_memory("k", "x"), make_memory("g", "x\ny"), make_memory("s", "x", sensitive=True)
        store.begin_epoch(EPOCH)
        store.begin_epoch(NEXT_EPOCH)
        put(store, kept, gone, secret, make_memory("o", "x", space=OTHER_SPACE))
        embed(store, made(kept), made(gone))
        embed(store, made(gone), epoch=NEXT_EPOCH)
        with store.writing(SPACE) as writer:
            receipt = writer.forget(["s", "o", "g", "nobody", "g"], moment(3))
        assert receipt == Receipt(SPACE, ("s", "g"), ("o", "nobody"), records=2, passages=3, vectors=4, at=moment(3))

    def test_forget_leaves_nothing_in_any_index(self, store: Store, reopen: Reopen) -> None:
        memory = make_memory("a", "rare words")
        store.begin_epoch(EPOCH)
        put(store, memory, make_memory("b", "words"))
        embed(store, made(memory, axis(0)))
        forget(store, "a")
        again = reopen(store)
        assert get_one(again, "a") is None
        assert again.passages(memory.key) == ()
        assert ids(find(again, "rare words")) == ["b"]
        assert find(again, "rare").unknown == ("rare",)
        assert again.near_terms(SPACE, "rare", 1) == ()
        assert ids(nearest(again, axis(0))) == []
        assert again.vectors(memory.key, EPOCH.fingerprint) == ()
        assert [waiting.id for waiting in again.pending(EPOCH.fingerprint, ALL)] == ["b"]
        assert again.verify() == []
        again.close()

    def test_a_forgotten_id_may_be_put_again(self, store: Store) -> None:
        store.begin_epoch(EPOCH)
        put(store, make_memory("a", "first"))
        forget(store, "a")
        put(store, make_memory("a", "second"))
        assert ids(find(store, "first second")) == ["a"]
        assert store.verify() == []

    def test_last_position_is_the_thread_s_own(self, store: Store) -> None:
        put(store, *thread_of(2, -7, 11), *thread_of(40, thread="other"), *thread_of(50, space=OTHER_SPACE))
        put(store, make_memory("unplaced", thread="talk"))
        with store.writing(SPACE) as writer:
            assert writer.last_position("talk") == 11
            assert writer.last_position("silence") is None

    def test_around_counts_memories_on_each_side_and_not_positions(self, store: Store) -> None:
        put(
            store, *thread_of(1, 2, 3, 10, 20, 30, 31), *thread_of(9, thread="other"), *thread_of(11, space=OTHER_SPACE)
        )
        put(store, make_memory("unplaced", thread="talk"))
        with store.writing(SPACE) as writer:
            assert [memory.position for memory in writer.around("talk", 10, 2)] == [2, 3, 10, 20, 30]
            assert [memory.position for memory in writer.around("talk", 15, 1)] == [10, 20]
            assert [memory.position for memory in writer.around("talk", 1, 2)] == [1, 2, 3]
            assert [memory.position for memory in writer.around("talk", 31, 0)] == [31]
            assert writer.around("silence", 1, 2) == []

    def test_around_orders_one_position_by_id(self, store: Store) -> None:
        put(store, *(make_memory(id, thread="t", position=at) for id, at in [("d", 5), ("b", 5), ("c", 4), ("a", 6)]))
        with store.writing(SPACE) as writer:
            assert [memory.id for memory in writer.around("t", 5, 3)] == ["c", "b", "d", "a"]

    def test_spaces_and_their_sizes(self, store: Store, reopen: Reopen) -> None:
        put(store, make_memory("a", "x\ny"), make_memory("b", "x", sensitive=True, superseded_at=moment()))
        put(store, make_memory("a", "z", space="a space, with ' signs"))
        with store.writing(SPACE) as writer:
            writer.set_space(language="pt", settings={"fusion": {"k": 60}})
            writer.note_languages(["pt", "en"])
            writer.note_languages(["en", "de"])
        again = reopen(store)
        assert again.spaces() == (SpaceFacts("a space, with ' signs", 1, 0, 0, 1), SpaceFacts(SPACE, 2, 1, 1, 3))
        assert again.space_settings(SPACE) == SpaceSettings("pt", ("de", "en", "pt"), {"fusion": {"k": 60}})
        assert again.space_settings("nowhere") == SpaceSettings()
        again.close()

    def test_set_space_leaves_what_is_not_named(self, store: Store) -> None:
        with store.writing(SPACE) as writer:
            writer.set_space(language="pt", settings={"a": 1, "b": 2})
        with store.writing(SPACE) as writer:
            writer.set_space(language="en")
        with store.writing(SPACE) as writer:
            writer.set_space(settings={"a": 3})
        facts = store.space_settings(SPACE)
        assert (facts.language, facts.settings) == ("en", {"a": 3})

    def test_a_space_stays_when_its_last_memory_goes(self, store: Store) -> None:
        put(store, make_memory("a", "x"))
        forget(store, "a")
        assert [(facts.name, facts.memories, facts.passages) for facts in store.spaces()] == [(SPACE, 0, 0)]

    def test_an_empty_store_answers(self, store: Store) -> None:
        assert scanned(store) == []
        assert store.count([], EVERYTHING) == 0
        assert store.kinds([]) == ()
        assert store.spaces() == ()
        assert store.epochs() == ()
        assert store.analyzer_version() == ""
        assert store.verify() == []
        assert store.size_bytes() >= 0

    @pytest.mark.parametrize("written", [False, True])
    def test_an_unknown_space_answers_with_nothing(self, store: Store, written: bool) -> None:
        store.begin_epoch(EPOCH)
        if written:
            memory = make_memory("a", "words")
            put(store, memory)
            embed(store, made(memory))
        answer = find(store, "words", space="nowhere", probe="a")
        assert (answer.hits, answer.unknown, answer.place) == ((), ("words",), None)
        assert nearest(store, axis(0), space="nowhere", probe="a").hits == ()
        assert nearest(store, axis(0), space="nowhere").without_vector == 0
        assert store.near_terms("nowhere", "words", 2) == ()
        assert store.kinds(["nowhere"]) == ()
        assert store.count(["nowhere"], EVERYTHING) == 0
        assert scanned(store, "nowhere") == []

    def test_the_analyzer_version_is_kept(self, store: Store, reopen: Reopen) -> None:
        store.set_analyzer_version("1")
        store.set_analyzer_version("2.ção")
        again = reopen(store)
        assert again.analyzer_version() == "2.ção"
        again.close()

    def test_tending_changes_no_answer(self, store: Store, reopen: Reopen) -> None:
        """Rounds of small writes with upkeep between them: what merging does must not show."""
        memories = [make_memory(f"m{number:03}", f"word{number % 7} common") for number in range(120)]
        store.begin_epoch(EPOCH)
        for start in range(0, 120, 10):
            batch = memories[start : start + 10]
            put(store, *batch)
            embed(store, *(made(memory, axis(number % DIMENSION)) for number, memory in enumerate(batch)))
            forget(store, f"m{start:03}")
            before = find(store, "word3 common"), nearest(store, axis(1))
            store.tend()
            assert (find(store, "word3 common"), nearest(store, axis(1))) == before
        again = reopen(store)
        assert (find(again, "word3 common"), nearest(again, axis(1))) == before
        again.close()

    def test_verify_is_clean_after_a_mix_of_operations(self, store: Store, reopen: Reopen) -> None:
        plain, secret = make_memory("p", "plain\nwords"), make_memory("s", "secret words", sensitive=True)
        store.begin_epoch(EPOCH)
        put(store, plain, secret, make_memory("f", "to forget"), make_memory("f", "to keep", space=OTHER_SPACE))
        embed(store, made(plain), made(secret))
        store.begin_epoch(NEXT_EPOCH)
        embed(store, made(plain), epoch=NEXT_EPOCH)
        with store.writing(SPACE) as writer:
            writer.put(make_memory("p", "plain text", sensitive=True), index_lines("plain text"))
            writer.put(make_memory("s", "no secret"), index_lines("no secret"))
            writer.forget(["f", "never there"], moment(4))
        store.serve_epoch(NEXT_EPOCH.fingerprint)
        store.tend()
        again = reopen(store)
        assert again.verify() == []
        assert again.get([Key(SPACE, "f")]) == {}
        again.close()
