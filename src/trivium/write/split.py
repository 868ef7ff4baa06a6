"""Long content to passages, on the borders a reader would choose: headings, paragraphs, list items, sentences.

Passages do not overlap: each character that is not white space is in exactly one of them, in order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from trivium.record import Passage

# About 200 words: one thought for an embedder, enough words for BM25's length norm to mean something.
TARGET_CHARS = 1_200
# About 330 words, within the 512 tokens that most embedders read. Content up to here stays one passage.
MAX_CHARS = 2_000
# A heading ends the passage before it only when that one is worth standing alone; smaller ones are gathered.
MIN_CHARS = 400

_LINE = re.compile(r"[^\n]*\n?")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]")
_ITEM = re.compile(r"\s{0,12}(?:[-*+•]|\d{1,9}[.)])[ \t]")
# The end of a sentence: Latin marks want a space behind them (3.14, e.g. a URL); those of CJK and India stand alone.
_SENTENCE = re.compile(r"[.!?…]['\"”’»)\]]{0,3}(?=\s)|[。！？｡]['\"”’」』）]{0,3}|[।॥؟۔]|\n+")


@dataclass(frozen=True, slots=True)
class _Block:
    """A piece of content that reads as one: `heading` starts a section."""

    start: int
    end: int
    heading: bool = False


def split(content: str) -> list[Passage]:
    """The passages of a content, none longer than MAX_CHARS, in order; short content is one passage. Linear time.

    A word is cut only when it is longer than MAX_CHARS by itself. There is always a passage: long white space has an
    empty one.
    """
    if len(content) <= MAX_CHARS:
        return [Passage(0, 0, len(content))]
    spans = list(_trimmed(content, _gather(_pieces(content)))) or [(0, 0)]
    return [Passage(ordinal, start, end) for ordinal, (start, end) in enumerate(spans)]


def _gather(pieces: Iterator[_Block]) -> Iterator[tuple[int, int]]:
    """Neighbours joined up to the target; a section begins a new passage once the one before is big enough."""
    open_from = open_to = -1
    for piece in pieces:
        size = piece.end - open_from
        ends = size > MAX_CHARS or open_to - open_from >= TARGET_CHARS
        if open_from >= 0 and (ends or (piece.heading and open_to - open_from >= MIN_CHARS)):
            yield open_from, open_to
            open_from = -1
        if open_from < 0:
            open_from = piece.start
        open_to = piece.end
    if open_from >= 0:
        yield open_from, open_to


def _trimmed(content: str, spans: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    for start, end in spans:
        text = content[start:end]
        left = len(text) - len(text.lstrip())
        if left < len(text):
            yield start + left, start + len(text.rstrip())


def _pieces(content: str) -> Iterator[_Block]:
    """Blocks, those longer than the maximum cut at lines and sentences, then at spaces, then anywhere."""
    for block in _blocks(content):
        if block.end - block.start <= MAX_CHARS:
            yield block
            continue
        for start, end in _sentences(content, block):
            yield from _words(content, start, end)


def _blocks(content: str) -> Iterator[_Block]:
    """Headings, paragraphs, list items and whole code fences, end to end. A heading goes with what follows it."""
    start, heading, fence, after_blank = 0, False, "", False
    for line in _LINE.finditer(content):
        place, text = line.start(), line.group()
        if fence:
            # A fence is closed by at least as many of the same mark.
            mark = _FENCE.match(text)
            if mark and mark[1].startswith(fence) and not text[mark.end() :].strip():
                fence = ""
            continue
        blank = not text.strip()
        is_heading, mark = _HEADING.match(text) is not None, _FENCE.match(text)
        begins = is_heading or bool(mark) or _ITEM.match(text) or (after_blank and not blank)
        if begins and place > start and content[start:place].strip():
            only_heading = heading and "\n" not in content[start:place].strip()
            if is_heading or not only_heading:
                yield _Block(start, place, heading)
                start, heading = place, is_heading
        heading = heading or (is_heading and place == start)
        fence, after_blank = (mark[1] if mark else ""), blank
    if start < len(content):
        yield _Block(start, len(content), heading)


def _sentences(content: str, block: _Block) -> Iterator[tuple[int, int]]:
    start = block.start
    for border in _SENTENCE.finditer(content, block.start, block.end):
        yield start, border.end()
        start = border.end()
    if start < block.end:
        yield start, block.end


def _words(content: str, start: int, end: int) -> Iterator[_Block]:
    """One sentence, cut at its last space before the maximum where it is too long."""
    while end - start > MAX_CHARS:
        limit = start + MAX_CHARS
        cut = next((place for place in range(limit, start, -1) if content[place - 1].isspace()), limit)
        yield _Block(start, cut)
        start = cut
    if start < end:
        yield _Block(start, end)
