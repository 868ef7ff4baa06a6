"""The ablation: each configuration changes one thing, and all of them go through the shipped `Trivium.search`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from trivium.asking import SearchOptions
from trivium.search.query import METHOD_NAMES

BASELINE = "bm25"
DENSE = "dense"
SHIPPED = "default"
AGAIN = "default again"

DENSE_WEIGHTS = (0.2, 0.3, 0.5)  # the words have the rest
RRF_KS = (10, 100)  # beside the default, 60
CANDIDATES = (20, 200)  # beside the default, 50


@dataclass(frozen=True, slots=True)
class Configuration:
    """A way to search. `axis` says what it varies; empty options are the shipped defaults."""

    name: str
    axis: str
    options: SearchOptions = field(default_factory=SearchOptions)


def configurations() -> tuple[Configuration, ...]:
    return (
        Configuration(BASELINE, "leg", {"legs": ("lexical",)}),
        Configuration(DENSE, "leg", {"legs": ("dense",)}),
        Configuration(SHIPPED, "default"),
        Configuration(AGAIN, "noise"),
        *_fusions(),
        *(Configuration(f"rrf .30 k={k}", "k", {**_weighted(0.3), "fusion": "rrf", "k": k}) for k in RRF_KS),
        *(Configuration(f"candidates {n}", "candidates", {"candidates": n}) for n in CANDIDATES),
        Configuration("importance off", "importance", {"use_importance": False}),
        Configuration("typos off", "typos", {"correct_typos": False}),
    )


def _fusions() -> list[Configuration]:
    return [
        Configuration(f"{method} {_share(dense)}", "fusion", {**_weighted(dense), "fusion": method})
        for method in METHOD_NAMES
        for dense in DENSE_WEIGHTS
    ]


def _weighted(dense: float) -> SearchOptions:
    return {"weights": {"lexical": round(1.0 - dense, 6), "dense": dense}}


def _share(dense: float) -> str:
    return f"{dense:.2f}".removeprefix("0")


def method_and_weight(name: str) -> tuple[str, float]:
    """What a configuration of the fusion axis varies, read back from its name."""
    method, _, share = name.rpartition(" ")
    return method, float(share)


def described(chosen: tuple[Configuration, ...]) -> dict[str, Mapping[str, object]]:
    """The configurations as they are filed."""
    return {one.name: {"axis": one.axis, "options": dict(one.options)} for one in chosen}
