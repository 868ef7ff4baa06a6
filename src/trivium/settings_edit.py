"""Changing one key of a TOML file and nothing else: comments and order stay."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Sequence

from trivium.errors import InvalidInput
from trivium.record import Json

_HEADER = re.compile(r"\s*\[([^\[\]]+)\]\s*(?:#.*)?")
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def with_key(text: str, path: Sequence[str], value: str | int | float | bool) -> str:
    """The text of a TOML file with one key set. The result is read again: it says exactly what was meant, or else
    this is an error and nothing was changed."""
    lines = text.splitlines()
    start, end = _table(lines, path[:-1])
    entry = f"{_key(path[-1])} = {json.dumps(value, ensure_ascii=False)}"
    if start is None:
        lines += [*([""] if lines else []), f"[{'.'.join(map(_key, path[:-1]))}]", entry]
    else:
        at = next((at for at in range(start, end) if _names(lines[at], path[-1])), None)
        if at is None:
            while end > start and not lines[end - 1].strip():
                end -= 1
            lines.insert(end, entry)
        else:
            lines[at] = entry
    changed = "\n".join(lines) + "\n"
    _refuse_other_meaning(text, changed, path, value)
    return changed


def _table(lines: Sequence[str], table: Sequence[str]) -> tuple[int | None, int]:
    """The lines of a table, without its header. The table without a name begins at the first line."""
    start = 0 if not table else None
    for at, line in enumerate(lines):
        header = _HEADER.fullmatch(line)
        if header is None:
            continue
        if start is not None:
            return start, at
        if [part.strip().strip("\"'") for part in header[1].split(".")] == list(table):
            start = at + 1
    return start, len(lines)


def _names(line: str, key: str) -> bool:
    head, equals, _ = line.partition("=")
    return bool(equals) and head.strip().strip("\"'") == key


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else json.dumps(name, ensure_ascii=False)


def _refuse_other_meaning(before: str, after: str, path: Sequence[str], value: Json) -> None:
    wanted = tomllib.loads(before)
    table = wanted
    try:
        for name in path[:-1]:
            table = table.setdefault(name, {})
        table[path[-1]] = value
        same = tomllib.loads(after) == wanted
    except (tomllib.TOMLDecodeError, AttributeError, TypeError):
        same = False
    if not same:
        raise InvalidInput(f"{'.'.join(path)}: cannot be set in a file written like this; edit the file by hand")
