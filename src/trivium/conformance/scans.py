"""Scans: orders, limits, offsets, and the counts beside them."""

from __future__ import annotations

import pytest

from trivium.conformance.bound import Bound
from trivium.conformance.builders import OTHER_SPACE, SPACE, make_memory, moment, put, scanned
from trivium.filter import EVERYTHING, Between, Eq
from trivium.store.contract import Order, Store

# Each order of the four memories put by `put_four`, oldest (or least) first, absent values first, ties by (space, id).
ORDERS: dict[Order, list[str]] = {
    "created": ["d", "a", "b", "c"],
    "updated": ["c", "a", "b", "d"],
    "occurred": ["b", "c", "d", "a"],
    "importance": ["a", "d", "b", "c"],
    "thread": ["d", "b", "c", "a"],
}
# The same, newest (or most) first: values turn around, absent ones come last, ties stay by (space, id).
NEWEST_FIRST: dict[Order, list[str]] = {
    "created": ["b", "c", "a", "d"],
    "updated": ["d", "a", "b", "c"],
    "occurred": ["a", "d", "b", "c"],
    "importance": ["b", "c", "d", "a"],
    "thread": ["a", "c", "b", "d"],
}


def put_four(store: Store) -> None:
    put(
        store,
        make_memory(
            "a", minute=2, updated_at=moment(5), occurred_at=moment(-5), importance=0.1, thread="t2", position=1
        ),
        make_memory("b", minute=3, updated_at=moment(5), importance=0.7, thread="t1"),
        make_memory("c", minute=3, updated_at=moment(4), importance=0.7, thread="t1", position=-2),
        make_memory("d", minute=1.5, updated_at=moment(9), occurred_at=moment(-900), importance=0.5),
    )


class ScanSuite(Bound):
    @pytest.mark.parametrize("order", list(ORDERS))
    def test_scan_orders(self, store: Store, order: Order) -> None:
        put_four(store)
        assert [memory.id for memory in store.scan([], EVERYTHING, order=order)] == ORDERS[order]

    @pytest.mark.parametrize("order", list(NEWEST_FIRST))
    def test_scan_newest_first(self, store: Store, order: Order) -> None:
        put_four(store)
        found = store.scan([], EVERYTHING, order=order, newest_first=True)
        assert [memory.id for memory in found] == NEWEST_FIRST[order]

    @pytest.mark.parametrize("newest_first", [False, True])
    def test_ties_are_ordered_by_space_and_id(self, store: Store, newest_first: bool) -> None:
        put(store, make_memory("a", space=OTHER_SPACE), make_memory("c"), make_memory("B"), make_memory("é"))
        found = store.scan([], EVERYTHING, newest_first=newest_first)
        assert [memory.key for memory in found] == [
            (SPACE, "B"),
            (SPACE, "c"),
            (SPACE, "é"),
            (OTHER_SPACE, "a"),
        ]

    def test_a_microsecond_decides_the_order(self, store: Store) -> None:
        put(
            store, make_memory("a", minute=1 + 1 / 60_000_000), make_memory("b", minute=1), make_memory("c", minute=0.9)
        )
        assert [memory.id for memory in scanned(store)] == ["c", "b", "a"]

    @pytest.mark.parametrize(
        ("limit", "offset", "wanted"),
        [(None, 0, "dabc"), (2, 0, "da"), (2, 1, "ab"), (None, 3, "c"), (9, 9, ""), (0, 0, ""), (1, 3, "c")],
    )
    def test_limit_and_offset(self, store: Store, limit: int | None, offset: int, wanted: str) -> None:
        put_four(store)
        found = store.scan([], EVERYTHING, limit=limit, offset=offset)
        assert [memory.id for memory in found] == list(wanted)

    def test_the_filter_holds_before_limit_and_offset(self, store: Store) -> None:
        put_four(store)
        found = store.scan([], Between("importance", 0.5, None), limit=2, offset=1)
        assert [memory.id for memory in found] == ["b", "c"]

    def test_spaces_are_those_named_and_all_when_none_is(self, store: Store) -> None:
        put(store, *(make_memory("a", space=space) for space in ("x", "y", "z")))
        assert [memory.space for memory in scanned(store, "z", "x", "nowhere")] == ["x", "z"]
        assert [memory.space for memory in scanned(store)] == ["x", "y", "z"]
        assert [memory.space for memory in scanned(store, "x", "x")] == ["x"]

    def test_count(self, store: Store) -> None:
        put(store, make_memory("a", kind="fact"), make_memory("b"), make_memory("a", kind="fact", space=OTHER_SPACE))
        assert store.count([], EVERYTHING) == 3
        assert store.count([SPACE], EVERYTHING) == 2
        assert store.count([], Eq("kind", "fact")) == 2
        assert store.count([SPACE], Eq("kind", "fact")) == 1
        assert store.count([SPACE], Eq("kind", "movie")) == 0

    def test_kinds_are_sorted_and_of_the_spaces_named(self, store: Store) -> None:
        put(store, make_memory("a", kind="note"), make_memory("b", kind="fact"), make_memory("c", kind="note"))
        put(store, make_memory("a", kind="zebra", space=OTHER_SPACE, superseded_at=moment()))
        assert store.kinds([SPACE]) == ("fact", "note")
        assert store.kinds([]) == ("fact", "note", "zebra")
        assert store.kinds([OTHER_SPACE, SPACE]) == ("fact", "note", "zebra")

    def test_a_kind_goes_with_its_last_memory(self, store: Store) -> None:
        put(store, make_memory("a", kind="fact"), make_memory("b"))
        put(store, make_memory("a", kind="task"))
        assert store.kinds([]) == ("note", "task")
