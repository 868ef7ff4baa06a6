"""From what a user writes to a store. Drivers are imported only when they are asked for."""

from __future__ import annotations

from pathlib import Path

from trivium.errors import InvalidInput
from trivium.store.contract import Store

MEMORY = "memory:"


def open_store(target: str | Path | None, *, read_only: bool = False) -> Store:
    """A file, `memory:`, or the file in the user's data folder."""
    if target == MEMORY:
        from trivium.store.memory import MemoryStore

        return MemoryStore()
    if isinstance(target, str) and "://" in target:
        scheme = target.split("://", 1)[0]
        raise InvalidInput(f"db: {scheme}:// is not a store this Trivium knows; give a file name, or memory:")
    from trivium.store.sqlite.store import SqliteStore

    return SqliteStore(default_path() if target is None else Path(target).expanduser(), read_only=read_only)


def default_path() -> Path:
    """Where the user's own memory lives."""
    from platformdirs import user_data_path

    return user_data_path("trivium", appauthor=False) / "memory.db"
