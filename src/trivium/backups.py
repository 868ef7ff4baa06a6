"""Copies of a whole store file, each with a checksum beside it, and back."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from trivium.errors import InvalidInput, StoreError
from trivium.store.contract import Store


def back_up(store: Store, target: Path) -> str:
    """A copy of the store at `target`, made while others use it, and its SHA-256 beside it. A copy that was broken
    off never bears the name."""
    if target.exists():
        raise InvalidInput(f"file: {target} exists already; choose another name")
    if not target.parent.is_dir():
        raise InvalidInput(f"file: there is no folder {target.parent}; make it first")
    partial = target.with_name(f"{target.name}.partial")
    partial.unlink(missing_ok=True)
    try:
        store.backup(partial)
        checksum = file_checksum(partial)
        checksum_file(target).write_text(f"{checksum}  {target.name}\n", encoding="utf-8")
        os.replace(partial, target)
    finally:
        partial.unlink(missing_ok=True)
    return checksum


def checked_backup(backup: Path) -> str:
    """The checksum of a backup, which is the one noted beside it."""
    if not backup.is_file():
        raise InvalidInput(f"file: {backup} is not there")
    noted = checksum_file(backup)
    if not noted.is_file():
        raise StoreError(f"{noted.name} is not beside the backup; if you trust the file, make it with sha256sum")
    wanted = noted.read_text(encoding="utf-8", errors="replace").split(maxsplit=1)[:1]
    found = file_checksum(backup)
    if wanted != [found]:
        raise StoreError(f"{backup.name} is damaged: its checksum is not the one in {noted.name}; use another backup")
    return found


def checksum_file(backup: Path) -> Path:
    return backup.with_name(f"{backup.name}.sha256")


def file_checksum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def restore(backup: Path, target: Path, *, replace: bool) -> Path | None:
    """Make `target` a copy of a backup whose checksum holds. Returns where the store that was there is kept."""
    from trivium.store.sqlite.restoring import put_in_place

    checked_backup(backup)
    return put_in_place(backup, target, replace=replace)
