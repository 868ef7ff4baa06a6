"""The reranker may reorder what it may see, in time; otherwise the fused order stands and the reason is told."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.search.builders import facts, fused, key

from trivium.errors import EmbedderError
from trivium.search.fuse import Fused, total
from trivium.search.rerank import Reranking, rerank

LONG_ENOUGH_S = 30.0


@dataclass
class Fake:
    """Scores a text by a table, or fails as told. Remembers every text it was shown."""

    scores: dict[str, float] = field(default_factory=dict)
    error: Exception | None = None
    shown: list[str] = field(default_factory=list)
    name: str = "fake"
    remote: bool = True

    def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        self.shown += [f"{query}/{text}" for text in texts]
        if self.error:
            raise self.error
        return [self.scores[text] for text in texts]


@dataclass
class Blocked(Fake):
    """Answers only when the test lets it."""

    release: threading.Event = field(default_factory=threading.Event)

    def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        self.release.wait()
        return super().score(query, texts)


def run(hits: Sequence[Fused], fake: Fake, timeout_s: float = LONG_ENOUGH_S, depth: int = 30) -> Reranking:
    texts = {one.key: one.key.id for one in hits if not one.facts.sensitive}
    return rerank(hits, texts, "q", fake, timeout_s=timeout_s, depth=depth)


def ids(found: Reranking) -> list[str]:
    return [one.key.id for one in found.hits]


HITS = (fused("a", 0.9), fused("b", 0.8), fused("c", 0.7), fused("d", 0.6))


def test_whoever_takes_a_place_takes_its_score() -> None:
    found = run(HITS, Fake({"a": -3.0, "b": 0.0, "c": 8.0, "d": 0.0}))
    assert ids(found) == ["c", "b", "d", "a"]
    assert [one.score for one in found.hits] == [0.9, 0.8, 0.7, 0.6]
    first = found.hits[0]
    assert [(part.leg, part.rank, part.raw, part.value) for part in first.contributions] == [("rerank", 1, 8.0, 0.9)]
    assert first.before is not None
    assert (first.before.rank, first.before.score, first.before.contributions) == (3, 0.7, HITS[2].contributions)
    assert (found.state, found.reason) == ("ok", "fake ordered 4 hits")


def test_only_the_first_are_reranked() -> None:
    fake = Fake({"a": 1.0, "b": 2.0})
    found = run(HITS, fake, depth=2)
    assert ids(found) == ["b", "a", "c", "d"]
    assert fake.shown == ["q/a", "q/b"]
    assert found.hits[2:] == HITS[2:]


@given(secret=st.lists(st.booleans(), min_size=1, max_size=8), data=st.data())
def test_sensitive_hits_are_never_shown_and_keep_their_places(secret: list[bool], data: st.DataObject) -> None:
    hits = [fused(f"{n}", 0.9 - n / 100, facts(sensitive=each)) for n, each in enumerate(secret)]
    scores = {f"{n}": data.draw(st.floats(-9, 9)) for n in range(len(hits))}
    fake = Fake(scores)
    found = run(hits, fake)
    assert not {f"q/{n}" for n, each in enumerate(secret) if each} & set(fake.shown)
    assert all(found.hits[n] == hits[n] for n, each in enumerate(secret) if each)
    assert sorted(ids(found)) == sorted(scores)
    assert [one.score for one in found.hits] == [one.score for one in hits]
    assert all(one.score == total(one.contributions, one.factors) for one in found.hits)
    judged = [scores[one.key.id] for one in found.hits if not one.facts.sensitive]
    assert judged == sorted(judged, reverse=True)


@pytest.fixture
def blocked() -> Iterator[Blocked]:
    fake = Blocked(dict.fromkeys("abcd", 1.0))
    yield fake
    fake.release.set()


def test_a_reranker_that_hangs_costs_its_opinion_not_the_answer(blocked: Blocked) -> None:
    found = run(HITS, blocked, timeout_s=0.01)
    assert found == Reranking(HITS, "failed", "fake: no answer within 0.01 s; the fused order stands")


@pytest.mark.parametrize(
    "error", [EmbedderError("no model"), RuntimeError("cuda"), OSError("refused"), ValueError("x")]
)
def test_a_reranker_that_fails_is_reported(error: Exception) -> None:
    found = run(HITS, Fake(error=error))
    assert (found.hits, found.state) == (HITS, "failed")
    assert found.reason == f"fake: {type(error).__name__}: {error}; the fused order stands"


@dataclass
class Short(Fake):
    def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        return super().score(query, texts)[:-1]


def test_a_wrong_answer_is_a_failure() -> None:
    table = dict.fromkeys("abcd", 1.0)
    assert run(HITS, Short(table)).reason == "fake: ValueError: 3 scores for 4 texts; the fused order stands"
    strange = run(HITS, Fake({**table, "b": float("nan")}))
    assert (strange.hits, strange.reason) == (HITS, "fake: ValueError: a score is not a number; the fused order stands")


def test_nothing_to_compare_is_not_asked() -> None:
    fake = Fake()
    found = run([fused("a", 0.9), fused("b", 0.8, facts(sensitive=True))], fake)
    assert (found.state, fake.shown) == ("skipped", [])
    assert found.hits[0].key == key("a")
