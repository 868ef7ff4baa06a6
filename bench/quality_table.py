"""A filed quality result as text: sets by configurations, the targets, and every configuration by its mean."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from bench.filed import Filed
from bench.metrics import MAIN
from bench.quality_configs import BASELINE, DENSE, SHIPPED, method_and_weight
from bench.report import aligned

TARGETS = Path(__file__).parent / "targets.toml"
MARKS = {1: "+", 0: " ", -1: "-"}


@dataclass(frozen=True, slots=True)
class Target:
    measure: str
    floor: float
    aim: float

    def verdict(self, value: float) -> str:
        """Judged at the three digits that are shown, so that the table never contradicts itself."""
        shown = round(value, 3)
        return "MISS" if shown < self.floor else "pass" if shown < self.aim else "aim reached"


def read_targets(path: Path = TARGETS) -> dict[str, Target]:
    return {name: Target(**fields) for name, fields in tomllib.loads(path.read_text(encoding="utf-8")).items()}


def columns(filed: Filed) -> list[str]:
    """The legs alone, the shipped defaults, and each fusion method at the dense weight with its best mean."""
    best: dict[str, str] = {}
    for name, about in filed["settings"]["configurations"].items():
        if about["axis"] == "fusion":
            method = method_and_weight(name)[0]
            mean = filed["overall"][name]["mean"]
            if method not in best or mean > filed["overall"][best[method]]["mean"]:
                best[method] = name
    return [BASELINE, DENSE, SHIPPED, *best.values()]


def sets_rows(filed: Filed) -> list[list[str]]:
    """A row per set, then the mean, wins and losses. `+` and `-` mark differences to BM25 beyond noise."""
    shown = columns(filed)
    rows = [[f"{MAIN}", *shown]]
    for name, one in filed["sets"].items():
        rows.append([name, *(_cell(one["configurations"][way]) for way in shown)])
    rows.append(["mean", *(_figure(filed["overall"][way]["mean"]) + " " for way in shown)])
    rows.append(["wins / losses", *(_record(filed, way) for way in shown)])
    return rows


def target_rows(filed: Filed, targets: dict[str, Target]) -> list[list[str]]:
    rows = [["shipped defaults", "measure", BASELINE, DENSE, SHIPPED, "floor", "aim", "verdict"]]
    for name, one in filed["sets"].items():
        target = targets.get(name)
        measure = target.measure if target else MAIN
        ways = [one["configurations"][way]["means"][measure] for way in (BASELINE, DENSE, SHIPPED)]
        judged = [_figure(target.floor), _figure(target.aim), target.verdict(ways[-1])] if target else ["-", "-", "-"]
        rows.append([name, measure, *map(_figure, ways), *judged])
    return rows


def ablation_rows(filed: Filed) -> list[list[str]]:
    """Every configuration, best mean first: the difference to BM25 with its 95 % interval, wins and losses."""
    shipped = filed["overall"][SHIPPED]["mean"]
    rows = [["configuration", "varies", "mean", f"to {SHIPPED}", f"to {BASELINE}", "95 % interval", "wins / losses"]]
    about = filed["settings"]["configurations"]
    for name, one in sorted(filed["overall"].items(), key=lambda item: (-item[1]["mean"], item[0])):
        mean, low, high = one["to_baseline"]
        ends = f"[{low:+.4f}, {high:+.4f}]"
        own = [f"{one['mean']:.4f}", f"{one['mean'] - shipped:+.4f}", f"{mean:+.4f}", ends, _record(filed, name)]
        rows.append([name, about[name]["axis"], *own])
    return rows


def strata_rows(filed: Filed) -> list[list[str]]:
    """The strata of sets that have several: the legs and the shipped defaults in the main measure and recall."""
    rows = [["stratum", "questions", *(f"{way} {MAIN}" for way in (BASELINE, DENSE, SHIPPED)), f"{SHIPPED} R@10"]]
    for name, one in filed["sets"].items():
        for stratum, part in one["strata"].items():
            ways = part["configurations"]
            cells = [_cell(ways[way]) for way in (BASELINE, DENSE, SHIPPED)]
            rows.append([f"{name}: {stratum}", str(part["questions"]), *cells, _figure(ways[SHIPPED]["means"]["R@10"])])
    return rows


def noise_line(filed: Filed) -> str:
    """Two equal runs must agree in every figure of every question."""
    worst = max(one["noise"] for one in filed["sets"].values())
    verdict = "pass" if worst == 0 else "MISS"
    return f"{verdict}  noise floor: the largest change of a figure of a question between two equal runs is {worst:g}"


def render(filed: Filed, targets: dict[str, Target]) -> str:
    parts = [aligned(rows) for rows in (sets_rows(filed), target_rows(filed, targets), ablation_rows(filed))]
    parts[0].append(f"+ and -: better or worse than {BASELINE} beyond noise (paired bootstrap, 95 %)")
    return "\n\n".join("\n".join(lines) for lines in [*parts, [noise_line(filed)]])


def _cell(one: Filed) -> str:
    _, low, high = one["to_baseline"][MAIN]
    return _figure(one["means"][MAIN]) + MARKS[int(low > 0) - int(high < 0)]


def _record(filed: Filed, way: str) -> str:
    return f"{filed['overall'][way]['wins']} / {filed['overall'][way]['losses']}"


def _figure(value: float) -> str:
    return f"{value:.3f}"
