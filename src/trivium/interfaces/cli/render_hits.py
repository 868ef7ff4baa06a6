"""The answer of a search as people read it: hits with their matched words marked, and why there are none."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.text import Text

from trivium.interfaces.cli.render import details
from trivium.search.explain import clip, printable
from trivium.search.result import Hit, Results
from trivium.text import index_terms

if TYPE_CHECKING:
    from trivium.engine import Trivium

TEXT_WIDTH = 240  # about three lines of a terminal
_WORD = re.compile(r"[\w'’-]+")


def results(found: Results, memory: Trivium, *, explain: bool) -> Iterator[RenderableType | str]:
    """What the reader should know first, then each hit in three lines."""
    if explain:
        yield from found.explain().splitlines()
    else:
        yield from (Text(line, style="yellow") for line in _remarks(found))
        for hit in found:
            yield from _hit(hit)
    if not found:
        yield from _why_nothing(found, memory)


def _remarks(found: Results) -> Iterator[str]:
    for word, terms in found.corrections.items():
        yield printable(f"searched {', '.join(terms)} for {word}")
    for leg, report in found.legs.items():
        if report.state in ("degraded", "failed"):
            yield printable(f"{leg} {report.state}: {report.reason}")
    for notice in found.notices:
        yield printable(f"note: {notice}")


def _hit(hit: Hit) -> Iterator[RenderableType]:
    memory = hit.memory
    title = f"{printable(memory.title)}: " if memory.title else ""
    yield Text.assemble((f"{hit.rank:>2}  ", "bold"), (f"{hit.score:.2f}  ", "green"), title, _marked(hit))
    where = f" · {memory.space}" if memory.space != "default" else ""
    yield Text(f"          {details(memory, hit.asked_at)}{printable(where)} · {memory.id}", style="dim")


def _marked(hit: Hit) -> Text:
    """The passage on one line, the words that matched underlined."""
    line = printable(clip(hit.passage, TEXT_WIDTH))
    text = Text(line)
    wanted = {term for one in hit.contributions for term in one.terms}
    for word in _WORD.finditer(line):
        if wanted.intersection(index_terms(word[0], hit.memory.language)):
            text.stylize("bold underline", *word.span())
    return text


def _why_nothing(found: Results, memory: Trivium) -> Iterator[str]:
    """What each leg saw, and what to try."""
    spaces = {facts.name: facts.memories for facts in memory.spaces()}
    looked_in = ", ".join(f"{name} ({spaces.get(name, 0)} memories)" for name in found.spaces)
    yield printable(f"nothing found in {looked_in}")
    for leg, report in found.legs.items():
        reason = f": {report.reason}" if report.reason else ""
        yield printable(f"  {leg} {report.state}, {report.hits} hits{reason}")
    if not any(spaces.get(name) for name in found.spaces):
        there = ", ".join(name for name, count in spaces.items() if count) or "none yet; `trivium add` makes the first"
        yield printable(f"try: another --space; spaces with memories: {there}")
    else:
        yield "try: other words, fewer filters, no --min-score; `trivium why QUERY ID` says what lost a memory"
