"""One of several processes at the same file: adds and searches for a while, then looks up all that all of them added.

python crowd.py FILE NAME SECONDS      prints each acknowledged id, `done WORST_WAIT_S`, then reads the name of
                                       a file with the ids of all
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import trivium
from trivium.store.sqlite import segments

segments.DELTA_LIMIT = 128  # flush and merge under the others' eyes
MANY = 8


def work(t: trivium.Trivium, name: str, until: float) -> float:
    """Add one, add many, search. Every row is found at once by the one who added it. Returns the longest add in s."""
    worst = 0.0
    number = 0
    while time.monotonic() < until:
        ids = [f"{name}n{number + step}" for step in range(MANY if number % 5 == 0 else 1)]
        number += len(ids)
        begun = time.monotonic()
        if len(ids) == 1:
            t.add(text(ids[0]), id=ids[0], thread=f"talk of {name}" if number % 2 else "")
        else:
            t.add_many({"content": text(id), "id": id} for id in ids)
        worst = max(worst, time.monotonic() - begun)
        print(*ids, sep="\n", flush=True)
        check(t, ids[0])
        if not t.search("words that everybody writes", limit=5):
            raise AssertionError("a search for what all have found nothing")
    return worst


def text(id: str) -> str:
    return f"only{id} has this, beside the words that everybody writes"


def check(t: trivium.Trivium, id: str) -> None:
    assert t.get(id).content == text(id)
    found = t.search(f"only{id}", limit=1, legs=["lexical"])
    assert [hit.memory.id for hit in found] == [id], f"{id} is not found by its word"


def main(path: Path, name: str, seconds: float) -> None:
    with trivium.open(path) as t:
        print(f"done {work(t, name, time.monotonic() + seconds)}", flush=True)
        for id in Path(sys.stdin.readline().strip()).read_text().split():
            check(t, id)
        print("all found", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], float(sys.argv[3]))
