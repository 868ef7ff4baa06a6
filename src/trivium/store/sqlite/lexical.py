"""The lexical leg: exact BM25 over the posting segments and the delta, with numpy.

A `Lexicon` is what one process remembers of one space at one version: the columns of its segments and the decoded
delta. It never changes; a newer version makes a new one that shares what stayed the same. Postings themselves are read
from the file for each query.
"""

from __future__ import annotations

import sqlite3
from array import array
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from trivium.store.contract import TF_UNIT, Bm25, QueryTerm, idf
from trivium.store.sqlite.masks import Allowed
from trivium.store.sqlite.postings import POSTING_BYTES, unpack_postings, unpack_terms
from trivium.store.sqlite.ranking import Passages, TermsOf, joined
from trivium.store.sqlite.segments import READ_DELTA, Columns, read_columns

Scores: TypeAlias = npt.NDArray[np.float64]
Mask: TypeAlias = npt.NDArray[np.bool_]
Found: TypeAlias = "dict[str, tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint16]]]"

MOST_CORRECTIONS = 3


@dataclass(frozen=True, slots=True)
class Segment:
    num: int
    documents: int
    length: int
    columns: Columns


@dataclass(slots=True)
class Delta:
    """Entries past `flushed`, decoded. Only ever appended to: a Lexicon looks at its first `size` documents."""

    flushed: int
    last: int
    entries: list[int] = field(default_factory=list)
    memories: list[int] = field(default_factory=list)
    ordinals: list[int] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)
    documents: defaultdict[str, array[int]] = field(default_factory=lambda: defaultdict(lambda: array("I")))
    frequencies: defaultdict[str, array[int]] = field(default_factory=lambda: defaultdict(lambda: array("H")))

    def append(self, num: int, memory: int, ordinal: int, length: int, blob: bytes) -> None:
        local = len(self.entries)
        for term, frequency in zip(*unpack_terms(blob), strict=True):
            self.documents[term].append(local)
            self.frequencies[term].append(frequency)
        self.memories.append(memory)
        self.ordinals.append(ordinal)
        self.lengths.append(length)
        self.entries.append(num)
        self.last = num


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The lexical state of a space at `version`."""

    space: int
    version: int
    segments: tuple[Segment, ...]
    delta: Delta
    delta_columns: Columns
    delta_alive: Mask
    norms: dict[Bm25, list[Scores]] = field(default_factory=dict)  # filled by the first query of each kind

    @property
    def documents(self) -> int:
        return sum(segment.documents for segment in self.segments) + int(self.delta_alive.sum())

    @property
    def mean_length(self) -> float:
        units = sum(segment.length for segment in self.segments)
        units += int(self.delta_columns.lengths[self.delta_alive].sum())
        return units / TF_UNIT / max(self.documents, 1)


def load(connection: sqlite3.Connection, space: int, version: int, flushed: int, old: Lexicon | None) -> Lexicon:
    """The state at the version the connection's snapshot shows, from the older state where there is one."""
    known = {segment.num: segment.columns for segment in old.segments} if old else {}
    segments = tuple(
        Segment(num, documents, length, known.get(num) or read_columns(connection, num))
        for num, documents, length in connection.execute(
            "SELECT num, documents, length FROM segment WHERE space = ? ORDER BY first", (space,)
        ).fetchall()
    )
    goes_on = old is not None and old.delta.flushed == flushed
    delta = old.delta if old is not None and goes_on else Delta(flushed, flushed)
    for row in connection.execute(READ_DELTA, (space, delta.last)):
        delta.append(*row)
    size = len(delta.entries)
    columns = Columns(
        *(
            np.array(values[:size], np.int64)
            for values in (delta.entries, delta.memories, delta.ordinals, delta.lengths)
        )
    )
    alive = np.ones(size, np.bool_)
    if old is not None and goes_on:
        alive[: len(old.delta_alive)] = old.delta_alive
    since = old.version if old is not None and goes_on else 0
    gone = [
        row[0]
        for row in connection.execute("SELECT entry FROM gone_entry WHERE space = ? AND version > ?", (space, since))
    ]
    if gone:
        alive &= ~np.isin(columns.entries, gone)
    return Lexicon(space, version, segments, delta, columns, alive)


@dataclass(frozen=True, slots=True)
class Part:
    """The scored documents of one segment or of the delta. `found` keeps the postings for matched terms."""

    columns: Columns
    scores: Scores
    found: Found


@dataclass(frozen=True, slots=True)
class Scored:
    texts: tuple[str, ...]
    parts: tuple[Part, ...]
    unknown: tuple[str, ...]


def score(connection: sqlite3.Connection, lexicon: Lexicon, terms: Sequence[QueryTerm], bm25: Bm25) -> Scored:
    """BM25 of every document that has a term: the operations of `contract.bm25_weight`, in the same order."""
    texts = list(dict.fromkeys(term.text for term in terms))
    found = [_postings(connection, segment.num, texts) for segment in lexicon.segments]
    found.append(_delta_postings(lexicon, texts))
    columns = [*(segment.columns for segment in lexicon.segments), lexicon.delta_columns]
    frequency = {text: sum(len(own[text][0]) for own in found if text in own) for text in texts}
    documents = lexicon.documents
    rarity = {text: idf(documents, count) for text, count in frequency.items() if count}
    parts = tuple(
        Part(own_columns, _score_part(norm, own, terms, rarity, bm25), own)
        for own_columns, norm, own in zip(columns, _norms(lexicon, columns, bm25), found, strict=True)
    )
    return Scored(tuple(texts), parts, tuple(text for text, count in frequency.items() if not count))


