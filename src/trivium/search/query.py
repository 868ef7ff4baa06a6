"""What the caller asks (`Query`), what holds where it is silent (`SearchDefaults`), and the `Plan` made of both."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from trivium.errors import InvalidInput, WrongVector
from trivium.filter import EVERYTHING, Between, Eq, Filter, Not, all_of
from trivium.record import DEFAULT_SPACE, Json
from trivium.store.contract import Bm25, Vector

LegName: TypeAlias = Literal["lexical", "dense", "graph"]
FusionMethod: TypeAlias = Literal["rrf", "linear", "linear_bonus", "minmax", "tm2c2"]
SortBy: TypeAlias = Literal["relevance", "importance", "recency"]
Weights: TypeAlias = Mapping[LegName, float]

LEGS: tuple[LegName, ...] = get_args(LegName)
METHOD_NAMES: tuple[FusionMethod, ...] = get_args(FusionMethod)
SORTS: tuple[SortBy, ...] = get_args(SortBy)

MAX_QUERY_CHARS = 65_536  # far beyond any question; keeps a pasted file from becoming a query
MAX_LIMIT = 1_000
MAX_CANDIDATES = 10_000
MIN_DEPTH = 50  # a leg looks at least this deep, so that fusion has something to agree on
DEPTH_PER_HIT = 3  # and three times as deep as what is asked for
MAX_WEIGHT = 1_000.0
MIN_VOICE = 1e-6  # below this the weights of all legs together are rounding noise, not a choice
RRF_K = 60  # the constant of all five seed documents and of Cormack et al. 2009
DAYS_IN_CENTURY = 36_525.0

_SURROGATES = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)  # arrays have no single truth value, so no `==` here
class Query:
    """A question, checked on creation: a `Query` that exists can be answered.

    Any text is valid; lone surrogates become U+FFFD. `vector` is kept at unit length, since only its direction matters.
    `None` leaves a choice to the defaults. `weights` overrides the weights of the space and of the kinds; a leg it does
    not name keeps its default weight.
    """

    text: str = ""
    vector: Vector | None = None
    limit: int = 10
    spaces: tuple[str, ...] = (DEFAULT_SPACE,)
    where: Filter = EVERYTHING
    legs: tuple[LegName, ...] = ("lexical", "dense")
    weights: Weights | None = None
    fusion: FusionMethod | None = None
    k: int | None = None
    candidates: int | None = None
    min_score: float = 0.0
    sort_by: SortBy = "relevance"
    include_superseded: bool = False
    as_of: datetime | None = None
    use_importance: bool = True
    recency_half_life_days: float | None = None
    usage_weight: float = 0.0
    correct_typos: bool = True
    rerank: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.text, str):
            raise InvalidInput(f"text: is {type(self.text).__name__}; text is wanted")
        if len(self.text) > MAX_QUERY_CHARS:
            raise InvalidInput(f"text: {len(self.text):,} characters; the limit is {MAX_QUERY_CHARS:,}")
        object.__setattr__(self, "text", _SURROGATES.sub("\ufffd", self.text))
        object.__setattr__(self, "vector", None if self.vector is None else as_vector(self.vector))
        object.__setattr__(self, "spaces", tuple(dict.fromkeys(self.spaces)))
        object.__setattr__(self, "legs", tuple(dict.fromkeys(self.legs)))
        _check_choices(self)
        _check_numbers(self)
        _check_sense(self)

    @property
    def has_text(self) -> bool:
        return bool(self.text.strip())


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchDefaults:
    """What holds where a query is silent. `defaults_for` lays a space's own settings over it.

    Linear, words .7 and meaning .3: with the small offline embedder the best plain fusion on the dev sets, while RRF is
    below BM25 alone on all of them (docs/decisions/0006-fusion-default.md). The graph speaks as loud as the words until
    it is measured; at the seed's 0.35 a memory found by the graph alone could never come first.
    """

    fusion: FusionMethod = "linear"
    weights: Weights = field(default_factory=lambda: {"lexical": 0.7, "dense": 0.3, "graph": 0.7})
    kind_weights: Mapping[str, Weights] = field(default_factory=dict)
    k: int = RRF_K
    bm25: Bm25 = field(default_factory=Bm25)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Plan:
    """The settings in effect. `legs` are those that are on: asked for, with something to look for and a weight.

    `weights` has exactly the legs that are on; so has each entry of `kind_weights`, which replaces it for that kind.
    """

    query: Query
    legs: tuple[LegName, ...]
    depth: int
    method: FusionMethod
    weights: Weights
    kind_weights: Mapping[str, Weights]
    k: int
    bm25: Bm25
    where: Filter


def make_plan(query: Query, defaults: SearchDefaults) -> Plan:
    """Settle every choice: the call's own first, then the kind's, then the defaults."""
    general = {**defaults.weights, **(query.weights or {})}
    kinds = {} if query.weights else {kind: {**general, **own} for kind, own in defaults.kind_weights.items()}
    legs = tuple(
        leg
        for leg in LEGS
        if leg in query.legs
        and (query.has_text or leg != "lexical")
        and any(weights.get(leg, 0.0) > 0.0 for weights in (general, *kinds.values()))
    )
    weights = {leg: general.get(leg, 0.0) for leg in legs}
    _check_voice(weights, query.legs)
    mine = {kind: {leg: own.get(leg, 0.0) for leg in legs} for kind, own in kinds.items()}
    return Plan(
        query=query,
        legs=legs,
        depth=query.candidates or max(MIN_DEPTH, DEPTH_PER_HIT * query.limit),
        method=query.fusion or defaults.fusion,
        weights=weights,
        # A kind that trusts none of the legs that are on is ranked by the general weights.
        kind_weights={kind: own for kind, own in mine.items() if _voice(own) >= MIN_VOICE},
        k=query.k or defaults.k,
        bm25=defaults.bm25,
        where=all_of((*standing(query), query.where)),
    )


def standing(query: Query) -> tuple[Filter, ...]:
    """What a search asks of every memory beyond the caller's own filter.

    Superseded memories stay out unless asked for. `as_of` sees what had been created and not yet superseded by then.
    """
    if query.as_of is None:
        return () if query.include_superseded else (Eq("superseded", False),)
    created = Between("created_at", None, query.as_of)
    return (created,) if query.include_superseded else (created, Not(Between("superseded_at", None, query.as_of)))


def defaults_for(base: SearchDefaults, space_settings: Mapping[str, Json]) -> SearchDefaults:
    """The defaults of a space: what its settings say under `search`, laid over `base`.

    {"search": {"fusion": "rrf", "k": 60, "weights": {"dense": 0.7, "lexical": 0.3},
                "kind_weights": {"movie": {"dense": 0.8, "lexical": 0.2}}, "bm25": {"k1": 0.9, "b": 0.4}}}
    """
    given = _table("search", space_settings.get("search", {}))
    for name in given:
        _check_known("search", name, ("fusion", "weights", "kind_weights", "k", "bm25"))
    found = base
    if "fusion" in given:
        found = replace(found, fusion=_method("search.fusion", given["fusion"]))
    if "weights" in given:
        found = replace(found, weights={**base.weights, **_weights("search.weights", given["weights"])})
    if "kind_weights" in given:
        kinds = _table("search.kind_weights", given["kind_weights"])
        own = {kind: _weights(f"search.kind_weights.{kind}", value) for kind, value in kinds.items()}
        found = replace(found, kind_weights={**base.kind_weights, **own})
    if "k" in given:
        found = replace(found, k=_whole("search.k", given["k"], 1, MAX_CANDIDATES))
    if "bm25" in given:
        found = replace(found, bm25=_bm25(base.bm25, _table("search.bm25", given["bm25"])))
    return found


def as_vector(values: npt.ArrayLike) -> Vector:
    """A caller's vector as float32 at unit length; `WrongVector` where it has no direction."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise WrongVector("vector: give a flat list of numbers") from error
    if array.ndim != 1 or array.size == 0:
        raise WrongVector(f"vector: shape {array.shape}; give a flat list of at least one number")
    bad = np.flatnonzero(~np.isfinite(array))
    if bad.size:
        raise WrongVector(f"vector: {array[bad[0]]} at position {bad[0]}; every value must be a finite number")
    largest = np.abs(array).max()
    if largest == 0.0:
        raise WrongVector(f"vector: all {array.size} values are zero, which points nowhere")
    array = array / largest  # so that squares neither overflow nor vanish
    unit: Vector = (array / np.linalg.norm(array)).astype(np.float32)
    return unit


