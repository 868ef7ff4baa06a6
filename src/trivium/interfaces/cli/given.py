"""From what was typed to what the engine takes: texts from files and pipes, fields, times, key=value pairs."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from trivium.errors import InvalidInput
from trivium.interfaces.cli.flags import MemoryFlags, Scope
from trivium.lines import parsed
from trivium.record import Json, utc_now

if TYPE_CHECKING:
    from trivium.filter import Filter

STDIN = "-"


def read_text(path: str) -> str:
    """The text of a file, or of stdin for `-`, without the end of its last line."""
    with opened(path) as file:
        raw = file.read()
    try:
        return raw.decode("utf-8-sig").removesuffix("\n")  # the end of the last line is no part of the text
    except UnicodeDecodeError as error:
        raise InvalidInput(f"file: {path} is not UTF-8 text at byte {error.start}; convert it first") from error


@contextmanager
def opened(path: str) -> Iterator[BinaryIO]:
    """A file for reading, or stdin for `-`."""
    if path == STDIN:
        yield sys.stdin.buffer
        return
    try:
        file = Path(path).open("rb")  # noqa: SIM115 closed below; only opening it may be the user's mistake
    except OSError as error:
        raise InvalidInput(f"file: {path} cannot be read ({error.strerror})") from error
    with file:
        yield file


def memory_fields(flags: MemoryFlags) -> dict[str, object]:
    """The fields that were given, by their names in the engine. An empty --occurred takes the time away."""
    fields: dict[str, object] = {
        "title": flags.title,
        "kind": flags.kind,
        "category": flags.category,
        "importance": flags.importance,
        "sensitive": flags.sensitive,
        "source": flags.source,
        "thread": flags.thread,
        "position": flags.position,
        "language": flags.language,
        "tags": flags.tag or None,
        "keywords": flags.keyword or None,
        "metadata": metadata(flags.meta) or None,
    }
    given = {name: value for name, value in fields.items() if value is not None}
    if flags.occurred is not None:
        given["occurred_at"] = moment("occurred", flags.occurred) if flags.occurred else None
    return given


def metadata(pairs: Sequence[str]) -> dict[str, Json]:
    """KEY=VALUE pairs; a value that is JSON is what it says, any other is text."""
    return {key: json_or_text(value) for key, value in (pair_of("meta", pair) for pair in pairs)}


def json_or_text(value: str) -> Json:
    try:
        return parsed(value)
    except (ValueError, RecursionError):
        return value


def pair_of(flag: str, text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise InvalidInput(f"{flag}: {text!r} is not KEY=VALUE; write both, with = between them")
    return key.strip(), value


def numbers(flag: str, pairs: Sequence[str]) -> dict[str, float]:
    """NAME=NUMBER pairs."""
    found = {}
    for name, value in (pair_of(flag, pair) for pair in pairs):
        try:
            found[name] = float(value)
        except ValueError as error:
            raise InvalidInput(f"{flag}: {value!r} of {name} is not a number") from error
    return found


def moment(flag: str, text: str | None) -> object:
    """The time a flag names; None where it was not given."""
    from trivium.when import parse_when

    return None if text is None else parse_when(text, now=utc_now(), field=flag)


def scope_filter(scope: Scope) -> Filter:
    """What --kind, --tag and --where ask for, together."""
    from trivium.filter import Eq, In, all_of

    clauses: list[Filter] = [Eq("tags", tag) for tag in scope.tag]
    if scope.kind:
        clauses.append(In("kind", tuple(scope.kind)))
    if scope.where is not None:
        clauses.append(filter_of(scope.where))
    return all_of(clauses)


def filter_of(where: str) -> Filter:
    from trivium.where import parse_where

    return parse_where(where, now=utc_now())
