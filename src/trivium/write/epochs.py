"""Which vectors serve, and who makes them: epochs never mix, whatever embedder a store is opened with."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from trivium.errors import EmbedderError, InvalidInput, MissingExtra, ReadOnlyStore
from trivium.models.cache import CachedQueries
from trivium.models.embed import Embedder, Serving
from trivium.store.contract import Epoch, Store

Done = TypeVar("Done")
Loader = Callable[[str], Embedder]

# What opening an embedder by its name can do to us; the dense leg is then off and says why.
CANNOT_LOAD = (EmbedderError, InvalidInput, MissingExtra, OSError)


class Epochs:
    """The embedder the store was opened with, the epoch that serves, and the embedder of that epoch. All lazy: a call
    that needs no vector loads no model."""

    def __init__(self, store: Store, wanted: Embedder | str | None, load: Loader) -> None:
        self._store = store
        self._wanted = wanted
        self._load = load
        self._loaded: dict[str, Embedder] = {}
        self._cached: dict[str, Embedder] = {}
        self._lock = threading.Lock()

    def wanted(self) -> Embedder | None:
        """The embedder the store was opened with."""
        if self._wanted is None or not isinstance(self._wanted, str):
            return self._wanted
        return self._embedder(self._wanted)

    def serving(self) -> Serving:
        """The epoch that answers searches now. The first epoch of a store begins here."""
        current = next((epoch for epoch in self._store.epochs() if epoch.serving), None)
        try:
            wanted = self.wanted()
            if current is None:
                return self._begun(wanted)
            if wanted is not None and wanted.card.fingerprint == current.fingerprint:
                return Serving(current.fingerprint, self._with_cache(wanted))
        except CANNOT_LOAD as error:
            return Serving(current.fingerprint if current else "", None, str(error))
        return self._older(current, wanted)

    def with_serving(self, work: Callable[[Serving], Done]) -> Done:
        """Do something with the epoch that serves; once more where another process let a new one serve meanwhile."""
        serving = self.serving()
        try:
            return work(serving)
        except InvalidInput:
            newer = self.serving()
            if newer.fingerprint == serving.fingerprint:
                raise
            return work(newer)

    def _begun(self, wanted: Embedder | None) -> Serving:
        if wanted is None:
            return Serving("", None, "no embedder is set: searching by words only")
        card = wanted.card
        try:
            self._store.begin_epoch(Epoch(card.fingerprint, card.spec, card.dimension))
        except ReadOnlyStore:
            return Serving("", None, "this store has no vectors and is open for reading only")
        return Serving(card.fingerprint, self._with_cache(wanted))

    def _older(self, current: Epoch, wanted: Embedder | None) -> Serving:
        """Another embedder was asked for than the one that made the vectors: they go on serving, by their own."""
        asked = "no embedder is set" if wanted is None else f"the embedder set now is {wanted.card.spec}"
        advice = (
            f"this store holds {current.dimension}-d vectors made by {current.model}; {asked}: run `trivium reembed`"
        )
        if wanted is None:
            return Serving(current.fingerprint, None, advice)
        try:
            old = self._embedder(current.model)
            if old.card.fingerprint == current.fingerprint:
                return Serving(current.fingerprint, self._with_cache(old), advice)
        except CANNOT_LOAD as error:
            return Serving(current.fingerprint, None, f"{advice} ({error})")
        return Serving(current.fingerprint, None, advice)

    def _with_cache(self, embedder: Embedder) -> Embedder:
        """The embedder with its query vectors remembered; in the store too where making one costs a call."""
        kept = self._store if embedder.remote else None
        return self._cached.setdefault(embedder.card.fingerprint, CachedQueries(embedder, kept=kept))

    def _embedder(self, spec: str) -> Embedder:
        with self._lock:
            if spec not in self._loaded:
                self._loaded[spec] = self._load(spec)
            return self._loaded[spec]
