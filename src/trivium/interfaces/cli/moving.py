"""`export`, `import`, `backup`, `restore`: memories out of a store and into one."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, BinaryIO

import typer

from trivium.errors import InvalidInput, StoreError
from trivium.interfaces.cli.flags import Common, takes_flags
from trivium.interfaces.cli.given import STDIN, opened
from trivium.interfaces.cli.output import note, print_result, progress_bar
from trivium.interfaces.cli.session import merged, session, settings_for, store_file


def register(app: typer.Typer) -> None:
    app.command(
        epilog="\b\nExamples:\n  trivium export > all.jsonl\n  trivium export films.jsonl --where 'kind = movie'"
    )(takes_flags(export))
    app.command(
        "import",
        epilog="\b\nExamples:\n  trivium import all.jsonl\n  trivium export --db a.db | trivium import - --db b.db",
    )(takes_flags(import_file))
    app.command(epilog="\b\nExample:\n  trivium backup memory-2026-01-31.db")(takes_flags(backup))
    app.command(epilog="\b\nExample:\n  trivium restore memory-2026-01-31.db --force")(takes_flags(restore))


def export(
    ctx: typer.Context,
    common: Common,
    file: Annotated[str, typer.Argument(metavar="[FILE]", help="Where to; stdout without it.")] = STDIN,
    where: Annotated[str | None, typer.Option("--where", metavar="FILTER", help="Only what matches.")] = None,
    include_sensitive: Annotated[
        bool, typer.Option("--include-sensitive", help="Also the sensitive ones, in plain text.")
    ] = False,
) -> None:
    """Write memories as JSONL, every field of them, superseded ones too: of all spaces unless --space names some."""
    flags = merged(ctx, common)
    if flags.json and file == STDIN:
        raise InvalidInput("file: with --json the answer goes to stdout; name a file for the export")
    with session(ctx, common, many=True) as s:
        from trivium.filter import EVERYTHING
        from trivium.interfaces.cli.given import filter_of
        from trivium.transfer import export_lines, sensitive_left_out

        store, wanted = s.memory.store, EVERYTHING if where is None else filter_of(where)
        written = 0
        with store.reading(), _written_to(file) as out:
            left = 0 if include_sensitive else sensitive_left_out(store, flags.space, wanted)
            for line in export_lines(store, flags.space, wanted, include_sensitive=include_sensitive):
                out.write(line.encode() + b"\n")
                written += 1
        if left:
            note(f"left out {left} sensitive memories; --include-sensitive exports them")
        if file != STDIN:
            s.answer(
                {"file": file, "lines": written, "sensitive_left_out": left}, lambda: [f"{written} lines to {file}"]
            )


def import_file(
    ctx: typer.Context,
    common: Common,
    file: Annotated[str, typer.Argument(metavar="FILE", help="What export wrote; - reads stdin.")],
    replace: Annotated[bool, typer.Option("--replace", help="Where an id is there already, let the file win.")] = False,
) -> None:
    """Store what export wrote, without loss: ids, times, links, threads, uses. What is there already is passed over.

    Lines without a space go to --space. A bad line is an error; nothing of its batch of 512 lines is stored.
    """
    with session(ctx, common, makes=True) as s:
        from trivium.lines import read_lines

        with opened(file) as lines, progress_bar("importing") as progress:
            done = s.memory.import_lines(
                read_lines(lines), replace_known=replace, progress=lambda count: progress(count, None)
            )
        s.answer(
            {"stored": done.stored, "replaced": done.replaced, "same": done.same},
            lambda: [f"stored {done.stored}, replaced {done.replaced}, already there {done.same}"],
        )


def backup(
    ctx: typer.Context, common: Common, file: Annotated[Path, typer.Argument(metavar="FILE", help="A new file.")]
) -> None:
    """Copy the whole store to a file, while others use it; its SHA-256 goes to FILE.sha256."""
    with session(ctx, common) as s:
        from trivium.backups import back_up

        checksum = back_up(s.memory.store, file)
        size = file.stat().st_size
        s.answer(
            {"file": str(file), "sha256": checksum, "size_bytes": size},
            lambda: [f"{file}  {size:,} bytes  sha256 {checksum}"],
        )


def restore(
    ctx: typer.Context,
    common: Common,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A backup, with FILE.sha256 beside it.")],
    force: Annotated[
        bool, typer.Option("--force", help="Replace the store that is there; it is kept as .before-restore.")
    ] = False,
) -> None:
    """Make the store a copy of a backup whose checksum holds."""
    flags = merged(ctx, common)
    target = store_file(settings_for(flags))
    if target is None:
        raise InvalidInput("db: only a file can be restored; give --db FILE")
    from trivium.backups import restore as put_back

    kept = put_back(file, target, replace=force)
    print_result(
        {"file": str(target), "kept": None if kept is None else str(kept)},
        lambda: [f"restored {target}" + ("" if kept is None else f"; what was there is {kept}")],
        as_json=flags.json,
    )


@contextmanager
def _written_to(file: str) -> Iterator[BinaryIO]:
    """A new file, or stdout. A file that could not be finished is taken away."""
    if file == STDIN:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    path = Path(file)
    partial = path.with_name(f"{path.name}.partial")
    try:
        with partial.open("wb") as out:
            yield out
        partial.replace(path)
    except OSError as error:
        raise StoreError(f"{file} cannot be written ({error.strerror}); choose another place") from error
    finally:
        partial.unlink(missing_ok=True)
