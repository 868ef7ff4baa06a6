"""The loops ask every contender the same, and the corpus phase leaves what the others read."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

import pytest
from bench.__main__ import parser, sizes
from bench.contender import LEGS, Found, Leg, Record
from bench.machine import disk_bytes, machine, peak_bytes
from bench.phases import Run, read_passages, read_questions, search_leg, write_corpus
from bench.questions import Question


class Remembering:
    """A contender that answers from a table and remembers what it was asked."""

    def __init__(self, answers: dict[str, int]) -> None:
        self.answers = answers
        self.asked: list[tuple[str, Leg]] = []

    def load(self, records: Iterable[Record]) -> None:
        raise AssertionError(f"a search loads nothing: {records}")

    def add(self, record: Record) -> None:
        raise AssertionError(f"a search adds nothing: {record}")

    def search(self, text: str, leg: Leg) -> Found:
        self.asked.append((text, leg))
        return Found((self.answers[text],), {"embed": 0.25})

    def close(self) -> None: ...


def test_both_are_asked_the_same_and_warm_up_is_not_measured() -> None:
    warm = [Question("warm", 1)]
    asked = [Question(f"q{number}", number) for number in range(60)]
    right = Remembering({"warm": 1} | {question.text: question.passage for question in asked})
    wrong = Remembering(
        {"warm": 1} | {question.text: -1 for question in asked[:30]} | {q.text: q.passage for q in asked[30:]}
    )
    figures = search_leg({"ours": right, "baseline": wrong}, "hybrid", warm, asked)
    assert right.asked == wrong.asked == [(question.text, "hybrid") for question in [*warm, *asked]]
    assert figures["ours"]["hybrid_found_at_10"] == 1
    assert figures["baseline"]["hybrid_found_at_10"] == 0.5
    assert figures["ours"]["hybrid_stage_embed_p50_ms"] == 0.25
    assert 0 < figures["ours"]["hybrid_p50_ms"] <= figures["ours"]["hybrid_p95_ms"]


def test_stage_times_are_kept_for_hybrid_only() -> None:
    engine = Remembering({"q": 1})
    figures = search_leg({"ours": engine}, "lexical", [], [Question("q", 1)])
    assert set(figures["ours"]) == {"lexical_p50_ms", "lexical_p95_ms", "lexical_found_at_10"}


def test_the_corpus_phase_leaves_passages_and_distinct_questions(tmp_path: Path) -> None:
    run = Run(str(tmp_path), size=150, seed=1, contenders=("ours",), queries=40, adds=7)
    assert write_corpus(run) == {}
    assert [record["metadata"] for record in read_passages(run)] == [{"number": number} for number in range(157)]
    asked = read_questions(run)
    assert len(asked["warm"]) == 20
    assert [len(asked[leg]) for leg in LEGS] == [40, 40, 40]
    texts = [question.text for part in asked.values() for question in part]
    assert len(set(texts)) == len(texts)
    assert all(question.passage < run.size for part in asked.values() for question in part)


def test_a_run_survives_the_way_to_another_process(tmp_path: Path) -> None:
    run = Run(str(tmp_path), 10, 1, ("ours", "baseline"), 200, 5)
    assert Run.load(run.dump()) == run


def test_disk_bytes_counts_every_file_beside_the_store(tmp_path: Path) -> None:
    (tmp_path / "memory.db").write_bytes(b"x" * 10)
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "codes").write_bytes(b"x" * 5)
    assert disk_bytes(tmp_path) == 15


def test_the_machine_is_described_without_naming_it() -> None:
    assert set(machine()) == {"cpu", "cores", "memory_bytes", "system"}
    assert peak_bytes() > 1024 * 1024


def test_arguments() -> None:
    given = parser().parse_args(["latency", "--sizes", "1000,100000", "--json", "out.json"])
    assert given.sizes == (1_000, 100_000)
    assert given.json == Path("out.json")
    with pytest.raises(argparse.ArgumentTypeError, match="'many' is not a whole number"):
        sizes("1000,many")
    with pytest.raises(argparse.ArgumentTypeError, match="at least 1"):
        sizes("0")
