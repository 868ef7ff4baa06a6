"""A set as a Trivium store, built once and kept in a work folder until something that decides its content changes."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import trivium
from bench.datasets.folder import Dataset, Document
from trivium.errors import InvalidInput
from trivium.models.embed import Embedder
from trivium.record import DEFAULT_SPACE
from trivium.text import ANALYZER_VERSION

# A fixed time: nothing of a result may depend on the day of the run.
NOW = datetime(2026, 1, 1, tzinfo=UTC)
FILE = "store.db"
PARTIAL = ".partial"  # the end of a folder's name while its store is being built
KEY_BYTES = 8
DECIDES = ("record.py", "engine.py", "models", "store", "text", "write")  # the code that decides what a store holds


def open_built(dataset: Dataset, embedder: Embedder, work: Path) -> trivium.Trivium:
    """The store of this set, one space per group, from the work folder or built there now."""
    key = store_key(dataset, embedder)
    folder = work / f"{dataset.name}-{key}"
    if not folder.exists():
        _remove_older(dataset.name, work)
        partial = work / f"{dataset.name}-{key}{PARTIAL}"
        partial.mkdir(parents=True)
        _build(dataset, embedder, partial / FILE)
        partial.rename(folder)
    return trivium.open(folder / FILE, embedder=embedder, clock=lambda: NOW)


def store_key(dataset: Dataset, embedder: Embedder) -> str:
    """Changes with the documents, the analyzer, the embedder and the code that writes stores."""
    parts = (dataset.corpus_hash, ANALYZER_VERSION, embedder.card.fingerprint, _code_hash())
    return hashlib.blake2b("\0".join(parts).encode(), digest_size=KEY_BYTES).hexdigest()


def stored_id(number: int) -> str:
    """The id in the store of a set's document: sources have ids that Trivium does not allow."""
    return f"d{number}"


def _remove_older(name: str, work: Path) -> None:
    """What is left of earlier builds of this set; `pira-en` is not a build of `pira`."""
    for folder in [*work.glob(f"{name}-*")]:
        key = folder.name.removeprefix(f"{name}-").removesuffix(PARTIAL)
        if len(key) == 2 * KEY_BYTES and key.isalnum():
            shutil.rmtree(folder)


def _build(dataset: Dataset, embedder: Embedder, path: Path) -> None:
    with trivium.open(path, embedder=embedder, clock=lambda: NOW) as memory:
        for group in dict.fromkeys(one.group for one in dataset.documents):
            memory.add_many(_records(dataset, group), space=group or DEFAULT_SPACE, allow_duplicates=True)
        if memory.health().pending:
            memory.reembed()
        if memory.health().pending:
            raise InvalidInput(f"embedder: {embedder.card.model} left documents of {dataset.name} without a vector")


def _records(dataset: Dataset, group: str) -> Iterator[dict[str, object]]:
    """A document without any text is not stored: nothing could find it. It stays gold where it was judged so."""
    for number, one in enumerate(dataset.documents):
        if one.group == group and (one.text.strip() or one.title.strip()):
            yield _record(number, one)


def _record(number: int, one: Document) -> dict[str, object]:
    record: dict[str, object] = {"id": stored_id(number), "content": one.text if one.text.strip() else one.title}
    record["title"] = one.title
    record["occurred_at"] = one.timestamp
    if one.session:
        record |= {"thread": one.session, "position": number}
    if one.speaker:
        record["metadata"] = {"speaker": one.speaker}
    return record


def _code_hash() -> str:
    root = Path(trivium.__file__).parent
    digest = hashlib.blake2b(digest_size=8)
    for name in DECIDES:
        target = root / name
        for file in [target] if target.is_file() else sorted(target.rglob("*.py")):
            digest.update(str(file.relative_to(root)).encode() + file.read_bytes())
    return digest.hexdigest()
