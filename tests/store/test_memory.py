"""The store in memory keeps the contract, and its `verify` sees what is wrong."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from trivium.conformance import StoreSuite, machine_for
from trivium.conformance.bound import OpenStore, Reopen
from trivium.conformance.builders import EPOCH, axis, index, made, make_memory, moment
from trivium.errors import StoreError
from trivium.record import Memory
from trivium.store.contract import Receipt, Store
from trivium.store.memory import MemoryStore
from trivium.store.memory.faults import faults
from trivium.store.memory.state import Row, State


def same_store(store: Store) -> Store:
    """There is nothing to open again: the object is the store."""
    return store


class TestMemoryStore(StoreSuite):
    @pytest.fixture
    def open_store(self) -> OpenStore:
        return MemoryStore

    @pytest.fixture
    def reopen(self) -> Reopen:
        return same_store


def test_no_part_of_the_suite_hides_a_test_of_another() -> None:
    names = [name for part in StoreSuite.__bases__ for name in vars(part) if name.startswith("test_")]
    assert len(names) > 100
    assert [name for name, times in Counter(names).items() if times > 1] == []


TestMemoryMachine = machine_for(MemoryStore, same_store, examples=15)


def state_of(memory: Memory) -> State:
    return State(rows={memory.key: Row(memory, ())}, epochs={EPOCH.fingerprint: replace(EPOCH, serving=True)})


PLAIN = make_memory("a", "x")
SECRET = make_memory("a", "x", sensitive=True)
MARK = (EPOCH.fingerprint, PLAIN.key)
RECEIPT = Receipt(PLAIN.space, (PLAIN.id,), (), 1, 1, 0, moment())


@pytest.mark.parametrize(
    ("state", "fault"),
    [
        (replace(state_of(SECRET), vectors={MARK: (axis(0),)}), "is sensitive and has vectors"),
        (replace(state_of(SECRET), pending={MARK}), "waits for vectors it cannot have"),
        (replace(state_of(PLAIN), rows={}, vectors={MARK: (axis(0),)}), "is gone and has vectors"),
        (replace(state_of(PLAIN), rows={}, pending={MARK}), "waits for vectors it cannot have"),
        (replace(state_of(PLAIN), vectors={MARK: (axis(0),)}, pending={MARK}), "has vectors and waits for them"),
        (state_of(PLAIN), "has no vectors and waits for none"),
        (replace(state_of(PLAIN), pending={MARK}, forgotten={PLAIN.key: RECEIPT}), "was forgotten and is there"),
        (State(epochs={EPOCH.fingerprint: EPOCH}), "not exactly one epoch serves"),
    ],
)
def test_verify_names_what_is_wrong(state: State, fault: str) -> None:
    (finding,) = faults(state)
    assert fault in finding.what
    assert finding.mend.startswith("trivium ")


def test_a_backup_is_refused_with_what_to_do_instead(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="export"):
        MemoryStore().backup(tmp_path / "copy.db")


def test_vectors_handed_out_cannot_be_changed() -> None:
    store = MemoryStore()
    store.begin_epoch(EPOCH)
    with store.writing(PLAIN.space) as writer:
        writer.put(PLAIN, [index("x")])
        writer.put_vectors(EPOCH.fingerprint, [made(PLAIN, axis(0))])
    (vector,) = store.vectors(PLAIN.key, EPOCH.fingerprint)
    with pytest.raises(ValueError, match="read-only"):
        vector[0] = 2.0
