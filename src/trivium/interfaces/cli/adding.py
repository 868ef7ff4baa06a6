"""`add`: one text, several files, or a file of records."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from trivium.errors import InvalidInput
from trivium.interfaces.cli.flags import Common, MemoryFlags, takes_flags
from trivium.interfaces.cli.given import STDIN, memory_fields, opened, read_text
from trivium.interfaces.cli.output import note, progress_bar
from trivium.interfaces.cli.session import session

if TYPE_CHECKING:
    from trivium.models.embed import Embedder
    from trivium.write.ingest import Added

Record = dict[str, object]


def register(app: typer.Typer) -> None:
    app.command(
        epilog="\b\nExamples:\n"
        "  trivium add 'Interstellar, Nolan 2014' --kind movie --tag sci-fi --meta year=2014\n"
        "  git log -1 | trivium add - --kind log\n"
        "  trivium add --file notes.md --file todo.md\n"
        "  trivium add --jsonl messages.jsonl --kind message"
    )(takes_flags(add))


def add(
    *,
    ctx: typer.Context,
    flags: MemoryFlags,
    common: Common,
    content: Annotated[str | None, typer.Argument(metavar="[TEXT]", help="The text; - reads it from stdin.")] = None,
    file: Annotated[
        list[str] | None, typer.Option("--file", metavar="FILE", help="A file as one memory; may be repeated.")
    ] = None,
    jsonl: Annotated[
        str | None,
        typer.Option("--jsonl", metavar="FILE", help="A record a line (- is stdin); flags fill what it lacks."),
    ] = None,
    id: Annotated[str | None, typer.Option("--id", help="An id of your own.")] = None,
    allow_duplicate: Annotated[
        bool, typer.Option("--allow-duplicate", help="Store it even if the very same text is there.")
    ] = False,
) -> None:
    """Store memories. Prints the id of each: a new one, or the one that has the same text already."""
    if sum(given is not None for given in (content, file or None, jsonl)) > 1:
        raise InvalidInput("content: give a text, --file or --jsonl, one of them")
    fields = memory_fields(flags)
    if id is not None:
        if jsonl is not None or len(file or ()) > 1:
            raise InvalidInput("id: is for one memory; records of --jsonl carry their own")
        fields["id"] = id
    with session(ctx, common, makes=True) as s:
        records = _lines(jsonl, fields) if jsonl is not None else _texts(content, file or [], fields)
        with progress_bar("storing") as progress:
            added = s.memory.add_many(
                records, allow_duplicates=allow_duplicate, progress=lambda done: progress(done, None)
            )
        _tell(added, s.memory.embedder)
        s.answer(
            {
                "added": [{"id": one.id, "duplicate": one.duplicate} for one in added],
                "stored": sum(not one.duplicate for one in added),
                "duplicates": sum(one.duplicate for one in added),
            },
            lambda: (one.id for one in added),
        )


def _texts(content: str | None, files: list[str], fields: Record) -> Iterator[Record]:
    if not files:
        if content is None and sys.stdin.isatty():
            raise InvalidInput("content: is missing; give a text, - for stdin, --file or --jsonl")
        yield {**fields, "content": read_text(STDIN) if content in (None, STDIN) else content}
    for path in files:
        origin = {} if path == STDIN else {"source": path}
        yield {**origin, **fields, "content": read_text(path)}


def _lines(path: str, fields: Record) -> Iterator[Record]:
    from trivium.lines import read_lines
    from trivium.record import utc_now
    from trivium.transfer import draft_fields

    with opened(path) as file:
        for line in read_lines(file):
            yield draft_fields(line, fields, utc_now())


def _tell(added: list[Added], embedder: Embedder | None) -> None:
    if embedder is not None and embedder.remote:
        note("found by words at once; by meaning once `trivium reembed` has made the vectors")
    duplicates = sum(one.duplicate for one in added)
    if len(added) > 1:
        note(f"stored {len(added) - duplicates}, already there {duplicates}")
    elif duplicates:
        note("already there: the same text is stored under this id (--allow-duplicate stores it again)")
