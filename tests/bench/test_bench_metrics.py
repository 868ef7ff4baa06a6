"""Measures by hand on small rankings, and the bootstrap on differences whose answer is known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from bench.metrics import MEASURES, score
from bench.significance import Difference, draws, intervals, resampled

GRADES = {"both": {"a": 2, "b": 1, "c": 0}, "none": {"a": 1}, "empty": {"a": 1}}
RANKINGS = {
    "both": ["c", "b", "x", "y", "z", "a"],
    "none": ["b", "c"],
    "empty": [],
}


def of(question: str) -> dict[str, float]:
    row = list(RANKINGS).index(question)
    return dict(zip(MEASURES, score(GRADES, RANKINGS)[row].tolist(), strict=True))


def test_each_measure_is_what_its_name_says() -> None:
    gained = 1 / math.log2(3) + 2 / math.log2(7)
    assert of("both") == pytest.approx(
        {
            "nDCG@10": gained / (2 + 1 / math.log2(3)),
            "R@2": 0.5,
            "R@5": 0.5,
            "R@10": 1.0,
            "any@5": 1.0,
            "any@10": 1.0,
            "all@5": 0.0,
            "all@10": 1.0,
            "MRR@10": 0.5,
        }
    )


@pytest.mark.parametrize("question", ["none", "empty"])
def test_nothing_found_is_zero_everywhere(question: str) -> None:
    assert set(of(question).values()) == {0.0}


def test_our_order_holds_whatever_the_names() -> None:
    grades = {"q": {"z": 1}}
    first, second = score(grades, {"q": ["z", "a"]}), score(grades, {"q": ["a", "z"]})
    assert first[0, 0] == 1.0
    assert second[0, 0] == pytest.approx(1 / math.log2(3))


def interval(differences: list[float], name: str = "set") -> Difference:
    values = np.array(differences)[:, None]
    return intervals(values, resampled(draws(len(values), name, 2_000), values))[0]


def test_equal_runs_differ_by_nothing() -> None:
    assert interval([0.0] * 30) == Difference(0.0, 0.0, 0.0)
    assert interval([0.0] * 30).verdict == 0


def test_a_sure_gain_and_a_sure_loss_are_told_from_chance() -> None:
    assert interval([0.1, 0.2, 0.3] * 20).verdict == 1
    assert interval([-0.1, -0.2, -0.3] * 20).verdict == -1
    assert interval([0.1, -0.1] * 20).verdict == 0


def test_the_interval_is_as_wide_as_theory_says() -> None:
    found = interval([1.0, -1.0] * 200)
    wanted = 1.96 / math.sqrt(400)
    assert found.high == pytest.approx(wanted, rel=0.1)
    assert found.low == pytest.approx(-wanted, rel=0.1)


def test_the_same_set_is_resampled_alike_and_another_one_is_not() -> None:
    mixed = [0.3, -0.1, 0.2, 0.0, 0.5]
    assert interval(mixed) == interval(mixed)
    assert interval(mixed) != interval(mixed, "another")


def test_every_resample_has_as_many_questions() -> None:
    assert set(draws(17, "set", 100).sum(axis=1).tolist()) == {17.0}
