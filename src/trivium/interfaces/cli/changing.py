"""`edit`, `supersede`, `forget`: changing what is there."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trivium.errors import InvalidInput, NotFound
from trivium.interfaces.cli.flags import Common, MemoryFlags, takes_flags
from trivium.interfaces.cli.given import STDIN, memory_fields, read_text
from trivium.interfaces.cli.session import session

if TYPE_CHECKING:
    from trivium.record import Memory

Id = Annotated[str, typer.Argument(metavar="ID", help="The id of a memory.")]


def register(app: typer.Typer) -> None:
    app.command(
        epilog="\b\nExamples:\n  trivium edit ID --tag people --meta year=2015\n"
        "  trivium edit ID --content 'Ada moved to Porto.' --keep-history\n"
        "  trivium edit ID                 (opens $EDITOR)"
    )(takes_flags(edit))
    app.command(epilog="\b\nExample:\n  trivium supersede ID 'Ada moved to Porto in June.'")(takes_flags(supersede))
    app.command(epilog="\b\nExample:\n  trivium forget ID --yes")(takes_flags(forget))


def edit(
    *,
    ctx: typer.Context,
    id: Id,
    flags: MemoryFlags,
    common: Common,
    content: Annotated[str | None, typer.Option("--content", help="The new text; - reads it from stdin.")] = None,
    keep_history: Annotated[
        bool, typer.Option("--keep-history", help="Leave the old one as superseded; the new one has a new id.")
    ] = False,
) -> None:
    """Change fields of a memory. With no flag the text is edited: in $EDITOR on a terminal, else read from stdin.

    --tag and --keyword replace what was there ('' clears it); --meta changes the keys it names.
    """
    with session(ctx, common) as s:
        old = s.memory.get(id)
        fields = _fields(flags, old)
        if content is not None or not fields:
            fields["content"] = _text(content, old)
        new = s.memory.update(id, keep_history=keep_history, **fields)  # type: ignore[arg-type]
        from trivium.search.result import memory_to_dict

        s.answer({"id": new.id, "memory": memory_to_dict(new)}, lambda: [new.id])


def supersede(
    *,
    ctx: typer.Context,
    id: Id,
    flags: MemoryFlags,
    common: Common,
    content: Annotated[str | None, typer.Argument(metavar="[TEXT]", help="The new text; - reads stdin.")] = None,
) -> None:
    """Put a new memory in the place of an old one, which leaves the search and stays readable. Prints the new id."""
    with session(ctx, common) as s:
        old = s.memory.get(id)
        fields = _fields(flags, old)
        if content is not None:
            fields["content"] = _text(content, old)
        if not fields:
            raise InvalidInput("content: is missing; give the new text, - for stdin, or a field that changes")
        new = s.memory.update(id, keep_history=True, **fields)  # type: ignore[arg-type]
        from trivium.search.result import memory_to_dict

        s.answer({"id": new.id, "memory": memory_to_dict(new)}, lambda: [new.id])


def forget(
    ctx: typer.Context,
    ids: Annotated[list[str], typer.Argument(metavar="ID...", help="Ids of memories.")],
    common: Common,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Delete memories for good, from every index. Asks first on a terminal. Prints the receipt."""
    with session(ctx, common) as s:
        if sys.stdin.isatty() and not yes and not typer.confirm(f"Forget {len(ids)} for good?", err=True):
            raise InvalidInput("forget: not confirmed; nothing was forgotten")
        receipt = s.memory.forget(*ids)
        if not receipt.forgotten:
            raise NotFound(f"no memory {ids[0]!r} in space {receipt.space!r}; nothing was forgotten")
        from trivium.interfaces.cli import render

        s.answer(
            {
                "space": receipt.space,
                "forgotten": list(receipt.forgotten),
                "missing": list(receipt.missing),
                "records": receipt.records,
                "passages": receipt.passages,
                "vectors": receipt.vectors,
                "at": receipt.at.isoformat(),
            },
            lambda: render.receipt_lines(receipt),
        )


def _fields(flags: MemoryFlags, old: Memory) -> dict[str, object]:
    fields = memory_fields(flags)
    named = fields.get("metadata")
    if isinstance(named, dict):
        fields["metadata"] = {**old.metadata, **named}
    return fields


def _text(content: str | None, old: Memory) -> str:
    if content == STDIN or (content is None and not sys.stdin.isatty()):
        return read_text(STDIN)
    return _edited(old.content) if content is None else content


def _edited(text: str) -> str:
    """The text as the user's editor leaves it. In a folder of its own that nobody else can read."""
    import shlex
    import subprocess
    import tempfile

    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    with tempfile.TemporaryDirectory(prefix="trivium-") as folder:
        file = Path(folder) / "memory.md"
        file.write_text(text, encoding="utf-8")
        try:
            done = subprocess.run([*shlex.split(editor), str(file)], check=False)
        except OSError as error:
            raise InvalidInput(f"EDITOR: {editor!r} cannot be run ({error.strerror}); use --content") from error
        if done.returncode:
            raise InvalidInput(f"EDITOR: {editor!r} ended with {done.returncode}; nothing was changed")
        return file.read_text(encoding="utf-8").removesuffix("\n" if not text.endswith("\n") else "")
