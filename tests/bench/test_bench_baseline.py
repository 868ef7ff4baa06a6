"""The baseline is a real contender: it finds what it was given, by words, by meaning and by both."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from zlib import crc32

import numpy as np
from bench.baseline import Baseline, any_of_words, fused
from bench.contender import LEGS
from bench.corpus import Corpus
from bench.questions import questions

from trivium.models.embed import Matrix, ModelCard, Role


class WordHashes:
    """An embedder that counts hashed words: enough meaning to find a passage by its words."""

    card = ModelCard(spec="hashes", model="hashes", revision="1", dimension=64, pooling="sum")
    remote = False

    def embed(self, texts: Sequence[str], role: Role) -> Matrix:  # noqa: ARG002 - the protocol's
        rows = np.zeros((len(texts), self.card.dimension), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in text.lower().replace(".", " ").split():
                row[crc32(word.encode()) % self.card.dimension] += 1
        unit: Matrix = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit


def test_it_finds_the_passages_asked_for_after_reopening(tmp_path: Path) -> None:
    corpus = Corpus(2)
    records = [passage.record() for passage in corpus.passages(0, 101)]
    first = Baseline(tmp_path, WordHashes())
    first.load(records[:-1])
    first.add(records[-1])
    first.close()
    again = Baseline(tmp_path, WordHashes())
    asked = questions(corpus, 101, 40, stream=1)
    found = {leg: sum(q.passage in again.search(q.text, leg).numbers for q in asked) for leg in LEGS}
    last = again.search(corpus.passage(100).content, "dense").numbers
    again.close()
    assert found["lexical"] >= 36
    assert found["dense"] >= 8  # chance would be 4
    assert found["hybrid"] >= 24
    assert last[0] == 100


def test_any_text_is_a_valid_query(tmp_path: Path) -> None:
    store = Baseline(tmp_path, WordHashes())
    store.load(passage.record() for passage in Corpus(2).passages(0, 5))
    assert store.search("the of", "lexical").numbers == ()
    assert store.search('NEAR("*" AND -', "lexical").numbers == ()
    assert len(store.search("the of", "dense").numbers) == 5
    store.close()


def test_the_query_is_any_word_that_is_not_a_stop_word() -> None:
    assert any_of_words("How did the River of rivers, river end?") == '"river" OR "rivers" OR "end"'
    assert any_of_words("the") == ""


def test_reciprocal_ranks_are_summed_and_ties_go_by_id() -> None:
    assert fused([[3, 1], [1, 2]]) == [1, 3, 2]
    assert fused([[9], [4]]) == [4, 9]
    assert fused([]) == []
