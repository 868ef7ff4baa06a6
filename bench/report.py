"""Figures as text: a table per size, and the targets with what was reached."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from bench.phases import BASELINE, OURS, Figures

UNITS = ("_rows_per_s", "_ms", "_s", "_bytes")
MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Target:
    """What we aim at for one size. `times_faster` compares the baseline's figure with ours."""

    size: int
    figure: str
    kind: Literal["at most", "at least", "times faster"]
    bound: float

    def __str__(self) -> str:
        label, unit = named(self.figure)
        if self.kind == "times faster":
            return f"{label} at least {self.bound:g} times faster than the baseline"
        return f"{label} {self.kind} {self.bound:,g} {unit}".rstrip()


TARGETS = (
    Target(100_000, "hybrid_p50_ms", "at most", 3),
    Target(100_000, "hybrid_p95_ms", "at most", 8),
    Target(100_000, "hybrid_p50_ms", "times faster", 8),
    Target(100_000, "dense_recall_at_10", "at least", 0.98),
    Target(100_000, "build_rows_per_s", "at least", 1_000),
    Target(100_000, "add_p50_ms", "at most", 5),
    Target(100_000, "first_cli_search_s", "at most", 0.5),
    Target(1_000_000, "hybrid_p50_ms", "at most", 15),
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """A target and the value measured: None where nothing was, and then the target is not met."""

    target: Target
    value: float | None

    @property
    def met(self) -> bool:
        if self.value is None:
            return False
        return self.value <= self.target.bound if self.target.kind == "at most" else self.value >= self.target.bound


def verdicts(size: int, figures: Figures) -> list[Verdict]:
    return [Verdict(target, _value(target, figures)) for target in TARGETS if target.size == size]


def _value(target: Target, figures: Figures) -> float | None:
    ours = figures.get(OURS, {}).get(target.figure)
    if target.kind != "times faster":
        return ours
    theirs = figures.get(BASELINE, {}).get(target.figure)
    return theirs / ours if ours and theirs else None


def render(size: int, figures: Figures) -> str:
    """One table: a row per figure, a column per contender, the ratio ours / baseline; then the targets."""
    names = list(dict.fromkeys(name for measured in figures.values() for name in measured))
    rows = [["figure", *figures, "ours / baseline"]] if BASELINE in figures else [["figure", *figures]]
    for name in names:
        label, unit = named(name)
        row = [f"{label} [{unit}]" if unit else label]
        row += [shown(name, measured.get(name)) for measured in figures.values()]
        if BASELINE in figures:
            row.append(_ratio(figures[OURS].get(name), figures[BASELINE].get(name)))
        rows.append(row)
    lines = [f"{size:,} passages", *aligned(rows)]
    for verdict in verdicts(size, figures):
        value = "not measured" if verdict.value is None else f"{verdict.value:,.3g}"
        lines.append(f"{'pass' if verdict.met else 'MISS'}  {verdict.target}: {value}")
    return "\n".join(lines)


def named(figure: str) -> tuple[str, str]:
    """A figure's label and unit: `add_p50_ms` is ("add p50", "ms")."""
    for suffix in UNITS:
        if figure.endswith(suffix):
            unit = {"_rows_per_s": "rows/s", "_bytes": "MiB"}.get(suffix, suffix[1:])
            return figure.removesuffix(suffix).replace("_", " "), unit
    return figure.replace("_", " "), ""


def shown(figure: str, value: float | None) -> str:
    if value is None:
        return "-"
    if figure.endswith("_bytes"):
        value /= MIB
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def _ratio(ours: float | None, baseline: float | None) -> str:
    return f"{ours / baseline:.3g}" if ours is not None and baseline else "-"


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Columns of equal width: the first to the left, the others to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(
            cell.rjust(width) if column else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
