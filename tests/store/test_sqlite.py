"""The SQLite store keeps the contract and agrees with the brute-force store, scores included."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from trivium.conformance import StoreSuite, machine_for
from trivium.conformance.bound import OpenStore, Reopen
from trivium.store.contract import Store
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
