"""A filter as an SQL condition over `memory AS m`, equal in meaning to `filter.matches`.

Every piece is true or false, never NULL, so that NOT is a complement. Columns that are NOT NULL are compared bare,
which lets SQLite use their indexes.

Metadata is compared as the JSON text that `json_text` wrote: `m.metadata -> path` hands out a number or a text as it
stands there, and there is one way to write each. SQLite 3.40 would misread what it decodes: integers beyond 64 bits
become floats, text ends at a NUL, and a key written with escapes is not found. What cannot be compared as text goes to
the Python functions of `register_functions`, made of the same pieces as `matches`.
"""

from __future__ import annotations

import json
import math
import re
import sqlite3
from collections.abc import Iterable
from datetime import datetime
from functools import lru_cache
from typing import TypeAlias

from trivium.filter import (
    LIST_FIELDS,
    METADATA,
    And,
    Between,
    Contains,
    Eq,
    Filter,
    In,
    Not,
    Or,
    Value,
    at_most,
    elements,
    may_be_absent,
    same,
)
from trivium.record import Json
from trivium.when import to_micros

Sql: TypeAlias = "tuple[str, list[object]]"

# So many values are bound one by one, which SQLite plans better; more travel as one JSON array. With at most 500
# conditions in a filter this stays below the 32,766 parameters that SQLite takes.
_BOUND_ONE_BY_ONE = 20
_INT64 = range(-(2**63), 2**63)
# A key that stands in JSON as it is, and between the quotes of an SQLite path too.
_PLAIN_KEY = re.compile(r'[^"\\\x00-\x1f]+')

_FALSE: Sql = ("0", [])


def compile_where(where: Filter, *, space: int | None = None) -> Sql:
    """The condition and its parameters. Give `space` where the statement reads one space only: a tag can then lead
    the search instead of being looked up for each row."""
    if isinstance(where, And | Or):
        parts = [compile_where(clause, space=space) for clause in where.clauses]
        word, empty = (" AND ", "1") if isinstance(where, And) else (" OR ", "0")
        return word.join(f"({sql})" for sql, _ in parts) or empty, [value for _, values in parts for value in values]
    if isinstance(where, Not):
        sql, values = compile_where(where.clause, space=space)
        return f"NOT ({sql})", values
    if where.field.startswith(METADATA):
        return _metadata(where)
    if where.field in LIST_FIELDS:
        return _list(where, space)
    return _column(where)


def _column(where: Eq | In | Between | Contains) -> Sql:
    column = f"m.{where.field}"
    if isinstance(where, Contains):
        return f"text_contains({column}, ?)", [where.text.casefold()]
    if where.field == "superseded":
        if isinstance(where, Eq) and where.value is not None:
            return f"m.superseded_at IS {'NOT NULL' if where.value else 'NULL'}", []
        column = "(m.superseded_at IS NOT NULL)"
    if isinstance(where, Between):
        sql, values = _range(column, _stored(where.low, up=True), _stored(where.high, up=False))
    else:
        wanted = (where.value,) if isinstance(where, Eq) else where.values
        sql, values = _among(
            column, [_stored(value, up=True) for value in wanted if _can_be_stored(where.field, value)]
        )
        if None in wanted and may_be_absent(where.field):
            return f"{column} IS NULL OR ({column} IS NOT NULL AND {sql})", values
    return (f"{column} IS NOT NULL AND {sql}", values) if may_be_absent(where.field) else (sql, values)


def _range(column: str, low: object, high: object) -> Sql:
    ends = [(f"{column} {sign} ?", end) for sign, end in ((">=", low), ("<=", high)) if end is not None]
    return " AND ".join(sql for sql, _ in ends), [end for _, end in ends]


def _among(column: str, values: list[object]) -> Sql:
    """Whether the column is one of the values, exactly."""
    if not values:
        return _FALSE
    if len(values) == 1:
        return f"{column} = ?", values
    if len(values) <= _BOUND_ONE_BY_ONE:
        return f"{column} IN ({', '.join('?' * len(values))})", values
    # SQLite's JSON would cut text at a NUL and may round a float.
    exact = [value for value in values if isinstance(value, int) or (isinstance(value, str) and "\0" not in value)]
    others = [value for value in values if isinstance(value, float) or (isinstance(value, str) and "\0" in value)]
    sql = f"{column} IN (SELECT value FROM json_each(?))"
    if not others:
        return sql, [json_text(exact)]
    return f"({sql} OR is_among({column}, ?))", [json_text(exact), json_text(others)]


def _can_be_stored(field: str, value: Value) -> bool:
    """Whether the column can hold exactly this: an integer may be too long for it."""
    if not isinstance(value, int):
        return value is not None
    return float(value) == value or (value in _INT64 and field != "importance")


def _stored(value: Value, *, up: bool) -> object:
    """The value as a column keeps it. An integer beyond 64 bits becomes the next float above or below, which parts
    the numbers a column can hold at the same place."""
    if isinstance(value, datetime):
        return to_micros(value)
    if isinstance(value, bool) or not isinstance(value, int) or value in _INT64:
        return value
    near = float(value)
    if near == value or (near > value) == up:
        return near
    return math.nextafter(near, math.inf if up else -math.inf)


