"""Result files: aggregates only, with the machine, the versions and the settings. No text and no id of a question.

Everything that is shown (table, plots, README) is made from such a file, so it can be shown again later.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeAlias

from bench.machine import machine, versions
from bench.quality import Measured, Part, SetResult, Settings, Standing
from bench.quality_configs import configurations, described
from bench.significance import SEED, Difference
from trivium.errors import InvalidInput
from trivium.models.embed import Embedder
from trivium.search.query import SearchDefaults
from trivium.text import ANALYZER_VERSION

Filed: TypeAlias = dict[str, Any]  # what JSON gives back; `quality_table.py` and `plots.py` are its only readers

RESULTS = Path(__file__).parent / "results"
DIGITS = 6  # far below the noise of any set; a different BLAS may change what lies beyond


def report(measured: Measured, settings: Settings, embedder: Embedder) -> Filed:
    card = embedder.card
    return {
        "bench": "quality",
        "measured_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine(),
        "versions": versions() | {"ir-measures": version("ir-measures"), "analyzer": ANALYZER_VERSION},
        "settings": {
            # Not the spec: it may hold a path.
            "embedder": {"model": card.model, "dimension": card.dimension, "fingerprint": card.fingerprint},
            "defaults": asdict(SearchDefaults()),
            "seed": SEED,
            "resamples": settings.resamples,
            "configurations": described(configurations()),
        },
        **figures(measured),
    }


def figures(measured: Measured) -> Filed:
    """What must be the same, to the last digit, when a run is repeated."""
    return {
        "overall": {
            name: {
                "mean": _short(one.mean),
                "to_baseline": _ends(one.to_baseline),
                "wins": one.wins,
                "losses": one.losses,
            }
            for name, one in measured.overall.items()
        },
        "sets": {one.name: _set(one) for one in measured.sets},
    }


def write_report(path: Path, filed: Filed) -> None:
    """One line per entry of the top level: short enough to look at, small enough to keep."""
    lines = (f"{json.dumps(name)}: {json.dumps(value)}" for name, value in filed.items())
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def file_name(filed: Filed) -> str:
    return f"quality-{re.sub(r'[^0-9A-Za-z.-]', '_', filed['versions']['commit'])}.json"


def newest(folder: Path = RESULTS) -> Filed:
    """The result that was measured last, by its own word: the times of files do not survive a clone."""
    found = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("quality-*.json"))]
    if not found:
        raise InvalidInput(f"{folder}: no quality-*.json here; run `python -m bench quality --sets DIR --file`")
    latest: Filed = max(found, key=lambda filed: str(filed["measured_at"]))
    return latest


def _set(one: SetResult) -> Filed:
    return {
        "set_hash": one.set_hash,
        "documents": one.documents,
        "questions": one.whole.questions,
        "unjudged": one.unjudged,
        "noise": one.noise,
        "configurations": _part(one.whole, every_measure=True),
        "strata": {
            name: {"questions": part.questions, "configurations": _part(part, every_measure=False)}
            for name, part in one.strata.items()
        },
    }


def _part(part: Part, *, every_measure: bool) -> Filed:
    return {name: _standing(one, every_measure) for name, one in part.standings.items()}


def _standing(one: Standing, every_measure: bool) -> Filed:
    differences: Mapping[str, Difference] = one.to_baseline
    if not every_measure:
        differences = {"nDCG@10": one.to_baseline["nDCG@10"]}
    return {
        "means": {name: _short(value) for name, value in one.means.items()},
        "to_baseline": {name: _ends(value) for name, value in differences.items()},
        "to_default": _ends(one.to_shipped),
    }


def _ends(one: Difference) -> list[float]:
    return [_short(one.mean), _short(one.low), _short(one.high)]


def _short(value: float) -> float:
    return round(value, DIGITS) + 0.0  # no -0.0
