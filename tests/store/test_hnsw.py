"""HNSW as a setting: the same answers, nearly, and nothing else changes."""

from __future__ import annotations

import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.store.clusters import (
    DIMENSION,
    EPOCH,
    clustered,
    copied,
    files_with,
    fill,
    forget,
    found,
    name,
    recall,
    supersede,
)

import trivium
from trivium.conformance.builders import SPACE, index, make_memory
from trivium.errors import InvalidInput, MissingExtra
from trivium.filter import EVERYTHING, Between, Eq
from trivium.store.contract import MadeVectors, Vector
from trivium.store.opening import open_store
from trivium.store.sqlite import dense, graphs, hnsw, vectors
from trivium.store.sqlite.dense import Block, Matrix, codes_of
from trivium.store.sqlite.store import SqliteStore, cache_folder

ROWS = 5_000
ROWS_OF_CLUSTERS = clustered(ROWS, seed=1)
QUERIES = clustered(50, seed=2)
NONE = np.zeros(0, np.int64)

Open = Callable[..., SqliteStore]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything that begins at thousands of rows begins at hundreds."""
    shrink(monkeypatch)


def shrink(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "CACHE_LEAST", 512)
    monkeypatch.setattr(vectors, "TAIL_LIMIT", 256)
    monkeypatch.setattr(graphs, "LEAST", 1_024)
    monkeypatch.setattr(graphs, "NEW_LIMIT", 1_024)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed store with its cache and its graph."""
    path = tmp_path_factory.mktemp("built") / "store.db"
    with pytest.MonkeyPatch.context() as monkeypatch:
        shrink(monkeypatch)
        store = SqliteStore(path, dense_index="hnsw")
        fill(store, ROWS_OF_CLUSTERS)
        found(store, QUERIES[0])
        built_now(store)
        if len(graph_of(store).numbers) < ROWS - graphs.NEW_LIMIT:  # built while rows still came: extend it
            found(store, QUERIES[0])
            built_now(store)
        store.close()
    return path


@pytest.fixture
def open_copy(built: Path, tmp_path: Path) -> Iterator[Open]:
    path = copied(built, tmp_path)
    opened: list[SqliteStore] = []

    def open_it(**settings: object) -> SqliteStore:
        store = SqliteStore(path, **{"dense_index": "hnsw", **settings})  # type: ignore[arg-type]
        opened.append(store)
        return store

    yield open_it
    for store in opened:
        store.close()


def built_now(store: SqliteStore) -> None:
    assert store._vectors._graphs is not None
    store._vectors._graphs.wait()


def graph_of(store: SqliteStore) -> hnsw.Graph:
    graph = hnsw.view(graph_file(store), DIMENSION)
    assert graph is not None
    return graph


def graph_file(store: SqliteStore) -> Path:
    return cache_folder(store.path) / "1-1" / hnsw.FILE


def answered_by_graph(store: SqliteStore) -> bool:
    return not store.dense(SPACE, QUERIES[0], EPOCH.fingerprint, EVERYTHING, 10).exact


def block_of(rows: Matrix) -> Block:
    """The rows as a store that was filled with them numbers them."""
    numbers = np.arange(1, len(rows) + 1)
    return Block(numbers, numbers, np.zeros_like(numbers), rows, codes_of(rows), numbers > 0)


