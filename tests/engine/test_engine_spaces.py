"""Nothing of one space is seen from another, unless a search names both."""

from __future__ import annotations

import pytest

import trivium
from trivium.errors import NotFound, UnknownKind


@pytest.fixture
def two(t: trivium.Trivium) -> trivium.Trivium:
    t.add("Ada keeps a quokka", id="a", space="one", kind="note")
    t.add("Bob keeps a parrot", id="a", space="two", kind="pet-story")
    return t


def test_records_stay_in_their_space(two: trivium.Trivium) -> None:
    assert two.get("a", space="one").content != two.get("a", space="two").content
    assert two.list() == []
    assert [memory.content for memory in two.list(space="two")] == ["Bob keeps a parrot"]
    with pytest.raises(NotFound, match="no memory 'a' in space 'default'"):
        two.get("a")
    assert two.forget("a", space="one").records == 1
    assert two.get("a", space="two").content == "Bob keeps a parrot"
    assert not two.add("Bob keeps a parrot", space="one").duplicate


def test_neither_hits_nor_corrections_nor_kinds_leak(two: trivium.Trivium) -> None:
    assert len(two.search("quokka", space="two", legs=["lexical"])) == 0
    leaked = two.search("quokkas", space="two", legs=["lexical"])
    assert (len(leaked), leaked.corrections) == (0, {})
    assert two.search("quoka", space="one", legs=["lexical"]).corrections == {"quoka": ("quokka",)}
    assert [hit.memory.space for hit in two.search("keeps", space="two")] == ["two"]
    with pytest.raises(UnknownKind, match="kinds here: note"):
        two.search("keeps", space="one", kind="pet-story")


def test_statistics_do_not_leak(t: trivium.Trivium) -> None:
    """A word's rarity, and so every score, is the same with a busy neighbour as without one."""
    for space in ("quiet", "busy"):
        t.add_many([{"content": "a rare quokka"}, {"content": "a plain dog"}, {"content": "a plain cat"}], space=space)
    before = [hit.contributions for hit in t.search("plain quokka", space="quiet")]
    t.add_many(({"content": f"quokka number {n}, a quokka like every other quokka"} for n in range(200)), space="busy")
    t.forget(*(memory.id for memory in t.list("content contains dog", space="busy")), space="busy")
    assert [hit.contributions for hit in t.search("plain quokka", space="quiet")] == before


def test_a_search_may_name_several_spaces(two: trivium.Trivium) -> None:
    found = two.search("keeps", spaces=["one", "two"])
    assert sorted((hit.memory.space, hit.memory.id) for hit in found) == [("one", "a"), ("two", "a")]
    assert found.spaces == ("one", "two")
    assert len(two.search("keeps", spaces=["one", "two"], limit=1)) == 1
    assert len(two.search("keeps", spaces=["one", "nowhere"])) == 1


def test_facts_of_spaces(two: trivium.Trivium) -> None:
    two.supersede("a", "Ada keeps two quokkas", space="one")
    two.add("the pin is 4711", sensitive=True, space="two")
    facts = {each.name: (each.memories, each.superseded, each.sensitive) for each in two.spaces()}
    assert facts == {"one": (2, 1, 0), "two": (2, 0, 1)}


def test_the_language_of_a_space_is_used_there(t: trivium.Trivium) -> None:
    t.set_space("casa", language="portuguese")
    assert t.add("menu", space="casa").memory.language == "pt"
    assert t.add("menu").memory.language == "en"
