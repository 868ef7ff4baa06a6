"""Memories, indexed passages and vectors for tests. Everything is a function of its arguments."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from trivium.filter import EVERYTHING, Filter
from trivium.record import Key, Memory
from trivium.store.contract import (
    TF_UNIT,
    Bm25,
    Epoch,
    IndexedPassage,
    LegAnswer,
    MadeVectors,
    QueryTerm,
    Store,
    Vector,
)

SPACE = "here"
OTHER_SPACE = "there"
DIMENSION = 8
EPOCH = Epoch("first-epoch", "a model", DIMENSION)
NEXT_EPOCH = Epoch("next-epoch", "a better model", DIMENSION)
ALL = 1_000_000  # a depth that cuts nothing off


def moment(minute: float = 0) -> datetime:
    """A time, counted from the start of 2026. Half a minute and a microsecond are fine."""
    return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=minute)


def make_memory(id: str, content: str = "", *, space: str = SPACE, minute: float = 0, **fields: Any) -> Memory:
    """A memory made and last changed at `moment(minute)`."""
    times = {"created_at": moment(minute), "updated_at": moment(minute)}
    return Memory(**{"id": id, "space": space, "content": content, **times, **fields})


def index(text: str, *, ordinal: int = 0, start: int = 0) -> IndexedPassage:
    """A passage by its words, as they are between spaces, each counted once per occurrence."""
    terms = {word: count * TF_UNIT for word, count in Counter(text.split()).items()}
    return IndexedPassage(ordinal, start, start + len(text), terms, sum(terms.values()))


def index_lines(content: str) -> list[IndexedPassage]:
    """A passage for every line."""
    passages: list[IndexedPassage] = []
    start = 0
    for ordinal, line in enumerate(content.split("\n")):
        passages.append(index(line, ordinal=ordinal, start=start))
        start += len(line) + 1
    return passages


def vector_of(text: str, dimension: int = DIMENSION) -> Vector:
    """A unit vector that only the text decides."""
    seed = int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest())
    vector = np.random.default_rng(seed).standard_normal(dimension).astype(np.float32)
    return np.asarray(vector / np.linalg.norm(vector), np.float32)


def axis(number: int, dimension: int = DIMENSION) -> Vector:
    """A unit vector along one axis: its products are exact in any arithmetic, so that ties are ties everywhere."""
    return np.asarray(np.eye(dimension)[number], np.float32)


def put(store: Store, *memories: Memory) -> None:
    """Store memories, each line a passage, in one transaction per space."""
    for space in dict.fromkeys(memory.space for memory in memories):
        with store.writing(space) as writer:
            for memory in memories:
                if memory.space == space:
                    writer.put(memory, index_lines(memory.content))


def forget(store: Store, *ids: str, space: str = SPACE) -> None:
    with store.writing(space) as writer:
        writer.forget(ids, moment(60))


def made(memory: Memory, *vectors: Vector) -> MadeVectors:
    """Vectors for a memory; without any, one for each line by `vector_of`."""
    given = vectors or tuple(vector_of(line) for line in memory.content.split("\n"))
    return MadeVectors(memory.key, memory.content_hash, given)


def embed(store: Store, *all_made: MadeVectors, epoch: Epoch = EPOCH) -> int:
    """Store vectors, in one transaction per space. Returns how many memories got some."""
    stored = 0
    for space in dict.fromkeys(one.key.space for one in all_made):
        with store.writing(space) as writer:
            stored += writer.put_vectors(epoch.fingerprint, [one for one in all_made if one.key.space == space])
    return stored


def words(text: str) -> list[QueryTerm]:
    return [QueryTerm(word) for word in text.split()]


def find(
    store: Store,
    text: str,
    where: Filter = EVERYTHING,
    *,
    space: str = SPACE,
    depth: int = ALL,
    probe: str | None = None,
) -> LegAnswer:
    """The lexical leg, asked in words."""
    return store.lexical(space, words(text), where, depth, Bm25(), probe=probe)


def nearest(
    store: Store,
    vector: Vector,
    where: Filter = EVERYTHING,
    *,
    space: str = SPACE,
    depth: int = ALL,
    probe: str | None = None,
    epoch: Epoch = EPOCH,
) -> LegAnswer:
    """The dense leg, with every vector compared."""
    return store.dense(space, vector, epoch.fingerprint, where, depth, probe=probe, exact=True)


def ids(answer: LegAnswer) -> list[str]:
    return [hit.key.id for hit in answer.hits]


def scanned(store: Store, *spaces: str, where: Filter = EVERYTHING) -> list[Memory]:
    return list(store.scan(spaces, where))


def get_one(store: Store, id: str, space: str = SPACE) -> Memory | None:
    return store.get([Key(space, id)]).get(Key(space, id))


def same_vectors(found: Sequence[Vector], wanted: Sequence[Vector]) -> bool:
    """Whether stored vectors are these, as every store rounds them: to float16, compared as float32."""
    rounded = [np.asarray(vector, np.float16).astype(np.float32) for vector in wanted]
    return len(found) == len(rounded) and all(
        one.dtype == np.float32 and np.array_equal(one, other) for one, other in zip(found, rounded, strict=True)
    )
