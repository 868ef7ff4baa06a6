"""Transactions: all or nothing, one state for a reader, and several threads at once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from typing import TypeVar

import pytest

from trivium.conformance.bound import Bound, Reopen
from trivium.conformance.builders import (
    EPOCH,
    SPACE,
    axis,
    embed,
    find,
    forget,
    get_one,
    ids,
    index,
    made,
    make_memory,
    moment,
    nearest,
    put,
    scanned,
)
from trivium.errors import StoreError
from trivium.filter import EVERYTHING
from trivium.store.contract import Store

T = TypeVar("T")
LONG_ENOUGH_TO_WRITE_S = 0.1  # a write that waits for nothing is done by then
PATIENCE_S = 30  # a call that takes this long is waiting for a lock it should not need


class Interrupted(Exception):
    """Leaves a writing block before its end."""


def elsewhere(call: Callable[[], T]) -> T:
    """What the call returns in another thread."""
    with ThreadPoolExecutor(max_workers=1) as pool:
        return pool.submit(call).result(timeout=PATIENCE_S)


class TransactionSuite(Bound):
    def test_an_exception_leaves_nothing_behind(self, store: Store, reopen: Reopen) -> None:
        kept, gone = make_memory("kept", "words"), make_memory("gone", "words too")
        store.begin_epoch(EPOCH)
        put(store, kept, gone)
        embed(store, made(kept, axis(0)))
        before = scanned(store), store.spaces(), find(store, "words new"), nearest(store, axis(0))
        with pytest.raises(Interrupted), store.writing(SPACE) as writer:  # noqa: PT012 the block is the test
            writer.put(make_memory("new", "new words"), [index("new words")])
            writer.put(make_memory("kept", "new text"), [index("new text")])
            writer.forget(["gone"], moment())
            writer.set_space(language="pt", settings={"a": 1})
            writer.note_languages(["pt"])
            raise Interrupted
        assert (scanned(store), store.spaces(), find(store, "words new"), nearest(store, axis(0))) == before
        again = reopen(store)
        assert (scanned(again), again.spaces(), find(again, "words new"), nearest(again, axis(0))) == before
        assert again.pending_count(EPOCH.fingerprint) == 1
        assert again.near_terms(SPACE, "new", 1) == ()
        assert again.verify() == []
        again.close()

    def test_an_exception_takes_back_vectors_and_index_changes(self, store: Store) -> None:
        memory = make_memory("a", "words")
        store.begin_epoch(EPOCH)
        put(store, memory)
        with pytest.raises(Interrupted), store.writing(SPACE) as writer:  # noqa: PT012 the block is the test
            assert writer.put_vectors(EPOCH.fingerprint, [made(memory)]) == 1
            writer.reindex("a", [index("other")])
            writer.amend(replace(memory, uses=9))
            raise Interrupted
        assert get_one(store, "a") == memory
        assert (ids(find(store, "words")), ids(find(store, "other"))) == (["a"], [])
        assert store.pending_count(EPOCH.fingerprint) == 1
        assert nearest(store, axis(0)).hits == ()

    def test_an_exception_leaves_no_new_space(self, store: Store) -> None:
        with pytest.raises(Interrupted), store.writing("new") as writer:  # noqa: PT012 the block is the test
            writer.put(make_memory("a", space="new"), [])
            raise Interrupted
        assert store.spaces() == ()

    def test_a_store_can_be_written_after_an_exception(self, store: Store) -> None:
        with pytest.raises(Interrupted), store.writing(SPACE):
            raise Interrupted
        put(store, make_memory("a", "words"))
        assert ids(find(store, "words")) == ["a"]

    def test_others_see_a_write_when_its_block_ends_and_do_not_wait_for_it(self, store: Store) -> None:
        put(store, make_memory("a", "words"))
        with store.writing(SPACE) as writer:
            writer.put(make_memory("b", "words"), [index("words")])
            assert elsewhere(lambda: ids(find(store, "words"))) == ["a"]
            assert elsewhere(lambda: len(scanned(store))) == 1
        assert elsewhere(lambda: ids(find(store, "words"))) == ["a", "b"]

    def test_reading_sees_one_state_while_another_thread_writes(self, store: Store) -> None:
        memory = make_memory("a", "words")
        store.begin_epoch(EPOCH)
        put(store, memory)
        embed(store, made(memory, axis(0)))

        def change() -> None:
            put(store, make_memory("b", "words"))
            embed(store, made(make_memory("b", "words"), axis(0)))
            forget(store, "a")

        def seen() -> tuple[list[str], list[str], list[str], int, int]:
            scan = [memory.id for memory in scanned(store)]
            pending = store.pending_count(EPOCH.fingerprint)
            count = store.count([], EVERYTHING)
            return scan, ids(find(store, "words")), ids(nearest(store, axis(0))), pending, count

        with store.reading():
            before = seen()
            elsewhere(change)
            assert seen() == before == (["a"], ["a"], ["a"], 0, 1)
            assert get_one(store, "b") is None
            assert elsewhere(seen) == (["b"], ["b"], ["b"], 0, 1)
        assert seen() == (["b"], ["b"], ["b"], 0, 1)

    def test_a_reading_block_begins_before_its_first_question(self, store: Store) -> None:
        put(store, make_memory("a"))
        with store.reading():
            elsewhere(lambda: put(store, make_memory("b")))
            assert [memory.id for memory in scanned(store)] == ["a"]
        assert [memory.id for memory in scanned(store)] == ["a", "b"]

    def test_reading_sees_one_state_while_its_own_thread_writes(self, store: Store) -> None:
        put(store, make_memory("a", "words"))
        with store.reading():
            assert ids(find(store, "words")) == ["a"]
            put(store, make_memory("b", "words"))
            assert ids(find(store, "words")) == ["a"]
        assert ids(find(store, "words")) == ["a", "b"]

    def test_a_nested_reading_block_joins_the_outer_one(self, store: Store) -> None:
        put(store, make_memory("a"))
        with store.reading():
            with store.reading():
                assert len(scanned(store)) == 1
                elsewhere(lambda: put(store, make_memory("b")))
                assert len(scanned(store)) == 1
            assert len(scanned(store)) == 1
            with store.reading():
                assert len(scanned(store)) == 1
        assert len(scanned(store)) == 2

    def test_a_reading_block_ends_with_an_exception(self, store: Store) -> None:
        put(store, make_memory("a"))
        with pytest.raises(Interrupted), store.reading():
            raise Interrupted
        put(store, make_memory("b"))
        assert len(scanned(store)) == 2

    def test_a_scan_in_a_reading_block_may_be_walked_while_writing(self, store: Store) -> None:
        put(store, *(make_memory(f"m{number:03}", "x", minute=number) for number in range(100)))
        with store.reading():
            walked: list[str] = []
            for memory in store.scan([SPACE], EVERYTHING):
                walked.append(memory.id)
                put(store, replace(memory, updated_at=moment(500), created_at=moment(500)))
        assert walked == [f"m{number:03}" for number in range(100)]
        assert {memory.created_at for memory in scanned(store)} == {moment(500)}

    def test_a_writer_waits_until_the_block_of_another_ends(self, store: Store) -> None:
        put(store, make_memory("a"))
        started = threading.Event()

        def write() -> None:
            started.set()
            put(store, make_memory("b"))

        with ThreadPoolExecutor(max_workers=1) as pool:
            with store.writing(SPACE) as writer:
                other = pool.submit(write)
                assert started.wait(PATIENCE_S)
                assert wait([other], timeout=LONG_ENOUGH_TO_WRITE_S).not_done == {other}
                assert writer.get(["b"]) == {}
            other.result(timeout=PATIENCE_S)
        assert [memory.id for memory in scanned(store)] == ["a", "b"]

    def test_no_update_is_lost_between_writers(self, store: Store) -> None:
        """Every thread reads a count and writes it back raised by one: none may be lost."""
        put(store, make_memory("a"))
        ready = threading.Barrier(4)

        def raise_ten_times() -> None:
            ready.wait(PATIENCE_S)
            for _ in range(10):
                with store.writing(SPACE) as writer:
                    memory = writer.get(["a"])["a"]
                    writer.amend(replace(memory, uses=memory.uses + 1))

        with ThreadPoolExecutor(max_workers=4) as pool:
            for done in [pool.submit(raise_ten_times) for _ in range(4)]:
                done.result(timeout=PATIENCE_S)
        found = get_one(store, "a")
        assert found is not None
        assert found.uses == 40

    def test_readers_never_see_half_a_transaction(self, store: Store) -> None:
        """A writer replaces two memories together; whatever a reader sees, they agree."""
        put(store, make_memory("a", "v0"), make_memory("b", "v0"))
        done = threading.Event()

        def write() -> None:
            try:
                for number in range(30):
                    put(store, make_memory("a", f"v{number}"), make_memory("b", f"v{number}"))
            finally:
                done.set()

        with ThreadPoolExecutor(max_workers=1) as pool:
            writing = pool.submit(write)
            finished = False
            while not finished:
                finished = done.is_set()  # read before the questions, so that the last state is seen too
                with store.reading():
                    first, second = scanned(store)
                    assert first.content == second.content
                    assert ids(find(store, first.content)) == ["a", "b"]
            writing.result(timeout=PATIENCE_S)
        assert [memory.content for memory in scanned(store)] == ["v29", "v29"]

    def test_a_thread_that_writes_cannot_begin_another_write(self, store: Store) -> None:
        with store.writing(SPACE) as writer:
            writer.put(make_memory("a"), [])
            with pytest.raises(StoreError), store.writing("elsewhere"):
                pass
            with pytest.raises(StoreError):
                store.begin_epoch(EPOCH)
        assert [memory.id for memory in scanned(store)] == ["a"]
        assert store.epochs() == ()
