"""The vector cache: faster, and otherwise as if it were not there. It may be missing, old, damaged or another's."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.store.clusters import (
    EPOCH,
    cache_files,
    clustered,
    copied,
    files_with,
    fill,
    forget,
    found,
    memory,
    name,
    recall,
)

from trivium.conformance.builders import SPACE
from trivium.filter import Between
from trivium.store.sqlite import dense, vectors
from trivium.store.sqlite.store import SqliteStore, cache_folder
from trivium.store.sqlite.vector_cache import Head

ROWS = 3_000
FILLED = clustered(ROWS, seed=1)
QUERIES = clustered(40, seed=2)

Open = Callable[[], SqliteStore]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything that begins at thousands of rows begins at hundreds."""
    shrink(monkeypatch)


def shrink(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "CACHE_LEAST", 512)
    monkeypatch.setattr(vectors, "TAIL_LIMIT", 256)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed store and its cache."""
    path = tmp_path_factory.mktemp("filled") / "store.db"
    with pytest.MonkeyPatch.context() as monkeypatch:
        shrink(monkeypatch)
        store = SqliteStore(path)
        fill(store, FILLED)
        store.close()
    return path


@pytest.fixture
def path(filled: Path, tmp_path: Path) -> Path:
    return copied(filled, tmp_path)


@pytest.fixture
def open_it(path: Path) -> Iterator[Open]:
    opened: list[SqliteStore] = []

    def open_store() -> SqliteStore:
        opened.append(SqliteStore(path))
        return opened[-1]

    yield open_store
    for store in opened:
        store.close()


def head(store: SqliteStore) -> Head:
    return Head(**json.loads((cache_folder(store.path) / "1-1" / "head.json").read_text()))


def rows_read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows each reading of the store file brought, from now on."""
    counts: list[int] = []
    real = dense.block_of

    def counting(rows: list[tuple[int, int, int, bytes]], dimension: int) -> dense.Block:
        counts.append(len(rows))
        return real(rows, dimension)

    monkeypatch.setattr(dense, "block_of", counting)
    return counts


def assert_right(store: SqliteStore, also: int = 0) -> None:
    """Answers are those of the store file, read by a store that has no cache."""
    plain = SqliteStore(store.path, read_only=True)
    plain._vectors._folder = store.path.with_name("nowhere")
    for query in QUERIES[:5]:
        assert found(store, query, 10 + also, exact=True) == found(plain, query, 10 + also, exact=True)
    plain.close()
    assert store.verify() == []


def test_rows_are_appended_as_they_come(open_it: Open) -> None:
    store = open_it()
    before, files = head(store), {path.name: path.stat().st_ino for path in cache_files(store) if path.suffix == ".bin"}
    assert before.rows == before.last == ROWS
    fill(store, QUERIES, first=ROWS)
    assert head(store) == before  # too few to be worth it
    fill(store, clustered(300, seed=3), first=ROWS + len(QUERIES))
    after = head(store)
    assert (after.generation, after.rows) == (before.generation, ROWS + len(QUERIES) + 300)
    assert {path.name: path.stat().st_ino for path in cache_files(store) if path.suffix == ".bin"} == files
    assert_right(store)


