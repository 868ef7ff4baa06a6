"""`python -m bench latency`: speed, size and recall, beside a plain FTS5 + sqlite-vec store of the same passages."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from bench.machine import machine, versions
from bench.phases import BASELINE, OURS, Figures, Run
from bench.report import verdicts


@dataclass(frozen=True, slots=True)
class Settings:
    sizes: tuple[int, ...]
    seed: int
    queries: int
    adds: int
    skip_baseline_above: int


@dataclass(frozen=True, slots=True)
class Measured:
    """The figures of one size, by contender and name, and the load average of the machine before."""

    size: int
    load_before: float
    figures: Figures


def measure(settings: Settings, progress: Callable[[str], None]) -> list[Measured]:
    return [measure_size(settings, size, progress) for size in settings.sizes]


def measure_size(settings: Settings, size: int, progress: Callable[[str], None]) -> Measured:
    """All phases of one size, in a folder that is gone afterwards."""
    load_before = os.getloadavg()[0]
    progress(f"{size:,}: load of the machine before {load_before:.2f}")
    contenders = (OURS, BASELINE) if size <= settings.skip_baseline_above else (OURS,)
    with tempfile.TemporaryDirectory(prefix="trivium-bench-") as folder:
        run = Run(folder, size, settings.seed, contenders, settings.queries, settings.adds)
        steps = [("write_corpus", run)]
        steps += [("build", replace(run, contenders=(name,))) for name in contenders]
        steps += [("search", run)]
        steps += [("search_alone", replace(run, contenders=(name,))) for name in contenders]
        # The single writes come last: everything else is measured on exactly `size` records.
        steps += [("recall", run), ("first_search", run), ("add_singly", run)]
        figures: Figures = {name: {} for name in contenders}
        for phase, part in steps:
            progress(f"{size:,}: {phase.replace('_', ' ')} {' and '.join(part.contenders)}")
            for name, measured in run_phase(phase, part).items():
                figures[name] |= measured
    return Measured(size, load_before, figures)


def run_phase(phase: str, run: Run) -> Figures:
    """The figures of one phase, run in a process of its own; its errors go to our standard error."""
    command = [sys.executable, "-m", "bench.phases", phase, run.dump()]
    printed = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    figures: Figures = json.loads(printed.splitlines()[-1])
    return figures


def write_json(path: Path, settings: Settings, measured: list[Measured]) -> None:
    """Everything needed to read the figures later, and to repeat the run."""
    report = {
        "bench": "latency",
        "machine": machine(),
        "versions": versions(),
        "settings": {
            "sizes": list(settings.sizes),
            "seed": settings.seed,
            "queries_per_leg": settings.queries,
            "adds": settings.adds,
            "skip_baseline_above": settings.skip_baseline_above,
        },
        "sizes": [
            {
                "size": one.size,
                "load_before": one.load_before,
                "figures": one.figures,
                "targets": [
                    {"target": str(verdict.target), "value": verdict.value, "met": verdict.met}
                    for verdict in verdicts(one.size, one.figures)
                ],
            }
            for one in measured
        ],
    }
    path.write_text(json.dumps(report, indent=2) + "\n")
