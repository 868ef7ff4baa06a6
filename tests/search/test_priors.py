"""Priors stay in their bounds, show in the score, and order as the query asks."""

from __future__ import annotations

import math
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.search.builders import NOW, facts, fused, key

from trivium.search.fuse import Factor, Fused, total
from trivium.search.priors import importance, order, priors, rank_without, recency, usage
from trivium.search.query import Plan, Query, SearchDefaults, make_plan


def plan(**fields: Any) -> Plan:
    return make_plan(Query(text="ada", **fields), SearchDefaults())


def apply_priors(candidates: list[Fused], plan: Plan, now: datetime) -> list[Fused]:
    """What `fuse` does with priors, for candidates made by hand."""
    return order([_weighed(one, one.factors + priors(one.facts, plan, now)) for one in candidates], plan.query.sort_by)


def _weighed(one: Fused, factors: tuple[Factor, ...]) -> Fused:
    return one._replace(factors=factors, score=total(one.contributions, factors))


def ids(found: list[Fused]) -> list[str]:
    return [one.key.id for one in found]


@given(st.floats(0, 1))
def test_importance_is_bounded(value: float) -> None:
    assert 0.7 <= importance(value).value <= 1.0


@given(age=st.floats(-1e6, 1e6), half_life=st.floats(0.001, 36_525))
def test_recency_is_bounded_and_falls(age: float, half_life: float) -> None:
    now, later = recency(age, half_life).value, recency(age + 1, half_life).value
    assert 0.7 <= later <= now <= 1.0


@given(uses=st.integers(0, 10**9), weight=st.floats(0, 1))
def test_usage_is_bounded_and_rises(uses: int, weight: float) -> None:
    now, later = usage(uses, weight).value, usage(uses + 1, weight).value
    assert 1.0 - weight - 1e-12 <= now <= later + 1e-12 <= 1.0 + 2e-12


def test_priors_by_hand() -> None:
    assert importance(0.9).value == pytest.approx(0.97)
    assert recency(30, 30).value == pytest.approx(0.85)
    assert recency(-5, 30).value == 1.0
    assert usage(0, 0.2).value == pytest.approx(0.8)
    assert usage(5, 0.2).value == pytest.approx(0.9)


def test_by_default_only_importance_speaks() -> None:
    found = apply_priors([fused("a", 0.8), fused("b", 0.79, facts(importance=1.0))], plan(), NOW)
    assert ids(found) == ["b", "a"]
    assert [factor.name for factor in found[0].factors] == ["importance"]
    assert found[1].score == pytest.approx(0.8 * 0.85)
    silent = apply_priors([fused("a", 0.8)], plan(use_importance=False), NOW)
    assert silent == [fused("a", 0.8)]


def test_all_priors_multiply_and_show() -> None:
    one = fused("a", 0.5, facts(importance=0.2, uses=5, age_days=10), [Factor("scale", 1.5)])
    (found,) = apply_priors([one], plan(recency_half_life_days=10.0, usage_weight=0.2), NOW)
    assert [factor.name for factor in found.factors] == ["scale", "importance", "recency", "usage"]
    assert found.score == pytest.approx(math.prod(factor.value for factor in found.factors) * 0.5, abs=1e-12)
    assert found.score == pytest.approx(0.5 * 1.5 * 0.76 * 0.85 * 0.9)


def test_sorting_by_importance_decides_between_equal_scores_only() -> None:
    candidates = [
        fused("a", 0.801, facts(importance=0.1)),
        fused("b", 0.799, facts(importance=0.9)),
        fused("c", 0.5, facts(importance=1.0)),
    ]
    found = apply_priors(candidates, plan(sort_by="importance"), NOW)
    assert ids(found) == ["b", "a", "c"]
    assert all(one.factors == () for one in found), "what decides between equals must not change what is equal"


def test_sorting_by_recency_is_pure_time() -> None:
    candidates = [
        fused("old", 0.9, facts(age_days=9, importance=1.0)),
        fused("b", 0.1, facts(age_days=1)),
        fused("a", 0.1, facts(age_days=1)),
        fused("new", 0.05, facts(age_days=0)),
    ]
    assert ids(apply_priors(candidates, plan(sort_by="recency"), NOW)) == ["new", "a", "b", "old"]


def test_rank_without_a_prior() -> None:
    found = apply_priors([fused("a", 0.8), fused("b", 0.79, facts(importance=1.0)), fused("c", 0.1)], plan(), NOW)
    assert ids(found) == ["b", "a", "c"]
    assert rank_without(found, "importance") == {key("a"): 1, key("b"): 2, key("c"): 3}
    assert rank_without(found, "recency") == {key("b"): 1, key("a"): 2, key("c"): 3}
