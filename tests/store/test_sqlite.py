"""The SQLite store keeps the contract and agrees with the brute-force store, scores included."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from trivium.conformance import StoreSuite, machine_for
from trivium.conformance.bound import OpenStore, Reopen
from trivium.conformance.builders import EPOCH, SPACE, axis, embed, made, make_memory, put
from trivium.filter import EVERYTHING
from trivium.store.contract import Store
from trivium.store.sqlite import dense
from trivium.store.sqlite.store import SqliteStore


def reopened(store: Store) -> Store:
    assert isinstance(store, SqliteStore)
    store.close()
    return SqliteStore(store.path)


class TestSqliteStore(StoreSuite):
    @pytest.fixture
    def open_store(self, tmp_path: Path) -> OpenStore:
        return lambda: SqliteStore(Path(tempfile.mkdtemp(dir=tmp_path)) / "store.db")

    @pytest.fixture
    def reopen(self) -> Reopen:
        return reopened


def new_store() -> Store:
    return SqliteStore(Path(tempfile.mkdtemp()) / "store.db")


TestSqliteMachine = machine_for(new_store, reopened)


def test_one_memory_with_many_near_passages_leaves_room_for_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("EXACT_ROWS", 100), ("EXACT_CHOSEN", 50), ("RESCORED_LEAST", 100)):
        monkeypatch.setattr(dense, name, value)
    store = SqliteStore(tmp_path / "store.db")
    store.begin_epoch(EPOCH)
    long = make_memory("long", "\n".join(["near"] * 3_000))
    others = [make_memory(f"other{number:02}", f"far {number}") for number in range(20)]
    put(store, long, *others)
    embed(store, made(long, *[axis(0)] * 3_000), *(made(other, axis(1)) for other in others))
    found = store.dense(SPACE, axis(0), EPOCH.fingerprint, EVERYTHING, 10)
    assert [hit.key.id for hit in found.hits] == ["long", *(other.id for other in others[:9])]
    store.close()
