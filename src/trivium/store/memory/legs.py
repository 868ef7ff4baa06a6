"""The two legs and the vocabulary, over one state: walk every row, score, sort."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from rapidfuzz.distance import OSA

from trivium.filter import Filter
from trivium.record import Memory
from trivium.store.contract import (
    TF_UNIT,
    Bm25,
    Facts,
    IndexedPassage,
    LegAnswer,
    LegHit,
    Place,
    QueryTerm,
    Vector,
    bm25_weight,
    idf,
)
from trivium.store.memory.state import State, checked
from trivium.when import to_micros

NEAR_TERMS = 3  # the contract's "at most three"


@dataclass(frozen=True, slots=True)
class Ranked:
    """Every hit of a leg, in order, before a depth cuts it off."""

    hits: Sequence[LegHit]
    unknown: tuple[str, ...] = ()
    without_vector: int = 0

    def cut(self, depth: int, probe: str | None) -> LegAnswer:
        return LegAnswer(
            tuple(self.hits[:depth]),
            unknown=self.unknown,
            without_vector=self.without_vector,
            place=place_of(probe, self.hits),
        )


def lexical(state: State, space: str, terms: Sequence[QueryTerm], where: Filter, bm25: Bm25) -> Ranked:
    rows = state.rows_of(space)
    statistics = Statistics.of([passage for row in rows for passage in row.passages], terms)
    hits: list[LegHit] = []
    for row in rows:
        matched = [p for p in row.passages if any(term.text in p.terms for term in terms)]
        if matched and where.matches(row.memory):
            score, ordinal = best((statistics.score(p, terms, bm25), p.ordinal) for p in matched)
            best_terms = next(p.terms for p in matched if p.ordinal == ordinal)
            texts = dict.fromkeys(term.text for term in terms if term.text in best_terms)
            hits.append(LegHit(row.memory.key, score, ordinal, facts(row.memory), tuple(texts)))
    unknown = dict.fromkeys(term.text for term in terms if not statistics.frequencies[term.text])
    return Ranked(in_order(hits), unknown=tuple(unknown))


def dense(state: State, space: str, vector: Vector, fingerprint: str, where: Filter) -> Ranked:
    query = checked(vector, state.epoch(fingerprint).dimension)
    hits: list[LegHit] = []
    without_vector = 0
    for row in state.rows_of(space):
        vectors = state.vectors.get((fingerprint, row.memory.key), ())
        if not vectors and not row.memory.sensitive:
            without_vector += 1
        if vectors and where.matches(row.memory):
            scored = [(float(np.dot(kept, query)), ordinal) for ordinal, kept in enumerate(vectors) if kept.any()]
            if scored:
                score, ordinal = best(scored)
                hits.append(LegHit(row.memory.key, score, ordinal, facts(row.memory)))
    return Ranked(in_order(hits), without_vector=without_vector)


def near_terms(state: State, space: str, term: str, distance: int) -> tuple[str, ...]:
    rows = state.rows_of(space)
    frequencies = Counter(known for row in rows for passage in row.passages for known in passage.terms)
    near: list[tuple[int, int, str]] = []
    for known, frequency in frequencies.items():
        apart = OSA.distance(term, known)
        if 0 < apart <= distance:
            near.append((apart, -frequency, known))
    return tuple(known for _, _, known in sorted(near)[:NEAR_TERMS])


@dataclass(frozen=True, slots=True)
class Statistics:
    """What BM25 knows of a space: its passages, superseded ones included."""

    documents: int
    mean_length: float
    frequencies: Mapping[str, int]

    @classmethod
    def of(cls, passages: Sequence[IndexedPassage], terms: Sequence[QueryTerm]) -> Statistics:
        total = sum(passage.length for passage in passages)
        having = {term.text: sum(term.text in passage.terms for passage in passages) for term in terms}
        return cls(len(passages), total / TF_UNIT / max(len(passages), 1), having)

    def score(self, passage: IndexedPassage, terms: Sequence[QueryTerm], bm25: Bm25) -> float:
        score = 0.0
        for term in terms:
            if term.text in passage.terms:
                frequency = passage.terms[term.text] / TF_UNIT
                rarity = idf(self.documents, self.frequencies[term.text])
                length = passage.length / TF_UNIT
                score += term.weight * bm25_weight(frequency, length, self.mean_length, rarity, bm25)
        return score


def best(scored: Iterable[tuple[float, int]]) -> tuple[float, int]:
    """The highest score and its passage, the lowest ordinal among equals."""
    return min(scored, key=lambda pair: (-pair[0], pair[1]))


def in_order(hits: Iterable[LegHit]) -> list[LegHit]:
    return sorted(hits, key=lambda hit: (-hit.score, hit.key.id))


def place_of(id: str | None, ranked: Sequence[LegHit]) -> Place | None:
    for rank, hit in enumerate(ranked, start=1):
        if hit.key.id == id:
            return Place(rank, hit.score, hit.terms)
    return None


def facts(memory: Memory) -> Facts:
    return Facts(
        kind=memory.kind,
        importance=memory.importance,
        sensitive=memory.sensitive,
        uses=memory.uses,
        created_us=to_micros(memory.created_at),
    )
