"""Values that cannot be used are refused, and the message begins with the name of the field."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from tests.models.hashing import HashEmbedder

import trivium
from trivium.errors import InvalidFilter, InvalidInput, NotFound, UnknownKind, WrongVector
from trivium.record import Json

MEGABYTE = 1_000_000
BEFORE_TIME = datetime.min.replace(tzinfo=timezone(timedelta(hours=14)))


@pytest.fixture(params=["memory:", "file"])
def t(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[trivium.Trivium]:
    target = tmp_path / "store.db" if request.param == "file" else request.param
    with trivium.open(target, embedder=HashEmbedder(32)) as opened:
        yield opened


def nested(depth: int) -> dict[str, Json]:
    inner: dict[str, Json] = {"leaf": 1}
    for _ in range(depth):
        inner = {"in": inner}
    return inner


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"content": ""}, "content: is empty"),
        ({"content": " \n\t"}, "content: is empty"),
        ({"content": 7}, "content: is int; text is wanted"),
        ({"content": "é" * MEGABYTE}, "content: has 2,000,000 bytes; the limit is 1,000,000"),
        ({"content": "half \ud83d"}, "content: has a lone surrogate at character 5"),
        ({"title": "t" * 1_001}, "title: has 1,001 characters; the limit is 1,000"),
        ({"title": "\udc00"}, "title: has a lone surrogate"),
        ({"kind": "Not A Kind"}, "kind: 'Not A Kind' is not valid"),
        ({"kind": ""}, "kind: '' is not valid"),
        ({"tags": "one"}, "tags: is one text; a list of texts is wanted"),
        ({"tags": None}, "tags: is NoneType"),
        ({"tags": ["t" * 201]}, "tags: has 201 characters; the limit is 200"),
        ({"tags": [str(n) for n in range(201)]}, "tags: has 201 items; the limit is 200"),
        ({"tags": [3]}, "tags: is int"),
        ({"keywords": ["\ud800"]}, "keywords: has a lone surrogate"),
        ({"category": "c" * 201}, "category: has 201 characters"),
        ({"metadata": {"big": "x" * 64_001}}, "metadata: has 64,012 bytes as JSON; the limit is 64,000"),
        ({"metadata": {"when": datetime.now(UTC)}}, "metadata: is not JSON"),
        ({"metadata": {"n": float("nan")}}, "metadata: is not JSON"),
        ({"metadata": {"half": "\ud800"}}, "metadata: is not JSON"),
        ({"metadata": ["a"]}, "metadata: is list; an object"),
        ({"metadata": nested(100)}, "metadata: is nested more than 64 deep"),
        ({"metadata": nested(5_000)}, "metadata: is not JSON"),
        ({"importance": 1.01}, "importance: 1.01 is not a number from 0 to 1"),
        ({"importance": -0.1}, "importance: -0.1"),
        ({"importance": float("nan")}, "importance: nan"),
        ({"importance": True}, "importance: True"),
        ({"sensitive": "yes"}, "sensitive: 'yes' is neither True nor False"),
        ({"occurred_at": datetime(2026, 1, 1)}, "occurred_at: .* is not a time with a time zone"),  # noqa: DTZ001 the fault
        ({"created_at": "2026-01-01"}, "created_at: '2026-01-01' is not a time with a time zone"),
        ({"occurred_at": BEFORE_TIME}, "occurred_at: .* outside the years 1 to 9999"),
        ({"position": 1}, "position: stands without a thread"),
        ({"thread": "t", "position": 1.5}, "position: 1.5 is not a whole number"),
        ({"language": "klingon"}, "language: "),
        ({"id": "two words"}, "id: 'two words' is not valid"),
        ({"id": "x" * 129}, "id: "),
        ({"colour": "red"}, "colour: is not a field of a memory; fields: content, title"),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else ",".join(value),
)  # fmt: skip
def test_a_field_that_cannot_be_stored_is_named_and_nothing_is_stored(
    t: trivium.Trivium, fields: Mapping[str, Any], message: str
) -> None:
    with pytest.raises(InvalidInput, match=f"^{message}"):
        t.add(**{"content": "fine", **fields})
    assert t.list() == []


def test_an_update_is_checked_like_an_add(t: trivium.Trivium) -> None:
    id = t.add("fine").id
    with pytest.raises(InvalidInput, match=r"^importance: 2"):
        t.update(id, importance=2)
    with pytest.raises(InvalidInput, match=r"^colour: is not a field"):
        t.update(id, colour="red")
    with pytest.raises(InvalidInput, match=r"^content: is empty"):
        t.supersede(id, "")
    assert t.list() == [t.get(id)]


def test_ids_given_twice_are_refused_and_the_whole_batch_with_them(t: trivium.Trivium) -> None:
    t.add("first", id="a")
    for batch in ([{"content": "x", "id": "b"}, {"content": "y", "id": "b"}], [{"content": "z", "id": "a"}]):
        with pytest.raises(InvalidInput, match=r"^id: '[ab]' is already in space 'default'"):
            t.add_many(batch)
    assert [memory.id for memory in t.list()] == ["a"]


def test_a_bad_record_keeps_its_batch_out(t: trivium.Trivium) -> None:
    with pytest.raises(InvalidInput, match=r"^content: is missing"):
        t.add_many([{"content": "one"}, {"title": "two"}])
    with pytest.raises(InvalidInput, match=r"^record: is str"):
        t.add_many(["one"])  # type: ignore[list-item]  # the fault
    with pytest.raises(InvalidInput, match=r"^batch: 0"):
        t.add_many([{"content": "one"}], batch=0)
    assert t.list() == []


@pytest.mark.parametrize(
    ("text", "options", "error", "message"),
    [
        ("", {}, InvalidInput, "text: empty"),
        ("  \n", {}, InvalidInput, "text: empty"),
        (None, {}, InvalidInput, "text: is NoneType; text is wanted"),
        ("x", {"as_of": "2020"}, InvalidInput, "as_of: '2020' is not a datetime"),
        ("word " * 2 * MEGABYTE, {}, InvalidInput, "text: 10,000,000 characters; the limit is 65,536"),
        ("x", {"limit": -1}, InvalidInput, "limit: -1 is not a whole number from 1 to 1,000"),
        ("x", {"limit": 0}, InvalidInput, "limit: 0"),
        ("x", {"limit": 2.5}, InvalidInput, "limit: 2.5"),
        ("x", {"candidates": 10**9}, InvalidInput, "candidates: 1000000000"),
        ("x", {"min_score": 1.5}, InvalidInput, "min_score: 1.5 is not a number from 0 to 1"),
        ("x", {"min_score": float("nan")}, InvalidInput, "min_score: nan"),
        ("x", {"vector": [1.0, 2.0]}, WrongVector, "vector: has .*2.* 32"),
        ("", {"vector": [float("nan")] * 32}, WrongVector, "vector: nan at position 0"),
        ("", {"vector": [0.0] * 31 + [float("inf")]}, WrongVector, "vector: inf at position 31"),
        ("", {"vector": [0.0] * 32}, WrongVector, "vector: all 32 values are zero"),
        ("", {"vector": [[1.0] * 32]}, WrongVector, r"vector: shape \(1, 32\)"),
        ("", {"vector": "abc"}, WrongVector, "vector: give a flat list"),
        ("x", {"kind": "moive"}, UnknownKind, "kind: no memory here is a 'moive'; kinds here: note"),
        ("x", {"fusion": "rff"}, InvalidInput, "fusion: unknown 'rff'; did you mean 'rrf'"),
        ("x", {"legs": ["lexcial"]}, InvalidInput, "legs: unknown 'lexcial'; did you mean 'lexical'"),
        ("x", {"legs": []}, InvalidInput, "legs: none given"),
        ("x", {"sort_by": "age"}, InvalidInput, "sort_by: unknown 'age'"),
        ("x", {"weights": {"lexical": -1.0}}, InvalidInput, "weights.lexical: -1.0"),
        ("x", {"weights": {"lexical": 0.0, "dense": 0.0}}, InvalidInput, "weights: all zero"),
        ("x", {"where": "colour = red"}, InvalidFilter, ".*colour"),
        ("x", {"where": "kind ="}, InvalidFilter, "where"),
        ("x", {"as_of": datetime(2026, 1, 1)}, InvalidInput, "as_of: .* has no time zone"),  # noqa: DTZ001 the fault
        ("x", {"since": datetime(2026, 1, 1)}, InvalidFilter, ".*is not a time with a time zone"),  # noqa: DTZ001 the fault
        ("x", {"space": " padded "}, InvalidInput, "space: ' padded '"),
    ],
    ids=lambda value: repr(value)[:40],
)  # fmt: skip
def test_a_question_that_cannot_be_answered_says_why(
    t: trivium.Trivium, text: str, options: Mapping[str, Any], error: type[InvalidInput], message: str
) -> None:
    t.add("x marks the spot")
    with pytest.raises(error, match=f"^{message}"):
        t.search(text, **options)


@pytest.mark.parametrize(
    "text", ["spot\x00\x1b[31m", "\ud800 spot", "spot" + "\u202e" * 50, "\x07", "((( spot* OR \"'--"]
)
def test_any_characters_are_a_fine_question(t: trivium.Trivium, text: str) -> None:
    t.add("x marks the spot")
    found = t.search(text, legs=["lexical"])
    assert [hit.memory.content for hit in found] == (["x marks the spot"] if "spot" in text else [])
    assert "\x1b" not in found.explain()


def test_control_characters_are_stored_and_found(t: trivium.Trivium) -> None:
    content = "bell\x07 nul\x00 escape\x1b[31m end"
    id = t.add(content, title="tab\there", metadata={"nul": "a\x00b"}).id
    memory = t.get(id)
    assert (memory.content, memory.title, memory.metadata) == (content, "tab\there", {"nul": "a\x00b"})
    for word in ("bell", "nul", "escape", "end", "here"):
        assert [hit.memory.id for hit in t.search(word, legs=["lexical"])] == [id]


def test_lists_and_names_that_are_not_there(t: trivium.Trivium) -> None:
    with pytest.raises(InvalidInput, match=r"^limit: -1"):
        t.list(limit=-1)
    with pytest.raises(InvalidInput, match=r"^offset: -1"):
        t.list(offset=-1)
    with pytest.raises(InvalidInput, match=r"^order: unknown 'age'"):
        t.list(order="age")  # type: ignore[arg-type]  # the fault
    for id in ("nobody", "\ud800"):
        with pytest.raises(NotFound, match="no memory"):
            t.get(id)
        assert t.forget(id).missing == (id,)
    with pytest.raises(InvalidInput, match=r"^space: "):
        t.add("x", space="")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"search": {"fusion": "best"}}, "search.fusion: unknown 'best'"),
        ({"search": {"k": 0}}, "search.k: 0"),
        ({"search": {"bm25": {"k2": 1}}}, "search.bm25: unknown 'k2'"),
        ({"search": []}, "search: "),
    ],
)
def test_settings_that_no_search_could_use(t: trivium.Trivium, settings: dict[str, Json], message: str) -> None:
    with pytest.raises(InvalidInput, match=f"^{message}"):
        t.set_space(settings=settings)
    assert t.space_settings().settings == {}


def test_an_embedder_of_no_known_name() -> None:
    with trivium.open("memory:", embedder="nonsense") as t:
        t.add("found by words")
        found = t.search("words")
        assert found.legs["dense"].state == "failed"
        assert "embedder: 'nonsense' is unknown" in found.legs["dense"].reason
        assert [hit.memory.content for hit in found] == ["found by words"]
