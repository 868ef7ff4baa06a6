"""Files that cannot be used, or only in part: each says so, none is harmed, and no write is half kept."""

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from tests.models.hashing import HashEmbedder

import trivium
from trivium.errors import InvalidInput, NewerStore, NotAStore, ReadOnlyStore, StoreError

SOURCES = Path(trivium.__file__).parents[1]
READ_AND_TRY_TO_WRITE = """
import sys, trivium
with trivium.open(sys.argv[1], embedder=None) as t:
    print([hit.memory.content for hit in t.search("lisbon")])
    try:
        t.add("one more")
    except trivium.TriviumError as error:
        print(type(error).__name__, error)
"""


def made(path: Path, count: int = 1) -> Path:
    with trivium.open(path, embedder=HashEmbedder()) as t:
        t.add_many({"content": f"Ada moved to Lisbon, note {number}."} for number in range(count))
    return path


def on_another_disk(mount: str, *command: str) -> str:
    """Run Python with a mount that nobody else sees and that ends with it."""
    shell = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", f'{mount} && exec "$@"', "sh"]
    done = subprocess.run(
        [*shell, sys.executable, *command], capture_output=True, text=True, timeout=60, check=False,
        env={**os.environ, "PYTHONPATH": f"{SOURCES}"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_store_opened_for_reading_is_not_written(tmp_path: Path) -> None:
    path = made(tmp_path / "store.db")
    before = path.read_bytes()
    with trivium.open(path, embedder=HashEmbedder(), read_only=True) as t:
        (hit,) = t.search("lisbon")
        for write in (lambda: t.add("x"), lambda: t.update(hit.memory.id, tags=["x"]), lambda: t.forget(hit.memory.id)):
            with pytest.raises(ReadOnlyStore, match=r"store\.db is open for reading only; nothing was written"):
                write()
        assert t.upkeep.verify() == []
    assert path.read_bytes() == before


def test_a_store_on_a_read_only_disk_is_read_and_not_written(tmp_path: Path) -> None:
    made(tmp_path / "store.db")
    mounted = f"mount --bind '{tmp_path}' '{tmp_path}' && mount -o remount,bind,ro '{tmp_path}'"
    said = on_another_disk(mounted, "-c", READ_AND_TRY_TO_WRITE, str(tmp_path / "store.db"))
    assert said.splitlines() == [
        "['Ada moved to Lisbon, note 0.']",
        "ReadOnlyStore store.db is open for reading only; nothing was written",
    ]


def test_a_full_disk_keeps_nothing_of_the_write_that_failed(tmp_path: Path) -> None:
    script = Path(__file__).with_name("full_disk.py")
    said = on_another_disk(f"mount -t tmpfs -o size=5m none '{tmp_path}'", str(script), str(tmp_path)).splitlines()
    assert said[-1].endswith(" kept")
    assert set(said[:-1]) == {"no room left to write store.db: nothing of this write was kept; free some space"}


def damage(path: Path) -> str:
    """What opening or `verify` says of a damaged file."""
    try:
        with trivium.open(path, embedder=HashEmbedder()) as t:
            findings = t.upkeep.verify()
    except NotAStore as error:
        return str(error)
    return f"{findings[0].what}; {findings[0].mend}"


@pytest.mark.parametrize("kept", [0.001, 0.02, 0.5, 0.95])
def test_a_truncated_file_is_found_damaged(tmp_path: Path, kept: float) -> None:
    path = made(tmp_path / "store.db", 200)
    os.truncate(path, int(path.stat().st_size * kept))
    assert re.search("damaged.*(restore a backup|restore BACKUP)", damage(path))


@pytest.mark.parametrize("page", range(1, 60, 6))
def test_a_page_of_zeros_is_found_damaged(tmp_path: Path, page: int) -> None:
    path = made(tmp_path / "store.db", 200)
    with path.open("r+b") as file:
        file.seek(page * 4_096)
        assert any(file.read(4_096))
        file.seek(page * 4_096)
        file.write(bytes(4_096))
    assert re.search("damaged.*(restore a backup|restore BACKUP)", damage(path))


def test_a_letter_changed_on_the_disk_is_found(tmp_path: Path) -> None:
    path = made(tmp_path / "store.db", 3)
    content = path.read_bytes()
    assert b"Lisbon, note 1." in content
    path.write_bytes(content.replace(b"Lisbon, note 1.", b"Lisbun, note 1."))
    with trivium.open(path, embedder=HashEmbedder()) as t:
        (changed,) = t.list('content contains "Lisbun"')
        assert [finding.what for finding in t.upkeep.verify()] == [
            f"the text of memory {changed.id!r} is not the one that was stored"
        ]


@pytest.mark.parametrize("content", [b"x", b"just some text\n" * 100, b"SQLite format 3\0" + b"\xff" * 8_000])
def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(NotAStore, match=r"notes\.txt is .*not a Trivium store"):
        trivium.open(path)
    assert path.read_bytes() == content


def test_a_database_of_another_program_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE bookmarks (url TEXT)")
    connection.close()
    before = path.read_bytes()
    for read_only in (False, True):
        with pytest.raises(NotAStore, match=r"other\.db is a SQLite file of another program"):
            trivium.open(path, read_only=read_only)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["other.db"]


def test_a_file_of_a_newer_version_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = made(tmp_path / "store.db")
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(NewerStore, match=r"store\.db has store format 99; .* upgrade Trivium"):
        trivium.open(path)
    assert path.read_bytes() == before


def test_paths_that_are_no_file(tmp_path: Path) -> None:
    with pytest.raises(NotAStore, match="is a folder; give the name of a file"):
        trivium.open(tmp_path)
    with pytest.raises(NotAStore, match=r"store\.db does not exist; open it for writing once"):
        trivium.open(tmp_path / "missing" / "store.db", read_only=True)
    made(tmp_path / "store.db")
    with pytest.raises(StoreError, match=r"cannot be opened: Not a directory"):
        trivium.open(tmp_path / "store.db" / "inner.db")
    with pytest.raises(StoreError, match=r"cannot be opened: File name too long"):
        trivium.open(tmp_path / ("x" * 300))
    with pytest.raises(InvalidInput, match=r"^db: .*NUL"):
        trivium.open(f"{tmp_path}/a\0b")
    with pytest.raises(InvalidInput, match=r"^db: mysql:// is not a store"):
        trivium.open("mysql://host/db")


@pytest.mark.parametrize("name", ["empty.db", "new folder/in it/store.db", "メモ 100% äöü #1?.db"])
def test_an_empty_file_a_missing_folder_and_any_name_will_do(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name == "empty.db":
        path.touch()
    made(path)
    with trivium.open(path, embedder=HashEmbedder()) as t:
        assert [hit.memory.content for hit in t.search("lisbon")] == ["Ada moved to Lisbon, note 0."]
    assert path.stat().st_size > 0


def test_a_closed_store_says_so(tmp_path: Path) -> None:
    t = trivium.open(tmp_path / "store.db", embedder=HashEmbedder())
    id = t.add("x").id
    t.close()
    for use in (lambda: t.get(id), lambda: t.add("y"), lambda: t.search("x"), t.list, lambda: t.forget(id)):
        with pytest.raises(StoreError, match="this store is closed; open it again"):
            use()
    t.close()