def _list(where: Eq | In | Between | Contains, space: int | None) -> Sql:
    if isinstance(where, Between | Contains) or where.field != "tags":
        return _json_condition(where, f"m.{where.field}", [])
    wanted = (where.value,) if isinstance(where, Eq) else where.values
    sql, values = _among("tag.tag", [value for value in wanted if value is not None])
    if space is None:
        return f"EXISTS (SELECT 1 FROM tag WHERE tag.space = m.space AND {sql} AND tag.memory = m.num)", values
    return f"m.num IN (SELECT tag.memory FROM tag WHERE tag.space = ? AND {sql})", [space, *values]


def _metadata(where: Eq | In | Between | Contains) -> Sql:
    steps = where.field[len(METADATA) :].split(".")
    if not all(_PLAIN_KEY.fullmatch(step) for step in steps):
        return _json_condition(where, "json_at(m.metadata, ?)", [json_text(steps)])
    path = "$" + "".join(f'."{step}"' for step in steps)
    if not isinstance(where, Between) or isinstance(where.low, str | bool) or isinstance(where.high, str | bool):
        return _json_condition(where, "m.metadata -> ?", [path])
    # Most ranges are over whole numbers: those need no call into Python.
    number = "json_extract(m.metadata, ?)"
    sql, ends = _range(number, _stored(where.low, up=True), _stored(where.high, up=False))
    bound = [item for end in ends for item in (path, end)]
    other, others = _json_condition(where, "m.metadata -> ?", [path])
    is_whole = f"json_type(m.metadata, ?) = 'integer' AND typeof({number}) = 'integer'"
    return f"CASE WHEN {is_whole} THEN {sql} ELSE {other} END", [path, path, *bound, *others]


def _json_condition(where: Eq | In | Between | Contains, found: str, values: list[object]) -> Sql:
    """A condition on JSON text, or NULL where there is none, that the SQL `found` with its `values` gives."""
    if isinstance(where, Contains):
        return f"json_contains({found}, ?)", [*values, where.text.casefold()]
    if isinstance(where, Between):
        return f"json_between({found}, ?, ?)", [*values, json_text(where.low), json_text(where.high)]
    wanted = (where.value,) if isinstance(where, Eq) else where.values
    among, written = _among_json(wanted)
    is_list = f"json_type({found}) = 'array'"
    element = f"EXISTS (SELECT 1 FROM json_each({found}) AS e WHERE ({found}) -> e.fullkey IN {among})"
    sql = f"(({found}) IN {among}) IS TRUE OR ({is_list} AND {element}) IS TRUE"
    bound = [*values, *written, *values, *values, *values, *written]
    if None not in wanted:
        return sql, bound
    return f"COALESCE({found}, 'null') = 'null' OR {sql}", [*values, *bound]


def _among_json(wanted: Iterable[Value]) -> Sql:
    """The right side of IN: every way in which Python writes one of these values as JSON."""
    written = sorted({text for value in wanted if value is not None for text in _ways_to_write(value)})
    if len(written) <= _BOUND_ONE_BY_ONE:
        return f"({', '.join('?' * len(written))})", [*written]
    return "(SELECT value FROM json_each(?))", [json_text(written)]


def _ways_to_write(value: Value) -> set[str]:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return {json_text(value)}
    ways = {"0", "0.0", "-0.0"} if value == 0 else {json_text(value)}
    if float(value) == value:
        ways.add(json_text(float(value)))
    if int(value) == value:
        ways.add(json_text(int(value)))
    return ways


def json_text(value: object) -> str:
    """How every JSON column of the store must be written: the comparison of JSON as text rests on it."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def register_functions(connection: sqlite3.Connection) -> None:
    """Give the connection the functions that `compile_where` calls."""
    for function, arguments in ((text_contains, 2), (is_among, 2), (json_at, 2), (json_between, 3), (json_contains, 2)):
        connection.create_function(function.__name__, arguments, function, deterministic=True)


# The same few arguments come with every row.
_argument = lru_cache(maxsize=64)(json.loads)


def text_contains(text: str, folded: str) -> bool:
    return folded in text.casefold()


def is_among(found: str | int | float, values: str) -> bool:
    return any(same(found, value) for value in _argument(values))


def json_at(metadata: str, steps: str) -> str | None:
    """The JSON text of what is at this path, None where it leads nowhere."""
    found: Json = json.loads(metadata)
    for step in _argument(steps):
        if not isinstance(found, dict) or step not in found:
            return None
        found = found[step]
    return json_text(found)


def json_between(found: str | None, low: str, high: str) -> bool:
    if found is None:
        return False
    least, most = _argument(low), _argument(high)
    return any(
        (least is None or at_most(least, element)) and (most is None or at_most(element, most))
        for element in elements(json.loads(found))
    )


def json_contains(found: str | None, folded: str) -> bool:
    value = None if found is None else json.loads(found)
    if isinstance(value, str):
        return folded in value.casefold()
    return isinstance(value, list) and any(isinstance(one, str) and one.casefold() == folded for one in value)
