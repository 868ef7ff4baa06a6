"""Records: put, replace, reindex, amend, forget, and what a writer can ask."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from trivium.conformance.bound import Bound, Reopen
from trivium.conformance.builders import (
    EPOCH,
    OTHER_SPACE,
    SPACE,
    embed,
    find,
    forget,
    get_one,
    ids,
    index,
    index_lines,
    made,
    make_memory,
    moment,
    put,
    scanned,
)
from trivium.errors import InvalidInput, NotFound
from trivium.record import Json, Key, Memory
from trivium.store.contract import TF_MAX, IndexedPassage, Store

TEXTS = [
    "plain",
    "",
    "línea única, «çà», 中文, 日本語, עברית",
    "👩‍👩‍👧‍👦 🇧🇷 e\u0301",
    "before\0after\0",
    "quotes ' \" ` % _ \\ ; -- /* $1 ? :name",
    "lines\r\nand\ttabs\u2028\x01\x1f\x7f",
]

METADATA: dict[str, Json] = {
    "whole": 7,
    "huge": 2**70,
    "part": 7.0,
    "small": 1e-300,
    "yes": True,
    "no": False,
    "nothing": None,
    "text": "7",
    "list": [1, 1.5, "x", None, [True, {"deep": []}]],
    "object": {"a.b": {"": 'quo"te'}, "ключ": "значение"},
}


def full_memory() -> Memory:
    """A memory with something in every field."""
    return make_memory(
        "full",
        "content",
        kind="movie",
        title="A title",
        keywords=("one", "two words", "ção"),
        tags=("b", "a", "b"),
        category="film",
        metadata=METADATA,
        importance=1 / 3,
        sensitive=True,
        occurred_at=datetime(1895, 12, 28, 20, 30, 0, 1, tzinfo=UTC),
        source="https://example.org/?a=1",
        thread="thread/1",
        position=-3,
        language="pt",
        supersedes="before",
        superseded_by="after",
        superseded_at=moment(1.000001),
        uses=2**40,
    )


class RecordSuite(Bound):
    def test_every_field_comes_back_after_reopening(self, store: Store, reopen: Reopen) -> None:
        memory = full_memory()
        put(store, memory)
        again = reopen(store)
        assert get_one(again, "full") == memory
        assert scanned(again) == [memory]
        again.close()

    def test_metadata_keeps_its_json_types(self, store: Store, reopen: Reopen) -> None:
        put(store, full_memory())
        again = reopen(store)
        found = get_one(again, "full")
        assert found is not None
        assert json.dumps(found.metadata, sort_keys=True) == json.dumps(METADATA, sort_keys=True)
        again.close()

    def test_numbers_keep_their_types(self, store: Store) -> None:
        put(store, make_memory("a", importance=1.0, uses=3, position=0, sensitive=False))
        found = get_one(store, "a")
        assert found is not None
        assert [type(value) for value in (found.importance, found.uses, found.position, found.sensitive)] == [
            float,
            int,
            int,
            bool,
        ]

    @pytest.mark.parametrize("text", TEXTS)
    def test_any_text_comes_back(self, store: Store, text: str) -> None:
        memory = make_memory("a", text, title=text, tags=(text,), keywords=(text,), metadata={"k": text, text: 1})
        put(store, memory)
        assert get_one(store, "a") == memory

    def test_a_megabyte_comes_back(self, store: Store, reopen: Reopen) -> None:
        memory = make_memory("a", "ação 🙂 " * 80_000)
        with store.writing(SPACE) as writer:
            writer.put(memory, [index("ação 🙂")])
        again = reopen(store)
        assert get_one(again, "a") == memory
        assert again.size_bytes() > 0
        again.close()

    @pytest.mark.parametrize("microsecond", [0, 1, 499_999, 500_000, 999_999])
    @pytest.mark.parametrize("year", [1, 1969, 2026, 9999])
    def test_times_are_exact_to_the_microsecond(self, store: Store, year: int, microsecond: int) -> None:
        time = datetime(year, 12, 31, 23, 59, 59, microsecond, tzinfo=UTC)
        put(store, make_memory("a", created_at=time, updated_at=time, occurred_at=time, superseded_at=time))
        found = get_one(store, "a")
        assert found is not None
        assert {found.created_at, found.updated_at, found.occurred_at, found.superseded_at} == {time}
        assert found.created_at.utcoffset() == moment().utcoffset()

    def test_a_change_to_what_was_given_or_got_does_not_reach_the_store(self, store: Store) -> None:
        metadata: dict[str, Json] = {"list": [1]}
        put(store, make_memory("a", metadata=metadata))
        metadata["list"] = "changed by the giver"
        first = get_one(store, "a")
        assert first is not None
        assert isinstance(first.metadata, dict)
        first.metadata["list"] = "changed by the taker"
        second = get_one(store, "a")
        assert second is not None
        assert second.metadata == {"list": [1]}

    def test_get_leaves_out_what_is_not_there(self, store: Store) -> None:
        put(store, make_memory("a"))
        assert set(store.get([Key(SPACE, "a"), Key(SPACE, "b"), Key(OTHER_SPACE, "a")])) == {Key(SPACE, "a")}
        assert store.get([]) == {}

    def test_get_takes_many_keys(self, store: Store) -> None:
        put(store, *(make_memory(f"m{number:04}") for number in range(2_500)))
        found = store.get(Key(SPACE, f"m{number:04}") for number in range(3_000))
        assert len(found) == 2_500

    def test_put_replaces_record_and_index(self, store: Store) -> None:
        put(store, make_memory("a", "old words\nmore"))
        put(store, make_memory("a", "new words", minute=5))
        assert scanned(store) == [make_memory("a", "new words", minute=5)]
        assert ids(find(store, "new")) == ["a"]
        assert ids(find(store, "old more")) == []
        assert store.passages(Key(SPACE, "a")) == tuple(index_lines("new words"))

    def test_passages_come_back_as_they_were_given(self, store: Store) -> None:
        passages = [
            IndexedPassage(0, 0, 10, {"a": 1, "ß\0": TF_MAX, "🙂": 64}, TF_MAX + 65),
            IndexedPassage(1, 8, 20, {}, 0),
            IndexedPassage(2, 20, 2_000_000, {"b": TF_MAX, "c": TF_MAX}, 2 * TF_MAX),
        ]
        with store.writing(SPACE) as writer:
            writer.put(make_memory("a"), passages)
        assert store.passages(Key(SPACE, "a")) == tuple(passages)
        assert store.passages(Key(SPACE, "b")) == ()

    def test_a_memory_without_passages_is_kept_and_not_found_by_words(self, store: Store) -> None:
        with store.writing(SPACE) as writer:
            writer.put(make_memory("a", "words"), [])
        assert get_one(store, "a") is not None
        assert ids(find(store, "words")) == []

    def test_reindex_changes_the_words_and_leaves_record_and_vectors(self, store: Store) -> None:
        memory = make_memory("a", "own words")
        store.begin_epoch(EPOCH)
        put(store, memory)
        embed(store, made(memory))
        with store.writing(SPACE) as writer:
            writer.reindex("a", [index("own words neighbour")])
        assert ids(find(store, "neighbour")) == ["a"]
        assert get_one(store, "a") == memory
        assert len(store.vectors(memory.key, EPOCH.fingerprint)) == 1
        assert store.pending_count(EPOCH.fingerprint) == 0

    def test_amend_changes_the_record_and_leaves_words_and_vectors(self, store: Store) -> None:
        memory = make_memory("a", "words")
        store.begin_epoch(EPOCH)
        put(store, memory)
        embed(store, made(memory))
        before = find(store, "words").hits[0]
        amended = replace(memory, importance=0.9, uses=4, tags=("t",), metadata={"m": 1}, superseded_at=moment(9))
        with store.writing(SPACE) as writer:
            writer.amend(amended)
        after = find(store, "words").hits[0]
        assert get_one(store, "a") == amended
        assert (after.score, after.ordinal) == (before.score, before.ordinal)
        assert (after.facts.importance, after.facts.uses) == (0.9, 4)
        assert len(store.vectors(memory.key, EPOCH.fingerprint)) == 1

    @pytest.mark.parametrize("change", [{"content": "x"}, {"title": "x"}, {"sensitive": True}])
    def test_amend_refuses_a_change_that_the_indexes_must_see(self, store: Store, change: dict[str, Any]) -> None:
        put(store, make_memory("a", "words"))
        with pytest.raises(InvalidInput), store.writing(SPACE) as writer:
            writer.amend(replace(make_memory("a", "words"), **change))
        assert get_one(store, "a") == make_memory("a", "words")

    def test_amend_and_reindex_need_a_memory(self, store: Store) -> None:
        put(store, make_memory("a", space=OTHER_SPACE))
        with pytest.raises(NotFound), store.writing(SPACE) as writer:
            writer.amend(make_memory("a"))
        with pytest.raises(NotFound), store.writing(SPACE) as writer:
            writer.reindex("a", [index("words")])

    def test_a_writer_writes_only_to_its_space(self, store: Store) -> None:
        put(store, make_memory("a", space=OTHER_SPACE))
        with pytest.raises(InvalidInput), store.writing(SPACE) as writer:
            writer.put(make_memory("b", space=OTHER_SPACE), [])
        with pytest.raises(InvalidInput), store.writing(SPACE) as writer:
            writer.amend(make_memory("a", space=OTHER_SPACE, uses=1))
        assert scanned(store) == [make_memory("a", space=OTHER_SPACE)]

    def test_one_id_in_two_spaces_is_two_memories(self, store: Store) -> None:
        put(store, make_memory("a", "mine"), make_memory("a", "yours", space=OTHER_SPACE))
        forget(store, "a")
        assert get_one(store, "a") is None
        assert get_one(store, "a", OTHER_SPACE) == make_memory("a", "yours", space=OTHER_SPACE)
        assert ids(find(store, "yours", space=OTHER_SPACE)) == ["a"]

    def test_a_writer_sees_what_it_wrote(self, store: Store) -> None:
        memory = make_memory("a", "words", thread="t", position=4)
        with store.writing(SPACE) as writer:
            writer.put(memory, index_lines("words"))
            assert writer.get(["a", "b"]) == {"a": memory}
            assert writer.with_hash(memory.content_hash) == "a"
            assert writer.last_position("t") == 4
            assert writer.around("t", 4, 1) == [memory]
            writer.forget(["a"], moment())
            assert writer.get(["a"]) == {}
            assert writer.with_hash(memory.content_hash) is None
            assert writer.last_position("t") is None
            assert writer.around("t", 4, 1) == []

    def test_with_hash_is_the_first_by_id_that_is_not_superseded(self, store: Store) -> None:
        twin = make_memory("c", "same")
        put(store, twin, make_memory("b", "same"), make_memory("a", "same", superseded_at=moment()))
        put(store, make_memory("A", "same", space=OTHER_SPACE), make_memory("B", "same", title="but titled"))
        with store.writing(SPACE) as writer:
            assert writer.with_hash(twin.content_hash) == "b"
            writer.forget(["b"], moment())
            assert writer.with_hash(twin.content_hash) == "c"
            writer.amend(replace(twin, superseded_at=moment()))
            assert writer.with_hash(twin.content_hash) is None
            assert writer.with_hash("no such hash") is None
