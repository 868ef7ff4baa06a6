"""Memories, spaces, findings and settings as people read them. Every text from a store is made printable first."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from rich.console import RenderableType
from rich.text import Text

from trivium.record import Memory
from trivium.search.explain import age, clip, printable
from trivium.search.result import memory_to_dict
from trivium.store.contract import Finding, Receipt

LINE_WIDTH = 80


def memory_lines(memories: Sequence[Memory], now: datetime) -> Iterator[RenderableType]:
    """One line a memory: id, age, kind, tags, and the beginning of its text."""
    for memory in memories:
        text = f"{memory.title}: {memory.content}" if memory.title else memory.content
        line = Text(memory.id, style="cyan")
        line.append(f"  {clip(printable_line(text), LINE_WIDTH)}", style="")
        line.append("  " + details(memory, now), style="dim")
        yield line


def details(memory: Memory, now: datetime) -> str:
    """Kind, tags, age, and what is special about a memory."""
    tags = [f"#{tag}" for tag in memory.tags]
    special = [word for word, holds in (("sensitive", memory.sensitive), ("superseded", memory.superseded_at)) if holds]
    return printable(" · ".join([memory.kind, *tags, age(memory.created_at, now), *special]))


def memory_whole(memory: Memory) -> Iterator[RenderableType]:
    """Every field that says something, then the text as it is."""
    for name, value in memory_to_dict(memory).items():
        if name == "content" or value in ("", None, [], {}, False):
            continue
        shown = json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else value
        shown = ", ".join(map(str, shown)) if isinstance(shown, list) else str(shown)
        yield Text.assemble((f"{name:<14}", "dim"), printable(shown))
    yield Text("")
    yield Text(printable_text(memory.content))


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> RenderableType:
    """Columns under a head; no head where it is empty."""
    from rich.table import Table  # costs more than all else here, and few commands need it

    shown = Table(*head, box=None, pad_edge=False, header_style="dim", show_header=any(head))
    for row in rows:
        shown.add_row(*(Text(printable(str(cell)), overflow="fold") for cell in row))
    return shown


def receipt_lines(receipt: Receipt) -> Iterator[RenderableType]:
    for id in receipt.forgotten:
        yield Text(f"forgotten {id}")
    for id in receipt.missing:
        yield Text(f"was not there {printable(id)}")
    yield Text(
        f"removed {receipt.records} records, {receipt.passages} passages, {receipt.vectors} vectors", style="dim"
    )


def finding_lines(findings: Sequence[Finding]) -> Iterator[RenderableType]:
    """What is wrong and what mends it."""
    for finding in findings:
        yield Text.assemble(("wrong  ", "red"), printable(finding.what))
        yield Text.assemble(("mend   ", "green"), printable(finding.mend))
    if not findings:
        yield Text("all is well", style="green")


def printable_text(text: str) -> str:
    """Several lines, each made printable; tabs become spaces."""
    return "\n".join(printable(line.expandtabs(4)) for line in text.replace("\r\n", "\n").split("\n"))


def printable_line(text: str) -> str:
    return printable(" ".join(text[: 16 * LINE_WIDTH].split()))
