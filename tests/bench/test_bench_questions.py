"""Questions are about their passage, look like questions, and the two sets of them never meet."""

from __future__ import annotations

import pytest
from bench.corpus import Corpus
from bench.questions import MAX_QUESTION_WORDS, Question, questions
from bench.words import FUNCTION_WORDS

CORPUS = Corpus(5)
SIZE = 500


@pytest.fixture(scope="module")
def asked() -> list[Question]:
    return questions(CORPUS, SIZE, 150, stream=2)


def test_the_same_seed_asks_the_same(asked: list[Question]) -> None:
    assert questions(CORPUS, SIZE, 150, stream=2) == asked
    assert questions(Corpus(6), SIZE, 150, stream=2) != asked


def test_content_words_are_those_of_the_passage(asked: list[Question]) -> None:
    for question in asked:
        passage = CORPUS.passage(question.passage)
        written = {word.lower().rstrip(".") for word in passage.content.split()}
        content = [word for word in question.text.split() if word not in FUNCTION_WORDS and word != "notes"]
        assert question.passage < SIZE
        assert len(content) >= 2
        assert all(word in written or word == "why" for word in content), question


def test_lengths_and_stop_words_are_as_people_write(asked: list[Question]) -> None:
    lengths = [len(question.text.split()) for question in asked]
    assert min(lengths) >= 3
    assert max(lengths) <= MAX_QUESTION_WORDS
    with_stop_words = sum(any(word in FUNCTION_WORDS for word in question.text.split()) for question in asked)
    assert 0.4 < with_stop_words / len(asked) < 1


def test_streams_are_apart_and_texts_distinct(asked: list[Question]) -> None:
    told = frozenset(question.text for question in asked)
    other = questions(CORPUS, SIZE, 150, stream=1, apart_from=told)
    assert len(told) == len(asked)
    assert told.isdisjoint(question.text for question in other)
    assert [question.passage for question in other] != [question.passage for question in asked]
