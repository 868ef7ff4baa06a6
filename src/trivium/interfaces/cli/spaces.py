"""`spaces`: what spaces there are, and their settings."""

from __future__ import annotations

from typing import Annotated

import typer

from trivium.errors import InvalidInput
from trivium.interfaces.cli.flags import Common, takes_flags
from trivium.interfaces.cli.given import json_or_text, pair_of
from trivium.interfaces.cli.session import merged, session
from trivium.record import Json


def register(app: typer.Typer) -> None:
    group = typer.Typer(
        help="List spaces, or set what holds in one.",
        epilog="\b\nExamples:\n  trivium spaces\n  trivium spaces set notes --language pt --setting search.fusion=rrf",
        invoke_without_command=True,
        rich_markup_mode=None,
    )
    group.callback()(takes_flags(spaces))
    group.command(
        "set",
        epilog="\b\nExamples:\n  trivium spaces set notes --language pt\n"
        "  trivium spaces set notes --setting search.weights.dense=0.7\n"
        "  trivium spaces set notes --setting search.fusion=      (takes it away)",
    )(takes_flags(set_space))
    app.add_typer(group, name="spaces")


def spaces(ctx: typer.Context, common: Common) -> None:
    if ctx.invoked_subcommand is not None:
        ctx.obj = merged(ctx, common)
        return
    with session(ctx, common) as s:
        from trivium.interfaces.cli import render

        found = [(facts, s.memory.space_settings(facts.name)) for facts in s.memory.spaces()]
        s.answer(
            {
                "spaces": [
                    {
                        "name": facts.name,
                        "memories": facts.memories,
                        "superseded": facts.superseded,
                        "sensitive": facts.sensitive,
                        "passages": facts.passages,
                        "language": own.language,
                        "languages": list(own.languages),
                        "settings": dict(own.settings),
                    }
                    for facts, own in found
                ]
            },
            lambda: [
                render.table(
                    ("space", "memories", "superseded", "sensitive", "language"),
                    (
                        (facts.name, facts.memories, facts.superseded, facts.sensitive, own.language or "of each")
                        for facts, own in found
                    ),
                )
            ],
        )


def set_space(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The space; it is made where it is not there.")],
    common: Common,
    language: Annotated[
        str | None, typer.Option("--language", help="The language of its memories; '' lets each speak for itself.")
    ] = None,
    setting: Annotated[
        list[str] | None, typer.Option("--setting", metavar="KEY=VALUE", help="e.g. search.fusion=rrf.")
    ] = None,
) -> None:
    """Set the language and the search settings of a space."""
    if language is None and not setting:
        raise InvalidInput("setting: nothing to set; give --language or --setting")
    with session(ctx, common, makes=True) as s:
        settings = dict(s.memory.space_settings(name).settings)
        for key, value in (pair_of("setting", pair) for pair in setting or ()):
            settings = with_setting(settings, key.split("."), value)
        s.memory.set_space(name, language=language, settings=settings if setting else None)
        own = s.memory.space_settings(name)
        s.answer(
            {"name": name, "language": own.language, "settings": dict(own.settings)},
            lambda: [f"language {own.language or 'of each memory'}", f"settings {dict(own.settings)}"],
        )


def with_setting(settings: dict[str, Json], path: list[str], value: str) -> dict[str, Json]:
    """The settings with one key changed, or taken away where the value is empty."""
    head, rest = path[0], path[1:]
    if not rest:
        kept = {name: old for name, old in settings.items() if name != head}
        return kept if value == "" else {**kept, head: json_or_text(value)}
    inner = settings.get(head, {})
    if not isinstance(inner, dict):
        raise InvalidInput(f"setting: {head!r} is not a table; it has no {'.'.join(rest)}")
    return {**settings, head: with_setting(inner, rest, value)}
