"""The table and the verdicts say what was measured, and an unmeasured target is a miss."""

from __future__ import annotations

from bench.phases import Figures
from bench.report import TARGETS, aligned, named, render, shown, verdicts

FIGURES: Figures = {
    "ours": {
        "build_rows_per_s": 2_500.4,
        "disk_bytes": 3 * 1024 * 1024,
        "hybrid_p50_ms": 2.0,
        "hybrid_p95_ms": 9.0,
        "dense_recall_at_10": 0.99,
        "add_p50_ms": 5.0,
    },
    "baseline": {"hybrid_p50_ms": 30.0, "hybrid_p95_ms": 40.0},
}


def test_a_name_has_a_label_and_a_unit() -> None:
    assert named("build_rows_per_s") == ("build", "rows/s")
    assert named("first_cli_search_s") == ("first cli search", "s")
    assert named("search_peak_bytes") == ("search peak", "MiB")
    assert named("dense_recall_at_10") == ("dense recall at 10", "")


def test_values_are_short() -> None:
    assert shown("hybrid_p50_ms", 1.23456) == "1.23"
    assert shown("build_rows_per_s", 12_345.6) == "12,346"
    assert shown("disk_bytes", 1024 * 1024 * 10) == "10"
    assert shown("disk_bytes", None) == "-"


def test_columns_are_aligned() -> None:
    assert aligned([["a", "bb"], ["ccc", "d"]]) == ["a    bb", "ccc   d"]


def test_targets_are_judged_at_their_size_only() -> None:
    judged = {str(verdict.target): verdict.met for verdict in verdicts(100_000, FIGURES)}
    assert judged == {
        "hybrid p50 at most 3 ms": True,
        "hybrid p95 at most 8 ms": False,
        "hybrid p50 at least 8 times faster than the baseline": True,
        "dense recall at 10 at least 0.98": True,
        "build at least 1,000 rows/s": True,
        "add p50 at most 5 ms": True,
        "first cli search at most 0.5 s": False,
    }
    assert verdicts(1_000, FIGURES) == []
    assert {target.size for target in TARGETS} == {100_000, 1_000_000}


def test_the_table_has_a_row_per_figure_and_the_targets_below() -> None:
    lines = render(100_000, FIGURES).splitlines()
    assert lines[0] == "100,000 passages"
    assert lines[1].split() == ["figure", "ours", "baseline", "ours", "/", "baseline"]
    assert "hybrid p50 [ms]" in lines[4]
    assert lines[4].split()[-3:] == ["2", "30", "0.0667"]
    assert lines[2].split()[-3:] == ["2,500", "-", "-"]
    assert "pass  hybrid p50 at most 3 ms: 2" in lines
    assert "MISS  hybrid p95 at most 8 ms: 9" in lines
    assert "MISS  first cli search at most 0.5 s: not measured" in lines


def test_without_a_baseline_there_is_no_ratio() -> None:
    text = render(1_000_000, {"ours": {"hybrid_p50_ms": 16.0}})
    assert "baseline" not in text
    assert "MISS  hybrid p50 at most 15 ms: 16" in text
