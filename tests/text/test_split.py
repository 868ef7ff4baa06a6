"""Passages: everything is in one of them, in order, none too long, on borders a reader would choose."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trivium.record import Passage
from trivium.write.split import MAX_CHARS, split

PARTS = st.sampled_from(
    ["word ", "a longer sentence stands here. ", "# Title\n", "\n\n", "- item\n", "1. one\n", "```py\ncode = 1\n```\n",
     "```\n", "~~~\n", "漢字の文。", "！", "\t", "\r\n", "x" * 700, "é", "\ud800", " " * 300, "\x00", "Dr. No? Yes! "]
)  # fmt: skip
DOCUMENTS = st.lists(st.tuples(PARTS, st.integers(1, 120)), max_size=40).map(
    lambda parts: "".join(part * times for part, times in parts)[:60_000]
)


def texts(content: str) -> list[str]:
    return [content[passage.start : passage.end] for passage in split(content)]


@given(DOCUMENTS)
@settings(max_examples=200, deadline=None)
def test_passages_cover_everything_once_in_order(content: str) -> None:
    passages = split(content)
    assert [passage.ordinal for passage in passages] == list(range(len(passages)))
    place = 0
    for passage in passages:
        assert place <= passage.start <= passage.end <= len(content)
        assert not content[place : passage.start].strip()
        assert passage.end - passage.start <= MAX_CHARS
        place = passage.end
    assert passages
    assert not content[place:].strip()


@given(DOCUMENTS)
@settings(max_examples=200, deadline=None)
def test_a_word_is_cut_only_when_it_is_too_long_by_itself(content: str) -> None:
    starts = [passage.start for passage in split(content)]
    for word in re.finditer(r"[^\s。！]+[。！]?", content):
        cut = bisect_right(starts, word.start()) < bisect_left(starts, word.end())
        assert not cut or word.end() - word.start() > MAX_CHARS


@given(st.text(st.characters(exclude_categories=()), max_size=300), st.integers(1, 60))
@settings(max_examples=200, deadline=None)
def test_no_content_raises(unit: str, times: int) -> None:
    content = unit * times
    assert "".join("".join(texts(content)).split()) == "".join(content.split())


@pytest.mark.parametrize("content", ["", " ", "short", "x" * MAX_CHARS, "# Title\n\nText.\n\n- item\n"])
def test_short_content_is_one_whole_passage(content: str) -> None:
    assert split(content) == [Passage(0, 0, len(content))]


def test_sections_begin_passages() -> None:
    section = "A sentence about something that matters to someone. " * 15
    content = "".join(f"## Part {number}\n\n{section}\n\n" for number in range(6))
    found = texts(content)
    assert [text.splitlines()[0] for text in found] == [f"## Part {number}" for number in range(6)]


def test_small_sections_are_gathered() -> None:
    content = "".join(f"# H{number}\n\nA few words.\n\n" for number in range(300))
    assert 300 / len(texts(content)) > 10


def test_a_heading_is_not_parted_from_its_text() -> None:
    content = ("Lead. " * 190) + "\n\n# Title\n\n" + ("Body text here. " * 100)
    assert not any(text.endswith("# Title") for text in texts(content))


def test_a_code_fence_stays_whole() -> None:
    fence = "```python\n" + "\n\n".join(f"# step {number}\nrun({number})" for number in range(50)) + "\n```"
    content = ("Prose before the code. " * 60) + "\n\n" + fence + "\n\n" + ("Prose after the code. " * 60)
    assert len(fence) > 900
    assert sum(fence in text for text in texts(content)) == 1


def test_sentences_are_not_cut() -> None:
    content = "The value is 3.14 and e.g.this stays together, doesn't it? " * 200
    assert all(text.startswith("The value") and text.endswith("it?") for text in texts(content))


def test_chinese_is_cut_after_its_full_stops() -> None:
    content = "我们在北京的图书馆里讨论了新的计划。大家都同意！" * 200
    found = texts(content)
    assert len(found) > 2
    assert all(text[-1] in "。！" for text in found)


def test_one_megabyte_becomes_a_bounded_number_of_passages() -> None:
    content = ("Ada moved to Lisbon in May, and the deploy failed again. " * 20_000)[:1_000_000]
    assert 500 <= len(split(content)) <= 1_000


def test_long_white_space_is_one_empty_passage() -> None:
    assert split(" \n" * 5_000) == [Passage(0, 0, 0)]
