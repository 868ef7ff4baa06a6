"""The cache beside the file: it may be wrong, old or gone, and others wipe it while we read."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.models.hashing import HashEmbedder

import trivium
from trivium.store.sqlite import vectors

ROWS = 200
ODD = "a text with a vector like no other"


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store whose vectors are nearly all in the cache."""
    monkeypatch.setattr(vectors, "TAIL_LIMIT", 16)
    monkeypatch.setattr(vectors, "CACHE_LEAST", 64)
    with opened(tmp_path / "store.db") as t:
        t.add(ODD, id="odd")
        t.add_many(({"content": f"memory memory number{n}", "id": f"m{n}"} for n in range(ROWS)), batch=20)
    return tmp_path / "store.db"


def opened(path: Path) -> trivium.Trivium:
    return trivium.open(path, embedder=HashEmbedder())


def found(t: trivium.Trivium) -> list[tuple[str, float]]:
    return [(hit.memory.id, hit.score) for hit in t.search("memory number7", legs=["dense"], limit=20)]


def cached(path: Path) -> bytes:
    return b"".join(file.read_bytes() for file in path.with_name("store.db-cache").rglob("vectors-*.bin"))


def damaged(path: Path) -> None:
    """One row in the middle of the cache is not what it was."""
    for file in path.with_name("store.db-cache").rglob("vectors-*.bin"):
        content = bytearray(file.read_bytes())
        row = len(HashEmbedder().embed(["x"], "document").tobytes())
        content[50 * row : 51 * row] = content[51 * row : 52 * row]
        file.write_bytes(content)


def test_a_cache_that_is_wrong_is_found_and_can_be_deleted(path: Path) -> None:
    with opened(path) as t:
        right = found(t)
    damaged(path)
    with opened(path) as t:
        (finding,) = t.upkeep.verify()
    assert "cached vectors of space 'default' disagree with the file" in finding.what
    assert finding.mend == "delete the -cache folder"
    shutil.rmtree(path.with_name("store.db-cache"))
    with opened(path) as t:
        assert t.upkeep.verify() == []
        assert found(t) == right


def test_a_cache_cut_short_is_not_used(path: Path) -> None:
    with opened(path) as t:
        right = found(t)
    for file in path.with_name("store.db-cache").rglob("*.bin"):
        file.write_bytes(file.read_bytes()[:100])
    with opened(path) as t:
        assert found(t) == right
        assert t.upkeep.verify() == []


def test_forgetting_wipes_the_cache_and_is_no_fault_to_who_reads_an_older_state(path: Path) -> None:
    odd = HashEmbedder().embed([ODD], "document")[0].astype("float16").astype("float32").tobytes()
    with opened(path) as reader, opened(path) as other:
        assert odd in cached(path)
        assert found(reader) == found(other)
        with reader.store.reading():
            reader.get("odd")
            other.forget("odd", *(f"m{n}" for n in range(ROWS // 2)))
            assert reader.upkeep.verify() == []
            assert reader.get("odd").content == ODD
        assert odd not in cached(path)
        assert reader.upkeep.verify() == []
        assert {"m1", "m7", "odd"}.isdisjoint(dict(found(reader)))


@pytest.mark.parametrize("pattern", ["codes-*.bin", "*.bin", "head.json", "whole folder"])
def test_a_cache_deleted_under_a_process_does_not_stop_it(path: Path, pattern: str) -> None:
    with opened(path) as t:
        right = found(t)
        folder = path.with_name("store.db-cache")
        for file in list(folder.rglob(pattern)):
            file.unlink()
        if pattern == "whole folder":
            shutil.rmtree(folder)
        assert found(t) == right
        assert t.forget("m199").vectors == 1
        t.update("m198", content="another text")
        t.add_many(({"content": f"memory memory more{n}"} for n in range(100)), batch=20)
        assert t.upkeep.verify() == []
        assert t.health().findings == ()
