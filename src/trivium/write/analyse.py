"""A memory as the lexical index sees it: terms of each passage, weighted by the field they come from.

The neighbours of a passage, two before and two after in its thread or its document, are indexed with it as context.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from trivium.record import Json, Memory, Passage
from trivium.store.contract import TF_MAX, TF_UNIT, IndexedPassage
from trivium.text import index_terms
from trivium.write.split import split

# What a term counts in each field, against 1 in the content: docs/decisions/0003-lexical-defaults.md has the figures.
TITLE_WEIGHT = 3.0
NAMES_WEIGHT = 1.0  # keywords, tags, category
METADATA_WEIGHT = 0.5
DATE_WEIGHT = 1.0
CONTEXT_WEIGHT = 1 / 3
CONTEXT_REACH = 2  # passages on each side


@dataclass(frozen=True, slots=True)
class Analysed:
    """A memory, its passages, the terms of each, and the weighted terms of its other fields, in 1/TF_UNIT."""

    memory: Memory
    passages: tuple[Passage, ...]
    terms: tuple[Sequence[str], ...]
    fields: Mapping[str, int]


def analyse(memory: Memory) -> Analysed:
    passages = tuple(split(memory.content))
    terms = tuple(index_terms(memory.content[passage.start : passage.end], memory.language) for passage in passages)
    return Analysed(memory, passages, terms, _fields(memory))


def _fields(memory: Memory) -> Mapping[str, int]:
    weighted: dict[str, int] = {}
    texts = (
        (memory.title, TITLE_WEIGHT),
        (" ".join((*memory.keywords, *memory.tags, memory.category)), NAMES_WEIGHT),
        (" ".join(_values(dict(memory.metadata))), METADATA_WEIGHT),
        (_date(memory), DATE_WEIGHT),
    )
    for text, weight in texts:
        if text.strip():
            _count(weighted, index_terms(text, memory.language), weight)
    return weighted


def _date(memory: Memory) -> str:
    """The day something happened, as people write it in questions."""
    day = memory.occurred_at
    return "" if day is None else f"{day:%Y-%m-%d} {day.day} {day:%B %Y}"


def _values(value: Json) -> Iterator[str]:
    """The texts and numbers in a JSON value, whatever they are nested in."""
    if isinstance(value, dict):
        for inner in value.values():
            yield from _values(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _values(inner)
    elif isinstance(value, (str, int, float)) and not isinstance(value, bool):
        yield str(value)


def indexed(
    analysed: Analysed, before: Sequence[Sequence[str]], after: Sequence[Sequence[str]]
) -> tuple[IndexedPassage, ...]:
    """The passages of a memory with their context: `before` and `after` are the passages around it, nearest inside."""
    line = [*before[-CONTEXT_REACH:], *analysed.terms, *after[:CONTEXT_REACH]]
    start = min(len(before), CONTEXT_REACH)
    return tuple(
        _indexed_passage(passage, line, start + number, analysed.fields)
        for number, passage in enumerate(analysed.passages)
    )


def _indexed_passage(
    passage: Passage, line: Sequence[Sequence[str]], at: int, fields: Mapping[str, int]
) -> IndexedPassage:
    weighted = dict(fields)
    _count(weighted, line[at], 1.0)
    for neighbour in (*line[max(0, at - CONTEXT_REACH) : at], *line[at + 1 : at + 1 + CONTEXT_REACH]):
        _count(weighted, neighbour, CONTEXT_WEIGHT)
    if max(weighted.values(), default=0) > TF_MAX:
        weighted = {term: min(units, TF_MAX) for term, units in weighted.items()}
    return IndexedPassage(passage.ordinal, passage.start, passage.end, weighted, sum(weighted.values()))


def _count(weighted: dict[str, int], terms: Sequence[str], weight: float) -> None:
    units = round(weight * TF_UNIT)
    for term, times in Counter(terms).items():
        weighted[term] = weighted.get(term, 0) + units * times
