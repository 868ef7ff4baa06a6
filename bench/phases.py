"""The phases of a latency run, each a process of its own, so that its peak memory is its own.

`python -m bench.phases PHASE RUN` prints one JSON object: for each contender, its figures by name. RUN is the JSON of
a `Run`. A phase leaves its files in the run's folder for the next one.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import TypeAlias

from bench.contender import LEGS, LIMIT, Contender, Leg, Record
from bench.corpus import Corpus
from bench.machine import disk_bytes, peak_bytes
from bench.measures import Measures, TimedSource, in_turns, milliseconds, spread
from bench.questions import Question, questions

OURS, BASELINE = "ours", "baseline"
Figures: TypeAlias = dict[str, Measures]

# Contenders take turns by blocks, not by calls: one that scans 100 MB empties the processor's cache for the other. With
# 25 calls in a block the first, disturbed one stays above the 95th percentile.
TURN = 25
WARM_UP, MEASURED = 1, 2  # the random streams of the questions
FIRST_SEARCHES = 5  # processes started, the median counts
RECALL_K = 10


@dataclass(frozen=True, slots=True)
class Run:
    """What one run measures: a size, the contenders, and how many samples."""

    folder: str
    size: int
    seed: int
    contenders: tuple[str, ...]
    queries: int  # of each leg
    adds: int

    @property
    def at(self) -> Path:
        return Path(self.folder)

    def dump(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def load(cls, text: str) -> Run:
        fields = json.loads(text)
        return cls(**{**fields, "contenders": tuple(fields["contenders"])})


def write_corpus(run: Run) -> Figures:
    """The passages to load and those to add singly, one JSON record a line, and the questions.

    Each leg gets questions of its own: an engine that keeps vectors of questions must not profit from the leg before.
    """
    corpus = Corpus(run.seed)
    with (run.at / "passages.jsonl").open("w") as file:
        for passage in corpus.passages(0, run.size + run.adds):
            file.write(json.dumps(passage.record()) + "\n")
    warm = questions(corpus, run.size, run.queries // 2, stream=WARM_UP)
    told = frozenset(question.text for question in warm)
    asked = questions(corpus, run.size, run.queries * len(LEGS), stream=MEASURED, apart_from=told)
    parts = {"warm": warm} | {leg: asked[place :: len(LEGS)] for place, leg in enumerate(LEGS)}
    listed = {name: [asdict(question) for question in part] for name, part in parts.items()}
    (run.at / "questions.json").write_text(json.dumps(listed))
    return {}


def build(run: Run) -> Figures:
    """Load all passages. Called with one contender, so that the peak is its own."""
    (name,) = run.contenders
    source = TimedSource(islice(read_passages(run), run.size))
    contender = opened(name, run)
    total_ms, _ = milliseconds(contender.load, source)
    contender.close()
    rate = source.count / (total_ms / 1000 - source.seconds)
    disk = disk_bytes(run.at / name)
    return {name: {"build_rows_per_s": rate, "build_peak_bytes": peak_bytes(), "disk_bytes": disk}}


def search(run: Run) -> Figures:
    contenders = {name: opened(name, run) for name in run.contenders}
    asked = read_questions(run)
    figures: Figures = {name: {} for name in contenders}
    for leg in LEGS:
        for name, measured in search_leg(contenders, leg, asked["warm"], asked[leg]).items():
            figures[name] |= measured
    for contender in contenders.values():
        contender.close()
    return figures


def search_leg(
    contenders: Mapping[str, Contender], leg: Leg, warm: Sequence[Question], asked: Sequence[Question]
) -> Figures:
    """Times of one leg, how often the passage asked for was among the results, and the engine's own stage times."""
    for contender in contenders.values():
        for question in warm:
            contender.search(question.text, leg)
    samples: dict[str, list[float]] = {name: [] for name in contenders}
    stages: dict[str, dict[str, list[float]]] = {name: {} for name in contenders}
    found = dict.fromkeys(contenders, 0)
    for name, question in in_turns(asked, TURN, tuple(contenders)):
        took_ms, answer = milliseconds(contenders[name].search, question.text, leg)
        samples[name].append(took_ms)
        found[name] += question.passage in answer.numbers[:LIMIT]
        for stage, stage_ms in answer.stages_ms.items() if leg == "hybrid" else ():
            stages[name].setdefault(stage, []).append(stage_ms)
    figures: Figures = {}
    for name in contenders:
        figures[name] = spread(leg, samples[name]) | {f"{leg}_found_at_{LIMIT}": found[name] / len(asked)}
        for stage, stage_samples in stages[name].items():
            figures[name] |= spread(f"hybrid_stage_{stage}", stage_samples)
    return figures


def search_alone(run: Run) -> Figures:
    """The memory of a process that only searches."""
    (name,) = run.contenders
    contender = opened(name, run)
    for question in read_questions(run)["hybrid"]:
        contender.search(question.text, "hybrid")
    contender.close()
    return {name: {"search_peak_bytes": peak_bytes()}}


def recall(run: Run) -> Figures:
    from bench.ours import Ours

    engine = Ours(run.at / OURS)
    measured = engine.recall([question.text for question in read_questions(run)["dense"]], RECALL_K)
    engine.close()
    return {OURS: {f"dense_recall_at_{RECALL_K}": measured}}


def first_search(run: Run) -> Figures:
    """A user's first search: a new process, the file in the system's cache."""
    from bench.ours import first_search_command

    seconds = []
    for question in read_questions(run)["warm"][:FIRST_SEARCHES]:
        command = first_search_command(run.at / OURS, question.text)
        took_ms, _ = milliseconds(subprocess.run, command, check=True, capture_output=True)
        seconds.append(took_ms / 1000)
    return {OURS: {"first_cli_search_s": statistics.median(seconds)}}


def add_singly(run: Run) -> Figures:
    """Durable single writes on top of the loaded store."""
    contenders = {name: opened(name, run) for name in run.contenders}
    records = list(islice(read_passages(run), run.size, None))
    samples: dict[str, list[float]] = {name: [] for name in contenders}
    for name, record in in_turns(records, TURN, run.contenders):
        took_ms, _ = milliseconds(contenders[name].add, record)
        samples[name].append(took_ms)
    for contender in contenders.values():
        contender.close()
    return {name: spread("add", taken) for name, taken in samples.items()}


def opened(name: str, run: Run) -> Contender:
    from bench.ours import Ours, embedder

    if name == OURS:
        return Ours(run.at / OURS)
    from bench.baseline import Baseline

    return Baseline(run.at / BASELINE, embedder())


def read_passages(run: Run) -> Iterator[Record]:
    with (run.at / "passages.jsonl").open() as file:
        for line in file:
            yield json.loads(line)


def read_questions(run: Run) -> dict[str, list[Question]]:
    listed = json.loads((run.at / "questions.json").read_text())
    return {name: [Question(**fields) for fields in part] for name, part in listed.items()}


PHASES: Mapping[str, Callable[[Run], Figures]] = {
    phase.__name__: phase for phase in (write_corpus, build, search, search_alone, recall, first_search, add_singly)
}

if __name__ == "__main__":
    print(json.dumps(PHASES[sys.argv[1]](Run.load(sys.argv[2]))))
