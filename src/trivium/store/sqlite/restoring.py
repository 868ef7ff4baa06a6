"""Putting a copy of a store in the place of a store."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from trivium.errors import NotAStore, StoreBusy, StoreError
from trivium.store.sqlite.store import SqliteStore, cache_folder


def put_in_place(backup: Path, target: Path, *, replace: bool) -> Path | None:
    """Make `target` a copy of the backup. A store that was there is kept under another name, which is returned.

    The copy is opened before anything is replaced; what cannot be opened replaces nothing."""
    if target.exists() and not replace:
        raise StoreError(f"{target} exists; --force replaces it and keeps it as {target.name}.before-restore")
    target.parent.mkdir(parents=True, exist_ok=True)
    copy = target.with_name(f"{target.name}.restoring")
    try:
        shutil.copyfile(backup, copy)
        SqliteStore(copy).close()  # refuses what is not ours or newer, migrates what is older
        kept = _kept(target) if target.exists() else None
        for suffix in ("-wal", "-shm"):
            _beside(target, suffix).unlink(missing_ok=True)
        shutil.rmtree(cache_folder(target), ignore_errors=True)  # made for what was here before
        os.replace(copy, target)
    finally:
        for suffix in ("", "-wal", "-shm", "-lock"):
            _beside(copy, suffix).unlink(missing_ok=True)
        shutil.rmtree(cache_folder(copy), ignore_errors=True)
    return kept


def _kept(target: Path) -> Path:
    """Move the store away, its log with it where it is too damaged to be opened."""
    try:
        SqliteStore(target).close()
    except NotAStore:
        pass
    else:
        if _beside(target, "-wal").exists():  # the last one to close a store takes its log away
            raise StoreBusy(f"{target.name} is open in another program; end that one first")
    kept = _free_name(target)
    for suffix in ("-wal", ""):
        if _beside(target, suffix).exists():
            os.replace(_beside(target, suffix), _beside(kept, suffix))
    return kept


def _free_name(target: Path) -> Path:
    name = target.with_name(f"{target.name}.before-restore")
    number = 2
    while name.exists():
        name = target.with_name(f"{target.name}.before-restore-{number}")
        number += 1
    return name


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)
