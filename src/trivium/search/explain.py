"""Renders what the pipeline recorded, as plain text. Nothing is scored here.

    "where does ada live"   lexical 12 · dense 50   rrf (lexical 1, dense 1)   2.9 ms (embed 0.2, lexical 0.8)
    1  0.94  Ada moved to Lisbon in May.                                note · 34 days ago
       lexical #1 (bm25 7.31; ada, live) 0.0164 + dense #3 (cos 0.71) 0.0159 = 0.0323 × scale 30.5 × importance 0.97

No control character of a memory, a query or a model's message reaches the output.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal, TypeAlias

from trivium.record import Key
from trivium.search.fuse import Contribution, Factor, Source

if TYPE_CHECKING:
    from trivium.search.result import Hit, LegReport, Results

TEXT_WIDTH = 58  # leaves room for rank, score, kind and age on a line of about a hundred characters
QUERY_WIDTH = 200  # a query may be 65,536 characters long
INDENT = "   "

# Control and surrogate characters, and those that turn the direction of writing: all can forge what a terminal shows.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_RAW_NAMES: dict[Source, str] = {"lexical": "bm25", "dense": "cos", "graph": "spread", "rerank": "score"}

Stage: TypeAlias = Literal[
    "unknown", "another_space", "superseded", "filtered", "not_embedded", "no_term_matched", "beyond_depth",
    "below_min_score", "beyond_limit", "returned",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Check:
    """One question of a why-not, in the order the pipeline asks them."""

    name: str
    passed: bool
    detail: str = ""


@dataclass(frozen=True, slots=True)
class WhyNot:
    """The stage that lost a memory, or its place. `place` is its rank among all candidates where it became one."""

    key: Key
    stage: Stage
    reason: str
    place: int | None = None
    hit: Hit | None = None
    checks: tuple[Check, ...] = ()


def render_results(results: Results, now: datetime) -> str:
    """A head line, what the reader should know, then two lines a hit."""
    legs = " · ".join(_leg(report) for report in results.legs.values())
    weights = ", ".join(f"{leg} {weight:.3g}" for leg, weight in results.weights.items())
    stages = ", ".join(f"{stage} {ms:.1f}" for stage, ms in results.timings.stages_ms.items())
    took = f"{results.timings.total_ms:.1f} ms" + (f" ({stages})" if stages else "")
    lines = [f'"{clip(results.query, QUERY_WIDTH)}"{INDENT}{legs}{INDENT}{results.method} ({weights}){INDENT}{took}']
    lines += [f"searched {', '.join(terms)} for {word}" for word, terms in results.corrections.items()]
    lines += [f"note: {notice}" for notice in results.notices]
    hits = [render_hit(hit, now) for hit in results.hits] or ["nothing found"]
    return "\n".join([*map(printable, lines), *hits])


def render_hit(hit: Hit, now: datetime) -> str:
    """The hit, then the sum and product that are its score."""
    memory = hit.memory
    shown = clip(f"{memory.title}: {hit.passage}" if memory.title else hit.passage, TEXT_WIDTH)
    lines = [
        f"{hit.rank}  {hit.score:.2f}  {shown:<{TEXT_WIDTH}}  {memory.kind} · {age(memory.created_at, now)}",
        INDENT + _sum(hit.contributions, hit.factors, hit),
    ]
    if hit.before is not None:
        old = _sum(hit.before.contributions, hit.before.factors)
        lines.append(f"{INDENT}before reranking #{hit.before.rank} {hit.before.score:.2f}: {old}")
    return "\n".join(map(printable, lines))


def render_why(why: WhyNot) -> str:
    """The verdict in one line, the checks that led to it, and the hit where there is one."""
    place = "" if why.place is None else f", place {why.place}"
    verdict = "returned" if why.stage == "returned" else f"not returned: {why.stage.replace('_', ' ')}"
    lines = [f"{why.key.id} in {why.key.space}: {verdict}{place}", INDENT + why.reason]
    lines += [f"{INDENT}{'ok' if check.passed else 'no'}  {check.name}  {check.detail}" for check in why.checks]
    shown = [printable(line.rstrip()) for line in lines]
    return "\n".join(shown if why.hit is None else [*shown, why.hit.explain()])


def printable(line: str) -> str:
    """The line with every character that could steer a terminal made visible as U+FFFD."""
    return _CONTROL.sub("\ufffd", line)


def clip(text: str, width: int) -> str:
    """One line of at most `width` characters: whitespace collapsed, the cut marked."""
    line = " ".join(text[: 8 * width].split())  # a passage may be long; what is cut here could not have been shown
    return line if len(line) <= width else line[: width - 1] + "…"


def age(then: datetime, now: datetime) -> str:
    """How long ago in the largest unit that keeps it a whole number above one or so."""
    seconds = (now - then).total_seconds()
    for unit, size, until in (("minute", 60, 3_600), ("hour", 3_600, 86_400), ("day", 86_400, 730 * 86_400)):
        if abs(seconds) < until:
            return _told(unit, int(abs(seconds) // size), past=seconds >= 0)
    return _told("year", int(abs(seconds) // (365.25 * 86_400)), past=seconds >= 0)


def _told(unit: str, count: int, *, past: bool) -> str:
    if count == 0:
        return "just now"
    amount = f"{count} {unit}{'' if count == 1 else 's'}"
    return f"{amount} ago" if past else f"in {amount}"


def _leg(report: LegReport) -> str:
    reason = f" ({report.reason})" if report.reason else ""
    match report.state:
        case "ok":
            return f"{report.leg} {report.hits}{reason}"
        case "degraded":
            return f"{report.leg} {report.hits} degraded{reason}"
        case _:
            return f"{report.leg} {report.state}{reason}"


def _sum(contributions: Sequence[Contribution], factors: Sequence[Factor], hit: Hit | None = None) -> str:
    added = " + ".join(_contribution(one) for one in contributions)
    if len(contributions) > 1:
        added += f" = {math.fsum(one.value for one in contributions):.4f}"
    return added + "".join(_factor(one, hit) for one in factors)


def _contribution(one: Contribution) -> str:
    rank = "" if one.rank is None else f" #{one.rank}"
    raw = "" if one.raw is None else f"{_RAW_NAMES[one.leg]} {one.raw:.2f}"
    inside = "; ".join(filter(None, (raw, ", ".join(one.terms))))
    return f"{one.leg}{rank}{f' ({inside})' if inside else ''} {one.value:.4f}"


def _factor(one: Factor, hit: Hit | None) -> str:
    """The factor, and the rank without it where that is another."""
    without = hit.rank_without.get(one.name, hit.rank) if hit else None
    moved = f" (#{without} without)" if hit and without != hit.rank else ""
    return f" × {one.name} {one.value:.4g}{moved}"
