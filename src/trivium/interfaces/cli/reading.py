"""`show`, `list`, `history`: looking at memories."""

from __future__ import annotations

from typing import Annotated, cast, get_args

import typer

from trivium.errors import InvalidInput
from trivium.interfaces.cli.flags import Common, Scope, takes_flags
from trivium.interfaces.cli.given import scope_filter
from trivium.interfaces.cli.session import session
from trivium.record import utc_now


def register(app: typer.Typer) -> None:
    app.command(epilog="\b\nExample:\n  trivium show ID")(takes_flags(show))
    app.command(
        "list",
        epilog="\b\nExamples:\n  trivium list --kind movie --limit 50\n"
        "  trivium list --where 'importance >= 0.8 and created_at > 7d' --order importance",
    )(takes_flags(list_memories))
    app.command(epilog="\b\nExample:\n  trivium history ID")(takes_flags(history))


def show(
    ctx: typer.Context,
    ids: Annotated[list[str], typer.Argument(metavar="ID...", help="Ids of memories.")],
    common: Common,
) -> None:
    """Show memories whole."""
    with session(ctx, common) as s:
        from trivium.interfaces.cli import render
        from trivium.search.result import memory_to_dict

        memories = [s.memory.get(id) for id in ids]
        s.answer(
            {"memories": [memory_to_dict(memory) for memory in memories]},
            lambda: (line for memory in memories for line in render.memory_whole(memory)),
        )


def list_memories(
    *,
    ctx: typer.Context,
    scope: Scope,
    common: Common,
    limit: Annotated[int, typer.Option("--limit", "-n", help="How many.")] = 20,
    offset: Annotated[int, typer.Option("--offset", help="How many to pass over.")] = 0,
    order: Annotated[str, typer.Option("--order", help="created, updated, occurred, importance, thread.")] = "created",
    oldest_first: Annotated[bool, typer.Option("--oldest-first", help="The other way round.")] = False,
) -> None:
    """List memories, newest first."""
    with session(ctx, common) as s:
        from trivium.interfaces.cli import render
        from trivium.search.result import memory_to_dict
        from trivium.store.contract import Order

        if order not in get_args(Order):
            raise InvalidInput(f"order: {order!r} is unknown; known: {', '.join(get_args(Order))}")
        if limit < 0 or offset < 0:
            raise InvalidInput("limit: and offset are numbers from 0")
        memories = s.memory.list(
            scope_filter(scope),
            order=cast("Order", order),
            newest_first=not oldest_first,
            limit=limit,
            offset=offset,
            include_superseded=scope.include_superseded,
        )
        s.answer(
            {"memories": [memory_to_dict(memory) for memory in memories]},
            lambda: render.memory_lines(memories, utc_now()),
        )


def history(
    ctx: typer.Context, id: Annotated[str, typer.Argument(metavar="ID", help="The id of a memory.")], common: Common
) -> None:
    """A memory with all that it superseded and was superseded by, oldest first."""
    with session(ctx, common) as s:
        from trivium.interfaces.cli import render
        from trivium.search.result import memory_to_dict

        line = s.memory.history(id)
        s.answer(
            {"memories": [memory_to_dict(memory) for memory in line]}, lambda: render.memory_lines(line, utc_now())
        )
