"""What the benchmark asks of an engine. Ours and the baseline answer the same calls, in the same loops."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

Record: TypeAlias = Mapping[str, object]
Leg: TypeAlias = Literal["lexical", "dense", "hybrid"]

LEGS: tuple[Leg, ...] = ("lexical", "dense", "hybrid")
LIMIT = 10  # results asked for
CANDIDATES = 50  # of each leg; the engine's own default for this limit


@dataclass(frozen=True, slots=True)
class Found:
    """The numbers of the passages found, best first, and how long the engine says its stages took."""

    numbers: tuple[int, ...]
    stages_ms: Mapping[str, float] = field(default_factory=dict)


class Contender(Protocol):
    """An open store. Every search includes embedding the question and fetching the whole records."""

    def load(self, records: Iterable[Record]) -> None: ...

    def add(self, record: Record) -> None:
        """One record, searchable and durable when the call returns."""

    def search(self, text: str, leg: Leg) -> Found: ...

    def close(self) -> None: ...
