"""A model that lives in a folder: which files it must have, and a digest that changes when they do."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from trivium.errors import InvalidInput


def model_folder(folder: str | Path, needs: Iterable[str]) -> Path:
    """The folder, absolute. Raises InvalidInput that names what is missing."""
    path = Path(folder).expanduser().resolve()
    missing = [name for name in needs if not (path / name).is_file()]
    if missing:
        raise InvalidInput(f"embedder: {path} has no {' and no '.join(missing)}; name a folder that holds the model")
    return path


def digest(paths: Iterable[Path]) -> str:
    """Names the contents of these files, whatever they are called."""
    whole = hashlib.blake2b(digest_size=8)
    for path in paths:
        with path.open("rb") as file:
            whole.update(hashlib.file_digest(file, hashlib.blake2b).digest())
    return whole.hexdigest()
