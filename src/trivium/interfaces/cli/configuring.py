"""`config`: the settings in effect, who set them, and setting one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from trivium.errors import InvalidInput, StoreError
from trivium.interfaces.cli.flags import Common, takes_flags
from trivium.interfaces.cli.given import json_or_text
from trivium.interfaces.cli.output import print_result
from trivium.interfaces.cli.session import merged, settings_for, store_file
from trivium.settings import VARIABLES, Settings, find_file, read_file, user_file


def register(app: typer.Typer) -> None:
    group = typer.Typer(
        help="Show the settings in effect and where each comes from.",
        epilog="\b\nExamples:\n  trivium config\n  trivium config set search.fusion rrf",
        invoke_without_command=True,
        rich_markup_mode=None,
    )
    group.callback()(takes_flags(config))
    group.command("path", epilog="\b\nExample:\n  trivium config path")(takes_flags(path))
    group.command(
        "set",
        epilog="\b\nExamples:\n  trivium config set space work\n  trivium config set search.weights.dense 0.7",
    )(takes_flags(set_key))
    app.add_typer(group, name="config")


def config(ctx: typer.Context, common: Common) -> None:
    flags = merged(ctx, common)
    ctx.obj = flags
    if ctx.invoked_subcommand is not None:
        return
    settings = settings_for(flags)
    settings.defaults()
    rows = {
        "db": (str(store_file(settings) or settings.db.value), settings.db.source),
        "space": (str(settings.space.value), settings.space.source),
        "embedder": (str(settings.embedder.value), settings.embedder.source),
        "dense_index": (str(settings.dense_index.value), settings.dense_index.source),
        "search": (settings.search.value, settings.search.source),
    }
    file = _file_in_effect(settings)
    from trivium.interfaces.cli import render

    print_result(
        {
            "file": str(file),
            "found": settings.file is not None,
            "settings": {key: {"value": value, "source": source} for key, (value, source) in rows.items()},
        },
        lambda: [
            render.table(("setting", "value", "from"), ((key, *row) for key, row in rows.items())),
            f"file: {file}" + ("" if settings.file else " (not there)"),
        ],
        as_json=flags.json,
    )


def path(ctx: typer.Context, common: Common) -> None:
    """The settings file that is read, or the one that `config set` would make."""
    flags = merged(ctx, common)
    found = find_file(os.environ, Path.cwd(), flags.config)
    file = found or user_file()
    print_result({"file": str(file), "found": found is not None}, lambda: [str(file)], as_json=flags.json)


def set_key(
    ctx: typer.Context,
    key: Annotated[str, typer.Argument(metavar="KEY", help="db, space, embedder, or search.…")],
    value: Annotated[str, typer.Argument(metavar="VALUE")],
    common: Common,
) -> None:
    """Set one key in the settings file that is read, else in a new one in the user's config folder."""
    flags = merged(ctx, common)
    file = flags.config or find_file(os.environ, Path.cwd(), None) or user_file()
    given = value if key in VARIABLES else json_or_text(value)
    if isinstance(given, (dict, list)) or given is None:
        raise InvalidInput(f"{key}: set the keys of a table one by one, e.g. search.weights.dense 0.7")
    _write(file, key.split("."), given)
    print_result(
        {"file": str(file), "key": key, "value": given}, lambda: [f"{key} = {given!r} in {file}"], as_json=flags.json
    )


def _write(file: Path, path: list[str], value: str | int | float | bool) -> None:
    """Write the file with one key changed, unless that makes it one that could not be read."""
    from trivium.settings_edit import with_key

    if file.exists():
        read_file(file)
    changed = with_key(file.read_text(encoding="utf-8") if file.exists() else "", path, value)
    draft = file.with_name(f"{file.name}.draft")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        draft.write_text(changed, encoding="utf-8")
        _check(draft, file)
        draft.replace(file)
    except OSError as error:
        raise StoreError(f"{file} cannot be written ({error.strerror})") from error
    finally:
        draft.unlink(missing_ok=True)


def _check(draft: Path, file: Path) -> None:
    from trivium.settings import read_settings

    try:
        read_settings({}, {}, draft.parent, draft).defaults()
    except InvalidInput as error:
        raise InvalidInput(str(error).replace(str(draft), str(file))) from error


def _file_in_effect(settings: Settings) -> Path:
    return settings.file or user_file()
