"""Figures by name, and how samples become figures. Every name carries its unit."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import ParamSpec, TypeAlias, TypeVar

Measures: TypeAlias = dict[str, float]
Item = TypeVar("Item")
Given = ParamSpec("Given")


def percentile(samples: Sequence[float], share: float) -> float:
    """The smallest sample that at least this share of all samples does not exceed: a value that did occur."""
    if not samples:
        raise ValueError("samples: a percentile needs at least one")
    if not 0 < share <= 1:
        raise ValueError(f"share: {share} is not above 0 and at most 1")
    return sorted(samples)[math.ceil(share * len(samples)) - 1]


def spread(name: str, samples_ms: Sequence[float]) -> Measures:
    return {f"{name}_p50_ms": percentile(samples_ms, 0.5), f"{name}_p95_ms": percentile(samples_ms, 0.95)}


def milliseconds(call: Callable[Given, Item], *args: Given.args, **options: Given.kwargs) -> tuple[float, Item]:
    """How long the call took, and what it returned."""
    start = time.perf_counter()
    result = call(*args, **options)
    return (time.perf_counter() - start) * 1000, result


class TimedSource(Iterable[Item]):
    """Passes items on and counts the seconds spent waiting for them, so that reading the input is not billed."""

    def __init__(self, items: Iterable[Item]) -> None:
        self._items = items
        self.seconds = 0.0
        self.count = 0

    def __iter__(self) -> Iterator[Item]:
        source = iter(self._items)
        while True:
            start = time.perf_counter()
            try:
                item = next(source)
            except StopIteration:
                return
            finally:
                self.seconds += time.perf_counter() - start
            self.count += 1
            yield item


def in_turns(items: Sequence[Item], block: int, names: Sequence[str]) -> Iterator[tuple[str, Item]]:
    """Every item for every name, block by block, the names taking turns to begin: noise hits all of them alike."""
    for turn, start in enumerate(range(0, len(items), block)):
        shift = turn % len(names)
        for name in (*names[shift:], *names[:shift]):
            for item in items[start : start + block]:
                yield name, item
