"""Reading JSON strictly: every error names the file, the line and the field."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from trivium.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Row:
    """An object read from a file, with the place it came from."""

    place: str
    fields: Mapping[str, object]

    def text(self, name: str) -> str:
        """A field that must be there and must say something."""
        value = self.maybe_text(name)
        if not value.strip():
            raise self.wrong(f"{name}: is missing or empty; a text is wanted")
        return value

    def maybe_text(self, name: str) -> str:
        """A text, empty where the field is not there. Whole numbers are read as text: sources number their ids."""
        value = self.fields.get(name)
        if value is None:
            return ""
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        if not isinstance(value, str):
            raise self.wrong(f"{name}: is {type(value).__name__}; a text is wanted")
        return value

    def rows(self, name: str) -> list[Row]:
        """A field that is a list of objects."""
        value = self.fields.get(name)
        if not isinstance(value, list):
            raise self.wrong(f"{name}: is missing or is not a list")
        return [row_of(f"{self.place}, {name}[{number}]", one) for number, one in enumerate(value)]

    def texts(self, name: str) -> list[str]:
        """A field that is a list of texts, empty where it is not there."""
        value = self.fields.get(name)
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise self.wrong(f"{name}: is not a list of texts")
        return value

    def wrong(self, reason: str) -> InvalidInput:
        return InvalidInput(f"{self.place}: {reason}")


def row_of(place: str, value: object) -> Row:
    if not isinstance(value, dict):
        raise InvalidInput(f"{place}: is {type(value).__name__}; an object of named fields is wanted")
    return Row(place, value)


def json_lines(path: Path) -> Iterator[Row]:
    """The objects of a file with one in each line. Empty lines are an error: they hide a file that was cut."""
    for place, line in text_lines(path):
        try:
            value = json.loads(line)
        except json.JSONDecodeError as error:
            raise InvalidInput(f"{place}: is not JSON ({error.msg} at character {error.pos + 1})") from error
        yield row_of(place, value)


def json_file(path: Path) -> object:
    """The one value of a JSON file."""
    if not path.is_file():
        raise InvalidInput(f"{path}: is not there")
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise InvalidInput(f"{path}, line {error.lineno}: is not JSON ({error.msg})") from error
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path}: is not UTF-8 (byte {error.start})") from error


def json_rows(path: Path) -> list[Row]:
    """The objects of a file that is one JSON list."""
    value = json_file(path)
    if not isinstance(value, list):
        raise InvalidInput(f"{path}: is {type(value).__name__}; a list of objects is wanted")
    return [row_of(f"{path}, item {number}", one) for number, one in enumerate(value, start=1)]


def text_lines(path: Path) -> Iterator[tuple[str, str]]:
    """Each line with its place, without its end. A `.gz` file is read as what is in it."""
    if not path.is_file():
        raise InvalidInput(f"{path}: is not there")
    # By bytes: `str.splitlines` would also break at U+2028, which is valid inside a JSON text.
    with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as lines:
        for number, raw in enumerate(lines, start=1):
            place = f"{path}, line {number}"
            try:
                yield place, raw.decode("utf-8").rstrip("\r\n")
            except UnicodeDecodeError as error:
                raise InvalidInput(f"{place}: is not UTF-8 (byte {error.start + 1})") from error
