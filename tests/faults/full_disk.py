"""Run on a disk of a few megabytes: fill it, look at what is there, free some room, go on."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import trivium
from trivium.errors import StoreFull
from trivium.store.sqlite import segments

segments.DELTA_LIMIT = 64
BRINK_BYTES = 120_000  # room for one more memory, and not for the segment that becomes due with it


def text(id: str) -> str:
    return " ".join(f"word{id}x{number}" for number in range(60))


def look(t: trivium.Trivium, acknowledged: list[str]) -> None:
    """What was acknowledged is there, found and whole; what was refused is not."""
    assert sorted(memory.id for memory in t.scan()) == sorted(acknowledged)
    for id in acknowledged[:: max(1, len(acknowledged) // 10)]:
        assert [hit.memory.id for hit in t.search(f"word{id}x7", limit=1, legs=["lexical"])] == [id]
    assert t.upkeep.verify() == []


def add(t: trivium.Trivium, acknowledged: list[str], id: str) -> None:
    t.add(text(id), id=id)
    acknowledged.append(id)


def fill(t: trivium.Trivium, acknowledged: list[str], prefix: str) -> None:
    """Add until there is no room; then forgetting either happens or does not."""
    try:
        for number in range(100_000):
            add(t, acknowledged, f"{prefix}{number}")
    except StoreFull as error:
        print(error)
    look(t, acknowledged)
    try:
        t.forget(acknowledged[0])
        acknowledged.pop(0)
    except StoreFull as error:
        print(error)
    look(t, acknowledged)


def main(folder: Path) -> None:
    acknowledged: list[str] = []
    reserve = folder / "reserve"
    with trivium.open(folder / "store.db", embedder=None) as t:
        for number in range(segments.DELTA_LIMIT - 1):
            add(t, acknowledged, f"a{number}")
        disk = os.statvfs(folder)
        reserve.write_bytes(bytes(disk.f_bavail * disk.f_bsize - BRINK_BYTES))
        add(t, acknowledged, "brink")
        look(t, acknowledged)
        fill(t, acknowledged, "b")
        reserve.unlink()
        add(t, acknowledged, "room-again")
        fill(t, acknowledged, "c")
    with trivium.open(folder / "store.db", read_only=True) as t:
        look(t, acknowledged)
    print(f"{len(acknowledged)} kept")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
