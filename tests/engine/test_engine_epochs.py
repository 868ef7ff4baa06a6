"""Vectors of two models never mix: the old ones serve until the new ones are all there."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from tests.engine.conftest import Open
from tests.models.hashing import HashEmbedder

import trivium
from trivium.errors import EmbedderError, WrongVector
from trivium.models.embed import Matrix, Role

TEXTS = ["a crew crosses a wormhole", "a cook opens a small restaurant", "two friends sail round the world"]


class Meddling(HashEmbedder):
    """Lets something happen while it embeds, once."""

    def __init__(self, dimension: int = 32) -> None:
        super().__init__(dimension)
        self.meanwhile: list[Callable[[], object]] = []

    def embed(self, texts: Sequence[str], role: Role) -> Matrix:
        while self.meanwhile:
            self.meanwhile.pop()()
        return super().embed(texts, role)


def filled(t: trivium.Trivium) -> trivium.Trivium:
    t.add_many({"content": text} for text in TEXTS)
    return t


def test_another_embedder_is_told_of_and_the_old_vectors_go_on_serving(open_file: Open) -> None:
    old = filled(open_file(embedder="static")).search("wormhole", legs=["dense"])
    found = open_file(embedder=HashEmbedder()).search("wormhole", legs=["dense"])
    assert [(hit.memory.id, hit.score) for hit in found] == [(hit.memory.id, hit.score) for hit in old]
    assert found.epoch == old.epoch
    assert (
        "256-d vectors made by static; the embedder set now is hash: run `trivium reembed`"
        in found.legs["dense"].reason
    )


def test_what_is_added_meanwhile_is_embedded_by_the_old_model(open_file: Open) -> None:
    filled(open_file(embedder="static"))
    new = HashEmbedder()
    t = open_file(embedder=new)
    id = t.add("astronauts in deep space").id
    assert new.asked == []
    assert t.search("astronauts in deep space", legs=["dense"])[0].memory.id == id


def test_an_old_model_that_cannot_be_loaded_costs_the_leg_and_not_the_answer(open_file: Open) -> None:
    filled(open_file(embedder=HashEmbedder()))
    t = open_file(embedder=HashEmbedder(48))
    found = t.search("wormhole")
    assert found.legs["dense"].state == "failed"
    assert "this store holds 32-d vectors made by hash" in found.legs["dense"].reason
    assert found.degraded
    assert [hit.memory.content for hit in found] == [TEXTS[0]]
    t.add("a row of these days")
    assert t.health().pending == 1


def test_reembedding_flips_at_once_and_drops_the_old_vectors(open_file: Open) -> None:
    other = filled(open_file(embedder=HashEmbedder(32)))
    t = open_file(embedder=HashEmbedder(48))
    served: list[str] = []
    told: list[tuple[int, int]] = []

    def progress(done: int, total: int) -> None:
        told.append((done, total))
        served.append(other.search("wormhole").epoch)

    done = t.reembed(progress)
    old, new = (HashEmbedder(dimension).card.fingerprint for dimension in (32, 48))
    assert (done.memories, done.flipped, done.fingerprint) == (3, True, new)
    assert (told, served) == ([(3, 3)], [old])
    for each in (t, other):
        assert each.search("wormhole").epoch == new
    assert [epoch.fingerprint for epoch in t.store.epochs()] == [new]
    assert t.search("wormhole", legs=["dense"]).legs["dense"].state == "ok"
    with pytest.raises(WrongVector, match=r"32.*48"):
        t.search(vector=[1.0] * 32)
    assert t.reembed().flipped is False
    assert t.upkeep.verify() == []


def test_a_flip_in_the_middle_of_a_search_is_not_an_error(open_file: Open) -> None:
    embedder = Meddling(32)
    t = filled(open_file(embedder=embedder))
    embedder.meanwhile.append(open_file(embedder=HashEmbedder(48)).reembed)
    found = t.search("wormhole")
    assert embedder.meanwhile == []
    assert [hit.memory.content for hit in found] == [TEXTS[0]]
    assert found.epoch == HashEmbedder(48).card.fingerprint


@pytest.mark.parametrize("write", ["add", "update", "supersede"])
def test_a_flip_in_the_middle_of_a_write_is_not_an_error(open_file: Open, write: str) -> None:
    embedder = Meddling(32)
    t = filled(open_file(embedder=embedder))
    embedder.meanwhile.append(open_file(embedder=HashEmbedder(48)).reembed)
    id = t.list()[0].id
    if write == "add":
        t.add("a new one")
    else:
        getattr(t, write)(id, content="a new one")
    assert embedder.meanwhile == []
    (memory,) = t.list('content = "a new one"')
    assert t.why_not("new one", memory.id).stage == "returned"
    assert t.upkeep.verify() == []
    assert t.health().pending == 1


def test_a_row_added_just_before_the_flip_gets_its_vector_too(open_file: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    other = filled(open_file(embedder=HashEmbedder(32)))
    t = open_file(embedder=HashEmbedder(48))
    flip = t.store.serve_epoch

    def late(fingerprint: str) -> None:
        other.add("just in time")
        flip(fingerprint)

    monkeypatch.setattr(t.store, "serve_epoch", late)
    assert t.reembed().memories == 4
    assert t.search("just in time", legs=["dense"])[0].memory.content == "just in time"
    assert t.health().findings == ()


def test_a_store_without_vectors_gets_them_when_an_embedder_comes(open_file: Open) -> None:
    words = filled(open_file(embedder=None))
    found = words.search("wormhole")
    assert found.legs["dense"].state == "failed"
    assert "no embedder is set" in found.legs["dense"].reason
    assert [hit.memory.content for hit in found] == [TEXTS[0]]
    t = open_file(embedder=HashEmbedder())
    assert t.search("wormhole").legs["dense"].reason == "3 memories have no vector yet; run `trivium reembed`"
    t.reembed()
    assert t.search("wormhole").legs["dense"].state == "ok"


def test_a_reembedding_that_cannot_finish_leaves_the_old_vectors_serving(open_file: Open) -> None:
    other = open_file(embedder=HashEmbedder(32))
    id = other.add("Ada lives in Lisbon").id
    new = Meddling(48)
    t = open_file(embedder=new)
    new.meanwhile.append(lambda: other.update(id, content="Ada lives in Porto"))
    with pytest.raises(
        EmbedderError, match=r"1 memories could not be embedded; the old vectors go on serving: run it again"
    ):
        t.reembed()
    assert other.search("porto").epoch == HashEmbedder(32).card.fingerprint
    assert other.search("Ada lives in Porto", legs=["dense"])[0].memory.id == id
    assert t.reembed().flipped
    assert other.search("porto").epoch == new.card.fingerprint
