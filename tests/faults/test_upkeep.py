"""Upkeep of one file by two processes at once."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.models.hashing import HashEmbedder

import trivium
from trivium.store.sqlite import segments
from trivium.store.sqlite.connection import Connections

LIMIT = 16


def test_a_delta_that_another_has_just_flushed_is_left_to_grow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, exclusive = tmp_path / "store.db", Connections.exclusive
    with trivium.open(path, embedder=HashEmbedder()) as one, trivium.open(path, embedder=HashEmbedder()) as other:
        one.add_many({"content": f"memory {number}"} for number in range(LIMIT))
        key = one.list()[0].key
        passages = one.store.passages(key)
        for each in (one, other):
            with each.store.writing("default") as writer:
                writer.reindex(key.id, passages)  # so that upkeep will look here
        waiting = [other]

        @contextmanager
        def overtaken(self: Connections) -> Iterator[sqlite3.Connection]:
            """The other one is first in the queue, and begins a new delta."""
            while waiting:
                waiting.pop().store.tend()
                other.add("the first of the next delta")
            with exclusive(self) as connection:
                yield connection

        monkeypatch.setattr(segments, "DELTA_LIMIT", LIMIT)
        monkeypatch.setattr(Connections, "exclusive", overtaken)
        one.store.tend()
        assert one.upkeep.verify() == []
    connection = sqlite3.connect(path)
    sizes = connection.execute("SELECT documents FROM segment").fetchall()
    connection.close()
    assert sizes == [(LIMIT,)]
