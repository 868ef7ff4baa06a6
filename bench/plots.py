"""Plots of a filed quality result, as PNG and SVG. The same result gives the same files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bench.filed import Filed
from bench.metrics import MAIN
from bench.quality_configs import BASELINE, DENSE, SHIPPED, method_and_weight

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BARS = {BASELINE: "#9aa5b1", DENSE: "#d9a441", SHIPPED: "#2b6cb0"}
PNG_DPI = 110
SVG_SALT = "trivium"  # names inside the SVG come from it and not from chance


def write_plots(filed: Filed, folder: Path) -> list[Path]:
    """`quality-sets` and `quality-fusion`, each as .png and .svg."""
    folder.mkdir(parents=True, exist_ok=True)
    return [*_saved(_sets(filed), folder / "quality-sets"), *_saved(_fusions(filed), folder / "quality-fusion")]


def _sets(filed: Filed) -> Figure:
    """The legs and the shipped defaults on every set, with the interval of the difference to the words alone."""
    figure = _figure(10.0, 4.2)
    axes = figure.subplots()
    names = list(filed["sets"])
    width = 0.8 / len(BARS)
    for number, (way, colour) in enumerate(BARS.items()):
        own = [filed["sets"][name]["configurations"][way] for name in names]
        values = [one["means"][MAIN] for one in own]
        gains = [one["to_baseline"][MAIN] for one in own]
        spread = [[mean - low for mean, low, _ in gains], [high - mean for mean, _, high in gains]]
        places = [place + (number - 1) * width for place in range(len(names))]
        axes.bar(places, values, width, color=colour, label=f"{way} (mean {filed['overall'][way]['mean']:.3f})")
        if way != BASELINE:
            axes.errorbar(places, values, yerr=spread, fmt="none", ecolor="#333333", elinewidth=0.9, capsize=2)
    axes.set_xticks(range(len(names)), names, rotation=25, ha="right")
    axes.set_ylabel(MAIN)
    axes.set_ylim(0.0, 1.0)
    axes.set_title(f"{MAIN} by set; thin lines: 95 % interval of the difference to {BASELINE}")
    figure.legend(loc="outside lower center", ncols=len(BARS))
    return figure


def _fusions(filed: Filed) -> Figure:
    """The mean over sets by the weight of the dense leg, a line per fusion method."""
    figure = _figure(7.0, 4.2)
    axes = figure.subplots()
    lines: dict[str, list[tuple[float, float]]] = {}
    for name, about in filed["settings"]["configurations"].items():
        if about["axis"] == "fusion":
            method, weight = method_and_weight(name)
            lines.setdefault(method, []).append((weight, filed["overall"][name]["mean"]))
    for method, points in lines.items():
        weights, means = zip(*sorted(points), strict=True)
        axes.plot(weights, means, marker="o", label=method)
    for way, style in ((BASELINE, "--"), (SHIPPED, "-.")):
        axes.axhline(filed["overall"][way]["mean"], color=BARS[way], linestyle=style, label=way)
    axes.set_xlabel("weight of the dense leg (the words have the rest)")
    axes.set_ylabel(f"mean {MAIN} over {len(filed['sets'])} sets")
    axes.set_title("Fusion methods and weights")
    figure.legend(loc="outside right center")
    return figure


def _figure(width: float, height: float) -> Figure:
    from matplotlib.figure import Figure  # without pyplot: no display, no state that is shared

    return Figure(figsize=(width, height), layout="constrained")


def _saved(figure: Figure, stem: Path) -> list[Path]:
    import matplotlib as mpl

    png, svg = stem.with_suffix(".png"), stem.with_suffix(".svg")
    with mpl.rc_context({"svg.hashsalt": SVG_SALT}):
        figure.savefig(png, dpi=PNG_DPI, metadata={"Software": None})
        figure.savefig(svg, metadata={"Date": None, "Creator": None})
    return [png, svg]
