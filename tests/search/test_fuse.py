"""Fusion: worked examples by hand, and what holds for every input."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.search.builders import SEED_KIND_WEIGHTS, key, leg

from trivium.record import Key
from trivium.search.fuse import Contribution, Fused, fuse
from trivium.search.query import LEGS, METHOD_NAMES, FusionMethod, LegName
from trivium.store.contract import LegHit

BOTH: dict[LegName, float] = {"lexical": 1.0, "dense": 1.0}
SEED: dict[LegName, float] = {"lexical": 0.3, "dense": 0.7}

names = st.sampled_from("abcdefgh")
# Scores a few units apart: differences below the twelfth digit are noise by promise.
bm25 = st.integers(1, 400).map(lambda n: n / 16)
cosine = st.integers(-64, 64).map(lambda n: n / 64)
spread = st.integers(0, 64).map(lambda n: n / 64)
weight = st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.7, 1.0, 3.0])
methods = st.sampled_from(METHOD_NAMES)
some_legs = st.fixed_dictionaries(
    {
        "lexical": st.dictionaries(names, bm25, max_size=8).map(leg),
        "dense": st.dictionaries(names, cosine, max_size=8).map(leg),
        "graph": st.dictionaries(names, spread, max_size=8).map(leg),
    }
)
some_weights = st.fixed_dictionaries(dict.fromkeys(LEGS, weight)).filter(lambda found: any(found.values()))

Legs = Mapping[LegName, Sequence[LegHit]]
Weights = Mapping[LegName, float]


def scores(found: Sequence[Fused]) -> dict[str, float]:
    return {one.key.id: one.score for one in found}


def of(found: Sequence[Fused], name: str) -> Fused:
    return next(one for one in found if one.key.id == name)


def test_rrf_by_hand() -> None:
    legs: Legs = {"lexical": leg({"a": 9.0, "b": 4.0}), "dense": leg({"b": 0.9, "c": 0.8, "a": 0.7})}
    found = fuse(legs, method="rrf", weights=BOTH)
    most = 2 / 61
    assert scores(found) == pytest.approx(
        {"a": (1 / 61 + 1 / 63) / most, "b": (1 / 62 + 1 / 61) / most, "c": (1 / 62) / most}, abs=1e-12
    )
    assert [one.key.id for one in found] == ["b", "a", "c"]
    assert [part.value for part in of(found, "a").contributions] == [1 / 61, 1 / 63]
    (scale,) = of(found, "a").factors
    assert scale.name == "scale"
    assert scale.value == pytest.approx(30.5)


def test_absence_from_a_leg_adds_nothing() -> None:
    """VAPORA gives an absent document rank 0, so 1/60: more than being first. Here it is no contribution at all."""
    found = fuse({"lexical": leg({"a": 9.0}), "dense": leg({"b": 0.9})}, method="rrf", weights=BOTH)
    assert [part.leg for part in of(found, "a").contributions] == ["lexical"]
    assert scores(found) == {"a": 0.5, "b": 0.5}


def test_linear_by_hand_does_not_halve_a_double_hit() -> None:
    """NEXO's code gives (0.9 × 0.7 + 0.5 × 0.3) / 2 to a double hit; its formula, and we, do not halve."""
    found = fuse(
        {"lexical": leg({"a": 4.0, "b": 8.0}), "dense": leg({"a": 0.9, "c": 0.8})}, method="linear", weights=SEED
    )
    assert scores(found) == pytest.approx({"a": 0.78, "b": 0.3, "c": 0.56}, abs=1e-12)


def test_linear_clips_a_negative_cosine_and_shares_weights_over_the_legs_on() -> None:
    found = fuse({"lexical": leg({"a": 2.0}), "dense": leg({"a": -0.5, "b": 0.5})}, method="linear", weights=BOTH)
    assert scores(found) == {"a": 0.5, "b": 0.25}


