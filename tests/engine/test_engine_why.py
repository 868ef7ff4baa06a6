"""`why_not` names the stage that lost a memory, each shown by a real example."""

from __future__ import annotations

import pytest
from tests.engine.conftest import Clock, Open
from tests.models.hashing import HashEmbedder

import trivium
from trivium.search.explain import render_why


def test_unknown(t: trivium.Trivium) -> None:
    why = t.why_not("anything", "nobody")
    assert (why.stage, why.reason) == ("unknown", "no memory nobody in space default")


def test_another_space(t: trivium.Trivium) -> None:
    id = t.add("Ada lives in Lisbon", space="work").id
    why = t.why_not("lisbon", id)
    assert (why.stage, why.reason) == ("another_space", "it is in space work; the search looked in default")
    assert t.why_not("lisbon", id, space="work").stage == "returned"


def test_superseded(t: trivium.Trivium) -> None:
    old = t.add("Ada lives in Porto").id
    new = t.supersede(old, "Ada lives in Lisbon").id
    why = t.why_not("porto", old)
    assert why.stage == "superseded"
    assert f"superseded by {new} at 2026-03-01" in why.reason
    assert t.why_not("porto", old, include_superseded=True).stage == "returned"


def test_filtered_names_the_clause(t: trivium.Trivium, clock: Clock) -> None:
    before = clock.pass_days(-1)
    clock.pass_days(2)
    id = t.add("Ada lives in Lisbon", tags=["people"]).id
    why = t.why_not("lisbon", id, where="tags = people and kind = movie and importance > 0.9")
    assert why.stage == "filtered"
    assert "kind = movie" in why.reason
    assert "importance > 0.9" in why.reason
    assert "people" not in why.reason
    early = t.why_not("lisbon", id, as_of=before)
    assert (early.stage, "created_at <= " in early.reason) == ("filtered", True)


def test_not_embedded_for_it_is_sensitive(t: trivium.Trivium) -> None:
    id = t.add("the pin is 4711", sensitive=True).id
    why = t.why_not("secret number", id)
    assert (why.stage, why.reason) == (
        "not_embedded",
        "no word of it matched, and it is sensitive, so it has no vector",
    )
    assert t.why_not("pin", id).stage == "returned"


def test_not_embedded_for_it_waits(open_any: Open) -> None:
    embedder = HashEmbedder()
    t = open_any(embedder=embedder)
    t.add("made with a vector")
    with t.store.writing("default") as writer:
        waiting = t.list()[0]
        writer.put(waiting, t.store.passages(waiting.key))
    why = t.why_not("elsewhere", waiting.id)
    assert why.stage == "not_embedded"
    assert "1 memories have no vector yet" in why.reason


def test_no_term_matched(t: trivium.Trivium) -> None:
    id = t.add("Ada lives in Lisbon").id
    why = t.why_not("submarine", id, legs=["lexical"])
    assert (why.stage, why.reason) == ("no_term_matched", "no word of the query is in it")


@pytest.fixture
def crowd(t: trivium.Trivium) -> list[str]:
    added = t.add_many({"content": f"word {'padding ' * n}", "id": f"m{n:02}"} for n in range(30))
    return [each.id for each in added]


def test_beyond_depth(t: trivium.Trivium, crowd: list[str]) -> None:
    why = t.why_not("word", crowd[-1], limit=2, candidates=3, legs=["lexical"])
    assert why.stage == "beyond_depth"
    assert why.reason == "lexical has it at 30; each leg looks 3 deep: ask with more candidates"


def test_below_min_score(t: trivium.Trivium, crowd: list[str]) -> None:
    why = t.why_not("word", crowd[-1], min_score=0.8, legs=["lexical"])
    assert why.stage == "below_min_score"
    assert why.hit is not None
    assert f"its score {why.hit.score:.3f} is below min_score 0.8" in why.reason


def test_beyond_limit(t: trivium.Trivium, crowd: list[str]) -> None:
    why = t.why_not("word", crowd[6], limit=5, legs=["lexical"])
    assert (why.stage, why.place, why.reason) == ("beyond_limit", 7, "it is number 7; the limit is 5")


def test_returned_with_its_place(t: trivium.Trivium, crowd: list[str]) -> None:
    found = t.search("word", limit=5, legs=["lexical"])
    why = t.why_not("word", crowd[2], limit=5, legs=["lexical"])
    assert (why.stage, why.place) == ("returned", 3)
    assert found[2].memory.id == crowd[2]
    assert why.hit is not None
    assert why.hit.score == found[2].score
    assert "returned, place 3" in render_why(why)
    assert "lexical  number 3" in render_why(why)
