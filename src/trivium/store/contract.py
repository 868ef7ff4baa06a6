"""The Store protocol. Every promise a backend makes is written here, and `trivium.conformance` tests it.

What a store is: the records, a lexical index and vectors, all of one truth. It answers ONE leg for ONE space at a
time and never ranks across legs. It does not analyse text, embed, fuse or know the clock: those come in.

Promises, for every backend:
1. A `writing` block is one transaction: all of it is durable when the block ends, none of it after an exception
   or a crash. Writers wait for each other; a reader never waits for a writer.
2. A `reading` block sees one state of the store, whatever is written meanwhile; nested blocks join the outer one.
3. Filters hold before a leg's limit: a leg returns fewer than `depth` hits only when fewer exist.
4. Hits are ordered by (-score, id) and a memory appears once, with its best passage (the lowest ordinal among equals).
5. Statistics (documents, lengths, document frequencies) are those of the one space, exactly, deletions included.
6. Nothing of one space is visible from another.
7. A sensitive memory never has a vector: `put_vectors` refuses it.
8. A row that cannot be read is an error that names it, never a row less.

Agreement between backends is *exact* for records, filters and a lexical index that is ours (scores equal to the last
bit: float64, terms in query order, `bm25` below), and *close* for approximate vectors (recall@10 at least 0.98).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal, NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from trivium.filter import Filter
from trivium.record import Json, Key, Memory
from trivium.when import from_micros

Vector: TypeAlias = npt.NDArray[np.float32]

# Term frequencies and lengths are whole numbers of this unit, so that field weights such as 1/3 can be stored in
# two bytes and every backend computes with the very same values.
TF_UNIT = 64
TF_MAX = 65_535


@dataclass(frozen=True, slots=True)
class IndexedPassage:
    """A passage as the lexical index keeps it: weighted term frequencies and their sum, in 1/TF_UNIT."""

    ordinal: int
    start: int
    end: int
    terms: Mapping[str, int]
    length: int


@dataclass(frozen=True, slots=True)
class Bm25:
    """The two constants of BM25 (Robertson and Zaragoza 2009)."""

    k1: float = 1.2
    b: float = 0.75


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """A term of the query and how often it counts."""

    text: str
    weight: float = 1.0


class Facts(NamedTuple):
    """What fusion and priors need to know of a candidate, fetched together with the hit. A tuple, as `LegHit` is: made
    by the hundred in every search, they cost a third of a dataclass."""

    kind: str
    importance: float
    sensitive: bool
    uses: int
    created_us: int

    @property
    def created_at(self) -> datetime:
        return from_micros(self.created_us)


class LegHit(NamedTuple):
    """A memory found by one leg: its raw score, its best passage, the query terms that matched (lexical only)."""

    key: Key
    score: float
    ordinal: int
    facts: Facts
    terms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Place:
    """Where one memory stands in a leg if no depth cut it off. Rank from 1."""

    rank: int
    score: float
    terms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LegAnswer:
    """A leg's hits, and what a report about the leg needs."""

    hits: tuple[LegHit, ...]
    unknown: tuple[str, ...] = ()  # lexical: query terms that no document of the space has
    without_vector: int = 0  # dense: memories of the space that could have a vector and have none yet
    exact: bool = True  # dense: every vector was compared, or an approximation made the short list
    place: Place | None = None  # of the memory asked for with `probe`


@dataclass(frozen=True, slots=True)
class Epoch:
    """A set of vectors made by one model. `fingerprint` names everything that changes a vector."""

    fingerprint: str
    model: str
    dimension: int
    serving: bool = False


@dataclass(frozen=True, slots=True)
class MadeVectors:
    """Vectors for every passage of a memory, in order, made from the text that had this hash. An all-zero vector means
    that the model has nothing to say of that passage: it is not stored, and the memory does not stay pending for it."""

    key: Key
    content_hash: str
    vectors: Sequence[Vector]


@dataclass(frozen=True, slots=True)
class Receipt:
    """What `forget` removed, counted per place. `missing` ids were not there."""

    space: str
    forgotten: tuple[str, ...]
    missing: tuple[str, ...]
    records: int
    passages: int
    vectors: int
    at: datetime


@dataclass(frozen=True, slots=True)
class SpaceFacts:
    """A space and its sizes."""

    name: str
    memories: int
    superseded: int
    sensitive: int
    passages: int


@dataclass(frozen=True, slots=True)
class SpaceSettings:
    """How a space is read and searched. `language` is its own, empty where each record speaks for itself; `languages`
    are those its records were analysed in."""

    language: str = ""
    languages: tuple[str, ...] = ()
    settings: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Finding:
    """Something `verify` found wrong, and the command that mends it."""

    what: str
    mend: str


Order: TypeAlias = Literal["created", "updated", "occurred", "importance", "thread"]


