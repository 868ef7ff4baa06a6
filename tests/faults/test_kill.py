"""`kill -9` in the middle of writing: what was acknowledged is there, what was forgotten is gone, all indexes agree."""

from __future__ import annotations

import multiprocessing
import random
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest
from tests.faults import workload
from tests.faults.workload import BATCH, NEW, OLD, Word
from tests.models.hashing import HashEmbedder

import trivium
from trivium.errors import NotFound

ROUNDS = 30
LONGEST_LIFE_S = 0.4
SEED = 20_260_301
MEMORIES = 700  # more than two batches of a re-embedding

# Children are forked by a small server that has imported everything and opened nothing.
CHILDREN = multiprocessing.get_context("forkserver")
CHILDREN.set_forkserver_preload(["tests.faults.workload"])


def run_until_killed(target: Callable[..., None], *args: Any, life_s: float | None = None) -> list[Word]:
    """What a child said before it was killed: by us after a while, or by itself."""
    ours, theirs = CHILDREN.Pipe(duplex=False)
    child = CHILDREN.Process(target=target, args=(*args, theirs), daemon=True)
    child.start()
    theirs.close()
    if life_s is not None:
        ours.poll(10.0)  # it has begun to write
        child.join(life_s)
        child.kill()
    said = list(heard(ours))
    child.join()
    assert child.exitcode == -signal.SIGKILL
    return said


def heard(ours: Connection) -> Iterator[Word]:
    while True:
        try:
            yield ours.recv()
        except EOFError:
            return


class Ledger:
    """What must hold of the store by all that was said so far."""

    def __init__(self) -> None:
        self.there: dict[str, str] = {}
        self.gone: set[str] = set()

    def note(self, said: list[Word]) -> None:
        for state, id, word in said:
            self.there.pop(id, None)  # while it is being changed, both states are right
            if state == "there":
                self.there[id] = word
            elif state == "gone":
                self.gone.add(id)

    def check(self, path: Path, said: list[Word]) -> None:
        with trivium.open(path, embedder=HashEmbedder(OLD)) as t:
            assert t.upkeep.verify() == []
            stored = {memory.id: memory for memory in t.scan()}
            assert {id for id, word in self.there.items() if word not in stored[id].content} == set()
            assert self.gone.isdisjoint(stored)
            for _, id, word in [each for each in said if self.there.get(each.id, "?") == each.word][:20]:
                assert t.search(word, limit=1, legs=["lexical"])[0].memory.id == id
            for id in sorted(self.gone)[:3]:
                with pytest.raises(NotFound):
                    t.get(id)
            batches = Counter(tag for memory in stored.values() for tag in memory.tags)
            forgotten = Counter(f"batch-{id.split('b')[0]}" for id in self.gone if "b" in id)
            assert {
                tag: count + forgotten[tag] for tag, count in batches.items() if count + forgotten[tag] < BATCH - 1
            } == {}


def test_thirty_kills_lose_nothing(tmp_path: Path) -> None:
    path, chance, ledger = tmp_path / "store.db", random.Random(SEED), Ledger()
    for round in range(ROUNDS):
        said = run_until_killed(workload.write_all_day, path, round, life_s=chance.uniform(0.0, LONGEST_LIFE_S))
        ledger.note(said)
        ledger.check(path, said)
    assert len(ledger.there) > ROUNDS
    assert len(ledger.gone) > 0
    with trivium.open(path, embedder=HashEmbedder(OLD)) as t:
        for id, word in ledger.there.items():
            assert t.search(word, limit=1, legs=["lexical"])[0].memory.id == id


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize(
    "point",
    [
        "segments:_add_segment",
        "segments:merge",
        "vector_cache:VectorCache._write",
        "vector_cache:VectorCache._replace_head",
        "vector_cache:VectorCache.erase",
        "connection:Connections.truncate_log",
        "store:SqliteStore.tend",
    ],
)
def test_a_kill_at_the_worst_moment_loses_nothing(tmp_path: Path, point: str, after: bool) -> None:
    path, ledger = tmp_path / "store.db", Ledger()
    ledger.note(run_until_killed(workload.write_until_deadly, path, point, after))
    assert ledger.there
    ledger.check(path, [])
    ledger.note(run_until_killed(workload.write_all_day, path, 8, life_s=0.1))
    ledger.check(path, [])


def filled(path: Path) -> set[str]:
    with trivium.open(path, embedder=HashEmbedder(OLD)) as t:
        return {added.id for added in t.add_many({"content": f"memory memory number{n}"} for n in range(MEMORIES))}


def served(path: Path, dimension: int, epoch: int) -> None:
    """A search by meaning sees all memories, by vectors of the epoch of this dimension."""
    with trivium.open(path, embedder=HashEmbedder(dimension)) as t:
        vector = HashEmbedder(epoch).embed(["memory memory number3"], "query")[0]
        found = t.search(vector=vector, limit=MEMORIES + 1, legs=["dense"])
        assert found.epoch == HashEmbedder(epoch).card.fingerprint
        assert (found.legs["dense"].state, len(found)) == ("ok", MEMORIES)
        best = [hit.memory.content for hit in found if hit.score == found[0].score]
        assert "memory memory number3" in best
        assert t.upkeep.verify() == []


def test_a_killed_reembedding_goes_on_where_it_stopped(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    ids = filled(path)
    child = CHILDREN.Process(target=workload.reembed_and_die, args=(path, 300))
    child.start()
    child.join()
    assert child.exitcode == -signal.SIGKILL
    served(path, OLD, OLD)
    served(path, NEW, OLD)
    seen: list[tuple[int, int]] = []
    with trivium.open(path, embedder=HashEmbedder(NEW)) as t:
        done = t.reembed(lambda *told: seen.append(told))
        assert {memory.id for memory in t.scan()} == ids
    assert done.flipped
    assert 0 < done.memories == seen[-1][0] < MEMORIES
    served(path, NEW, NEW)


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("point", ["store:SqliteStore.serve_epoch", "vectors:Vectors.drop"])
def test_a_kill_at_the_flip_leaves_one_epoch_or_the_other(tmp_path: Path, point: str, after: bool) -> None:
    path = tmp_path / "store.db"
    filled(path)
    child = CHILDREN.Process(target=workload.reembed_and_die_at, args=(path, point, after))
    child.start()
    child.join()
    assert child.exitcode == -signal.SIGKILL
    flipped = "drop" in point or after
    served(path, NEW, NEW if flipped else OLD)
    with trivium.open(path, embedder=HashEmbedder(NEW)) as t:
        assert t.reembed().flipped is not flipped
    served(path, NEW, NEW)
