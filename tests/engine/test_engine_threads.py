"""Neighbours in a thread, and passages of one document, are each other's context."""

from __future__ import annotations

import trivium
from trivium.record import Key

TALK = [
    "we met in the harbour",
    "it rained all day",
    "the ferry was late",
    "nobody complained",
    "dinner was grilled squid",
]


def talk(t: trivium.Trivium, lines: list[str] = TALK) -> list[str]:
    return [added.id for added in t.add_many({"content": line, "thread": "trip"} for line in lines)]


def found(t: trivium.Trivium, word: str) -> list[str]:
    return [hit.memory.id for hit in t.search(word, legs=["lexical"], correct_typos=False)]


def terms(t: trivium.Trivium, id: str) -> dict[str, int]:
    return dict(t.store.passages(Key("default", id))[0].terms)


def test_a_word_finds_its_memory_first_and_then_two_neighbours_on_each_side(t: trivium.Trivium) -> None:
    ids = talk(t)
    assert found(t, "ferry")[0] == ids[2]
    assert set(found(t, "ferry")) == set(ids)
    assert set(found(t, "harbour")) == set(ids[:3])
    hits = t.search("harbour", legs=["lexical"])
    assert hits[0].memory.id == ids[0]
    assert hits[0].score > hits[1].score


def test_the_order_of_arrival_does_not_matter(t: trivium.Trivium) -> None:
    together = talk(t)
    order = [3, 0, 4, 2, 1]
    apart = {n: t.add(TALK[n], thread="trip two", position=n).id for n in order}
    assert [terms(t, apart[n]) for n in range(5)] == [terms(t, id) for id in together]


def test_forgetting_a_neighbour_takes_its_words_out_of_the_others(t: trivium.Trivium) -> None:
    ids = talk(t)
    t.forget(ids[2])
    assert found(t, "ferry") == []
    without = talk_of(t, [*TALK[:2], *TALK[3:]])
    assert [terms(t, id) for id in (*ids[:2], *ids[3:])] == [terms(t, id) for id in without]
    assert t.upkeep.verify() == []


def talk_of(t: trivium.Trivium, lines: list[str]) -> list[str]:
    return [t.add(line, thread="told anew").id for line in lines]


def test_changing_or_moving_a_neighbour_changes_the_context(t: trivium.Trivium) -> None:
    ids = talk(t)
    t.update(ids[2], content="the tram was late")
    assert found(t, "ferry") == []
    assert set(found(t, "tram")) == set(ids)
    t.update(ids[2], thread="another trip")
    assert found(t, "tram") == [ids[2]]
    t.update(ids[0], tags=["harbourmaster"])
    assert found(t, "harbourmaster") == [ids[0]]  # only the text is context


def test_threads_of_other_names_and_spaces_stay_apart(t: trivium.Trivium) -> None:
    ids = talk(t)
    t.add("a zeppelin overhead", thread="other")
    t.add("a submarine below", thread="trip", space="elsewhere")
    assert len(found(t, "zeppelin")) == 1
    assert found(t, "submarine") == []
    assert set(found(t, "squid")) == set(ids[2:])


def test_passages_of_a_document_are_each_others_context(t: trivium.Trivium) -> None:
    filler = "Plain words fill this paragraph so that it is long enough to stand alone. " * 16
    words = ["aardvark", "butterfly", "crocodile", "dromedary", "elephant"]
    id = t.add("\n\n".join(f"The {word} comes first. {filler}" for word in words)).id
    passages = t.store.passages(Key("default", id))
    assert len(passages) == 5
    holding = [n for n, passage in enumerate(passages) if "aardvark" in passage.terms]
    assert holding == [0, 1, 2]
    assert passages[0].terms["aardvark"] == 3 * passages[1].terms["aardvark"] + 1  # a third, in whole units
    (hit,) = t.search("elephant", legs=["lexical"])
    assert (hit.ordinal, "elephant" in hit.passage) == (4, True)
    assert hit.memory.content[hit.start : hit.end] == hit.passage


def test_moving_a_memory_within_its_thread_re_indexes_both_places(t: trivium.Trivium) -> None:
    ids = [t.add(line, thread="trip", position=10 * at).id for at, line in enumerate(TALK)]
    t.update(ids[0], position=35)
    moved = [terms(t, id) for id in ids]
    t.upkeep.reindex()
    assert [terms(t, id) for id in ids] == moved
    assert "harbour" not in terms(t, ids[1])
