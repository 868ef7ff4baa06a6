"""Cached query vectors: the same rows, fewer calls."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from trivium.models.cache import CachedQueries
from trivium.models.embed import Matrix

from .hashing import HashEmbedder


class Kept:
    def __init__(self) -> None:
        self.vectors: dict[tuple[str, str], Matrix] = {}

    def kept_query(self, fingerprint: str, text: str) -> Matrix | None:
        return self.vectors.get((fingerprint, text))

    def keep_query(self, fingerprint: str, text: str, vector: Matrix) -> None:
        self.vectors[fingerprint, text] = vector


def test_gives_what_the_embedder_gives_and_asks_once() -> None:
    inner = HashEmbedder()
    cached = CachedQueries(inner)
    texts = ["tea", "coffee", "tea"]
    first, second = cached.embed(texts, "query"), cached.embed(texts, "query")
    assert inner.asked == ["tea", "coffee"]
    assert np.array_equal(first, HashEmbedder().embed(texts, "query"))
    assert np.array_equal(first, second)
    assert (cached.card, cached.remote) == (inner.card, inner.remote)


def test_the_query_used_longest_ago_goes_first() -> None:
    inner = HashEmbedder()
    cached = CachedQueries(inner, size=2)
    for text in ("a", "b", "a", "c", "a", "b"):
        cached.embed([text], "query")
    assert inner.asked == ["a", "b", "c", "b"]


def test_documents_pass_through_and_no_texts_are_no_rows() -> None:
    inner = HashEmbedder()
    cached = CachedQueries(inner)
    cached.embed(["tea"], "document")
    cached.embed(["tea"], "document")
    assert inner.asked == ["tea", "tea"]
    assert cached.embed([], "query").shape == (0, 32)


def test_what_a_caller_does_to_a_row_stays_with_the_caller() -> None:
    cached = CachedQueries(HashEmbedder())
    cached.embed(["tea"], "query")[0, :] = 7.0
    cached.embed(["tea"], "query")[0, :] = 7.0
    assert np.array_equal(cached.embed(["tea"], "query"), HashEmbedder().embed(["tea"], "query"))


def test_kept_vectors_serve_the_next_process() -> None:
    kept, inner = Kept(), HashEmbedder()
    made = CachedQueries(inner, kept=kept).embed(["tea", "coffee"], "query")
    later = HashEmbedder()
    again = CachedQueries(later, kept=kept)
    assert np.array_equal(again.embed(["coffee", "tea"], "query"), made[::-1])
    assert later.asked == []
    kept.vectors.clear()
    again.embed(["tea"], "query")
    assert later.asked == []


def test_kept_vectors_of_another_model_are_not_used() -> None:
    kept = Kept()
    CachedQueries(HashEmbedder(32), kept=kept).embed(["tea"], "query")
    assert CachedQueries(HashEmbedder(16), kept=kept).embed(["tea"], "query").shape == (1, 16)


def test_threads_get_their_own_answers() -> None:
    cached = CachedQueries(HashEmbedder(), size=5)
    texts = [f"question {number % 9}" for number in range(300)]
    with ThreadPoolExecutor(8) as pool:
        rows = list(pool.map(lambda text: cached.embed([text], "query")[0], texts))
    assert np.array_equal(np.stack(rows), HashEmbedder().embed(texts, "query"))