def _check_choices(query: Query) -> None:
    for leg in query.legs:
        _check_known("legs", leg, LEGS)
    if query.weights is not None:
        _weights("weights", query.weights)
    if query.fusion is not None:
        _method("fusion", query.fusion)
    _check_known("sort_by", query.sort_by, SORTS)


def _check_numbers(query: Query) -> None:
    _whole("limit", query.limit, 1, MAX_LIMIT)
    if query.candidates is not None:
        _whole("candidates", query.candidates, 1, MAX_CANDIDATES)
    if query.k is not None:
        _whole("k", query.k, 1, MAX_CANDIDATES)
    _number("min_score", query.min_score, 0.0, 1.0)
    _number("usage_weight", query.usage_weight, 0.0, 1.0)
    if query.recency_half_life_days is not None:
        _number("recency_half_life_days", query.recency_half_life_days, 0.001, DAYS_IN_CENTURY)


def _check_sense(query: Query) -> None:
    """What only shows when fields are read together."""
    if not query.has_text and query.vector is None:
        raise InvalidInput("text: empty; give some text, or a vector")
    if not query.spaces:
        raise InvalidInput("spaces: none given; name at least one")
    if not query.legs:
        raise InvalidInput(f"legs: none given; choose from {', '.join(LEGS)}")
    if query.legs == ("lexical",) and not query.has_text:
        raise InvalidInput("legs: the lexical leg needs text, and only a vector was given")
    if query.weights is not None:
        _check_voice({leg: query.weights.get(leg, 1.0) for leg in query.legs}, query.legs)
    if query.as_of is not None and not isinstance(query.as_of, datetime):
        raise InvalidInput(f"as_of: {query.as_of!r} is not a datetime; use datetime(2026, 5, 1, tzinfo=UTC)")
    if query.as_of is not None and query.as_of.tzinfo is None:
        raise InvalidInput(f"as_of: {query.as_of.isoformat()} has no time zone; add one, such as +00:00")
    if query.rerank and (query.sort_by != "relevance" or not query.has_text):
        raise InvalidInput("rerank: needs text and sort_by='relevance'; drop rerank or change those")


