"""Query vectors that were made before: an embedder around an embedder."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from trivium.models.embed import Embedder, Matrix, ModelCard, Role

QUERIES = 1_024  # 1 MB of 256-d vectors


class KeptQueries(Protocol):
    """Where query vectors outlive the process. A Store is one."""

    def kept_query(self, fingerprint: str, text: str) -> Matrix | None: ...

    def keep_query(self, fingerprint: str, text: str, vector: Matrix) -> None: ...


class CachedQueries:
    """Gives what the embedder gives. The query vectors used last stay in memory, at most `size` of them, and, where
    `kept` is given, all of them there too. Documents pass through. Safe in threads, none waits for another's model."""

    def __init__(self, embedder: Embedder, *, size: int = QUERIES, kept: KeptQueries | None = None) -> None:
        self._embedder = embedder
        self._size = size
        self._kept = kept
        self._vectors: OrderedDict[str, Matrix] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def card(self) -> ModelCard:
        return self._embedder.card

    @property
    def remote(self) -> bool:
        return self._embedder.remote

    def embed(self, texts: Sequence[str], role: Role) -> Matrix:
        if role == "document" or not texts:
            return self._embedder.embed(texts, role)
        found = {text: vector for text in texts if (vector := self._find(text)) is not None}
        missing = list(dict.fromkeys(text for text in texts if text not in found))
        if missing:
            found.update(zip(missing, self._embedder.embed(missing, role), strict=True))
            for text in missing:
                self._remember(text, found[text])
                if self._kept is not None:
                    self._kept.keep_query(self.card.fingerprint, text, found[text])
        return np.stack([found[text] for text in texts])

    def _find(self, text: str) -> Matrix | None:
        with self._lock:
            vector = self._vectors.get(text)
            if vector is not None:
                self._vectors.move_to_end(text)
                return vector
        if self._kept is not None:
            vector = self._kept.kept_query(self.card.fingerprint, text)
            if vector is not None:
                self._remember(text, vector)
        return vector

    def _remember(self, text: str, vector: Matrix) -> None:
        with self._lock:
            self._vectors[text] = vector.copy()  # a row would keep its whole matrix alive
            self._vectors.move_to_end(text)
            while len(self._vectors) > self._size:
                self._vectors.popitem(last=False)
