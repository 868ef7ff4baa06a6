"""One memory shared by several threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

import trivium
from trivium.store.sqlite import segments, vectors

THREADS = 4
TURNS = 25


def test_threads_write_and_search_together(t: trivium.Trivium, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "DELTA_LIMIT", 16)
    monkeypatch.setattr(vectors, "TAIL_LIMIT", 8)
    monkeypatch.setattr(vectors, "CACHE_LEAST", 16)

    def work(name: str) -> set[str]:
        mine: list[str] = []
        for turn in range(TURNS):
            mine.append(t.add(f"only{name}x{turn} and the words of all", thread="talk" if turn % 3 else "").id)
            assert t.search(f"only{name}x{turn}", limit=1, legs=["lexical"])[0].memory.id == mine[-1]
            found = t.search("words of all", limit=100)
            assert {hit.memory.id for hit in found}.issuperset(mine[-20:]) or len(found) == 100
            if turn % 5 == 4:
                assert t.forget(mine.pop(0)).records == 1
        return set(mine)

    with ThreadPoolExecutor(THREADS) as pool:
        kept = set.union(*pool.map(work, "abcd"))
    assert {memory.id for memory in t.scan()} == kept
    assert len(kept) == THREADS * TURNS * 4 // 5
    assert t.upkeep.verify() == []
