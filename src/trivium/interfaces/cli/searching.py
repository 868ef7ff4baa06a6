"""`search`, `why`, `similar`: questions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from trivium.interfaces.cli.flags import Common, Scope, SearchFlags, takes_flags
from trivium.interfaces.cli.given import moment, numbers
from trivium.interfaces.cli.session import merged, session

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from trivium.engine import Trivium
    from trivium.search.result import Results

Id = Annotated[str, typer.Argument(metavar="ID", help="The id of a memory.")]


def register(app: typer.Typer) -> None:
    app.command(
        epilog="\b\nExamples:\n"
        "  trivium search 'filmes de ficção científica' --kind movie\n"
        "  trivium search 'why did the deploy fail' --since 2026-01-01 --tag infra --explain\n"
        "  trivium search 'space travel' --where 'metadata.year between 2010 and 2019' --weight dense=2"
    )(takes_flags(search))
    app.command(epilog="\b\nExample:\n  trivium why 'space travel film' ID --limit 5")(takes_flags(why))
    app.command(epilog="\b\nExample:\n  trivium similar ID --limit 5")(takes_flags(similar))


def search(
    *,
    ctx: typer.Context,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What to look for; any text will do.")],
    scope: Scope,
    flags: SearchFlags,
    common: Common,
    explain: Annotated[bool, typer.Option("--explain", help="Show the sum that made each score.")] = False,
) -> None:
    """Find memories by words and by meaning, best first."""
    with session(ctx, common, many=True) as s:
        results = s.memory.search(query, **_options(merged(ctx, common), scope, flags))  # type: ignore[arg-type]
        s.answer(results.to_dict(), lambda: _shown(results, s.memory, explain=explain))


def why(
    *,
    ctx: typer.Context,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="The search, as it was asked.")],
    id: Id,
    scope: Scope,
    flags: SearchFlags,
    common: Common,
) -> None:
    """Search again and name the stage that lost this memory, or its place. Takes the flags of search."""
    with session(ctx, common, many=True) as s:
        found = s.memory.why_not(query, id, **_options(merged(ctx, common), scope, flags))  # type: ignore[arg-type]
        from trivium.search.explain import render_why

        s.answer(
            {
                "id": found.key.id,
                "space": found.key.space,
                "stage": found.stage,
                "reason": found.reason,
                "place": found.place,
                "checks": [
                    {"name": check.name, "passed": check.passed, "detail": check.detail} for check in found.checks
                ],
                "hit": None if found.hit is None else found.hit.to_dict(),
            },
            lambda: [render_why(found)],
        )


def similar(
    ctx: typer.Context, id: Id, common: Common, limit: Annotated[int, typer.Option("--limit", "-n")] = 10
) -> None:
    """Memories that mean nearly the same as this one."""
    with session(ctx, common) as s:
        results = s.memory.similar(id, limit=limit)
        s.answer(results.to_dict(), lambda: _shown(results, s.memory, explain=False))


def _shown(results: Results, memory: Trivium, *, explain: bool) -> Iterator[RenderableType]:
    """For a person: Rich is imported here, since an answer in JSON does without it."""
    from trivium.interfaces.cli import render_hits

    return render_hits.results(results, memory, explain=explain)


def _options(common: Common, scope: Scope, flags: SearchFlags) -> dict[str, object]:
    """The flags by their names in `SearchOptions`; what was not given is left to the memory."""
    options: dict[str, object] = {
        "spaces": common.space or None,
        "kind": scope.kind or None,
        "tags": scope.tag or None,
        "where": scope.where,
        "include_superseded": scope.include_superseded,
        "since": moment("since", flags.since),
        "until": moment("until", flags.until),
        "as_of": moment("as_of", flags.as_of),
        "limit": flags.limit,
        "min_score": flags.min_score,
        "candidates": flags.candidates,
        "legs": [leg.strip() for given in flags.legs for leg in given.split(",")] or None,
        "weights": numbers("weight", flags.weight) or None,
        "fusion": flags.fusion,
        "k": flags.k,
        "sort_by": flags.sort_by,
        "use_importance": not flags.no_importance,
        "recency_half_life_days": flags.recency_half_life,
        "usage_weight": flags.usage_weight,
        "correct_typos": not flags.no_typos,
    }
    return {name: value for name, value in options.items() if value is not None}
