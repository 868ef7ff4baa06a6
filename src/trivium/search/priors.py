"""What is known of a memory before the question is asked: importance, recency, usage. Bounded, pure, `now` comes in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache

from trivium.record import Key
from trivium.search.fuse import Factor, Fused, by_score, total
from trivium.search.query import Plan, SortBy
from trivium.store.contract import Facts

# A prior may take away at most three tenths: it moves neighbours, it does not bury an answer (claude-memory A.3).
FLOOR = 0.7
REACH = 0.3
USES_FOR_HALF = 5  # uses that win back half of what the usage prior takes; the first uses count most
SAME_SCORE_DIGITS = 2  # `sort_by="importance"` calls scores equal when they agree to this many digits
SECONDS_PER_DAY = 86_400.0


@lru_cache(maxsize=256)  # most memories share a few values, and every candidate of every search asks
def importance(value: float) -> Factor:
    """In [0.7, 1] for an importance in [0, 1]."""
    return Factor("importance", FLOOR + REACH * value, f"{FLOOR} + {REACH} × {value:g}")


def recency(age_days: float, half_life_days: float) -> Factor:
    """In [0.7, 1]: 1 when new, half of the 0.3 gone after one half-life. A time still to come counts as new."""
    freshness = 0.5 ** (max(0.0, age_days) / half_life_days)
    return Factor("recency", FLOOR + REACH * freshness, f"{age_days:.1f} days old, half-life {half_life_days:g} days")


def usage(uses: int, weight: float) -> Factor:
    """In [1 - weight, 1]: the floor when never used, rising with each use and never passing 1."""
    return Factor("usage", 1.0 - weight + weight * uses / (uses + USES_FOR_HALF), f"{uses} uses, weight {weight:g}")


def priors(facts: Facts, plan: Plan, now: datetime) -> tuple[Factor, ...]:
    """The priors this plan asks for. Age counts from `created_at`, which every memory has, not from `occurred_at`."""
    query = plan.query
    found: list[Factor] = []
    # When importance decides between equals it must not have changed what is equal.
    if query.use_importance and query.sort_by != "importance":
        found.append(importance(facts.importance))
    if query.recency_half_life_days is not None:
        age_days = (now - facts.created_at).total_seconds() / SECONDS_PER_DAY
        found.append(recency(age_days, query.recency_half_life_days))
    if query.usage_weight > 0.0:
        found.append(usage(facts.uses, query.usage_weight))
    return tuple(found)


def order(fused: Sequence[Fused], sort_by: SortBy) -> list[Fused]:
    """Sorted as asked; ties end with (space, id).

    `relevance`: by score. `importance`: by score to two digits, then by importance; exact scores almost never tie, so
    an exact tie-break would never speak. `recency`: by `created_at` alone, newest first; the score says what matched.
    """
    return sorted(fused, key=ORDERS[sort_by])


def rank_without(fused: Sequence[Fused], factor: str, sort_by: SortBy = "relevance") -> dict[Key, int]:
    """Each memory's rank, from 1, had the factor of this name not been there."""
    values = [next((each.value for each in one.factors if each.name == factor), 1.0) for one in fused]
    if len(set(values)) <= 1:  # the same for all, as importance often is: it moved nobody
        return {one.key: rank for rank, one in enumerate(fused, start=1)}
    bare = [_without(one, factor) for one in fused]
    return {one.key: rank for rank, one in enumerate(order(bare, sort_by), start=1)}


def _without(one: Fused, factor: str) -> Fused:
    factors = tuple(each for each in one.factors if each.name != factor)
    return Fused(one.key, one.facts, one.ordinal, one.contributions, factors, total(one.contributions, factors))


def _by_importance(one: Fused) -> tuple[float, float, Key]:
    return (-round(one.score, SAME_SCORE_DIGITS), -one.facts.importance, one.key)


def _by_recency(one: Fused) -> tuple[float, Key]:
    return (-one.facts.created_us, one.key)


ORDERS: Mapping[SortBy, Callable[[Fused], tuple[float, Key] | tuple[float, float, Key]]] = {
    "relevance": by_score,
    "importance": _by_importance,
    "recency": _by_recency,
}
