"""A memory to test with: in the process, and in a file that can be opened again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.models.hashing import HashEmbedder

import trivium

Open = Callable[..., trivium.Trivium]


class Clock:
    """A time that stands still until it is told to go on; each look takes a millisecond."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(milliseconds=1)
        return self.now

    def pass_days(self, days: float) -> datetime:
        self.now += timedelta(days=days)
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def open_file(tmp_path: Path, clock: Clock) -> Iterator[Open]:
    """Opens one and the same file each time; all of them are closed in the end."""
    opened: list[trivium.Trivium] = []

    def opens(**options: Any) -> trivium.Trivium:
        opened.append(trivium.open(tmp_path / "store.db", **{"embedder": HashEmbedder(), "clock": clock, **options}))
        return opened[-1]

    yield opens
    for each in opened:
        each.close()


@pytest.fixture(params=["memory:", "file"])
def open_any(request: pytest.FixtureRequest, open_file: Open, clock: Clock) -> Open:
    """Opens a store of each kind, once."""
    if request.param == "file":
        return open_file
    return lambda **options: trivium.open("memory:", **{"embedder": HashEmbedder(), "clock": clock, **options})


@pytest.fixture
def t(open_any: Open) -> trivium.Trivium:
    return open_any()
