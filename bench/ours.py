"""Trivium as a contender. The only file of the benchmark that knows the engine."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import trivium
from bench.contender import CANDIDATES, LIMIT, Found, Leg, Record
from trivium.filter import EVERYTHING
from trivium.models.embed import Embedder
from trivium.models.loading import load_embedder
from trivium.record import DEFAULT_SPACE
from trivium.search.query import LegName

LEGS_OF: Mapping[Leg, tuple[LegName, ...]] = {
    "lexical": ("lexical",),
    "dense": ("dense",),
    "hybrid": ("lexical", "dense"),
}


class Ours:
    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        self._engine = trivium.open(store_file(folder))

    def load(self, records: Iterable[Record]) -> None:
        self._engine.add_many(records)

    def add(self, record: Record) -> None:
        self._engine.add(**cast(dict[str, Any], record))

    def search(self, text: str, leg: Leg) -> Found:
        results = self._engine.search(text, limit=LIMIT, legs=LEGS_OF[leg])
        numbers = tuple(cast(int, hit.memory.metadata["number"]) for hit in results)
        return Found(numbers, results.timings.stages_ms)

    def recall(self, texts: Sequence[str], k: int) -> float:
        """The part of the exact k nearest that the dense leg, as search asks it, has among its first k."""
        model, store = embedder(), self._engine.store
        fingerprint = model.card.fingerprint
        shared = wanted = 0
        for text in texts:
            vector = model.embed([text], "query")[0]
            near = store.dense(DEFAULT_SPACE, vector, fingerprint, EVERYTHING, CANDIDATES)
            exact = store.dense(DEFAULT_SPACE, vector, fingerprint, EVERYTHING, k, exact=True)
            shared += len({hit.key for hit in near.hits[:k]} & {hit.key for hit in exact.hits})
            wanted += len(exact.hits)
        return shared / wanted

    def close(self) -> None:
        self._engine.close()


def embedder() -> Embedder:
    """The engine's default embedder, for the baseline."""
    return load_embedder()


def store_file(folder: Path) -> Path:
    return folder / "memory.db"


def first_search_command(folder: Path, text: str) -> list[str]:
    """The CLI as a user starts it."""
    database = str(store_file(folder))
    return [sys.executable, "-m", "trivium", "--db", database, "search", text, "--limit", "5", "--json"]
