"""What the store holds, and the copies it makes at its border."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from trivium.errors import InvalidInput, WrongVector
from trivium.filter import Filter
from trivium.record import Json, Key, Memory
from trivium.store.contract import (
    Epoch,
    IndexedPassage,
    Receipt,
    Vector,
)


@dataclass(frozen=True, slots=True)
class Row:
    """A memory and what the lexical index knows of it."""

    memory: Memory
    passages: tuple[IndexedPassage, ...]


@dataclass(frozen=True, slots=True)
class Space:
    """What a space has beside its rows."""

    language: str = ""
    languages: frozenset[str] = frozenset()
    settings: Mapping[str, Json] = field(default_factory=dict)


@dataclass(slots=True)
class State:
    """Everything the store holds. Only the transaction that made a state may change it."""

    rows: dict[Key, Row] = field(default_factory=dict)
    spaces: dict[str, Space] = field(default_factory=dict)
    epochs: dict[str, Epoch] = field(default_factory=dict)
    vectors: dict[tuple[str, Key], tuple[Vector, ...]] = field(default_factory=dict)
    pending: set[tuple[str, Key]] = field(default_factory=set)
    forgotten: dict[Key, Receipt] = field(default_factory=dict)
    queries: dict[tuple[str, str], Vector] = field(default_factory=dict)
    analyzer_version: str = ""

    def copied(self) -> State:
        return State(
            dict(self.rows),
            dict(self.spaces),
            dict(self.epochs),
            dict(self.vectors),
            set(self.pending),
            dict(self.forgotten),
            dict(self.queries),
            self.analyzer_version,
        )

    def rows_of(self, space: str) -> list[Row]:
        return [row for key, row in self.rows.items() if key.space == space]

    def matching(self, spaces: Sequence[str], where: Filter) -> list[Memory]:
        return [
            row.memory
            for key, row in self.rows.items()
            if (not spaces or key.space in spaces) and where.matches(row.memory)
        ]

    def drop_vectors(self, key: Key) -> int:
        """Returns how many vectors there were, over every epoch."""
        return sum(len(self.vectors.pop((fingerprint, key), ())) for fingerprint in self.epochs)

    def epoch(self, fingerprint: str) -> Epoch:
        if fingerprint not in self.epochs:
            raise InvalidInput(f"fingerprint: this store has no epoch {fingerprint!r}; begin it first")
        return self.epochs[fingerprint]


def own(memory: Memory) -> Memory:
    """The memory with a metadata object that nobody else holds."""
    return replace(memory, metadata=copy.deepcopy(dict(memory.metadata)))


def own_passages(passages: Sequence[IndexedPassage]) -> tuple[IndexedPassage, ...]:
    held = [replace(passage, terms=dict(passage.terms)) for passage in passages]
    return tuple(sorted(held, key=lambda passage: passage.ordinal))


def checked(vector: Vector, dimension: int) -> Vector:
    if vector.shape != (dimension,):
        raise WrongVector(f"vector: has shape {vector.shape}; this epoch's vectors have {dimension} numbers")
    if not np.isfinite(vector).all():
        raise WrongVector("vector: holds NaN or infinity; give finite numbers")
    return vector.astype(np.float32)


def rounded(vector: Vector, dimension: int) -> Vector:
    """As every store keeps it: to the precision of float16."""
    kept = checked(vector, dimension).astype(np.float16).astype(np.float32)
    kept.flags.writeable = False
    return kept
