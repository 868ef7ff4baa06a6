"""JSON, one value a line: written so that any terminal and any line reader can bear it, read with line numbers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, NoReturn

from trivium.errors import InvalidInput
from trivium.record import Json

# What JSON may hold as it is, and a terminal or a line reader may not see: C1 controls, marks that end a line or turn
# the direction of writing, lone surrogates. They only stand inside strings, where an escape means the same.
_ESCAPED = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


class Line(NamedTuple):
    """An object of a file, and the line it stands on."""

    number: int
    fields: Mapping[str, Json]


def json_line(value: Mapping[str, Json]) -> str:
    """The object as one line of JSON, in the order of its keys."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def parsed(text: str) -> Json:
    """A JSON value. NaN and Infinity, which Python would take, are not JSON: ValueError, as for any other text."""
    value: Json = json.loads(text, parse_constant=_no_constant)
    return value


def read_lines(raw_lines: Iterable[bytes]) -> Iterator[Line]:
    """The objects of a JSONL file; empty lines are passed over. A bad line is an error that names it."""
    for number, raw in enumerate(raw_lines, start=1):
        try:
            text = raw.decode("utf-8-sig" if number == 1 else "utf-8").strip()
            if not text:
                continue
            fields = parsed(text)
        except UnicodeDecodeError as error:
            raise InvalidInput(f"line {number}: is not UTF-8 at byte {error.start}") from error
        except (ValueError, RecursionError) as error:
            raise InvalidInput(f"line {number}: is not JSON ({error})") from error
        if not isinstance(fields, dict):
            raise InvalidInput(f"line {number}: is not a JSON object; write one object a line")
        yield Line(number, fields)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON value")
