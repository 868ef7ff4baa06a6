"""The short way to the best documents of a large segment gives what the long way gives."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from trivium.conformance.builders import SPACE, find, index_lines, make_memory
from trivium.filter import EVERYTHING, Between, Filter
from trivium.store.contract import LegAnswer
from trivium.store.sqlite import lexical
from trivium.store.sqlite.store import SqliteStore

ROWS = 3_000
WORDS = [f"w{number}" for number in range(40)]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> SqliteStore:
    """Memories of one to three passages with words of every frequency, in one segment."""
    random = np.random.default_rng(11)
    store = SqliteStore(tmp_path_factory.mktemp("lexical") / "store.db")
    with store.writing(SPACE) as writer:
        for number in range(ROWS):
            lines = [" ".join(random.choice(WORDS, 8, p=zipf())) for _ in range(random.integers(1, 4))]
            memory = make_memory(f"m{number:04}", "\n".join(lines), importance=number / ROWS)
            writer.put(memory, index_lines(memory.content))
    store.tend(after_bulk=True)
    return store


def zipf() -> list[float]:
    weights = [1 / (rank + 1) for rank in range(len(WORDS))]
    return [weight / sum(weights) for weight in weights]


@pytest.mark.parametrize("depth", [1, 10, 50, 400, 5_000])
@pytest.mark.parametrize("text", ["w0", "w0 w1 w2", "w5 w30", "w39", "w0 nowhere"])
@pytest.mark.parametrize("where", [EVERYTHING, Between("importance", 0.5, 1.0), Between("importance", 0.99, 1.0)])
def test_the_short_way_finds_what_the_long_way_finds(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch, text: str, depth: int, where: Filter
) -> None:
    def ask() -> LegAnswer:
        return find(store, text, depth=depth, where=where)

    short = ask()
    monkeypatch.setattr(lexical, "_promising", lambda *_: None)
    assert short == ask()
    assert len(short.hits) > 0


def test_the_short_way_is_taken(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    rows: list[int] = []
    plain = lexical._promising

    def counted(part: lexical.Part, permitted: lexical.Mask | None, depth: int) -> npt.NDArray[np.int64] | None:
        found = plain(part, permitted, depth)
        rows.append(-1 if found is None else len(found))
        return found

    monkeypatch.setattr(lexical, "_promising", counted)
    find(store, "w0 w1 w2", depth=10)
    assert 10 <= rows[0] < ROWS / 4
