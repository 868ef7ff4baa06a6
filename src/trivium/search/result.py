"""What a search answers: the hits with their reasons, and what each leg did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Literal, TypeAlias, overload

from trivium.record import Json, Memory
from trivium.search.explain import render_hit, render_results
from trivium.search.fuse import Before, Contribution, Factor
from trivium.search.query import FusionMethod, LegName, Weights

LegState: TypeAlias = Literal["ok", "off", "empty", "degraded", "failed"]


@dataclass(frozen=True, slots=True)
class LegReport:
    """What one leg did. `empty` looked and found nothing, `failed` could not look, `degraded` saw less than all."""

    leg: LegName
    state: LegState
    hits: int = 0
    reason: str = ""
    took_ms: float = 0.0


@dataclass(frozen=True, slots=True)
class Timings:
    """Milliseconds: the whole search, and its stages in order. Stages may overlap, so they need not add up."""

    total_ms: float = 0.0
    stages_ms: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A memory that was found, its best passage (`memory.content[start:end]`), and why it stands where it stands.

    `score` is the sum of `contributions` times the product of `factors`. `rank_without` says, per prior, which rank it
    would have had without it; `before` how it stood before a reranker. `asked_at` is the time ages are told from.
    """

    memory: Memory
    score: float
    rank: int
    passage: str
    ordinal: int
    start: int
    end: int
    contributions: tuple[Contribution, ...]
    factors: tuple[Factor, ...]
    asked_at: datetime
    rank_without: Mapping[str, int] = field(default_factory=dict)
    before: Before | None = None

    def explain(self) -> str:
        """Two lines or three: the hit, the sum and product that made its score, and how it stood before a reranker."""
        return render_hit(self, self.asked_at)

    def to_dict(self) -> dict[str, Json]:
        """`{rank, score, memory, passage: {text, ordinal, start, end}, contributions: [{leg, rank, raw, weight, value,
        terms, ordinal}], factors: [{name, value, detail}], rank_without: {factor: rank},
        before: null | {rank, score, contributions, factors}}`."""
        return {
            "rank": self.rank,
            "score": self.score,
            "memory": memory_to_dict(self.memory),
            "passage": {"text": self.passage, "ordinal": self.ordinal, "start": self.start, "end": self.end},
            "contributions": _parts(self.contributions),
            "factors": _parts(self.factors),
            "rank_without": dict(self.rank_without),
            "before": None if self.before is None else _before(self.before),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Results(Sequence[Hit]):
    """The hits of a search, best first, and how they were found. Reads like a list of `Hit`.

    `epoch` is the fingerprint of the vectors that served, empty where none did. `corrections` are the unknown words
    and what was searched in their place. `notices` are for the reader: what a leg, a space or a reranker could not do.
    """

    hits: tuple[Hit, ...]
    legs: Mapping[LegName, LegReport]
    query: str
    spaces: tuple[str, ...]
    method: FusionMethod
    weights: Weights
    asked_at: datetime
    timings: Timings = field(default_factory=Timings)
    epoch: str = ""
    corrections: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    notices: tuple[str, ...] = ()

    @overload
    def __getitem__(self, place: int) -> Hit: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Hit, ...]: ...
    def __getitem__(self, place: int | slice) -> Hit | tuple[Hit, ...]:
        return self.hits[place]

    def __len__(self) -> int:
        return len(self.hits)

    @property
    def degraded(self) -> bool:
        """True when a leg could not look at all it should have: fewer hits may then be a fault, not an answer."""
        return any(report.state in ("degraded", "failed") for report in self.legs.values())

    def explain(self) -> str:
        """The whole search in plain text: legs, times, and for each hit the sum and product of its score."""
        return render_results(self, self.asked_at)

    def to_dict(self) -> dict[str, Json]:
        """`{query, spaces, method, weights: {leg: weight}, asked_at, epoch, degraded, legs: {leg: {state, hits, reason,
        took_ms}}, timings: {total_ms, stages_ms: {stage: ms}}, corrections: {word: [terms]}, notices: [text],
        hits: [Hit.to_dict()]}`. Times are ISO 8601 with their offset."""
        return {
            "query": self.query,
            "spaces": list(self.spaces),
            "method": self.method,
            "weights": {str(leg): weight for leg, weight in self.weights.items()},
            "asked_at": self.asked_at.isoformat(),
            "epoch": self.epoch,
            "degraded": self.degraded,
            "legs": {leg: _report(report) for leg, report in self.legs.items()},
            "timings": {"total_ms": self.timings.total_ms, "stages_ms": dict(self.timings.stages_ms)},
            "corrections": {word: list(terms) for word, terms in self.corrections.items()},
            "notices": list(self.notices),
            "hits": [hit.to_dict() for hit in self.hits],
        }


def memory_to_dict(memory: Memory) -> dict[str, Json]:
    """Every field of the record by its name; times in ISO 8601, tuples as lists."""
    found: dict[str, Json] = {}
    for each in fields(memory):
        value = getattr(memory, each.name)
        if isinstance(value, datetime):
            found[each.name] = value.isoformat()
        elif isinstance(value, tuple):
            found[each.name] = list(value)
        else:
            found[each.name] = dict(value) if isinstance(value, Mapping) else value
    return found


def _parts(parts: Sequence[Contribution | Factor]) -> list[Json]:
    return [{name: list(v) if isinstance(v, tuple) else v for name, v in part._asdict().items()} for part in parts]


def _before(before: Before) -> dict[str, Json]:
    return {
        "rank": before.rank,
        "score": before.score,
        "contributions": _parts(before.contributions),
        "factors": _parts(before.factors),
    }


def _report(report: LegReport) -> dict[str, Json]:
    return {"state": report.state, "hits": report.hits, "reason": report.reason, "took_ms": report.took_ms}
