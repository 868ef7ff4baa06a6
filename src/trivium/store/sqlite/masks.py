"""Filters as masks: which memories of a space a leg may return."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from trivium.filter import EVERYTHING, Eq, Filter, all_of, conjuncts
from trivium.store.sqlite.where import compile_where

NOT_SUPERSEDED = Eq("superseded", False)

Bools = npt.NDArray[np.bool_]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Allowed:
    """The memories a leg may return: all but `excluded`, and only those in `included` where that is given.
    The common filter, "not superseded", is kept as the few that it excludes."""

    included: Bools | None
    excluded: Bools | None

    def of(self, memories: Integers) -> Bools | None:
        """The rows whose memory is allowed; None for all of them."""
        rows = None if self.included is None else _look_up(self.included, memories)
        if self.excluded is not None:
            kept = ~_look_up(self.excluded, memories)
            rows = kept if rows is None else rows & kept
        return rows


def allowed(connection: sqlite3.Connection, space: int, where: Filter) -> Allowed:
    clauses = conjuncts(where)
    others = all_of(clause for clause in clauses if clause != NOT_SUPERSEDED)
    excluded = included = None
    if NOT_SUPERSEDED in clauses:
        excluded = _marks(connection, "m.space = ? AND m.superseded_at IS NOT NULL", [space])
    if others != EVERYTHING:
        condition, values = compile_where(others, space=space)
        included = _marks(connection, f"m.space = ? AND ({condition})", [space, *values])
        included = np.zeros(1, np.bool_) if included is None else included
    return Allowed(included, excluded)


def _marks(connection: sqlite3.Connection, condition: str, values: list[object]) -> Bools | None:
    rows = connection.execute(f"SELECT m.num FROM memory m WHERE {condition}", values).fetchall()
    if not rows:
        return None
    nums = np.fromiter((row[0] for row in rows), np.int64, len(rows))
    marks = np.zeros(int(nums.max()) + 1, np.bool_)
    marks[nums] = True
    return marks


def _look_up(marks: Bools, memories: Integers) -> Bools:
    inside = memories < len(marks)
    if inside.all():
        return marks[memories]
    return marks[np.where(inside, memories, 0)] & inside
