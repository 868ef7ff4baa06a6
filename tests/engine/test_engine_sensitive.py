"""Sensitive memories: no model ever sees them, words find them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from tests.engine.conftest import Open
from tests.models.hashing import HashEmbedder

from trivium.errors import InvalidInput

SECRET = "the pin of the safe is 4711"


class Reader:
    """A reranker that remembers what it was shown and turns the order round."""

    name = "reader"
    remote = False

    def __init__(self) -> None:
        self.shown: list[str] = []

    def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        self.shown += [query, *texts]
        return [float(place) for place, _ in enumerate(texts)]


def test_no_embedder_sees_a_sensitive_text(open_any: Open) -> None:
    embedder = HashEmbedder()
    t = open_any(embedder=embedder)
    id = t.add(SECRET, sensitive=True, title="pin").id
    t.add_many([{"content": f"{SECRET} too", "sensitive": True}, {"content": "a plain memory"}])
    t.update(id, content=f"{SECRET} now")
    t.supersede(id, f"{SECRET} since May")
    t.reembed()
    assert embedder.asked == ["a plain memory"]
    assert t.search("pin of the safe", legs=["lexical"])[0].memory.content.startswith(SECRET)
    assert t.upkeep.verify() == []


def test_a_memory_that_becomes_sensitive_loses_its_vectors(open_any: Open) -> None:
    embedder = HashEmbedder()
    t = open_any(embedder=embedder)
    id = t.add(SECRET).id
    assert len(t.search(vector=embedder.embed([SECRET], "query")[0], legs=["dense"])) == 1
    asked = list(embedder.asked)
    t.update(id, sensitive=True)
    found = t.search(vector=embedder.embed(["anything"], "query")[0], legs=["dense"])
    assert (len(found), found.legs["dense"].state) == (0, "empty")
    assert embedder.asked == [*asked, "anything"]
    assert [hit.memory.id for hit in t.search("safe", legs=["lexical"])] == [id]
    with pytest.raises(InvalidInput, match=rf"^id: '{id}' cannot be compared by meaning: it is sensitive"):
        t.similar(id)
    t.update(id, sensitive=False)
    assert t.similar(id).legs["dense"].state == "empty"  # it has a vector again, and nobody is like it
    assert t.upkeep.verify() == []


def test_no_reranker_sees_a_sensitive_text(open_any: Open) -> None:
    reader = Reader()
    t = open_any(reranker=reader)
    secret = t.add(SECRET, sensitive=True).id
    t.add_many({"content": f"a safe place, number {number}"} for number in range(4))
    found = t.search("safe", rerank=True)
    assert secret in [hit.memory.id for hit in found]
    assert len(reader.shown) == 5
    assert not any("4711" in text for text in reader.shown)
    plain = t.search("safe", rerank=False)
    assert [hit.memory.id for hit in found] != [hit.memory.id for hit in plain]