def test_linear_bonus_by_hand_and_its_cap() -> None:
    legs: Legs = {"lexical": leg({"a": 8.0, "b": 4.0}), "dense": leg({"a": 0.95, "b": 0.5, "c": 0.9})}
    found = fuse(legs, method="linear_bonus", weights=SEED)
    assert scores(found) == pytest.approx({"a": 1.0, "b": 0.3 * 0.5 + 0.7 * 0.5 + 0.1, "c": 0.63}, abs=1e-12)
    best = of(found, "a")
    assert best.contributions[-1] == Contribution("bonus", None, None, 1.0, 0.1)
    (cap,) = best.factors
    assert cap.name == "cap"
    assert cap.value == pytest.approx(1 / 1.065)
    assert of(found, "b").factors == ()


def test_capped_hits_tie_and_break_by_id() -> None:
    lexical = {"d": 9.0, "c": 8.9, "b": 8.8, "a": 8.7}
    dense = {"a": 0.99, "b": 0.98, "c": 0.97, "d": 0.96}
    found = fuse({"lexical": leg(lexical), "dense": leg(dense)}, method="linear_bonus", weights=BOTH)
    assert [(one.key.id, one.score) for one in found] == [("a", 1.0), ("b", 1.0), ("c", 1.0), ("d", 1.0)]


def test_minmax_by_hand() -> None:
    legs: Legs = {"lexical": leg({"a": 10.0, "b": 6.0, "c": 2.0}), "dense": leg({"b": 0.9, "a": 0.5, "d": 0.1})}
    found = fuse(legs, method="minmax", weights=BOTH)
    assert scores(found) == pytest.approx({"a": (1 + 0.5) / 2, "b": (0.5 + 1) / 2, "c": 0.0, "d": 0.0}, abs=1e-12)
    alone = fuse({"lexical": leg({"a": 3.0, "b": 3.0})}, method="minmax", weights={"lexical": 1.0})
    assert scores(alone) == {"a": 1.0, "b": 1.0}


def test_tm2c2_by_hand() -> None:
    """A cosine can be as low as -1 and a BM25 as low as 0: cosine 0.5 below a best of 0.8 is 1.5 / 1.8."""
    legs: Legs = {"lexical": leg({"a": 10.0, "b": 5.0}), "dense": leg({"b": 0.8, "a": 0.5, "c": -1.0})}
    found = fuse(legs, method="tm2c2", weights=BOTH)
    assert scores(found) == pytest.approx({"a": 0.5 + 0.5 * 1.5 / 1.8, "b": 0.25 + 0.5, "c": 0.0}, abs=1e-12)


def test_the_kind_of_a_memory_chooses_its_weights() -> None:
    kinds = {"m": "movie", "n": "note", "f": "fact"}
    legs: Legs = {"dense": leg({"m": 0.5, "n": 0.5, "f": 0.5}, kinds)}
    for method in ("linear", "rrf"):
        found = fuse(legs, method=method, weights=BOTH, kind_weights=SEED_KIND_WEIGHTS)
        shares = {one.key.id: one.contributions[0].weight for one in found}
        assert shares["m"] == pytest.approx(0.8)
        assert shares["n"] == pytest.approx(0.6)
    assert scores(fuse(legs, method="linear", weights=BOTH, kind_weights=SEED_KIND_WEIGHTS)) == pytest.approx(
        {"m": 0.4, "n": 0.3, "f": 0.25}
    )


@pytest.mark.parametrize("method", METHOD_NAMES)
def test_first_in_every_leg_scores_one_whatever_the_kind(method: FusionMethod) -> None:
    """Each kind's weights are scaled by their own sum, so that no kind starts with a handicap."""
    for kind in ("movie", "fact"):
        legs: Legs = {"lexical": leg({"a": 9.0}, {"a": kind}), "dense": leg({"a": 1.0}, {"a": kind})}
        found = fuse(legs, method=method, weights=BOTH, kind_weights=SEED_KIND_WEIGHTS)
        assert scores(found) == {"a": 1.0}


