"""From what a user writes to a store. Drivers are imported only when they are asked for."""

from __future__ import annotations

from pathlib import Path

from trivium.errors import InvalidInput
from trivium.store.contract import Store

MEMORY = "memory:"


def open_store(target: str | Path | None, *, read_only: bool = False, dense_index: str = "codes") -> Store:
    """A file, `memory:`, or the file in the user's data folder. `dense_index` is for a file: "codes" or "hnsw"."""
    if target == MEMORY:
        if dense_index != "codes":
            raise InvalidInput("dense_index: memory: compares every vector; leave it out, or give a file name")
        from trivium.store.memory import MemoryStore

        return MemoryStore()
    if isinstance(target, str) and "://" in target:
        scheme = target.split("://", 1)[0]
        raise InvalidInput(f"db: {scheme}:// is not a store this Trivium knows; give a file name, or memory:")
    from trivium.store.sqlite.store import SqliteStore

    path = default_path() if target is None else Path(target).expanduser()
    return SqliteStore(path, read_only=read_only, dense_index=dense_index)


def default_path() -> Path:
    """Where the user's own memory lives."""
    from platformdirs import user_data_path

    return user_data_path("trivium", appauthor=False) / "memory.db"
