"""Adding, changing, replacing and forgetting, on each kind of store."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from tests.engine.conftest import Clock, Open
from tests.models.hashing import HashEmbedder

import trivium
from trivium.errors import InvalidInput, NotFound


def ids(found: trivium.Results) -> list[str]:
    return [hit.memory.id for hit in found]


def test_what_is_added_comes_back_whole(t: trivium.Trivium, clock: Clock) -> None:
    fields: dict[str, Any] = {
        "title": "A move", "kind": "fact", "keywords": ("home",), "tags": ("people", "Lisbon"), "category": "life",
        "metadata": {"year": 2026, "with": ["Bob", None]}, "importance": 0.7, "source": "mail", "thread": "news",
        "position": 3, "language": "english", "occurred_at": clock.now,
    }  # fmt: skip
    added = t.add("Ada moved to Lisbon in May.", id="ada", **fields)
    memory = t.get("ada")
    assert memory == added.memory
    assert not added.duplicate
    assert {name: getattr(memory, name) for name in fields} == fields | {"language": "en"}
    assert memory.created_at == memory.updated_at == clock.now


def test_the_same_text_again_is_reported_and_not_stored(t: trivium.Trivium) -> None:
    first = t.add("the same")
    again = t.add("the same")
    assert (again.id, again.duplicate) == (first.id, True)
    assert t.add("the same", title="another title").duplicate is False
    asked = t.add("the same", allow_duplicate=True)
    assert (asked.id != first.id, asked.duplicate) == (True, False)
    batch = t.add_many([{"content": "twice"}, {"content": "twice"}, {"content": "the same"}])
    assert [each.duplicate for each in batch] == [False, True, True]
    assert batch[0].id == batch[1].id
    assert len(t.list()) == 4


def test_saying_it_again_in_a_thread_is_new(t: trivium.Trivium) -> None:
    assert [t.add("yes", thread="talk").duplicate for _ in range(2)] == [False, False]
    assert [memory.position for memory in t.list(order="thread", newest_first=False)] == [0, 1]


def test_a_batch_counts_on_from_the_positions_it_was_given(t: trivium.Trivium) -> None:
    added = t.add_many(
        [{"content": c, "thread": "talk", "position": p} for c, p in (("a", None), ("b", 10), ("c", None))]
    )
    assert [each.memory.position for each in added] == [0, 10, 11]


def test_add_many_tells_how_far_it_is(t: trivium.Trivium) -> None:
    told: list[int] = []
    added = t.add_many(({"content": f"memory {n}"} for n in range(25)), batch=10, progress=told.append)
    assert told == [10, 20, 25]
    assert t.get(added[24].id).content == "memory 24"


def test_an_update_changes_what_it_names_and_what_is_found(t: trivium.Trivium, clock: Clock) -> None:
    id = t.add("Ada lives in Porto", tags=["people"]).id
    created = t.get(id).created_at
    clock.pass_days(1)
    changed = t.update(id, content="Ada lives in Lisbon")
    assert (changed.content, changed.tags, changed.created_at) == ("Ada lives in Lisbon", ("people",), created)
    assert changed.updated_at > created
    assert t.get(id) == changed
    assert ids(t.search("lisbon", legs=["lexical"])) == [id]
    assert ids(t.search("porto", legs=["lexical"], correct_typos=False)) == []


def test_an_update_of_tags_keeps_the_vectors(open_any: Open) -> None:
    embedder = HashEmbedder()
    t = open_any(embedder=embedder)
    id = t.add("Ada lives in Lisbon").id
    asked = list(embedder.asked)
    t.update(id, tags=["people"])
    assert embedder.asked == asked
    found = t.search(vector=embedder.embed(["Ada lives in Lisbon"], "query")[0], legs=["dense"], tags=["people"])
    assert ids(found) == [id]
    assert found.legs["dense"].state == "ok"
    assert ids(t.search("people", legs=["lexical"])) == [id]


def test_updates_at_the_same_time_are_all_kept(t: trivium.Trivium) -> None:
    id = t.add("a busy memory").id
    names = ["title", "category", "source"]

    def change(name: str) -> None:
        for number in range(10):
            change: dict[str, Any] = {name: f"{name} {number}"}
            t.update(id, **change)

    with ThreadPoolExecutor(3) as threads:
        list(threads.map(change, names))
    memory = t.get(id)
    assert (memory.title, memory.category, memory.source) == ("title 9", "category 9", "source 9")


def test_superseding_keeps_the_old_one_in_history(t: trivium.Trivium, clock: Clock) -> None:
    old = t.add("Ada lives in Porto", tags=["people"]).memory
    clock.pass_days(1)
    between = clock.pass_days(1)
    clock.pass_days(1)
    new = t.supersede(old.id, "Ada lives in Lisbon")
    later = clock.pass_days(1)
    assert (new.supersedes, new.tags, t.get(old.id).superseded_by) == (old.id, ("people",), new.id)
    newest = t.update(new.id, keep_history=True, content="Ada lives in Faro")
    assert [memory.id for memory in t.history(new.id)] == [old.id, new.id, newest.id]
    assert ids(t.search("Ada")) == [newest.id]
    assert set(ids(t.search("Ada", include_superseded=True))) == {old.id, new.id, newest.id}
    assert ids(t.search("Ada", as_of=between)) == [old.id]
    assert ids(t.search("Ada", as_of=later)) == [new.id]
    assert set(ids(t.search("Ada", as_of=later, include_superseded=True))) == {old.id, new.id}
    assert [memory.id for memory in t.list()] == [newest.id]
    with pytest.raises(InvalidInput, match=f"{old.id}.* is already superseded by"):
        t.supersede(old.id, "again")


def test_forgetting_is_for_good_and_receipted(t: trivium.Trivium) -> None:
    kept = t.add("Ada lives in Lisbon").id
    gone = t.add("Ada keeps a secret").id
    receipt = t.forget(gone, "nobody")
    assert (receipt.forgotten, receipt.missing) == ((gone,), ("nobody",))
    assert (receipt.records, receipt.passages, receipt.vectors) == (1, 1, 1)
    with pytest.raises(NotFound, match=gone):
        t.get(gone)
    assert ids(t.search("secret", correct_typos=False)) == [kept]  # by meaning alone: Ada
    assert t.search("secret", correct_typos=False).legs["lexical"].state == "empty"
    assert t.upkeep.verify() == []


def test_what_a_scan_finds_may_be_changed_while_it_goes_on(t: trivium.Trivium) -> None:
    t.add_many({"content": f"memory {n}"} for n in range(5))
    for memory in t.scan():
        t.update(memory.id, tags=["seen"])
        t.update(memory.id, tags=["seen", "twice"])
        assert t.get(t.add(f"seen {memory.content}").id).content == f"seen {memory.content}"
    assert len(t.list("tags = twice", limit=None)) == 5
    assert len(t.list(limit=None)) == 10


def test_uses_are_counted_and_survive_an_update(t: trivium.Trivium) -> None:
    id = t.add("useful").id
    t.used(id)
    t.used(id)
    assert t.update(id, content="still useful").uses == 2
    assert t.get(id).uses == 2


def test_a_store_of_another_analyzer_is_indexed_again_before_it_is_written(t: trivium.Trivium) -> None:
    id = t.add("Ada lives in Lisbon", thread="news").id
    t.add("Bob lives in Porto", thread="news")
    before = t.store.passages(t.get(id).key)
    t.store.set_analyzer_version("an older one")
    for write in (lambda: t.add("x"), lambda: t.update(id, tags=["x"]), lambda: t.supersede(id, "x")):
        with pytest.raises(InvalidInput, match=r"^store: indexed by analyzer an older one, .* run `trivium reindex`"):
            write()
    (finding,) = t.upkeep.verify()
    assert finding.mend == "trivium reindex"
    assert t.upkeep.reindex() == 2
    assert t.store.passages(t.get(id).key) == before
    assert t.upkeep.verify() == []
    assert not t.add("x").duplicate