class Writer(Protocol):
    """What may be done inside one writing transaction, in one space. Reads see the writes before them."""

    def get(self, ids: Iterable[str]) -> dict[str, Memory]: ...

    def with_hash(self, content_hash: str) -> str | None:
        """The id of a memory with this content hash that is not superseded, the first by id."""

    def last_position(self, thread: str) -> int | None: ...

    def around(self, thread: str, position: int, reach: int) -> list[Memory]:
        """The memories of a thread at `position`, and the `reach` before and after it, ordered by (position, id)."""

    def put(self, memory: Memory, passages: Sequence[IndexedPassage]) -> None:
        """Insert the memory, or replace the one with its id: record, passages and postings. Its vectors, in every
        epoch, are dropped, and it is marked pending in every epoch unless it is sensitive."""

    def reindex(self, id: str, passages: Sequence[IndexedPassage]) -> None:
        """Replace the lexical index of a memory whose own text did not change: the record and vectors stay."""

    def amend(self, memory: Memory) -> None:
        """Replace the record of a memory whose text, title and sensitivity did not change: no index changes."""

    def put_vectors(self, fingerprint: str, made: Iterable[MadeVectors]) -> int:
        """Store vectors and clear the pending marks. A memory that is gone, sensitive, or whose text has another
        hash by now is passed over (its mark stays). Returns how many memories got vectors."""

    def forget(self, ids: Sequence[str], at: datetime) -> Receipt:
        """Delete memories from every index and every epoch, and keep the receipt for `verify`."""

    def set_space(self, *, language: str | None = None, settings: Mapping[str, Json] | None = None) -> None: ...

    def note_languages(self, languages: Iterable[str]) -> None:
        """Remember that records of this space were analysed in these languages."""


class Store(Protocol):
    """One memory store. Safe to use from several threads; several processes may have it open."""

    def close(self) -> None: ...

    def reading(self) -> AbstractContextManager[None]: ...

    def writing(self, space: str) -> AbstractContextManager[Writer]:
        """The space comes into being with its first write."""

    # Records

    def get(self, keys: Iterable[Key]) -> dict[Key, Memory]: ...

    def scan(
        self,
        spaces: Sequence[str],
        where: Filter,
        *,
        order: Order = "created",
        newest_first: bool = False,
        limit: int | None = None,
        offset: int = 0,
    ) -> Iterator[Memory]:
        """Memories that match, ordered by (order, space, id); absent values come first. An empty `spaces` means all."""

    def count(self, spaces: Sequence[str], where: Filter) -> int: ...

    def kinds(self, spaces: Sequence[str]) -> tuple[str, ...]:
        """The kinds present, sorted."""

    def passages(self, key: Key) -> tuple[IndexedPassage, ...]: ...

    def spans(self, places: Iterable[tuple[Key, int]]) -> dict[tuple[Key, int], tuple[int, int]]:
        """Start and end of passages in the content of their memories."""

    def spaces(self) -> tuple[SpaceFacts, ...]:
        """Every space with its sizes, by name. Counts: not for every query."""

    def space_settings(self, space: str) -> SpaceSettings:
        """Cheap; an unknown space has the defaults."""

    # Legs

    def lexical(
        self,
        space: str,
        terms: Sequence[QueryTerm],
        where: Filter,
        depth: int,
        bm25: Bm25,
        *,
        probe: str | None = None,
    ) -> LegAnswer:
        """Any document with at least one term, scored by `bm25_weight` summed in the order of `terms`."""

    def dense(
        self,
        space: str,
        vector: Vector,
        fingerprint: str,
        where: Filter,
        depth: int,
        *,
        probe: str | None = None,
        exact: bool = False,
    ) -> LegAnswer:
        """By cosine, for a vector of the epoch's dimension and unit length. `exact` forbids an approximation."""

    def near_terms(self, space: str, term: str, distance: int) -> tuple[str, ...]:
        """Other terms of the space's vocabulary within this optimal-string-alignment distance, best first: by
        (distance, -document frequency, term); at most three."""

    # Vectors

    def epochs(self) -> tuple[Epoch, ...]: ...

    def begin_epoch(self, epoch: Epoch) -> None:
        """Make the epoch known and mark every memory that is not sensitive pending in it. The first one serves."""

    def serve_epoch(self, fingerprint: str) -> None:
        """Let this epoch serve, at once for every process, and drop the others."""

    def pending(self, fingerprint: str, limit: int) -> tuple[Memory, ...]:
        """Some of the memories that wait for vectors in this epoch, at most `limit`, in the store's own order."""

    def pending_count(self, fingerprint: str) -> int: ...

    def vectors(self, key: Key, fingerprint: str) -> tuple[Vector, ...]:
        """The vectors of a memory's passages in order; empty where it has none."""

    def kept_query(self, fingerprint: str, text: str) -> Vector | None: ...

    def keep_query(self, fingerprint: str, text: str, vector: Vector) -> None:
        """Remember a query's vector. A cache: a store that cannot write lets it go."""

    # Upkeep

    def analyzer_version(self) -> str: ...

    def set_analyzer_version(self, version: str) -> None: ...

    def tend(self, *, after_bulk: bool = False) -> None:
        """Do the upkeep that is due: merge segments, write caches. Cheap when nothing is due. `after_bulk` also puts
        together what a bulk load left in pieces, which would not pay after a single write."""

    def verify(self) -> list[Finding]:
        """Check every promise that can be checked by reading: see `trivium verify`."""

    def size_bytes(self) -> int: ...

    def backup(self, target: Path) -> None:
        """A consistent copy, made while others read and write."""


def idf(documents: int, frequency: int) -> float:
    """The weight of a rare term: never negative (the form Lucene uses)."""
    return math.log(1.0 + (documents - frequency + 0.5) / (frequency + 0.5))


def bm25_weight(frequency: float, length: float, mean_length: float, rarity: float, bm25: Bm25) -> float:
    """What one term adds to one document's score. The reference; stores write the same operations in numpy."""
    norm = bm25.k1 * (1.0 - bm25.b + bm25.b * (length / mean_length))
    return rarity * (frequency * (bm25.k1 + 1.0) / (frequency + norm))
