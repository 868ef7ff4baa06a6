"""Query and text to one judgement: the Reranker protocol."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Reranker(Protocol):
    """Reads the query together with each text and says how well they fit. Higher is better; any real number will do."""

    @property
    def name(self) -> str: ...

    @property
    def remote(self) -> bool:
        """True when text leaves this process."""

    def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """One score per text, in order."""