def test_a_reopened_store_reads_only_what_came_since(open_it: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_it()
    fill(store, QUERIES[:7], first=ROWS)
    again = open_it()
    counts = rows_read(monkeypatch)
    assert found(again, QUERIES[0], 1) == [name(ROWS)]
    assert counts == [7]


def test_dead_rows_are_compacted_away(open_it: Open) -> None:
    store = open_it()
    before, reader = head(store), open_it()
    found(reader, QUERIES[0])  # has the old files mapped
    forget(store, *range(0, ROWS, 3))
    fill(store, clustered(300, seed=3), first=ROWS)
    after = head(store)
    assert after.generation == before.generation + 1
    assert after.rows == ROWS - ROWS // 3 + 300
    assert {path.stem.split("-")[1] for path in cache_files(store) if path.suffix == ".bin"} == {str(after.generation)}
    assert_right(store)
    assert_right(reader)


def test_another_stores_cache_is_refused(open_it: Open, tmp_path: Path) -> None:
    store = open_it()
    other = SqliteStore(tmp_path / "other.db")
    fill(other, clustered(ROWS, seed=4))
    shutil.rmtree(cache_folder(store.path))
    shutil.copytree(cache_folder(other.path), cache_folder(store.path))
    assert_right(store)
    assert_right(open_it())
    other.close()


def test_the_folder_may_be_deleted_while_it_is_open(open_it: Open) -> None:
    store = open_it()
    expected = found(store, QUERIES[0])
    shutil.rmtree(cache_folder(store.path))
    assert found(store, QUERIES[0]) == expected
    forget(store, 17)
    fill(store, clustered(300, seed=3), first=ROWS)
    assert head(store).rows == ROWS - 1 + 300
    assert_right(store)


def test_a_folder_that_cannot_be_written_costs_only_time(open_it: Open) -> None:
    store = open_it()
    shutil.rmtree(cache_folder(store.path))
    cache_folder(store.path).write_text("a file where the folder should be")
    fill(store, clustered(600, seed=3), first=ROWS)
    forget(store, 17)
    assert_right(store)
    assert_right(open_it())


@pytest.mark.parametrize("file", ["keys-0.bin", "vectors-0.bin", "codes-0.bin", "head.json"])
def test_a_file_cut_short_is_made_again(open_it: Open, path: Path, file: str) -> None:
    damaged = cache_folder(path) / "1-1" / file
    damaged.write_bytes(damaged.read_bytes()[: damaged.stat().st_size // 2])
    store = open_it()
    assert_right(store)
    assert head(store).rows == ROWS


WRITER = """
import sys
sys.path.insert(0, {root!r})
from pathlib import Path
from tests.store.clusters import clustered, fill
from trivium.store.sqlite import vectors
from trivium.store.sqlite.store import SqliteStore
vectors.CACHE_LEAST, vectors.TAIL_LIMIT = 512, 64
store = SqliteStore(Path({path!r}))
fill(store, clustered(1_000, seed={seed}), first={first}, batch=50)
store.close()
"""


def test_two_processes_append_while_another_reads(open_it: Open) -> None:
    store = open_it()
    root = str(Path(__file__).parents[2])
    scripts = [WRITER.format(root=root, path=str(store.path), seed=seed, first=10_000 * seed) for seed in (5, 6)]
    writers = [subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.PIPE) for script in scripts]
    reads = 0
    while any(writer.poll() is None for writer in writers):
        assert len(found(store, QUERIES[reads % len(QUERIES)], 10)) == 10
        reads += 1
    assert [writer.communicate()[1] for writer in writers] == [b"", b""]
    assert reads > 0
    assert_right(store)
    again = open_it()
    assert_right(again)
    assert len(found(again, QUERIES[0], 10_000, exact=True)) == ROWS + 2_000


@pytest.mark.parametrize("reopened", [False, True])
def test_a_forgotten_vector_is_on_no_disk(open_it: Open, reopened: bool) -> None:
    store = open_it()
    assert "vectors-0.bin" in files_with(store, FILLED[1234])
    found(store, QUERIES[0])
    forget(store, 1234)
    if reopened:
        store.close()
        store = open_it()
        assert_right(store)
    store.close()
    assert files_with(store, FILLED[1234]) == []
    assert "vectors-0.bin" in files_with(store, FILLED[1235])


def test_the_short_list_holds_the_nearest(open_it: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_it()
    assert recall(store, QUERIES) == 1.0
    monkeypatch.setattr(dense, "EXACT_ROWS", 1_000)
    monkeypatch.setattr(dense, "RESCORED_LEAST", 300)
    answer = store.dense(SPACE, QUERIES[0], EPOCH.fingerprint, Between("importance", 0.0, 1.0), 10)
    assert answer.exact  # 3,000 rows chosen by a filter are few
    assert recall(store, QUERIES) >= 0.98


@pytest.mark.parametrize(("least", "share"), [(0.0, 1.0), (0.9, 0.1), (0.99, 0.01), (0.999, 0.001)])
@pytest.mark.parametrize("depth", [1, 10, 100, 5_000])
def test_a_filter_gives_as_many_as_there_are(
    open_it: Open, monkeypatch: pytest.MonkeyPatch, least: float, share: float, depth: int
) -> None:
    monkeypatch.setattr(dense, "EXACT_ROWS", 1_000)
    monkeypatch.setattr(dense, "EXACT_CHOSEN", 100)
    monkeypatch.setattr(dense, "RESCORED_LEAST", 300)
    store = open_it()
    where = Between("importance", least, 1.0)
    matching = {memory(number).id for number in range(ROWS) if memory(number).importance >= least}
    assert len(matching) == ROWS * share
    hits = found(store, QUERIES[0], depth, where)
    assert len(hits) == len(set(hits)) == min(depth, len(matching))
    assert set(hits) <= matching


def test_a_vector_forgotten_before_it_was_cached_is_on_no_disk(open_it: Open) -> None:
    store = open_it()
    fill(store, QUERIES, first=ROWS)
    assert_right(store, also=len(QUERIES))  # a search: the table in memory has them now
    forget(store, ROWS)
    fill(store, clustered(300, seed=3), first=ROWS + len(QUERIES))
    assert head(store).rows == ROWS + len(QUERIES) + 300  # the dead row was appended with the others
    assert_right(store)
    store.close()
    assert files_with(store, QUERIES[0]) == []


def restored(store: SqliteStore, older: Path) -> None:
    """Put an older copy of the file in place, as a user would: the cache beside it stays as it is."""
    store.close()
    shutil.copy(older, store.path)


def test_a_restored_older_file_does_not_use_a_newer_cache(open_it: Open, filled: Path) -> None:
    store = open_it()
    fill(store, clustered(300, seed=3), first=ROWS)
    restored(store, filled)
    assert_right(open_it())


def test_nor_when_it_has_given_the_same_numbers_to_other_vectors(open_it: Open, filled: Path) -> None:
    store = open_it()
    fill(store, clustered(300, seed=3), first=ROWS)
    restored(store, filled)
    without_cache = SqliteStore(store.path)
    without_cache._vectors._folder = store.path.with_name("nowhere")
    fill(without_cache, clustered(400, seed=4), first=ROWS)
    without_cache.close()
    assert_right(open_it(), also=100)


def test_nor_when_only_removals_came_after_it(open_it: Open, filled: Path) -> None:
    store = open_it()
    forget(store, *range(0, ROWS, 3))
    fill(store, clustered(300, seed=3), first=ROWS)  # compacts
    forget(store, *range(ROWS, ROWS + 300))
    assert head(store).rows < ROWS
    restored(store, filled)
    assert_right(open_it(), also=100)


def test_a_backup_does_not_share_its_cache_with_the_original(open_it: Open, tmp_path: Path) -> None:
    store = open_it()
    store.backup(tmp_path / "backup.db")
    restored(store, tmp_path / "backup.db")
    again = open_it()
    assert again._meta("identity") != store_identity(cache_folder(again.path))
    assert_right(again)


def store_identity(folder: Path) -> str:
    identity: str = json.loads((folder / "1-1" / "head.json").read_text())["identity"]
    return identity.split("/", maxsplit=1)[0]


def test_everything_forgotten_is_nothing_found(open_it: Open) -> None:
    store = open_it()
    forget(store, *range(ROWS))
    assert found(open_it(), QUERIES[0]) == []


def test_what_a_reader_has_mapped_is_never_cut(open_it: Open) -> None:
    reader = open_it()
    expected = found(reader, QUERIES[0])
    (cache_folder(reader.path) / "1-1" / "head.json").unlink()
    mapped = cache_folder(reader.path) / "1-1" / "vectors-0.bin"
    before = mapped.stat().st_ino
    found(open_it(), QUERIES[0])  # writes the cache again, of generation 0 like the one before
    assert mapped.stat().st_ino != before  # a new file: cutting the mapped one would kill the reader
    assert found(reader, QUERIES[0]) == expected
