"""Several ranked lists into one, and every score kept with its parts. Pure functions.

The rule: `score == sum of the contributions × product of the factors`, and nothing else. What is printed is what was
computed. Every method gives a score in [0, 1], so one `min_score` means one thing. A leg that did not find a memory
adds nothing to it.

| method         | what a leg adds, weight w          | then                                      |
|----------------|------------------------------------|-------------------------------------------|
| `rrf`          | w / (k + rank)                     | × scale = 1 / Σ w / (k + 1), all legs on  |
| `linear`       | w · cosine in [0, 1]; w · s / best |                                           |
| `linear_bonus` | as `linear`                        | + 0.1 if two legs found it, capped at 1   |
| `minmax`       | w · (s - min) / (max - min)        |                                           |
| `tm2c2`        | w · (s - m) / (max - m)            | m: the least a score can be (Bruch 2022)  |

Outside `rrf` the weights of the legs that are on are divided by their sum.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from trivium.record import Key
from trivium.search.query import LEGS, RRF_K, FusionMethod, LegName, Weights
from trivium.store.contract import Facts, LegHit

DOUBLE_HIT_BONUS = 0.1  # RuvBot's presence bonus
SCORE_DIGITS = 12  # what lies below is rounding noise: equal scores must be equal, so that ties break by id
LEAST_POSSIBLE: Mapping[LegName, float] = {"lexical": 0.0, "dense": -1.0, "graph": 0.0}  # BM25, cosine, spread

# Contribution, Factor and Fused are made by the hundred in every search: as tuples they cost a third of a dataclass.

Source: TypeAlias = LegName | Literal["bonus", "rerank"]


class Contribution(NamedTuple):
    """What one leg, the bonus or the reranker added: `value`. `raw` is the score it gave, `weight` the one used.

    `rank` (from 1) and `raw` are None for the bonus, which no list gave; `ordinal` is the leg's best passage.
    """

    leg: Source
    rank: int | None
    raw: float | None
    weight: float
    value: float
    terms: tuple[str, ...] = ()
    ordinal: int | None = None


class Factor(NamedTuple):
    """What a score was multiplied by, and what it was made of."""

    name: str
    value: float
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Before:
    """How a memory stood before the reranker spoke."""

    rank: int
    score: float
    contributions: tuple[Contribution, ...]
    factors: tuple[Factor, ...]


class Fused(NamedTuple):
    """A candidate with its score and all it is made of. `ordinal` is the passage that brought most of it."""

    key: Key
    facts: Facts
    ordinal: int
    contributions: tuple[Contribution, ...]
    factors: tuple[Factor, ...]
    score: float
    before: Before | None = None


def total(contributions: Iterable[Contribution], factors: Iterable[Factor]) -> float:
    """The one place where a score comes from."""
    score = math.fsum([part.value for part in contributions])
    for factor in factors:
        score *= factor.value
    return round(score, SCORE_DIGITS)


def by_score(one: Fused) -> tuple[float, Key]:
    """The one order: best first, ties by space and id."""
    return (-one.score, one.key)


def fuse(
    legs: Mapping[LegName, Sequence[LegHit]],
    *,
    method: FusionMethod,
    weights: Weights,
    kind_weights: Mapping[str, Weights] | None = None,
    k: int = RRF_K,
    priors: Callable[[Facts], tuple[Factor, ...]] = lambda _facts: (),
) -> list[Fused]:
    """All memories any leg found, best first.

    `weights` names the legs that are on, also those that found nothing or failed; `kind_weights` replaces it for
    memories of that kind. Each list is ranked already, by (-score, id). `priors` are what a memory brings itself.
    """
    general = _voices(method, weights, k)
    special = {kind: _voices(method, own, k) for kind, own in (kind_weights or {}).items()}
    found: dict[Key, list[Contribution]] = {}
    facts: dict[Key, Facts] = {}
    for leg in LEGS:
        hits = legs.get(leg, ())
        worth = WORTH[method](leg, [hit.score for hit in hits], k)
        for rank, (hit, value) in enumerate(zip(hits, worth, strict=True), start=1):
            key, score, ordinal, known, terms = hit
            weight = special.get(known.kind, general).weights[leg]
            added = Contribution(leg, rank, score, weight, weight * value, terms, ordinal)
            if key in found:
                found[key].append(added)
            else:
                found[key] = [added]
                facts[key] = known
    bonus = DOUBLE_HIT_BONUS if method == "linear_bonus" else 0.0
    fused = [
        _combine(key, known, found[key], special.get(known.kind, general), bonus, priors(known))
        for key, known in facts.items()
    ]
    return sorted(fused, key=by_score)


@dataclass(frozen=True, slots=True)
class _Voices:
    """The weights as they are multiplied, and the factors that bring the sum into [0, 1]."""

    weights: Weights
    factors: tuple[Factor, ...] = ()


def _voices(method: FusionMethod, weights: Weights, k: int) -> _Voices:
    if method == "rrf":
        most = math.fsum(weight / (k + 1) for weight in weights.values())
        return _Voices(weights, (Factor("scale", 1.0 / most, f"1 / {most:.4f}, the most these legs can give"),))
    whole = math.fsum(weights.values())
    return _Voices({leg: weight / whole for leg, weight in weights.items()})


def _combine(
    key: Key, facts: Facts, added: list[Contribution], voices: _Voices, bonus: float, priors: tuple[Factor, ...]
) -> Fused:
    best = added[0] if len(added) == 1 else max(added, key=_value)  # among equals the first leg
    contributions, factors = tuple(added), voices.factors
    if bonus and len(added) > 1:
        contributions += (Contribution("bonus", rank=None, raw=None, weight=1.0, value=bonus),)
        gathered = math.fsum(one.value for one in contributions)
        if gathered > 1.0:
            factors += (Factor("cap", 1.0 / gathered, "no score is above 1"),)
    factors += priors
    return Fused(key, facts, best.ordinal or 0, contributions, factors, total(contributions, factors))


def _value(one: Contribution) -> float:
    return one.value


def _by_rank(_leg: LegName, scores: Sequence[float], k: int) -> list[float]:
    return [1.0 / (k + rank) for rank in range(1, len(scores) + 1)]


def _by_score(leg: LegName, scores: Sequence[float], _k: int) -> list[float]:
    if leg == "dense":
        return [_clip(score) for score in scores]
    return _between(scores, 0.0, max(scores, default=0.0))


def _by_range(_leg: LegName, scores: Sequence[float], _k: int) -> list[float]:
    low, high = min(scores, default=0.0), max(scores, default=0.0)
    return _between(scores, low, high) if high > low else [1.0] * len(scores)


def _by_theory(leg: LegName, scores: Sequence[float], _k: int) -> list[float]:
    return _between(scores, LEAST_POSSIBLE[leg], max(scores, default=0.0))


def _between(scores: Sequence[float], low: float, high: float) -> list[float]:
    """Where each score stands between the two; all 0 where nothing is above `low`."""
    span = high - low
    return [_clip((score - low) / span) if span > 0.0 else 0.0 for score in scores]


def _clip(value: float) -> float:
    return 0.0 if value < 0.0 else min(value, 1.0)


# What a leg's hits are worth before the weight: at most 1, or 1 / (k + 1) by rank.
WORTH: Mapping[FusionMethod, Callable[[LegName, Sequence[float], int], list[float]]] = {
    "rrf": _by_rank,
    "linear": _by_score,
    "linear_bonus": _by_score,
    "minmax": _by_range,
    "tm2c2": _by_theory,
}
