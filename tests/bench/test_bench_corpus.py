"""The generated corpus is the same for a seed and has the statistics of natural text."""

from __future__ import annotations

from collections import Counter
from itertools import chain

import numpy as np
import pytest
import Stemmer
from bench.corpus import BLOCK, GENERAL_RANKS, MEAN_WORDS, Corpus, Passage

from bench import words


@pytest.fixture(scope="module")
def passages() -> list[Passage]:
    return list(Corpus(3).passages(0, 4_000))


def types_and_tokens(passages: list[Passage]) -> tuple[int, int]:
    ranks = list(chain.from_iterable(passage.ranks for passage in passages))
    return len(set(ranks)), len(ranks)


def test_a_seed_names_one_corpus(passages: list[Passage]) -> None:
    again = list(Corpus(3).passages(0, 300))
    assert again == passages[:300]
    assert list(Corpus(4).passages(0, 300)) != again


def test_any_part_can_be_made_without_those_before_it(passages: list[Passage]) -> None:
    part = list(Corpus(3).passages(BLOCK - 3, 2 * BLOCK + 5))
    assert part == passages[BLOCK - 3 : 2 * BLOCK + 5]
    assert Corpus(3).passage(1_234) == passages[1_234]


def test_lengths_are_log_normal_around_the_mean(passages: list[Passage]) -> None:
    lengths = np.array([len(passage.content.split()) for passage in passages])
    assert abs(lengths.mean() - MEAN_WORDS) < 3
    assert np.median(lengths) < lengths.mean()
    assert 0.40 < np.log(lengths).std() < 0.50


def test_frequencies_follow_zipf(passages: list[Passage]) -> None:
    counts = Counter(chain.from_iterable(passage.ranks for passage in passages))
    frequencies = np.array(sorted(counts.values(), reverse=True)[10:3_000])
    ranks = np.arange(11, 11 + len(frequencies))
    slope = np.polyfit(np.log(ranks), np.log(frequencies), 1)[0]
    assert -1.15 < slope < -0.85


def test_the_vocabulary_keeps_growing_slower_than_the_text(passages: list[Passage]) -> None:
    few_types, few_tokens = types_and_tokens(passages[:1_000])
    all_types, all_tokens = types_and_tokens(passages)
    heaps = np.log(all_types / few_types) / np.log(all_tokens / few_tokens)
    assert 0.45 < heaps < 0.75


def test_four_words_in_ten_are_function_words(passages: list[Passage]) -> None:
    written = [word.lower().rstrip(".") for passage in passages[:500] for word in passage.content.split()]
    share = sum(word in words.FUNCTION_WORDS for word in written) / len(written)
    assert 0.36 < share < 0.5


def test_words_of_a_topic_come_together(passages: list[Passage]) -> None:
    """Two passages of one topic share several times the topical words that two of different topics share."""

    def shared(one: Passage, other: Passage) -> int:
        return len({rank for rank in one.ranks if rank >= GENERAL_RANKS} & set(other.ranks))

    pairs = [(one, other) for one in passages[:300] for other in passages[300:600]]
    same = [shared(one, other) for one, other in pairs if one.topic == other.topic]
    different = [shared(one, other) for one, other in pairs if one.topic != other.topic]
    assert np.mean(same) > 3 * np.mean(different)


def test_words_come_in_bursts(passages: list[Passage]) -> None:
    """A rare word, once used, is used again in the same passage far oftener than its frequency says."""
    rare = [Counter(rank for rank in passage.ranks if rank > 3_000) for passage in passages]
    repeated = sum(count > 1 for counts in rare for count in counts.values())
    assert repeated / sum(len(counts) for counts in rare) > 0.05


def test_there_are_codes_and_numbers(passages: list[Passage]) -> None:
    text = " ".join(passage.content for passage in passages[:500])
    assert "ERR-" in text
    assert "_" in text
    assert any(word.rstrip(".").isdecimal() for word in text.split())


def test_a_record_tells_its_passage(passages: list[Passage]) -> None:
    record = passages[42].record()
    assert record["metadata"] == {"number": 42}
    assert record["content"] == passages[42].content
    assert set(record) == {"content", "title", "kind", "tags", "metadata"}


def test_stems_of_agrees_with_the_spelling() -> None:
    ranks = np.arange(words.FUNCTION_COUNT, words.VOCABULARY_SIZE, 9_973)
    for rank, stem in zip(ranks.tolist(), words.stems_of(ranks).tolist(), strict=True):
        beginning = words.CONTENT_STEMS[stem].rstrip("ey")
        assert beginning in words.word(rank)


def test_a_stemmer_joins_the_forms_of_a_word() -> None:
    stem = Stemmer.Stemmer("english").stemWord
    assert words.inflected("carry", "ed") == "carried"
    assert words.inflected("cry", "s") == "cries"
    for verb in ("make", "walk", "carry"):
        assert stem(words.inflected(verb, "ing")) == stem(verb)
