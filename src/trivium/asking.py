"""From the keyword arguments of `Trivium.search` to a `Query`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TypedDict

import numpy.typing as npt

from trivium.filter import And, Between, Eq, Filter, In, Or, all_of
from trivium.search.query import FusionMethod, LegName, Query, SortBy, Weights, as_vector
from trivium.write.drafts import space_name


class SearchOptions(TypedDict, total=False):
    """What a search can be asked, beside its text.

    vector: a query vector of the store's dimension, instead of or beside the text
    limit: how many hits (10) · min_score: drop hits below this, 0 to 1 (0) · candidates: how deep each leg looks
    space, spaces: where to look · kind, tags, since, until, where: what to look among (`where` is a filter or its text)
    legs: ("lexical", "dense") · weights: {"lexical": 0.7, "dense": 0.3}
    fusion: rrf, linear, linear_bonus, minmax, tm2c2 · k: the constant of rrf
    sort_by: relevance, importance, recency
    include_superseded, as_of: look at what was replaced, or at what was known at a time
    use_importance, recency_half_life_days, usage_weight: the priors · correct_typos · rerank
    """

    vector: npt.ArrayLike
    limit: int
    min_score: float
    candidates: int
    space: str | None
    spaces: Sequence[str]
    kind: str | Sequence[str] | None
    tags: Iterable[str]
    since: datetime | None
    until: datetime | None
    where: Filter | str | None
    legs: Sequence[LegName]
    weights: Weights | None
    fusion: FusionMethod | None
    k: int | None
    sort_by: SortBy
    include_superseded: bool
    as_of: datetime | None
    use_importance: bool
    recency_half_life_days: float | None
    usage_weight: float
    correct_typos: bool
    rerank: bool


SCOPE = ("space", "spaces", "kind", "tags", "since", "until", "where", "vector", "legs")


def query_of(text: str, options: SearchOptions, default_space: str, now: datetime) -> Query:
    """The query these arguments describe. Kinds, tags and times become clauses of its filter."""
    spaces = options.get("spaces") or [options.get("space") or default_space]
    vector = options.get("vector")
    plain = {name: value for name, value in options.items() if name not in SCOPE}
    return Query(
        text=text,
        spaces=tuple(space_name(space) for space in spaces),
        where=all_of(_clauses(options, now)),
        vector=None if vector is None else as_vector(vector),
        legs=tuple(options.get("legs", ("lexical", "dense"))),
        **plain,  # type: ignore[arg-type]
    )


def _clauses(options: SearchOptions, now: datetime) -> list[Filter]:
    clauses: list[Filter] = []
    kind = options.get("kind")
    if isinstance(kind, str):
        clauses.append(Eq("kind", kind))
    elif kind:
        clauses.append(In("kind", tuple(kind)))
    clauses += [Eq("tags", tag) for tag in options.get("tags") or ()]
    since, until = options.get("since"), options.get("until")
    if since is not None or until is not None:
        clauses.append(_happened(since, until))
    where = options.get("where")
    if isinstance(where, str):
        from trivium.where import parse_where  # the grammar is loaded only where it is used

        where = parse_where(where, now=now)
    if where is not None:
        clauses.append(where)
    return clauses


def _happened(since: datetime | None, until: datetime | None) -> Filter:
    """Within the time: when it happened where that is known, else when it was stored."""
    stored = And((Eq("occurred_at", None), Between("created_at", since, until)))
    return Or((Between("occurred_at", since, until), stored))
