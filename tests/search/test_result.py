"""Results read like a list, render the sum they used, and have a stable JSON shape."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from types import MappingProxyType
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.search.builders import NOW, leg, memory

from trivium.search.explain import Check, Stage, WhyNot, age, clip, render_why
from trivium.search.fuse import Before, Contribution, Factor
from trivium.search.fuse import fuse as fuse_legs
from trivium.search.query import LegName
from trivium.search.result import Hit, LegReport, Results, Timings

CONTRIBUTIONS = (
    Contribution("lexical", 1, 7.314, 1.0, 1 / 61, ("ada", "live"), 0),
    Contribution("dense", 3, 0.708, 1.0, 1 / 63, (), 0),
)
FACTORS = (Factor("scale", 30.5), Factor("importance", 0.97, "0.7 + 0.3 × 0.9"))
HIT = Hit(
    memory=memory(),
    score=0.94,
    rank=1,
    passage="Ada moved to Lisbon in May.",
    ordinal=0,
    start=0,
    end=27,
    contributions=CONTRIBUTIONS,
    factors=FACTORS,
    asked_at=NOW,
    rank_without={"importance": 1},
)
RESULTS = Results(
    hits=(HIT,),
    legs={"lexical": LegReport("lexical", "ok", 12, "", 0.8), "dense": LegReport("dense", "ok", 50, "", 0.6)},
    query="where does ada live",
    spaces=("default",),
    method="rrf",
    weights={"lexical": 1.0, "dense": 1.0},
    asked_at=NOW,
    timings=Timings(2.9, {"embed": 0.2, "lexical": 0.8, "dense": 0.6, "fuse": 0.2}),
)


def test_explain_prints_the_sum_it_used() -> None:
    assert RESULTS.explain().splitlines() == [
        '"where does ada live"   lexical 12 · dense 50   rrf (lexical 1, dense 1)   '
        "2.9 ms (embed 0.2, lexical 0.8, dense 0.6, fuse 0.2)",
        "1  0.94  Ada moved to Lisbon in May.                                 note · 34 days ago",
        "   lexical #1 (bm25 7.31; ada, live) 0.0164 + dense #3 (cos 0.71) 0.0159 = 0.0323"
        " × scale 30.5 × importance 0.97",
    ]
    assert HIT.explain() == "\n".join(RESULTS.explain().splitlines()[1:])


def test_explain_shows_what_a_prior_and_a_reranker_changed() -> None:
    assert "× importance 0.97 (#4 without)" in replace(HIT, rank_without={"importance": 4}).explain()
    said = (Contribution("rerank", 1, 3.2, 1.0, 0.94),)
    lines = replace(
        HIT, contributions=said, factors=(), before=Before(4, 0.61, CONTRIBUTIONS, FACTORS), rank_without={}
    ).explain().splitlines()  # fmt: skip
    assert lines[1] == "   rerank #1 (score 3.20) 0.9400"
    assert lines[2].startswith("   before reranking #4 0.61: lexical #1 (bm25 7.31; ada, live) 0.0164 + ")


def test_a_bonus_has_no_rank() -> None:
    legs = {"lexical": leg({"a": 2.0}), "dense": leg({"a": 0.5})}
    (one,) = fuse_legs({"lexical": legs["lexical"], "dense": legs["dense"]}, method="linear_bonus",
                       weights={"lexical": 1.0, "dense": 1.0})  # fmt: skip
    line = replace(HIT, contributions=one.contributions, factors=one.factors).explain().splitlines()[1]
    assert line == "   lexical #1 (bm25 2.00; ada) 0.5000 + dense #1 (cos 0.50; ada) 0.2500 + bonus 0.1000 = 0.8500"


def test_a_failed_leg_an_empty_one_and_no_hits_read_differently() -> None:
    legs: dict[LegName, LegReport] = {
        "lexical": LegReport("lexical", "empty"),
        "dense": LegReport("dense", "failed", 0, "the embedder is down"),
        "graph": LegReport("graph", "off"),
    }
    found = replace(
        RESULTS, hits=(), legs=legs, corrections={"matriz": ("matrix",)}, notices=("answered from words only",)
    )
    lines = found.explain().splitlines()
    assert "lexical empty · dense failed (the embedder is down) · graph off" in lines[0]
    assert lines[1:] == ["searched matrix for matriz", "note: answered from words only", "nothing found"]
    assert found.degraded
    assert not found
    assert not RESULTS.degraded
    half = LegReport("dense", "degraded", 3, "9 rows wait for vectors")
    assert "dense 3 degraded (9 rows wait for vectors)" in replace(RESULTS, legs={"dense": half}).explain()


@given(st.text(st.characters(), max_size=80))
def test_no_text_can_steer_the_terminal(text: str) -> None:
    nasty = f"\x1b]0;x\x07{text}\u202e\r\n\ud800\x9b2J"
    hit = replace(HIT, memory=replace(memory(content=nasty), kind=nasty, title=nasty), passage=nasty)
    found = replace(
        RESULTS,
        hits=(hit,),
        query=nasty,
        notices=(nasty,),
        corrections={nasty: (nasty,)},
        legs={"dense": LegReport("dense", "failed", 0, nasty)},
    )
    why = WhyNot(hit.memory.key, "filtered", nasty, checks=(Check(nasty, False, nasty),), hit=hit)
    for shown in (found.explain(), render_why(why)):
        shown.encode("utf-8")
        assert not [c for c in shown if c != "\n" and (ord(c) < 32 or 127 <= ord(c) < 160 or c in "\u202e\u2066")]
    assert len(found.explain().splitlines()) == 5


def test_results_are_a_sequence() -> None:
    assert len(RESULTS) == 1
    assert list(RESULTS) == [HIT]
    assert RESULTS[0] is RESULTS[-1] is HIT
    assert RESULTS[:1] == (HIT,)
    with pytest.raises(IndexError):
        RESULTS[1]


def test_the_json_shape_is_stable() -> None:
    odd = replace(memory(), tags=("people",), metadata=MappingProxyType({"year": 2014}), occurred_at=NOW)
    hit = replace(HIT, memory=odd, before=Before(2, 0.5, CONTRIBUTIONS, FACTORS))
    shape = json.loads(json.dumps(replace(RESULTS, hits=(hit,)).to_dict()))
    assert list(shape) == [
        "query", "spaces", "method", "weights", "asked_at", "epoch", "degraded", "legs", "timings", "corrections",
        "notices", "hits",
    ]  # fmt: skip
    assert shape["legs"]["lexical"] == {"state": "ok", "hits": 12, "reason": "", "took_ms": 0.8}
    assert shape["asked_at"] == "2026-03-01T12:00:00+00:00"
    (found,) = shape["hits"]
    assert list(found) == [
        "rank", "score", "memory", "passage", "contributions", "factors", "rank_without", "before",
    ]  # fmt: skip
    assert found["memory"]["occurred_at"] == "2026-03-01T12:00:00+00:00"
    assert (found["memory"]["tags"], found["memory"]["metadata"]) == (["people"], {"year": 2014})
    assert found["contributions"][0] == {
        "leg": "lexical", "rank": 1, "raw": 7.314, "weight": 1.0, "value": 1 / 61, "terms": ["ada", "live"],
        "ordinal": 0,
    }  # fmt: skip
    assert found["factors"][1] == {"name": "importance", "value": 0.97, "detail": "0.7 + 0.3 × 0.9"}
    assert (found["before"]["rank"], len(found["before"]["contributions"])) == (2, 2)


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (0, "just now"),
        (59, "just now"),
        (60, "1 minute ago"),
        (7_300, "2 hours ago"),
        (34 * 86_400, "34 days ago"),
        (729 * 86_400, "729 days ago"),
        (731 * 86_400, "2 years ago"),
        (-3 * 86_400, "in 3 days"),
    ],
)
def test_ages(seconds: int, told: str) -> None:
    assert age(NOW - timedelta(seconds=seconds), NOW) == told


def test_long_text_is_cut_and_says_so() -> None:
    assert clip("a  b\n c", 10) == "a b c"
    assert clip("abcdef", 4) == "abc…"
    assert len(clip("word " * 100_000, 58)) == 58


@pytest.mark.parametrize("stage", get_args(Stage))
def test_why_names_the_stage(stage: Stage) -> None:
    checks = (Check("known", True), Check("filter", False, "kind = movie, it is note"))
    text = render_why(WhyNot(memory().key, stage, "because", place=7, checks=checks))
    verdict = "returned" if stage == "returned" else f"not returned: {stage.replace('_', ' ')}"
    assert text.splitlines() == [
        f"a in default: {verdict}, place 7", "   because", "   ok  known", "   no  filter  kind = movie, it is note",
    ]  # fmt: skip


def test_why_shows_the_hit_that_was_returned() -> None:
    text = render_why(WhyNot(memory().key, "returned", "it is there", place=1, hit=HIT))
    assert text.endswith(HIT.explain())