class SetAfter(threading.Event):
    """An event that is set once it has been asked for this many times."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self._left = times

    def is_set(self) -> bool:
        self._left -= 1
        return self._left < 0


def near(vector: Vector, seed: int) -> Vector:
    moved = vector + 0.01 * np.random.default_rng(seed).standard_normal(len(vector))
    return np.asarray(moved / np.linalg.norm(moved), np.float32)


def test_it_finds_what_comparing_everything_finds(open_copy: Open) -> None:
    store = open_copy()
    assert answered_by_graph(store)
    assert recall(store, QUERIES) >= 0.98
    assert recall(store, QUERIES[:10], depth=100) >= 0.98


def test_scores_are_those_of_the_stored_vectors(open_copy: Open) -> None:
    store = open_copy()
    near = store.dense(SPACE, QUERIES[0], EPOCH.fingerprint, EVERYTHING, 10)
    exact = store.dense(SPACE, QUERIES[0], EPOCH.fingerprint, EVERYTHING, 10, exact=True)
    assert near.hits[0].key == exact.hits[0].key
    assert near.hits[0].score == pytest.approx(exact.hits[0].score, abs=1e-6)
    assert exact.exact


def test_a_probe_compares_everything(open_copy: Open) -> None:
    answer = open_copy().dense(SPACE, QUERIES[0], EPOCH.fingerprint, EVERYTHING, 10, probe=name(17))
    assert answer.exact
    assert answer.place is not None


@pytest.mark.parametrize("least", [0.0, 0.9, 0.99, 0.999])
def test_a_filter_gives_as_many_as_there_are(open_copy: Open, least: float) -> None:
    store = open_copy()
    where = Between("importance", least, 1.0)
    matching = store.count([SPACE], where)
    assert found(store, QUERIES[0], 50, where) == found(store, QUERIES[0], 50, where, exact=True)
    assert len(found(store, QUERIES[0], 50, where)) == min(50, matching)


def test_superseded_memories_are_passed_over(open_copy: Open) -> None:
    store = open_copy()
    where = Eq("superseded", False)
    first = found(store, QUERIES[0], 300, exact=True)
    supersede(store, first)
    answer = store.dense(SPACE, QUERIES[0], EPOCH.fingerprint, where, 10)
    assert not answer.exact
    assert len(answer.hits) == 10
    assert not {hit.key.id for hit in answer.hits} & set(first)
    assert len(set(found(store, QUERIES[0], 10, where)) & set(found(store, QUERIES[0], 10, where, exact=True))) >= 9


def test_forgotten_memories_are_passed_over(open_copy: Open) -> None:
    store = open_copy()
    first = [int(id[1:]) for id in found(store, QUERIES[0], 300, exact=True)]
    forget(store, *first)
    assert answered_by_graph(store)
    assert recall(store, QUERIES) >= 0.98
    assert not set(found(store, QUERIES[0], 50)) & {name(number) for number in first}


def test_when_nothing_near_is_allowed_the_codes_answer(open_copy: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hnsw, "MOST", 300)
    monkeypatch.setattr(dense, "EXACT_CHOSEN", ROWS)
    store = open_copy()
    supersede(store, found(store, QUERIES[0], 400, exact=True))
    where = Eq("superseded", False)
    assert found(store, QUERIES[0], 20, where) == found(store, QUERIES[0], 20, where, exact=True)


def test_new_rows_are_found_at_once(open_copy: Open) -> None:
    store = open_copy()
    before = len(graph_of(store).numbers)
    fill(store, QUERIES, first=ROWS)
    assert [found(store, query, 1) for query in QUERIES] == [[name(ROWS + number)] for number in range(len(QUERIES))]
    assert len(graph_of(store).numbers) == before


def test_many_new_rows_extend_the_graph(open_copy: Open) -> None:
    store = open_copy()
    before = len(graph_of(store).numbers)
    fill(store, clustered(2_500, seed=3), first=ROWS)
    found(store, QUERIES[0])
    built_now(store)
    assert len(graph_of(store).numbers) >= before + graphs.NEW_LIMIT
    assert recall(store, QUERIES) >= 0.98


def test_a_memory_of_many_passages_takes_one_place(open_copy: Open) -> None:
    store = open_copy()
    long = make_memory("long", "long")
    with store.writing(SPACE) as writer:
        writer.put(long, [index("x", ordinal=ordinal) for ordinal in range(400)])
        made = [near(QUERIES[0], ordinal) for ordinal in range(400)]
        writer.put_vectors(EPOCH.fingerprint, [MadeVectors(long.key, long.content_hash, made)])
    graph_file(store).unlink()
    found(store, QUERIES[0])
    built_now(store)
    assert {*range(ROWS + 1, ROWS + 401)} <= set(graph_of(store).numbers.tolist())
    hits = found(store, QUERIES[0], 20)
    assert hits == found(store, QUERIES[0], 20, exact=True)
    assert len(hits) == len(set(hits)) == 20


def test_a_reopened_store_uses_the_file_it_finds(open_copy: Open) -> None:
    store = open_copy()
    inode = graph_file(store).stat().st_ino
    assert answered_by_graph(store)
    built_now(store)
    assert graph_file(store).stat().st_ino == inode
    assert answered_by_graph(open_copy(read_only=True))


def test_the_cache_may_be_deleted_at_any_time(open_copy: Open) -> None:
    store = open_copy()
    assert answered_by_graph(store)
    shutil.rmtree(cache_folder(store.path))
    assert found(store, QUERIES[0]) == found(store, QUERIES[0], exact=True)
    store.close()
    again = open_copy()
    assert found(again, QUERIES[0]) == found(again, QUERIES[0], exact=True)
    built_now(again)
    assert answered_by_graph(again)
    assert recall(again, QUERIES) >= 0.98


@pytest.mark.parametrize("damage", ["empty", "half", "noise", "zeros", "another's"])
def test_a_damaged_file_is_built_again(open_copy: Open, damage: str) -> None:
    store = open_copy()
    path = graph_file(store)
    whole = path.read_bytes()
    noise = np.random.default_rng(5).bytes(len(whole))
    bad = {"empty": b"", "half": whole[: len(whole) // 2], "noise": noise, "zeros": bytes(len(whole))}
    path.unlink()  # not in place: whoever has the old file mapped keeps it
    if damage == "another's":
        others = block_of(clustered(ROWS, seed=9))
        hnsw.build(path.parent, others, lambda: NONE, threading.Event(), extend=False)
    else:
        path.write_bytes(bad[damage])
    assert found(store, QUERIES[0]) == found(store, QUERIES[0], exact=True)
    built_now(store)
    assert answered_by_graph(store)
    assert recall(store, QUERIES) >= 0.98


@pytest.mark.parametrize("dense_index", ["hnsw", "codes"])
def test_a_forgotten_vector_is_on_no_disk(open_copy: Open, dense_index: str) -> None:
    store = open_copy(dense_index=dense_index)
    gone, kept = ROWS_OF_CLUSTERS[1234], ROWS_OF_CLUSTERS[1235]
    assert hnsw.FILE in files_with(store, gone)
    found(store, gone)
    forget(store, 1234)
    store.close()
    assert files_with(store, gone) == []
    assert (hnsw.FILE in files_with(store, kept)) == (dense_index == "hnsw")


def test_a_vector_forgotten_while_the_graph_is_built_is_on_no_disk(open_copy: Open) -> None:
    store = open_copy()
    graph_file(store).unlink()
    found(store, QUERIES[0])  # begins to build
    forget(store, 4_000)
    built_now(store)
    assert graph_file(store).exists()
    store.close()
    assert files_with(store, ROWS_OF_CLUSTERS[4_000]) == []


def test_a_build_that_is_ended_early_goes_on_later(open_copy: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hnsw, "KEPT_LEAST", 1)
    store = open_copy()
    graph_file(store).unlink()
    base = block_of(ROWS_OF_CLUSTERS)
    hnsw.build(graph_file(store).parent, base, lambda: NONE, SetAfter(3), extend=True)
    assert len(graph_of(store).numbers) == 3 * hnsw.CHUNK
    assert found(store, QUERIES[0]) == found(store, QUERIES[0], exact=True)  # the rest is compared beside it
    built_now(store)
    assert len(graph_of(store).numbers) > ROWS - 512


def test_an_unknown_index_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"dense_index: 'faiss' is not one of codes, hnsw"):
        trivium.open(tmp_path / "store.db", dense_index="faiss")
    with pytest.raises(InvalidInput, match="dense_index: memory:"):
        open_store("memory:", dense_index="hnsw")


def test_a_missing_package_is_named_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "usearch.index", None)
    with pytest.raises(MissingExtra, match=r"trivium\[hnsw\]"):
        trivium.open(tmp_path / "store.db", dense_index="hnsw")
    assert not (tmp_path / "store.db").exists()


def test_the_engine_takes_the_setting(tmp_path: Path) -> None:
    with trivium.open(tmp_path / "store.db", embedder=None, dense_index="hnsw") as memories:
        memories.add("Ada moved to Lisbon in May.")
        assert [hit.memory.content for hit in memories.search("Lisbon")] == ["Ada moved to Lisbon in May."]
