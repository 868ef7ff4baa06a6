"""Flags that several commands share, as dataclasses. `takes_flags` lets a command ask for a whole group of them.

Annotations here are values, not texts: reading them back from text would cost a fifth of the start.
"""

import inspect
from collections.abc import Callable
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from functools import cache, wraps
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer


class ReaderGone(Exception):
    """Whoever read our stdout has seen enough."""


def takes_flags(command: Callable[..., int | None]) -> Callable[..., int | None]:
    """The command as Typer is to see it: each parameter that is a group of flags becomes those flags."""
    hints = get_type_hints(command, include_extras=True)
    groups = {name: hint for name, hint in hints.items() if is_dataclass(hint) and isinstance(hint, type)}

    @wraps(command)
    def with_groups(**given: Any) -> int | None:
        for name, group in groups.items():
            given[name] = group(**{each.name: given.pop(each.name) for each in fields(group)})
        try:
            return command(**given)
        except BrokenPipeError as error:
            raise ReaderGone from error  # Typer would end with 1, which means something else here

    parameters: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        if name in groups:
            parameters += _parameters(groups[name])
        else:
            parameters.append(parameter.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY))
    with_groups.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    with_groups.__annotations__ = {each.name: each.annotation for each in parameters}
    return with_groups


@cache
def _parameters(group: type[Any]) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            each.name, inspect.Parameter.KEYWORD_ONLY, default=_default(each), annotation=hints[each.name]
        )
        for each in fields(group)
    ]


def _default(each: Field[Any]) -> object:
    return each.default if each.default_factory is MISSING else each.default_factory()


@dataclass(frozen=True, slots=True)
class Common:
    """Flags of every command, before its name or after it; what stands later wins."""

    db: Annotated[
        str | None, typer.Option("--db", metavar="FILE", help="The store: a file, or memory: to keep nothing.")
    ] = None
    space: Annotated[
        list[str], typer.Option("--space", metavar="NAME", help="The space; several where a command reads several.")
    ] = field(default_factory=list)
    embedder: Annotated[
        str | None, typer.Option("--embedder", metavar="SPEC", help="What makes vectors; none: words only.")
    ] = None
    config: Annotated[
        Path | None, typer.Option("--config", metavar="FILE", help="Settings to read instead of trivium.toml.")
    ] = None
    json: Annotated[bool, typer.Option("--json", help="Answer with one JSON object.")] = False
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error comes from.")] = False

    def over(self, before: "Common | None") -> "Common":
        """These flags, laid over those that stood further left."""
        if before is None:
            return self
        return Common(
            db=before.db if self.db is None else self.db,
            space=self.space or before.space,
            embedder=before.embedder if self.embedder is None else self.embedder,
            config=self.config or before.config,
            json=self.json or before.json,
            debug=self.debug or before.debug,
        )


@dataclass(frozen=True, slots=True)
class MemoryFlags:
    """The fields of a memory, besides its text."""

    title: Annotated[str | None, typer.Option("--title", help="A title, found with more weight than the text.")] = None
    kind: Annotated[str | None, typer.Option("--kind", help="note, fact, movie, link, log, … or your own.")] = None
    tag: Annotated[list[str], typer.Option("--tag", help="A tag; may be repeated.")] = field(default_factory=list)
    keyword: Annotated[list[str], typer.Option("--keyword", help="A word to be found by; may be repeated.")] = field(
        default_factory=list
    )
    category: Annotated[str | None, typer.Option("--category", help="The one category it belongs to.")] = None
    meta: Annotated[
        list[str], typer.Option("--meta", metavar="KEY=VALUE", help="Metadata; JSON where it parses, else text.")
    ] = field(default_factory=list)
    importance: Annotated[float | None, typer.Option("--importance", help="From 0 to 1.")] = None
    sensitive: Annotated[
        bool | None, typer.Option("--sensitive/--no-sensitive", help="Never embedded, never exported unasked.")
    ] = None
    occurred: Annotated[
        str | None, typer.Option("--occurred", metavar="WHEN", help="When it happened: 2026-01-31, yesterday, 7d.")
    ] = None
    source: Annotated[str | None, typer.Option("--source", help="Where it comes from.")] = None
    thread: Annotated[str | None, typer.Option("--thread", help="The conversation, log or document it is part of.")] = (
        None
    )
    position: Annotated[int | None, typer.Option("--position", help="Its place in the thread.")] = None
    language: Annotated[str | None, typer.Option("--language", help="Its language: pt, german, …")] = None


@dataclass(frozen=True, slots=True)
class Scope:
    """What to look among."""

    kind: Annotated[list[str], typer.Option("--kind", help="Only this kind; may be repeated.")] = field(
        default_factory=list
    )
    tag: Annotated[list[str], typer.Option("--tag", help="Only with this tag; repeated: with all of them.")] = field(
        default_factory=list
    )
    where: Annotated[
        str | None, typer.Option("--where", metavar="FILTER", help="A filter: 'metadata.year = 2014 and kind = movie'.")
    ] = None
    include_superseded: Annotated[
        bool, typer.Option("--include-superseded", help="Also what was replaced by something newer.")
    ] = False


@dataclass(frozen=True, slots=True)
class SearchFlags:
    """How to search."""

    since: Annotated[str | None, typer.Option("--since", metavar="WHEN", help="Not before: 2026-01-31, 7d, …")] = None
    until: Annotated[str | None, typer.Option("--until", metavar="WHEN", help="Not after.")] = None
    limit: Annotated[int, typer.Option("--limit", "-n", help="How many hits.")] = 10
    min_score: Annotated[float, typer.Option("--min-score", help="Drop hits below this score, 0 to 1.")] = 0.0
    candidates: Annotated[int | None, typer.Option("--candidates", help="How deep each leg looks.")] = None
    legs: Annotated[
        list[str], typer.Option("--legs", metavar="LEG", help="lexical, dense; repeated or with commas.")
    ] = field(default_factory=list)
    weight: Annotated[
        list[str], typer.Option("--weight", metavar="LEG=NUMBER", help="What a leg counts; may be repeated.")
    ] = field(default_factory=list)
    fusion: Annotated[
        str | None, typer.Option("--fusion", metavar="METHOD", help="rrf, linear, linear_bonus, minmax, tm2c2.")
    ] = None
    k: Annotated[int | None, typer.Option("--k", help="The constant of rrf.")] = None
    sort_by: Annotated[str, typer.Option("--sort-by", help="relevance, importance, recency.")] = "relevance"
    as_of: Annotated[str | None, typer.Option("--as-of", metavar="WHEN", help="What was known at that time.")] = None
    no_importance: Annotated[bool, typer.Option("--no-importance", help="Leave importance out of the score.")] = False
    recency_half_life: Annotated[
        float | None, typer.Option("--recency-half-life", metavar="DAYS", help="Let older memories fade.")
    ] = None
    usage_weight: Annotated[float, typer.Option("--usage-weight", help="What past use counts, 0 to 1.")] = 0.0
    no_typos: Annotated[bool, typer.Option("--no-typos", help="Search unknown words as they are.")] = False
