"""Trivium: a memory that finds records by words, by meaning and by connections, and says why.

import trivium
t = trivium.open("notes.db")
t.add("Ada moved to Lisbon in May.")
t.search("where does Ada live")
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trivium.engine import Trivium, open
    from trivium.errors import TriviumError
    from trivium.filter import And, Between, Contains, Eq, In, Not, Or
    from trivium.record import Memory
    from trivium.search.query import Query
    from trivium.search.result import Hit, Results

__version__ = "0.1.0"

# Public names and where they live: each is imported when it is first asked for, so that starting stays light.
_HOMES = {
    "engine": ("Trivium", "open"),
    "errors": ("TriviumError",),
    "filter": ("And", "Between", "Contains", "Eq", "In", "Not", "Or"),
    "record": ("Memory",),
    "search.query": ("Query",),
    "search.result": ("Hit", "Results"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "And",
    "Between",
    "Contains",
    "Eq",
    "Hit",
    "In",
    "Memory",
    "Not",
    "Or",
    "Query",
    "Results",
    "Trivium",
    "TriviumError",
    "open",
]


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'trivium' has no attribute {name!r}")
    return getattr(import_module(f"trivium.{_HOME_OF[name]}"), name)
