"""QUERY -> RESULT. Each stage is one line here and one file beside this one; read them in this order."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime

from trivium.models.embed import Serving
from trivium.models.rerank import Reranker
from trivium.record import Key, Memory
from trivium.search.fuse import Fused, fuse
from trivium.search.legs import LegOutcome, Spoken, dense_leg, lexical_leg, query_vector
from trivium.search.priors import order, priors, rank_without
from trivium.search.query import LEGS, LegName, Plan
from trivium.search.rerank import RERANK_DEPTH, rerank
from trivium.search.result import Hit, LegReport, Results, Timings
from trivium.store.contract import Store

RERANK_TIMEOUT_S = 1.0
PRIORS = ("importance", "recency", "usage")


@dataclass(frozen=True, slots=True)
class Tools:
    """What a search works with, besides the store."""

    serving: Serving
    reranker: Reranker | None = None
    clock_ms: Callable[[], float] = field(default=lambda: time.perf_counter() * 1000.0)


@dataclass(frozen=True, slots=True)
class Trace:
    """All that one run of the stages found; results and why-not both read it."""

    outcomes: Mapping[LegName, LegOutcome]
    fused: tuple[Fused, ...]  # every candidate in its final order
    ranked: tuple[Fused, ...]  # those that pass min_score
    timings: Timings
    notices: tuple[str, ...] = ()


def search(store: Store, plan: Plan, tools: Tools, now: datetime) -> Results:
    """Answer a query from one state of the store."""
    watch = Stopwatch(tools.clock_ms)
    with watch.stage("embed"):  # before the reading begins: a remote model may take its time
        spoken = query_vector(plan, tools.serving)
    with store.reading():
        trace = run(store, plan, tools, spoken, now)
        found = results(store, plan, tools, trace, now)
    return replace(found, timings=_together(watch.timings(), found.timings))


def run(store: Store, plan: Plan, tools: Tools, spoken: Spoken, now: datetime, probe: str | None = None) -> Trace:
    """The stages up to the ranked list. `probe` asks the legs for the place of one memory."""
    watch = Stopwatch(tools.clock_ms)
    notices: tuple[str, ...] = ()
    outcomes: dict[LegName, LegOutcome] = {}
    if "lexical" in plan.legs:
        with watch.stage("lexical"):
            outcomes["lexical"] = lexical_leg(store, plan, probe)
    if "dense" in plan.legs:
        with watch.stage("dense"):
            outcomes["dense"] = dense_leg(store, plan, spoken, probe)
    with watch.stage("fuse"):
        legs = {leg: outcome.hits for leg, outcome in outcomes.items()}
        fused = fuse(
            legs, method=plan.method, weights=plan.weights, kind_weights=plan.kind_weights, k=plan.k,
            priors=lambda facts: priors(facts, plan, now),
        )  # fmt: skip
        fused = order(fused, plan.query.sort_by)
    if plan.query.rerank and tools.reranker is None:
        notices = ("no reranker is set: the fused order stands; open the memory with one",)
    elif plan.query.rerank and tools.reranker is not None:
        with watch.stage("rerank"):
            fused, notices = _reranked(store, plan, tools.reranker, fused)
    ranked = [one for one in fused if passes(one, plan, outcomes)] if plan.query.min_score else fused
    return Trace(outcomes, tuple(fused), tuple(ranked), watch.timings(), notices)


def passes(one: Fused, plan: Plan, outcomes: Mapping[LegName, LegOutcome]) -> bool:
    """At or above `min_score`, or an exact hit of an identifier: a threshold never drops that."""
    if one.score >= plan.query.min_score:
        return True
    names = outcomes["lexical"].identifiers if "lexical" in outcomes else frozenset()
    return any(not names.isdisjoint(part.terms) for part in one.contributions)


def _reranked(
    store: Store, plan: Plan, reranker: Reranker, fused: Sequence[Fused]
) -> tuple[list[Fused], tuple[str, ...]]:
    top = [one for one in fused[:RERANK_DEPTH] if not one.facts.sensitive]
    memories = store.get([one.key for one in top])
    spans = store.spans((one.key, one.ordinal) for one in top)
    texts = {one.key: memories[one.key].content[slice(*spans[one.key, one.ordinal])] for one in top}
    done = rerank(fused, texts, plan.query.text, reranker, timeout_s=RERANK_TIMEOUT_S)
    return list(done.hits), () if done.state == "ok" else (done.reason,)


def results(store: Store, plan: Plan, tools: Tools, trace: Trace, now: datetime) -> Results:
    """The first `limit` hits with their records, and what every leg did."""
    watch = Stopwatch(tools.clock_ms)
    with watch.stage("records"):
        chosen = trace.ranked[: plan.query.limit]
        memories = store.get([one.key for one in chosen])
        spans = store.spans((one.key, one.ordinal) for one in chosen)
        without = _ranks_without(trace, plan)
        hits = tuple(
            hit_of(one, memories[one.key], spans[one.key, one.ordinal], rank, without, now)
            for rank, one in enumerate(chosen, start=1)
        )
    corrections = trace.outcomes["lexical"].corrections if "lexical" in trace.outcomes else {}
    return Results(
        hits=hits,
        legs={leg: _report(leg, trace, plan) for leg in LEGS if leg in plan.query.legs or leg in plan.legs},
        query=plan.query.text,
        spaces=plan.query.spaces,
        method=plan.method,
        weights=plan.weights,
        asked_at=now,
        timings=_together(trace.timings, watch.timings()),
        epoch=tools.serving.fingerprint if "dense" in plan.legs else "",
        corrections=corrections,
        notices=trace.notices,
    )


def _report(leg: LegName, trace: Trace, plan: Plan) -> LegReport:
    outcome = trace.outcomes.get(leg)
    if outcome is None:
        return LegReport(leg, "off", 0, "" if plan.query.has_text else "the query has no text")
    return replace(outcome.report, took_ms=trace.timings.stages_ms.get(leg, 0.0))


def _ranks_without(trace: Trace, plan: Plan) -> Mapping[str, Mapping[Key, int]]:
    """Per prior in use, every candidate's rank had it not been there."""
    first = trace.fused[0].factors if trace.fused else ()  # a prior in use is a factor of every candidate
    names = sorted(factor.name for factor in first if factor.name in PRIORS)
    return {name: rank_without(trace.fused, name, plan.query.sort_by) for name in names}


def hit_of(
    one: Fused,
    memory: Memory,
    span: tuple[int, int],
    rank: int,
    without: Mapping[str, Mapping[Key, int]],
    now: datetime,
) -> Hit:
    start, end = span
    return Hit(
        memory=memory,
        score=one.score,
        rank=rank,
        passage=memory.content[start:end],
        ordinal=one.ordinal,
        start=start,
        end=end,
        contributions=one.contributions,
        factors=one.factors,
        asked_at=now,
        rank_without={name: ranks[one.key] for name, ranks in without.items()},
        before=one.before,
    )


class Stopwatch:
    """Milliseconds per stage, in the order the stages ran."""

    def __init__(self, clock_ms: Callable[[], float]) -> None:
        self._clock_ms = clock_ms
        self._start = clock_ms()
        self._stages: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        start = self._clock_ms()
        yield
        self._stages[name] = self._clock_ms() - start

    def timings(self) -> Timings:
        return Timings(self._clock_ms() - self._start, dict(self._stages))


def _together(one: Timings, two: Timings) -> Timings:
    return Timings(one.total_ms + two.total_ms, {**one.stages_ms, **two.stages_ms})
