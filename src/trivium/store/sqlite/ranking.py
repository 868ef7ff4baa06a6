"""From scored passages to ranked memories: the best `depth`, each once, ties by id. Shared by both legs."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from trivium.record import Key
from trivium.store.contract import LegHit, Place
from trivium.store.sqlite import records

Floats: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.int64]
TermsOf: TypeAlias = "Callable[[Integers], list[tuple[str, ...]]]"  # sources of passages -> their matched terms


def no_terms(sources: Integers) -> list[tuple[str, ...]]:
    """A leg without terms."""
    return [()] * len(sources)


@dataclass(frozen=True, slots=True)
class Passages:
    """Scored passages that may be returned, as columns. `sources` is the leg's own number for each."""

    scores: Floats
    memories: Integers
    ordinals: Integers
    sources: Integers

    def take(self, rows: Integers) -> Passages:
        return Passages(self.scores[rows], self.memories[rows], self.ordinals[rows], self.sources[rows])


def joined(parts: Sequence[Passages]) -> Passages:
    return Passages(*(np.concatenate([getattr(part, name) for part in parts]) for name in Passages.__slots__))


def best(passages: Passages, depth: int) -> Passages:
    """The passages of the best `depth` memories, one each: the memory's best, the lowest ordinal among equals.
    Memories that tie with the last one are kept too, for the order by id to decide."""
    scores = passages.scores
    if depth < 1 or not len(scores):
        return passages.take(np.zeros(0, np.int64))
    wanted = depth
    while True:
        if wanted < len(scores):
            bound = np.partition(scores, len(scores) - wanted)[len(scores) - wanted]
            rows = np.flatnonzero(scores >= bound)
        else:
            rows = np.arange(len(scores))
        rows = rows[np.lexsort((passages.ordinals[rows], -scores[rows]))]
        # Not np.unique: it imports numpy.ma, 50 ms in a process that has just started.
        first: dict[int, int] = {}
        for at, memory in enumerate(passages.memories[rows].tolist()):
            first.setdefault(memory, at)
        if len(first) >= depth or len(rows) == len(scores):
            break
        wanted *= 4  # several passages of few memories filled the list: look deeper
    rows = rows[list(first.values())]
    if len(rows) > depth:
        rows = rows[scores[rows] >= scores[rows[depth - 1]]]
    return passages.take(rows)


def hits(
    connection: sqlite3.Connection, space: str, passages: Passages, depth: int, terms_of: TermsOf
) -> tuple[LegHit, ...]:
    """The best memories with their facts, ordered by (-score, id)."""
    top = best(passages, depth)
    known = records.facts(connection, top.memories.tolist())
    columns = zip(top.scores.tolist(), top.memories.tolist(), top.ordinals.tolist(), terms_of(top.sources), strict=True)
    rows = sorted((-score, known[memory][0], memory, ordinal, terms) for score, memory, ordinal, terms in columns)
    return tuple(
        LegHit(Key(space, id), -negative, ordinal, known[memory][1], terms)
        for negative, id, memory, ordinal, terms in rows[:depth]
    )


def place(connection: sqlite3.Connection, passages: Passages, memory: int, id: str, terms_of: TermsOf) -> Place | None:
    """Where a memory would stand if nothing were cut off."""
    own = passages.take(np.flatnonzero(passages.memories == memory))
    if not len(own.scores):
        return None
    mine = best(own, 1)
    score = float(mine.scores[0])
    better = np.unique(passages.memories[passages.scores > score])
    equal = np.setdiff1d(np.unique(passages.memories[passages.scores == score]), better)
    ids = [known[0] for known in records.facts(connection, equal.tolist()).values()]
    return Place(1 + len(better) + sum(other < id for other in ids), score, terms_of(mine.sources[:1])[0])
