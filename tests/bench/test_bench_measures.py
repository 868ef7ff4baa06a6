"""Percentiles, taking turns, and not billing the reading of the input."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from bench.measures import TimedSource, in_turns, milliseconds, percentile, spread
from hypothesis import given
from hypothesis import strategies as st


def test_a_percentile_is_a_sample_by_nearest_rank() -> None:
    hundred = [float(value) for value in range(100, 0, -1)]
    assert percentile(hundred, 0.5) == 50
    assert percentile(hundred, 0.95) == 95
    assert percentile(hundred, 1) == 100
    assert percentile([7.0], 0.5) == 7
    assert spread("add", [1.0, 2.0, 3.0]) == {"add_p50_ms": 2.0, "add_p95_ms": 3.0}


@given(st.lists(st.floats(0, 1e6), min_size=1), st.floats(0.01, 1))
def test_enough_samples_do_not_exceed_a_percentile(samples: list[float], share: float) -> None:
    value = percentile(samples, share)
    assert value in samples
    assert sum(sample <= value for sample in samples) >= share * len(samples) - 1e-9


def test_a_percentile_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="samples"):
        percentile([], 0.5)
    with pytest.raises(ValueError, match="share"):
        percentile([1.0], 0)


def test_every_name_gets_every_item_and_they_take_turns_to_begin() -> None:
    turns = list(in_turns([1, 2, 3], 2, ("a", "b")))
    assert turns == [("a", 1), ("a", 2), ("b", 1), ("b", 2), ("b", 3), ("a", 3)]


def test_a_timed_source_counts_only_the_time_spent_inside_it() -> None:
    def slow() -> Iterator[int]:
        for number in range(3):
            busy_until = time.perf_counter() + 0.002
            while time.perf_counter() < busy_until:
                pass
            yield number

    source = TimedSource(slow())
    total_ms, passed = milliseconds(list, source)
    assert passed == [0, 1, 2]
    assert source.count == 3
    assert 0.006 <= source.seconds <= total_ms / 1000
