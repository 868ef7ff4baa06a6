"""BEIR: corpus.jsonl and queries.jsonl with `_id`, and qrels/test.tsv with a heading."""

from __future__ import annotations

from pathlib import Path

from bench.datasets.catalogue import source_of
from bench.datasets.folder import Dataset, Document, Question
from bench.datasets.judging import Judging
from bench.datasets.lines import json_lines, text_lines
from trivium.errors import InvalidInput

SPLIT = Path("qrels") / "test.tsv"


def from_beir(folder: Path, name: str) -> Dataset:
    """The test split: only its questions are kept, `queries.jsonl` has those of all splits."""
    documents = tuple(
        Document(row.text("_id"), row.maybe_text("text"), row.maybe_text("title"))
        for row in json_lines(folder / "corpus.jsonl")
    )
    judging = Judging({one.id for one in documents})
    asked: set[str] = set()
    for place, line in text_lines(folder / SPLIT):
        parts = line.split("\t")
        if parts[0] == "query-id":
            continue
        if len(parts) != 3 or not parts[2].removeprefix("-").isdecimal():
            raise InvalidInput(f"{place}: query-id, corpus-id and a whole score are wanted, separated by tabs")
        asked.add(parts[0])
        judging.judge(parts[0], parts[1], int(parts[2]))
    questions = tuple(
        Question(row.text("_id"), row.text("text"))
        for row in json_lines(folder / "queries.jsonl")
        if row.text("_id") in asked
    )
    about = source_of("beir")
    return Dataset(name, about.address, about.licence, documents, questions, judging.of(questions), judging.notes())