def _norms(lexicon: Lexicon, columns: Sequence[Columns], bm25: Bm25) -> list[Scores]:
    """What a document's length adds to the divisor, for every document: the same for all queries at this version."""
    known = lexicon.norms.get(bm25)
    if known is None:
        mean_length = lexicon.mean_length or 1.0
        known = [bm25.k1 * (1.0 - bm25.b + bm25.b * (own.lengths / TF_UNIT / mean_length)) for own in columns]
        lexicon.norms[bm25] = known
    return known


def _score_part(norm: Scores, found: Found, terms: Sequence[QueryTerm], rarity: dict[str, float], bm25: Bm25) -> Scores:
    scores = np.zeros(len(norm))
    for term in terms:
        if term.text in found:
            documents, frequencies = found[term.text]
            frequency = frequencies / float(TF_UNIT)
            weight = rarity[term.text] * (frequency * (bm25.k1 + 1.0) / (frequency + norm[documents]))
            scores[documents] += weight if term.weight == 1.0 else term.weight * weight
    return scores


def _postings(connection: sqlite3.Connection, segment: int, texts: Sequence[str]) -> Found:
    marks = ", ".join("?" * len(texts))
    rows = connection.execute(
        f"SELECT term, documents FROM posting WHERE segment = ? AND term IN ({marks})", (segment, *texts)
    )
    return {term: unpack_postings(blob) for term, blob in rows}


def _delta_postings(lexicon: Lexicon, texts: Sequence[str]) -> Found:
    found: Found = {}
    size = len(lexicon.delta_alive)
    for text in texts:
        if text not in lexicon.delta.documents:
            continue
        # Copies: another thread may append to these arrays, which an exported buffer would forbid.
        documents = np.array(lexicon.delta.documents[text][:], np.uint32)
        documents = documents[documents < size]
        frequencies = np.array(lexicon.delta.frequencies[text][: len(documents)], np.uint16)
        alive = lexicon.delta_alive[documents]
        if alive.any():
            found[text] = documents[alive], frequencies[alive]
    return found


def near_terms(connection: sqlite3.Connection, lexicon: Lexicon, term: str, distance: int) -> tuple[str, ...]:
    """Vocabulary within the distance, best first by (distance, -document frequency, term)."""
    from rapidfuzz.distance import OSA  # 20 ms to import, and few queries have a typo
    from rapidfuzz.process import extract

    frequency: defaultdict[str, int] = defaultdict(int)
    for segment in lexicon.segments:
        rows = connection.execute(
            "SELECT term, length(documents) FROM posting WHERE segment = ? AND length(term) BETWEEN ? AND ?",
            (segment.num, len(term) - distance, len(term) + distance),
        )
        for text, size in rows:
            frequency[text] += size // POSTING_BYTES
    alike = [text for text in list(lexicon.delta.documents) if abs(len(text) - len(term)) <= distance]
    for text, (documents, _) in _delta_postings(lexicon, alike).items():
        frequency[text] += len(documents)
    near = extract(term, list(frequency), scorer=OSA.distance, score_cutoff=distance, limit=None)
    ranked = sorted((int(found[1]), -frequency[found[0]], found[0]) for found in near if found[0] != term)
    return tuple(text for _, _, text in ranked[:MOST_CORRECTIONS])


def candidates(scored: Scored, allowed: Allowed) -> tuple[Passages, TermsOf]:
    """The documents with a term that may be returned, and how to tell which terms one of them has."""
    chosen: list[Passages] = []
    starts = np.cumsum([0] + [len(part.scores) for part in scored.parts])
    for part, start in zip(scored.parts, starts[:-1], strict=True):
        matching = part.scores > 0.0
        permitted = allowed.of(part.columns.memories)
        rows = np.flatnonzero(matching if permitted is None else matching & permitted)
        chosen.append(
            Passages(part.scores[rows], part.columns.memories[rows], part.columns.ordinals[rows], rows + start)
        )

    def terms_of(sources: npt.NDArray[np.int64]) -> list[tuple[str, ...]]:
        which = np.searchsorted(starts, sources, side="right") - 1
        holding: list[list[str]] = [[] for _ in sources]
        for number in sorted(set(which.tolist())):
            places = np.flatnonzero(which == number)
            part, locals_ = scored.parts[number], sources[places] - starts[number]
            for text in scored.texts:
                if text in part.found:
                    for place in places[_held(part.found[text][0], locals_)]:
                        holding[place].append(text)
        return [tuple(terms) for terms in holding]

    return joined(chosen), terms_of


def _held(documents: npt.NDArray[np.uint32], locals_: npt.NDArray[np.int64]) -> Mask:
    """Which of the documents stand in a posting list."""
    at = np.minimum(np.searchsorted(documents, locals_), len(documents) - 1)
    return np.equal(documents[at], locals_)
