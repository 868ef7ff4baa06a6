"""What reaches stdout and stderr. Results go to stdout, everything else to stderr, no control character to either."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

from trivium.interfaces.cli.flags import ReaderGone
from trivium.lines import json_line
from trivium.record import Json

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.text import Text

Shown: TypeAlias = "str | Text | RenderableType"

UNBOUNDED = 100_000  # columns, where no terminal sets a limit: lines in a file are never folded


def print_error(code: str, message: str, *, as_json: bool) -> None:
    """One line on stderr; on a terminal also what points into the input. With --json stdout says the same."""
    first, *picture = message.splitlines() or [""]
    note(f"error: {first.strip()}")
    if sys.stderr.isatty():
        for line in picture:
            note(line)
    if as_json:
        sys.stdout.write(json_line({"ok": False, "error": {"code": code, "message": message}}) + "\n")


def print_result(payload: Mapping[str, Json], shown: Callable[[], Iterable[Shown]], *, as_json: bool) -> None:
    """The answer of a command: one JSON object, or lines for people."""
    if as_json:
        sys.stdout.write(json_line({"ok": True, **payload}) + "\n")
        return
    console = stdout_console()
    for line in shown():
        console.print(line, soft_wrap=isinstance(line, str))


def note(text: str) -> None:
    """Something the user should know that is no result."""
    from trivium.search.explain import printable

    sys.stderr.write(printable(text) + "\n")


def stdout_console() -> Console:
    """Colours only on a terminal, and not where NO_COLOR is set."""
    from rich.console import Console

    class Pipe(Console):
        def on_broken_pipe(self) -> None:
            raise ReaderGone

    width = None if sys.stdout.isatty() else UNBOUNDED
    return Pipe(file=sys.stdout, width=width, highlight=False, markup=False, emoji=False)


@contextmanager
def progress_bar(what: str) -> Iterator[Callable[[int, int | None], None]]:
    """A bar on stderr that hears (done, total). Nothing where stderr is no terminal."""
    if not sys.stderr.isatty():
        yield lambda _done, _total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
