"""`python -m bench quality`: how well the shipped `Trivium.search` finds what was judged relevant, set by set."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from bench.datasets.folder import Dataset, Question, read_dataset
from bench.metrics import DEPTH, MAIN, MEASURES, Scores, column, score
from bench.quality_configs import AGAIN, BASELINE, SHIPPED, Configuration, configurations
from bench.quality_stores import open_built, stored_id
from bench.significance import RESAMPLES, Difference, Differences, draws, intervals, resampled
from trivium import Trivium
from trivium.asking import SearchOptions
from trivium.errors import InvalidInput
from trivium.models.loading import load_embedder
from trivium.record import DEFAULT_SPACE


@dataclass(frozen=True, slots=True)
class Settings:
    """What a run is made with. `resamples` is of the bootstrap."""

    folders: tuple[Path, ...]
    work: Path
    embedder: str
    jobs: int = 1
    resamples: int = RESAMPLES


@dataclass(frozen=True, slots=True)
class Standing:
    """How one configuration did on some questions: every measure, and its difference to the baseline.

    `to_shipped` is the difference to the shipped defaults in the main measure.
    """

    means: dict[str, float]
    to_baseline: dict[str, Difference]
    to_shipped: Difference


@dataclass(frozen=True, slots=True)
class Part:
    """All configurations on the questions of one set or of one stratum."""

    questions: int
    standings: dict[str, Standing]


@dataclass(frozen=True, slots=True)
class SetResult:
    """Aggregates of one set. `noise` is the largest change of any figure of any question between two equal runs."""

    name: str
    set_hash: str
    documents: int
    unjudged: int
    noise: float
    whole: Part
    strata: dict[str, Part]
    resampled_main: Differences  # of the main measure to the baseline: a row per resample, a column per configuration


@dataclass(frozen=True, slots=True)
class Overall:
    """One configuration over all sets, each set counting the same."""

    mean: float
    to_baseline: Difference
    wins: int
    losses: int


@dataclass(frozen=True, slots=True)
class Measured:
    sets: tuple[SetResult, ...]
    overall: dict[str, Overall]


def measure(settings: Settings, progress: Callable[[str], None]) -> Measured:
    """Every configuration on every set. Sets do not know of each other, so their order and `jobs` change nothing."""
    tasks = [(folder, settings) for folder in settings.folders]
    found: list[SetResult] = []
    for one in _each(tasks, settings.jobs):
        shipped = one.whole.standings[SHIPPED].means[MAIN]
        progress(f"{one.name}: {one.whole.questions} questions, {MAIN} {shipped:.4f}")
        found.append(one)
    return Measured(tuple(found), overall(found))


def _each(tasks: Sequence[tuple[Path, Settings]], jobs: int) -> Iterator[SetResult]:
    if jobs == 1:
        yield from map(measure_folder, tasks)
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as workers:
        yield from workers.map(measure_folder, tasks)


def measure_folder(task: tuple[Path, Settings]) -> SetResult:
    folder, settings = task
    dataset = read_dataset(folder)
    asked = dataset.judged()
    if not asked:
        raise InvalidInput(f"{folder}: no question has a relevant document, so nothing can be measured")
    settings.work.mkdir(parents=True, exist_ok=True)
    chosen = configurations()
    with open_built(dataset, load_embedder(settings.embedder), settings.work) as memory:
        scores = {one.name: score(dataset.grades, answers(memory, dataset, asked, one)) for one in chosen}
    return summarised(dataset, asked, scores, settings.resamples)


def answers(memory: Trivium, dataset: Dataset, asked: Sequence[Question], way: Configuration) -> dict[str, list[str]]:
    """The documents found for each question, best first."""
    ids = {stored_id(number): one.id for number, one in enumerate(dataset.documents)}
    found: dict[str, list[str]] = {}
    for one in asked:
        options: SearchOptions = {**way.options, "space": one.group or DEFAULT_SPACE, "limit": DEPTH}
        found[one.id] = [ids[hit.memory.id] for hit in memory.search(one.text, **options)]
    return found


def summarised(dataset: Dataset, asked: Sequence[Question], scores: dict[str, Scores], resamples: int) -> SetResult:
    """Scores by question become aggregates; the questions themselves are not kept."""
    whole, means = compared(scores, dataset.name, resamples)
    names = np.array([one.stratum for one in asked])
    strata: dict[str, Part] = {}
    for stratum in sorted(set(names.tolist())):
        own = {name: values[names == stratum] for name, values in scores.items()}
        strata[stratum] = compared(own, f"{dataset.name}/{stratum}", resamples)[0]
    return SetResult(
        name=dataset.name,
        set_hash=dataset.whole_hash,
        documents=len(dataset.documents),
        unjudged=len(dataset.questions) - len(asked),
        noise=float(np.abs(scores[AGAIN] - scores[SHIPPED]).max()),
        whole=whole,
        strata=strata if len(strata) > 1 else {},
        resampled_main=means,
    )


def compared(scores: dict[str, Scores], seed: str, resamples: int) -> tuple[Part, Differences]:
    """Every configuration beside the baseline and the shipped defaults, with the same resamples for all."""
    main = column(MAIN)
    drawn = draws(len(scores[BASELINE]), seed, resamples)
    standings: dict[str, Standing] = {}
    kept: list[Differences] = []
    for name, values in scores.items():
        gained = values - scores[BASELINE]
        means = resampled(drawn, gained)
        over_shipped = values[:, [main]] - scores[SHIPPED][:, [main]]
        standings[name] = Standing(
            means=dict(zip(MEASURES, values.mean(axis=0).tolist(), strict=True)),
            to_baseline=dict(zip(MEASURES, intervals(gained, means), strict=True)),
            to_shipped=intervals(over_shipped, resampled(drawn, over_shipped))[0],
        )
        kept.append(means[:, main])
    return Part(len(scores[BASELINE]), standings), np.stack(kept, axis=1)


def overall(sets: Sequence[SetResult]) -> dict[str, Overall]:
    """Means over sets. A win or a loss is a set where the interval of the difference to the baseline leaves out 0."""
    found: dict[str, Overall] = {}
    means = np.mean([one.resampled_main for one in sets], axis=0)
    for number, name in enumerate(sets[0].whole.standings):
        own = [one.whole.standings[name] for one in sets]
        gained = np.array([[one.to_baseline[MAIN].mean] for one in own])
        verdicts = [one.to_baseline[MAIN].verdict for one in own]
        found[name] = Overall(
            mean=float(np.mean([one.means[MAIN] for one in own])),
            to_baseline=intervals(gained, means[:, [number]])[0],
            wins=verdicts.count(1),
            losses=verdicts.count(-1),
        )
    return found
