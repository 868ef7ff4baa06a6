"""Why a memory was not returned: the real pipeline is run again, and the first stage that lost it is named."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from trivium.filter import Filter, conjuncts
from trivium.record import Key, Memory
from trivium.search.explain import Check, Stage, WhyNot
from trivium.search.legs import query_vector
from trivium.search.pipeline import Tools, Trace, hit_of, run
from trivium.search.query import Plan, standing
from trivium.store.contract import Store
from trivium.where import to_text


@dataclass(frozen=True, slots=True)
class Verdict:
    stage: Stage
    reason: str
    place: int | None = None


def why_not(store: Store, plan: Plan, tools: Tools, key: Key, now: datetime) -> WhyNot:
    """The stage that lost the memory, or its place in the answer."""
    spoken = query_vector(plan, tools.serving)
    with store.reading():
        memory = store.get([key]).get(key)
        if memory is None:
            return WhyNot(key, "unknown", f"no memory {key.id} in space {key.space}")
        if key.space not in plan.query.spaces:
            searched = ", ".join(plan.query.spaces)
            return WhyNot(key, "another_space", f"it is in space {key.space}; the search looked in {searched}")
        kept_out = _kept_out(memory, plan)
        if kept_out is not None:
            return kept_out
        trace = run(store, plan, tools, spoken, now, probe=key.id)
        verdict = _verdict(trace, plan, memory)
        hit = None
        place = next((at for at, one in enumerate(trace.fused, start=1) if one.key == key), None)
        if place is not None:
            one = trace.fused[place - 1]
            hit = hit_of(one, memory, store.spans([(key, one.ordinal)])[key, one.ordinal], place, {}, now)
        return WhyNot(key, verdict.stage, verdict.reason, place, hit, _checks(trace, plan, memory))


def _kept_out(memory: Memory, plan: Plan) -> WhyNot | None:
    """The clause that keeps the memory out, if one does: what every search asks first, then the caller's filter."""
    for clause in standing(plan.query):
        if not clause.matches(memory):
            if memory.superseded_at is not None:
                by = f"superseded by {memory.superseded_by} at {memory.superseded_at:%Y-%m-%d %H:%M}"
                return WhyNot(memory.key, "superseded", f"it was {by}; search with include_superseded to see it")
            return WhyNot(memory.key, "filtered", f"it does not match {to_text(clause)}")
    failed: list[Filter] = [clause for clause in conjuncts(plan.query.where) if not clause.matches(memory)]
    if failed:
        reason = f"it does not match {' and '.join(to_text(clause) for clause in failed)}"
        return WhyNot(memory.key, "filtered", reason)
    return None


def _verdict(trace: Trace, plan: Plan, memory: Memory) -> Verdict:
    places = {one.key: at for at, one in enumerate(trace.fused, start=1)}
    place = places.get(memory.key)
    if place is None:
        return _not_a_candidate(trace, plan, memory)
    ranked = [one.key for one in trace.ranked]
    if memory.key not in ranked:
        score = trace.fused[place - 1].score
        return Verdict("below_min_score", f"its score {score:.3f} is below min_score {plan.query.min_score:g}", place)
    rank = ranked.index(memory.key) + 1
    if rank > plan.query.limit:
        return Verdict("beyond_limit", f"it is number {rank}; the limit is {plan.query.limit}", rank)
    return Verdict("returned", f"it is number {rank}", rank)


def _not_a_candidate(trace: Trace, plan: Plan, memory: Memory) -> Verdict:
    """No leg brought it within its depth: the nearest miss speaks."""
    deep = [(leg, outcome.place) for leg, outcome in trace.outcomes.items() if outcome.place is not None]
    if deep:
        told = "; ".join(f"{leg} has it at {place.rank}" for leg, place in deep)
        return Verdict("beyond_depth", f"{told}; each leg looks {plan.depth} deep: ask with more candidates")
    if "dense" in plan.legs:
        missing = _why_no_vector(trace, memory)
        words = "no word of it matched, and " if "lexical" in plan.legs else ""
        return Verdict("not_embedded", f"{words}{missing}")
    return Verdict("no_term_matched", "no word of the query is in it")


def _why_no_vector(trace: Trace, memory: Memory) -> str:
    if memory.sensitive:
        return "it is sensitive, so it has no vector"
    report = trace.outcomes["dense"].report
    reason = "" if report.state == "ok" else report.reason
    return reason or "its text has no vector"


def _checks(trace: Trace, plan: Plan, memory: Memory) -> tuple[Check, ...]:
    """What each leg says of the memory."""
    checks = [Check("filter", True, "it passes")]
    for leg, outcome in trace.outcomes.items():
        if outcome.place is None:
            detail = _why_no_vector(trace, memory) if leg == "dense" else "no word of the query is in it"
            checks.append(Check(leg, False, detail))
        else:
            place = outcome.place
            words = f"; {', '.join(place.terms)}" if place.terms else ""
            checks.append(Check(leg, place.rank <= plan.depth, f"number {place.rank} ({place.score:.2f}{words})"))
    return tuple(checks)
