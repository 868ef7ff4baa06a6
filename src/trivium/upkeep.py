"""Keeping a memory well: re-embed, re-index, verify, and a doctor who names the command that mends each fault."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from trivium.errors import InvalidInput
from trivium.filter import EVERYTHING
from trivium.models.embed import Serving
from trivium.store.contract import Epoch, Finding, SpaceFacts, Store
from trivium.text import ANALYZER_VERSION
from trivium.write.epochs import Epochs
from trivium.write.ingest import reindex_run
from trivium.write.reembed import Progress, Reembedded, reembed

REINDEX_BATCH = 512
RECALL_SAMPLES = 50
RECALL_DEPTH = 10
RECALL_LEAST = 0.98


@dataclass(frozen=True, slots=True)
class Recall:
    """How many of the true nearest vectors the dense leg finds, on vectors sampled from a space."""

    space: str
    samples: int
    recall: float


@dataclass(frozen=True, slots=True)
class Health:
    """What `doctor` reports. `findings` is empty when all is well."""

    findings: tuple[Finding, ...]
    spaces: tuple[SpaceFacts, ...]
    epochs: tuple[Epoch, ...]
    pending: int
    size_bytes: int
    recall: tuple[Recall, ...]


class Upkeep:
    """The work of an operator, on one store."""

    def __init__(self, store: Store, epochs: Epochs, clock: Callable[[], datetime]) -> None:
        self._store = store
        self._epochs = epochs
        self._clock = clock

    def reembed(self, progress: Progress | None = None) -> Reembedded:
        """Fill the epoch of the embedder the store was opened with, then let it serve. Resumable."""
        embedder = self._epochs.wanted()
        if embedder is None:
            raise InvalidInput("embedder: none is set; open the store with one, e.g. embedder='static'")
        return reembed(self._store, embedder, progress)

    def reindex(self, progress: Progress | None = None) -> int:
        """Analyse every memory again with this version's analyzer. Vectors stay."""
        total = self._store.count((), EVERYTHING)
        done = 0
        for facts in self._store.spaces():
            ids = [memory.id for memory in self._store.scan([facts.name], EVERYTHING, order="thread")]
            for start in range(0, len(ids), REINDEX_BATCH):
                done += reindex_run(self._store, facts.name, ids, start, start + REINDEX_BATCH)
                self._store.tend()
                if progress is not None:
                    progress(done, total)
        self._store.set_analyzer_version(ANALYZER_VERSION)
        return done

    def verify(self) -> list[Finding]:
        """Everything that can be proved wrong by reading."""
        found = self._store.verify()
        stored = self._store.analyzer_version()
        if stored and stored != ANALYZER_VERSION:
            found.append(
                Finding(f"indexed by analyzer {stored}; this Trivium has {ANALYZER_VERSION}", "trivium reindex")
            )
        return found

    def health(self) -> Health:
        """What is wrong, the command that mends it, and the live recall of the dense leg."""
        return self._epochs.with_serving(self._health)

    def _health(self, serving: Serving) -> Health:
        findings = self.verify()
        pending = self._store.pending_count(serving.fingerprint) if serving.fingerprint else 0
        if pending:
            findings.append(Finding(f"{pending} memories have no vector yet", "trivium reembed"))
        if serving.reason:
            findings.append(Finding(serving.reason, "trivium reembed"))
        spaces = self._store.spaces()
        recall = tuple(self._recall(facts.name, serving.fingerprint) for facts in spaces) if serving.fingerprint else ()
        for one in recall:
            if one.samples and one.recall < RECALL_LEAST:
                what = f"the dense leg finds {one.recall:.2f} of the nearest in space {one.space!r}"
                findings.append(Finding(what, "delete the -cache folder; report it if that does not help"))
        return Health(tuple(findings), spaces, self._store.epochs(), pending, self._store.size_bytes(), recall)

    def _recall(self, space: str, fingerprint: str) -> Recall:
        samples = hits = wanted = 0
        for memory in self._store.scan([space], EVERYTHING, limit=RECALL_SAMPLES):
            for vector in self._store.vectors(memory.key, fingerprint)[:1]:
                fast = self._store.dense(space, vector, fingerprint, EVERYTHING, RECALL_DEPTH)
                true = self._store.dense(space, vector, fingerprint, EVERYTHING, RECALL_DEPTH, exact=True)
                best = {hit.key for hit in true.hits}
                hits += len(best & {hit.key for hit in fast.hits})
                wanted += len(best)
                samples += 1
        return Recall(space, samples, hits / wanted if wanted else 1.0)
