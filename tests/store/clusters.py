"""Stores with thousands of vectors: clustered, seeded, and cheap to make again by copying."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np

from trivium.conformance.builders import SPACE, index, make_memory, moment
from trivium.filter import EVERYTHING, Filter
from trivium.record import Memory
from trivium.store.contract import Epoch, MadeVectors, Vector
from trivium.store.sqlite.dense import Matrix
from trivium.store.sqlite.store import SqliteStore, cache_folder

DIMENSION = 64
EPOCH = Epoch("clusters", "a model", DIMENSION)


def clustered(count: int, seed: int) -> Matrix:
    """Unit vectors around shared centres, as every store keeps them: rounded to float16."""
    centres = np.random.default_rng(7).standard_normal((60, DIMENSION))
    random = np.random.default_rng(seed)
    points = centres[random.integers(len(centres), size=count)] + 0.7 * random.standard_normal((count, DIMENSION))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    return points.astype(np.float16).astype(np.float32)


def name(number: int) -> str:
    return f"m{number:06}"


def memory(number: int) -> Memory:
    """Its importance lets a filter choose any share: a thousand different values, spread over the clusters."""
    return make_memory(name(number), f"text {number}", importance=number % 1000 / 1000)


def fill(store: SqliteStore, vectors: Matrix, first: int = 0, *, batch: int = 500) -> None:
    """Memories with one vector each, some in a transaction, with the upkeep after it that an engine would do."""
    store.begin_epoch(EPOCH)
    for start in range(0, len(vectors), batch):
        with store.writing(SPACE) as writer:
            for offset, vector in enumerate(vectors[start : start + batch]):
                one = memory(first + start + offset)
                writer.put(one, [index(one.content)])
                writer.put_vectors(EPOCH.fingerprint, [MadeVectors(one.key, one.content_hash, [vector])])
        store.tend()


def forget(store: SqliteStore, *numbers: int) -> None:
    with store.writing(SPACE) as writer:
        writer.forget([name(number) for number in numbers], moment(1))


def supersede(store: SqliteStore, ids: list[str]) -> None:
    with store.writing(SPACE) as writer:
        for old in writer.get(ids).values():
            writer.amend(replace(old, superseded_at=moment(1)))


def found(
    store: SqliteStore, vector: Vector, depth: int = 10, where: Filter = EVERYTHING, *, exact: bool = False
) -> list[str]:
    hits = store.dense(SPACE, vector, EPOCH.fingerprint, where, depth, exact=exact).hits
    return [hit.key.id for hit in hits]


def recall(store: SqliteStore, queries: Matrix, depth: int = 10) -> float:
    """The share of the truly nearest that an approximate search finds."""
    shares = [
        len(set(found(store, query, depth)) & set(found(store, query, depth, exact=True))) / depth for query in queries
    ]
    return float(np.mean(shares))


def copied(path: Path, folder: Path) -> Path:
    """A copy of a closed store and of its cache."""
    target = folder / path.name
    shutil.copy(path, target)
    if cache_folder(path).exists():
        shutil.copytree(cache_folder(path), cache_folder(target))
    return target


def cache_files(store: SqliteStore) -> list[Path]:
    return sorted(path for path in cache_folder(store.path).rglob("*") if path.is_file())


def files_with(store: SqliteStore, vector: Vector) -> list[str]:
    """The files of a store in which the vector lies, in either of the two forms that are ever written."""
    forms = (vector.astype(np.float16).tobytes(), vector.astype(np.float32).tobytes())
    files = [path for path in store.path.parent.rglob("*") if path.is_file()]
    return sorted(path.name for path in files if any(form in path.read_bytes() for form in forms))
