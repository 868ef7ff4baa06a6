"""The sample memory of examples/sample: loading it, asking it, and how good the answers are."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeAlias, Unpack, cast

import trivium
from trivium.asking import SearchOptions
from trivium.lines import read_lines
from trivium.models.embed import Embedder
from trivium.models.loading import DEFAULT_SPEC
from trivium.when import parse_when

SAMPLE = Path(__file__).parents[1] / "examples" / "sample"
NOW = datetime(2026, 10, 15, 12, tzinfo=UTC)  # two days after the newest record
DEPTH = 10
OVERALL = "overall"
TIMES = ("since", "until", "as_of")


@dataclass(frozen=True, slots=True)
class Question:
    """A query of the sample, the options it is asked with, and its gold: a grade for each record that answers it."""

    id: str
    text: str
    stratum: str
    options: SearchOptions
    gold: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Figures:
    """Means over the questions of one stratum."""

    ndcg: float
    recall: float


Scores: TypeAlias = Mapping[str, Figures]


def questions() -> Iterator[Question]:
    gold: dict[str, dict[str, int]] = defaultdict(dict)
    for row in (SAMPLE / "qrels.tsv").read_text(encoding="utf-8").splitlines():
        question, document, grade = row.split("\t")
        gold[question][document] = int(grade)
    for line in (SAMPLE / "queries.jsonl").read_text(encoding="utf-8").splitlines():
        asked = json.loads(line)
        id = asked["id"]
        yield Question(id, asked["text"], asked["stratum"], _options(asked.get("options", {})), gold[id])


def _options(written: Mapping[str, str]) -> SearchOptions:
    read = {name: parse_when(value, now=NOW, field=name) if name in TIMES else value for name, value in written.items()}
    return cast(SearchOptions, read)


def load(file: Path, embedder: Embedder | str = DEFAULT_SPEC) -> trivium.Trivium:
    """The sample as `trivium import` stores it, at a fixed time."""
    engine = trivium.open(file, embedder=embedder, clock=lambda: NOW)
    with (SAMPLE / "corpus.jsonl").open("rb") as lines:
        engine.import_lines(read_lines(lines))
    return engine


def measure(engine: trivium.Trivium, strata: Collection[str] | None = None, **changed: Unpack[SearchOptions]) -> Scores:
    """The figures of each stratum and, unless only some are asked for, of all questions together.

    Everything goes through `Trivium.search`; `changed` are options laid over those of each question."""
    found: dict[str, list[Figures]] = defaultdict(list)
    for question in questions():
        if strata is not None and question.stratum not in strata:
            continue
        options = cast(SearchOptions, {**question.options, **changed, "limit": DEPTH})
        ranked = [hit.memory.id for hit in engine.search(question.text, **options)]
        figures = Figures(ndcg(ranked, question.gold), recall(ranked, question.gold))
        for name in (question.stratum,) if strata is not None else (question.stratum, OVERALL):
            found[name].append(figures)
    return {stratum: _mean(each) for stratum, each in found.items()}


def _mean(each: Sequence[Figures]) -> Figures:
    count = len(each)
    return Figures(math.fsum(one.ndcg for one in each) / count, math.fsum(one.recall for one in each) / count)


def ndcg(ranked: Sequence[str], gold: Mapping[str, int]) -> float:
    """nDCG with the grade as gain and log2(rank + 1) as discount, against the best possible order of the gold."""
    best = sorted(gold.values(), reverse=True)[:DEPTH]
    return _discounted([gold.get(id, 0) for id in ranked[:DEPTH]]) / _discounted(best)


def _discounted(gains: Sequence[int]) -> float:
    return math.fsum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))


def recall(ranked: Sequence[str], gold: Mapping[str, int]) -> float:
    """The part of the gold among the first ten."""
    return len(gold.keys() & set(ranked[:DEPTH])) / len(gold)
