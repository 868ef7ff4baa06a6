"""The command line as a whole: its commands, its exit codes, and how it ends when something goes wrong.

0 done · 1 verify or doctor found something · 2 invalid input · 3 not found · 4 the store · 5 the embedder ·
6 a missing extra · 130 interrupted. Nothing heavy is imported before a command needs it.
"""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated

import typer

from trivium import __version__
from trivium.errors import EmbedderError, InvalidInput, MissingExtra, NotFound, StoreError, TriviumError
from trivium.interfaces.cli.flags import Common, ReaderGone, takes_flags

INTERRUPTED = 130
EXIT_CODES: tuple[tuple[type[Exception], int], ...] = (
    (InvalidInput, 2),
    (NotFound, 3),
    (StoreError, 4),
    (EmbedderError, 5),
    (MissingExtra, 6),
    (OSError, 4),
)  # and 2 for a command line that does not parse

# Newer Typers carry a Click of their own, older ones use the package: this is the root of the errors of either.
Misuse: type[BaseException] = typer.BadParameter.__mro__[2]

# The commands and the files they are in. Only files whose command may have been asked for are read.
ROOMS = {
    "adding": ("add",),
    "searching": ("search", "why", "similar"),
    "reading": ("show", "list", "history"),
    "changing": ("edit", "supersede", "forget"),
    "spaces": ("spaces",),
    "tending": ("stats", "reembed", "reindex", "verify", "doctor"),
    "moving": ("export", "import", "backup", "restore"),
    "configuring": ("config",),
}


def command_line(args: Sequence[str] = ()) -> typer.Typer:
    """The commands that occur among the arguments, or all of them where none does."""
    app = typer.Typer(
        name="trivium",
        help="A memory that finds records by words and by meaning, and says why.",
        epilog="\b\nExample:\n  trivium add 'Ada moved to Lisbon in May.'\n  trivium search 'where does Ada live'",
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )
    app.callback()(takes_flags(_trivium))
    asked = [room for room, names in ROOMS.items() if not set(names).isdisjoint(args)]
    for room in asked or ROOMS:
        import_module(f"trivium.interfaces.cli.{room}").register(app)
    return app


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"trivium {__version__}")
        raise typer.Exit


def _trivium(
    ctx: typer.Context,
    common: Common,
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    del version
    ctx.obj = common


def run() -> None:
    """The entry point of `trivium` and of `python -m trivium`."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal that cannot show a letter gets its number
    sys.exit(main(sys.argv[1:]))


def main(args: Sequence[str]) -> int:
    """Run a command line; returns its exit code."""
    try:
        code = command_line(args)(args=list(args) or ["--help"], prog_name="trivium", standalone_mode=False)
        sys.stdout.flush()
    except (ReaderGone, BrokenPipeError):
        # What is still in the buffer must not fail once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except (TriviumError, OSError, Misuse) as error:
        return _failed(error, args)
    return code if isinstance(code, int) else 0


def exit_code(error: BaseException) -> int:
    return next((code for kind, code in EXIT_CODES if isinstance(error, kind)), 2)


def error_code(error: BaseException) -> str:
    """The name of the error as programs read it: `InvalidFilter` is `invalid_filter`."""
    if isinstance(error, TriviumError):
        return re.sub(r"(?<!^)(?=[A-Z])", "_", type(error).__name__).lower()
    return "os_error" if isinstance(error, OSError) else "usage"


def _failed(error: BaseException, args: Sequence[str]) -> int:
    from trivium.interfaces.cli.output import print_error

    flags = args[: args.index("--")] if "--" in args else args  # the parser may have failed before it saw them
    if "--debug" in flags:
        import traceback

        traceback.print_exception(error)
    said = error.format_message() if hasattr(error, "format_message") else error
    print_error(error_code(error), str(said), as_json="--json" in flags)
    return exit_code(error)
