"""Query refuses what cannot be answered, with the field and the limit; Plan settles every choice."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.search.builders import NOW, SEED_KIND_WEIGHTS, memory

from trivium.errors import InvalidInput, WrongVector
from trivium.filter import And, Between, Eq, Filter, Not, Or
from trivium.record import Json
from trivium.search.query import (
    MAX_QUERY_CHARS,
    Query,
    SearchDefaults,
    as_vector,
    defaults_for,
    make_plan,
)
from trivium.store.contract import Bm25

BAD: list[tuple[dict[str, Any], str]] = [
    ({"text": ""}, "text: empty"),
    ({"text": " \n\t"}, "text: empty"),
    ({"text": "x" * (MAX_QUERY_CHARS + 1)}, "text: 65,537 characters; the limit is 65,536"),
    ({"limit": 0}, "limit: 0 is not a whole number from 1 to 1,000"),
    ({"limit": -3}, "limit: -3"),
    ({"limit": 1001}, "limit: 1001"),
    ({"candidates": 0}, "candidates: 0"),
    ({"candidates": 10_001}, "candidates: 10001"),
    ({"k": 0}, "k: 0"),
    ({"min_score": -0.1}, "min_score: -0.1 is not a number from 0 to 1"),
    ({"min_score": float("nan")}, "min_score: nan"),
    ({"usage_weight": 2.0}, "usage_weight: 2.0"),
    ({"recency_half_life_days": 0.0}, "recency_half_life_days: 0.0"),
    ({"weights": {"dense": float("nan")}}, "weights.dense: nan"),
    ({"weights": {"dense": float("inf")}}, "weights.dense: inf"),
    ({"weights": {"lexical": -1.0}}, "weights.lexical: -1.0"),
    ({"weights": {"lexical": 0.0, "dense": 0.0}}, "weights: all zero for the legs lexical, dense"),
    ({"weights": {"lexial": 1.0}}, "weights: unknown 'lexial'; did you mean 'lexical'?"),
    ({"legs": ("dens",)}, "legs: unknown 'dens'; did you mean 'dense'? known: lexical, dense, graph"),
    ({"legs": ()}, "legs: none given"),
    ({"fusion": "rff"}, "fusion: unknown 'rff'; did you mean 'rrf'?"),
    ({"sort_by": "importence"}, "sort_by: unknown 'importence'; did you mean 'importance'?"),
    ({"sort_by": "zzz"}, "sort_by: unknown 'zzz'; known: relevance, importance, recency"),
    ({"spaces": ()}, "spaces: none given"),
    ({"as_of": datetime(2026, 1, 1)}, "as_of: 2026-01-01T00:00:00 has no time zone"),  # noqa: DTZ001 the mistake tested
    ({"rerank": True, "sort_by": "recency"}, "rerank: needs text and sort_by='relevance'"),
    ({"text": "", "vector": [1.0], "legs": ("lexical",)}, "legs: the lexical leg needs text"),
]


@pytest.mark.parametrize(("given_fields", "message"), BAD)
def test_a_bad_value_is_refused_by_field_and_limit(given_fields: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        Query(**{"text": "ada", **given_fields})
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    "vector",
    [[], [[1.0, 2.0]], [1.0, float("nan")], [float("inf")], [0.0, 0.0], ["a"], [[1.0], [1.0, 2.0]], 3.0, [None, "x"]],
)
def test_a_vector_without_a_direction_is_refused(vector: Any) -> None:
    with pytest.raises(WrongVector, match=r"^vector: "):
        Query(vector=vector)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=8).filter(any))
def test_a_vector_is_kept_at_unit_length_whatever_its_size(values: list[float]) -> None:
    kept = as_vector(values)
    assert kept.dtype == np.float32
    assert np.linalg.norm(kept.astype(np.float64)) == pytest.approx(1.0, abs=1e-6)


@given(st.text(st.characters(), min_size=1, max_size=50).filter(str.strip))
def test_any_text_is_a_valid_query(text: str) -> None:
    kept = Query(text=text).text
    assert kept.encode("utf-8").decode() == kept
    assert len(kept) == len(text)


def test_lone_surrogates_become_the_replacement_character() -> None:
    assert Query(text="a\ud800b").text == "a\ufffdb"


def test_defaults_fill_what_the_query_leaves_open() -> None:
    plan = make_plan(Query(text="ada"), SearchDefaults())
    assert (plan.method, plan.k, plan.depth, plan.legs) == ("linear", 60, 50, ("lexical", "dense"))
    assert plan.weights == {"lexical": 0.7, "dense": 0.3}
    assert plan.kind_weights == {}
    assert plan.where == Eq("superseded", False)


def test_the_call_wins_over_the_defaults() -> None:
    plan = make_plan(
        Query(text="ada", limit=40, fusion="rrf", k=10, weights={"dense": 0.25}),
        SearchDefaults(kind_weights=SEED_KIND_WEIGHTS),
    )
    assert (plan.method, plan.k, plan.depth) == ("rrf", 10, 120)
    assert plan.weights == {"lexical": 0.7, "dense": 0.25}
    assert plan.kind_weights == {}, "weights of the call override those of the kinds"
    assert make_plan(Query(text="ada", candidates=7), SearchDefaults()).depth == 7


def test_a_leg_with_nothing_to_look_for_or_no_weight_is_off() -> None:
    assert make_plan(Query(vector=as_vector([1.0])), SearchDefaults()).legs == ("dense",)
    assert make_plan(Query(text="ada", weights={"dense": 0.0}), SearchDefaults()).legs == ("lexical",)
    with pytest.raises(InvalidInput, match="weights: all zero"):
        make_plan(Query(text="ada", legs=("dense",)), SearchDefaults(weights={"lexical": 1.0, "dense": 0.0}))


def test_kind_weights_cover_the_legs_that_are_on() -> None:
    defaults = SearchDefaults(kind_weights={**SEED_KIND_WEIGHTS, "log": {"lexical": 0.0, "dense": 1.0}})
    both = make_plan(Query(text="ada"), defaults)
    assert both.kind_weights["movie"] == {"lexical": 0.2, "dense": 0.8}
    words = make_plan(Query(text="ada", legs=("lexical",)), defaults)
    assert words.kind_weights["movie"] == {"lexical": 0.2}
    assert "log" not in words.kind_weights, "a kind that trusts no leg that is on falls back to the general weights"


def test_a_space_lays_its_settings_over_the_defaults() -> None:
    settings: dict[str, Json] = {
        "language": "pt",
        "search": {
            "fusion": "rrf",
            "k": 10,
            "weights": {"dense": 0.6},
            "kind_weights": {"movie": {"dense": 0.8, "lexical": 0.2}},
            "bm25": {"k1": 0.9},
        },
    }
    found = defaults_for(SearchDefaults(), settings)
    assert (found.fusion, found.k, found.bm25) == ("rrf", 10, Bm25(k1=0.9, b=0.75))
    assert found.weights == {"lexical": 0.7, "dense": 0.6, "graph": 0.7}
    assert found.kind_weights == {"movie": {"dense": 0.8, "lexical": 0.2}}
    assert defaults_for(SearchDefaults(), {}) == SearchDefaults()


@pytest.mark.parametrize(
    ("search", "message"),
    [
        ({"fusoin": "rrf"}, "search: unknown 'fusoin'; did you mean 'fusion'?"),
        ({"fusion": "rrrf"}, "search.fusion: unknown 'rrrf'; did you mean 'rrf'?"),
        ({"fusion": 3}, "search.fusion: unknown 3"),
        ({"k": "60"}, "search.k: '60' is not a whole number"),
        ({"weights": [1, 2]}, "search.weights: [1, 2] is not a table"),
        ({"weights": {"dense": True}}, "search.weights.dense: True is not a number"),
        ({"kind_weights": {"movie": {"dense": -1}}}, "search.kind_weights.movie.dense: -1"),
        ({"bm25": {"b": 1.5}}, "search.bm25.b: 1.5 is not a number from 0 to 1"),
        ({"bm25": {"k2": 1}}, "search.bm25: unknown 'k2'; known: k1, b"),
        ("rrf", "search: 'rrf' is not a table"),
    ],
)
def test_a_wrong_setting_is_refused_by_its_path(search: Json, message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        defaults_for(SearchDefaults(), {"search": search})
    assert str(caught.value).startswith(message)


def where(**fields: Any) -> Filter:
    return make_plan(Query(text="ada", **fields), SearchDefaults()).where


def test_superseded_memories_stay_out_unless_asked_for() -> None:
    current = memory()
    old = replace(current, superseded_by="b", superseded_at=NOW)
    assert where().matches(current)
    assert not where().matches(old)
    assert where(include_superseded=True).matches(old)
    assert not where(where=Eq("kind", "movie")).matches(current)


hours = st.integers(-3, 3)


@given(created=hours, replaced=st.none() | hours, at=hours, everything=st.booleans())
def test_as_of_sees_the_state_of_that_time(created: int, replaced: int | None, at: int, everything: bool) -> None:
    def time(hour: int) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=hour)

    one = replace(memory(), created_at=time(created), superseded_at=None if replaced is None else time(replaced))
    existed = created <= at
    stood = replaced is None or replaced > at
    found = where(as_of=time(at), include_superseded=everything)
    assert found.matches(one) == (existed and (stood or everything))
    spelled_out = And((
        Between("created_at", None, time(at)),
        Or((Eq("superseded", False), Not(Between("superseded_at", None, time(at))))),
    ))  # fmt: skip
    assert where(as_of=time(at)).matches(one) == spelled_out.matches(one)
