"""A slow model never delays a write: rows wait, marked, and are filled by a worker, also after a crash."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import pytest
from tests.engine.conftest import Open
from tests.models.hashing import HashEmbedder

import trivium
from trivium.errors import EmbedderError
from trivium.models.embed import Matrix, Role

PATIENCE_S = 20.0


class Remote(HashEmbedder):
    """A model behind a network: slow while `open` is not set, down while `down` says why."""

    def __init__(self) -> None:
        super().__init__()
        self.remote = True
        self.open = threading.Event()
        self.down = ""

    def embed(self, texts: Sequence[str], role: Role) -> Matrix:
        if not self.open.wait(PATIENCE_S):
            raise EmbedderError("the test forgot to open the gate")
        if self.down:
            raise EmbedderError(self.down)
        return super().embed(texts, role)


@pytest.fixture
def remote() -> Remote:
    return Remote()


def vectors_of(t: trivium.Trivium, id: str) -> int:
    return len(t.store.vectors(t.get(id).key, HashEmbedder().card.fingerprint))


def test_a_slow_model_does_not_delay_a_write(open_any: Open, remote: Remote) -> None:
    t = open_any(embedder=remote)
    id = t.add("Ada lives in Lisbon").id
    t.add_many({"content": f"memory {number}"} for number in range(50))
    t.update(id, content="Ada lives in Porto")
    assert (remote.asked, vectors_of(t, id)) == ([], 0)
    assert t.search("porto", legs=["lexical"])[0].memory.id == id
    assert t.why_not("lisbon", id, vector=[1.0] * 32).stage == "not_embedded"
    remote.open.set()
    assert t.wait_for_vectors(PATIENCE_S)
    assert vectors_of(t, id) == 1
    assert t.health().pending == 0
    assert t.search("Ada lives in Porto", legs=["dense"])[0].memory.id == id
    assert t.upkeep.verify() == []


def test_what_waited_at_the_end_is_filled_at_the_next_start(open_file: Open, remote: Remote) -> None:
    remote.open.set()
    remote.down = "no route to host"
    t = open_file(embedder=remote)
    id = t.add("Ada lives in Lisbon").id
    t.wait_for_vectors(PATIENCE_S)
    t.close()
    remote.down = ""
    again = open_file(embedder=remote)
    assert again.wait_for_vectors(PATIENCE_S)
    assert vectors_of(again, id) == 1


def test_what_was_added_without_a_model_is_filled_once_there_is_one(open_file: Open) -> None:
    open_file().add("made with vectors")
    id = open_file(embedder=None).add("made without").id
    t = open_file()
    assert t.wait_for_vectors(PATIENCE_S)
    assert vectors_of(t, id) == 1


def test_a_model_that_is_down_costs_the_leg_and_not_the_answer(open_any: Open, remote: Remote) -> None:
    remote.open.set()
    remote.down = "connection refused by models.example"
    t = open_any(embedder=remote)
    id = t.add("Ada lives in Lisbon").id
    found = t.search("lisbon")
    assert [hit.memory.id for hit in found] == [id]
    assert (found.legs["dense"].state, found.legs["dense"].reason) == ("failed", "connection refused by models.example")
    assert found.degraded
    assert "connection refused" in found.explain()
    remote.down = ""
    t.add("the next write wakes the worker")
    assert t.wait_for_vectors(PATIENCE_S)
    assert vectors_of(t, id) == 1
    assert t.search("lisbon").legs["dense"].state == "ok"


def test_rows_without_vectors_are_told_of(open_any: Open, remote: Remote) -> None:
    t = open_any(embedder=remote)
    t.add("Ada lives in Lisbon")
    found = t.search(vector=[1.0] * 32)
    assert (found.legs["dense"].state, found.legs["dense"].hits) == ("degraded", 0)
    assert "1 memories have no vector yet" in found.legs["dense"].reason
    remote.open.set()


def test_a_row_forgotten_or_made_sensitive_while_it_waits_is_never_embedded(open_any: Open, remote: Remote) -> None:
    t = open_any(embedder=remote)
    remote.open.set()
    remote.down = "not yet"
    gone, secret, plain = (t.add(text).id for text in ("forget me", "hide me", "keep me"))
    t.wait_for_vectors(PATIENCE_S)
    t.forget(gone)
    t.update(secret, sensitive=True)
    t.wait_for_vectors(PATIENCE_S)
    remote.down = ""
    t.update(plain, tags=["wake"])
    assert t.wait_for_vectors(PATIENCE_S)
    assert remote.asked == ["keep me"]
    assert (vectors_of(t, plain), vectors_of(t, secret)) == (1, 0)
    assert t.upkeep.verify() == []


def test_the_vector_of_a_question_is_kept_in_the_store(open_file: Open, remote: Remote) -> None:
    remote.open.set()
    t = open_file(embedder=remote)
    t.add("Ada lives in Lisbon")
    t.wait_for_vectors(PATIENCE_S)
    first = t.search("where is Ada")
    t.close()
    again = open_file(embedder=remote).search("where is Ada")
    assert remote.asked.count("where is Ada") == 1
    assert [hit.score for hit in again] == [hit.score for hit in first]


def test_a_remote_question_to_a_store_open_for_reading(open_file: Open, remote: Remote) -> None:
    remote.open.set()
    t = open_file(embedder=remote)
    t.add("Ada lives in Lisbon")
    t.wait_for_vectors(PATIENCE_S)
    t.close()
    found = open_file(embedder=remote, read_only=True).search("where is Ada")
    assert (len(found), found.legs["dense"].state) == (1, "ok")