def _check_known(field: str, value: object, known: Sequence[str]) -> None:
    if value in known:
        return
    near = difflib.get_close_matches(str(value), known, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ";"
    raise InvalidInput(f"{field}: unknown {value!r}{hint} known: {', '.join(known)}")


def _method(field: str, value: object) -> FusionMethod:
    _check_known(field, value, METHOD_NAMES)
    return next(name for name in METHOD_NAMES if name == value)


def _weights(field: str, value: object) -> dict[LegName, float]:
    found: dict[LegName, float] = {}
    for name, weight in _table(field, value).items():
        _check_known(field, name, LEGS)
        found[next(leg for leg in LEGS if leg == name)] = _number(f"{field}.{name}", weight, 0.0, MAX_WEIGHT)
    return found


def _bm25(base: Bm25, given: Mapping[str, object]) -> Bm25:
    for name in given:
        _check_known("search.bm25", name, ("k1", "b"))
    return Bm25(
        k1=_number("search.bm25.k1", given.get("k1", base.k1), 0.0, 100.0),
        b=_number("search.bm25.b", given.get("b", base.b), 0.0, 1.0),
    )


def _voice(weights: Weights) -> float:
    return math.fsum(weights.values())


def _check_voice(weights: Weights, asked: Sequence[LegName]) -> None:
    if _voice(weights) < MIN_VOICE:
        raise InvalidInput(f"weights: all zero for the legs {', '.join(asked)}; give at least one a weight above 0")


def _table(field: str, value: object) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{field}: {value!r} is not a table of names and values")
    return value


def _whole(field: str, value: object, low: int, high: int) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and low <= value <= high:
        return value
    raise InvalidInput(f"{field}: {value!r} is not a whole number from {low:,} to {high:,}")


def _number(field: str, value: object, low: float, high: float) -> float:
    if isinstance(value, (int, float)) and not isinstance(value, bool) and low <= value <= high:
        return float(value)
    raise InvalidInput(f"{field}: {value!r} is not a number from {low:g} to {high:g}")