def test_a_memory_found_by_the_graph_alone_can_be_first() -> None:
    """The seed's prototype made this impossible, by keeping base hits out of the pool and weighing the graph 0.35."""
    legs: Legs = {
        "lexical": leg({f"l{n:02}": 50.0 - n for n in range(50)}),
        "dense": leg({f"d{n:02}": 0.9 - n / 100 for n in range(50)}),
        "graph": leg({"reached": 1.0, "also": 0.2}),
    }
    equal = fuse(legs, method="rrf", weights=dict.fromkeys(LEGS, 1.0))
    assert of(equal, "reached").score == equal[0].score, "an equal voice ties with the best of the other legs"
    found = fuse(legs, method="rrf", weights={"lexical": 1.0, "dense": 1.0, "graph": 1.1})
    assert found[0].key == key("reached")
    assert [part.leg for part in found[0].contributions] == ["graph"]


def test_the_best_passage_is_that_of_the_leg_that_gave_most() -> None:
    legs: Legs = {"lexical": leg({"x": 9.0, "a": 1.0}), "dense": leg({"a": 0.9})}
    found = of(fuse(legs, method="linear", weights=BOTH), "a")
    assert (found.ordinal, [part.ordinal for part in found.contributions]) == (0, [1, 0])


@given(legs=some_legs, method=methods, weights=some_weights)
def test_every_score_is_the_sum_and_product_it_shows(legs: Legs, method: FusionMethod, weights: Weights) -> None:
    found = fuse(legs, method=method, weights=weights)
    assert {one.key for one in found} == {hit.key for hits in legs.values() for hit in hits}
    for one in found:
        shown = math.fsum(part.value for part in one.contributions) * math.prod(each.value for each in one.factors)
        assert one.score == pytest.approx(shown, abs=1e-12)
        assert 0.0 <= one.score <= 1.0
    assert found == sorted(found, key=lambda one: (-one.score, one.key))


@given(legs=some_legs, method=methods, weights=some_weights, turned=st.permutations(LEGS))
def test_the_order_of_legs_changes_nothing(
    legs: Legs, method: FusionMethod, weights: Weights, turned: list[LegName]
) -> None:
    again = fuse({name: legs[name] for name in turned}, method=method, weights={name: weights[name] for name in turned})
    assert again == fuse(legs, method=method, weights=weights)


@given(raws=st.dictionaries(names, bm25, min_size=1), method=methods, asked=st.booleans(), name=st.sampled_from(LEGS))
def test_one_leg_alone_keeps_its_order(
    raws: dict[str, float], method: FusionMethod, asked: bool, name: LegName
) -> None:
    """Also when others were asked for and failed. A score may flatten what lies above its clip, never turn it round."""
    alone = leg({each: raw / 25 for each, raw in raws.items()})
    weights: Weights = dict.fromkeys(LEGS, 1.0) if asked else {name: 1.0}
    found = fuse({name: alone}, method=method, weights=weights)
    assert [one.key for one in found] == [hit.key for hit in alone]
    assert all(0.0 <= one.score <= 1.0 for one in found)


def lifted(legs: Legs, name: LegName, target: Key, by: float) -> dict[LegName, Sequence[LegHit]]:
    raws = {hit.key.id: hit.score + (by if hit.key == target else 0.0) for hit in legs[name]}
    return {**legs, name: leg(raws)}


@given(legs=some_legs, method=methods, weights=some_weights, by=bm25, choice=st.data())
def test_doing_better_in_one_leg_never_lowers_a_score(
    legs: Legs, method: FusionMethod, weights: Weights, by: float, choice: st.DataObject
) -> None:
    pairs = [(name, hit.key) for name in LEGS for hit in legs[name]]
    assume(pairs)
    name, target = choice.draw(st.sampled_from(pairs))
    before = of(fuse(legs, method=method, weights=weights), target.id)
    after = of(fuse(lifted(legs, name, target, by), method=method, weights=weights), target.id)
    assert after.score >= before.score
