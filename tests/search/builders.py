"""Small builders for the values the search stages work on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from trivium.record import DEFAULT_SPACE, Key, Memory
from trivium.search.fuse import Contribution, Factor, Fused, total
from trivium.search.query import Weights
from trivium.store.contract import Facts, LegHit
from trivium.when import to_micros

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def key(name: str) -> Key:
    return Key(DEFAULT_SPACE, name)


def facts(
    *, kind: str = "note", importance: float = 0.5, sensitive: bool = False, uses: int = 0, age_days: float = 0.0
) -> Facts:
    return Facts(kind, importance, sensitive, uses, to_micros(NOW - timedelta(days=age_days)))


def leg(scores: Mapping[str, float], kinds: Mapping[str, str] | None = None) -> list[LegHit]:
    """A leg's list as a store promises it: by (-score, id)."""
    ranked = sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))
    return [
        LegHit(key(name), score, place, facts(kind=(kinds or {}).get(name, "note")), ("ada",))
        for place, (name, score) in enumerate(ranked)
    ]


def fused(name: str, score: float, known: Facts | None = None, factors: Sequence[Factor] = ()) -> Fused:
    contributions = (Contribution("lexical", 1, score, 1.0, score, ("ada",), 0),)
    return Fused(key(name), known or facts(), 0, contributions, tuple(factors), total(contributions, factors))


def memory(name: str = "a", content: str = "Ada moved to Lisbon in May.", *, age_days: float = 34) -> Memory:
    at = NOW - timedelta(days=age_days)
    return Memory(id=name, space=DEFAULT_SPACE, content=content, created_at=at, updated_at=at)


# The kinds' weights that NEXO proposes, as a space may set them.
SEED_KIND_WEIGHTS: Mapping[str, Weights] = {
    "movie": {"lexical": 0.2, "dense": 0.8},
    "note": {"lexical": 0.4, "dense": 0.6},
    "link": {"lexical": 0.5, "dense": 0.5},
}
