"""What a search finds, in which order, and what it says of itself."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.engine.conftest import Clock, Open
from tests.models.hashing import HashEmbedder

import trivium
from trivium.filter import Between, Contains, Eq, Filter, In, Not, Or
from trivium.search.query import METHOD_NAMES, FusionMethod, LegName

FILMS = {
    "interstellar": ("Interstellar, Nolan 2014: a crew crosses a wormhole to save mankind", ["sci-fi"], 2014),
    "matrix": ("The Matrix, 1999: a hacker learns that the world is a simulation", ["sci-fi", "action"], 1999),
    "chef": ("Chef, 2014: a cook leaves a famous restaurant and opens a food truck", ["comedy"], 2014),
    "heat": ("Heat, 1995: a detective hunts a crew of bank robbers", ["action"], 1995),
}


@pytest.fixture
def films(open_any: Open) -> trivium.Trivium:
    t = open_any(embedder="static")
    for id, (content, tags, year) in FILMS.items():
        t.add(content, id=id, kind="movie", tags=tags, metadata={"year": year}, importance=0.5)
    t.add("Remember to watch a film about a wormhole", id="note")
    return t


def ids(found: trivium.Results) -> list[str]:
    return [hit.memory.id for hit in found]


def test_words_and_meaning_find_together_what_neither_finds_alone(films: trivium.Trivium) -> None:
    found = films.search("space travel wormhole", kind="movie")
    assert ids(found)[0] == "interstellar"
    assert {part.leg for part in found[0].contributions} == {"lexical", "dense"}
    assert ids(films.search("science fiction", kind="movie", legs=["dense"]))[0] in {"interstellar", "matrix"}
    assert found.legs["lexical"].state == found.legs["dense"].state == "ok"


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        (Eq("kind", "movie"), set(FILMS)),
        (Eq("tags", "action"), {"matrix", "heat"}),
        (In("metadata.year", (1995, 1999)), {"matrix", "heat"}),
        (Between("metadata.year", 1996, None), {"interstellar", "matrix", "chef"}),
        (Contains("content", "CREW"), {"interstellar", "heat"}),
        (Or((Eq("id", "note"), Eq("id", "chef"))), {"note", "chef"}),
        (Not(Eq("kind", "movie")), {"note"}),
        ("metadata.year = 2014 and not tags = comedy", {"interstellar"}),
    ],
    ids=str,
)
def test_a_filter_holds_before_each_legs_limit(films: trivium.Trivium, where: Filter | str, expected: set[str]) -> None:
    words = "a crew crosses the world restaurant film wormhole"
    assert set(ids(films.search(words, where=where))) == expected
    deep = films.search(words, where=where, candidates=len(expected), limit=len(expected))
    assert set(ids(deep)) == expected
    assert films.search(words, where=where, legs=["dense"], candidates=1, limit=1).legs["dense"].hits == 1


def test_each_leg_can_be_off(films: trivium.Trivium) -> None:
    words = films.search("wormhole", legs=["lexical"])
    assert set(ids(words)) == {"interstellar", "note"}
    assert set(words.legs) == {"lexical"}
    meaning = films.search("wormhole", legs=["dense"])
    assert len(meaning) == 5
    silent = films.search("wormhole", weights={"dense": 0.0})
    assert ids(silent) == ids(words)
    assert silent.legs["dense"].state == "off"


@pytest.mark.parametrize("method", METHOD_NAMES)
@pytest.mark.parametrize("legs", [("lexical",), ("dense",), ("lexical", "dense")])
def test_every_method_scores_within_0_and_1_and_shows_its_sum(
    films: trivium.Trivium, method: FusionMethod, legs: tuple[LegName, ...]
) -> None:
    found = films.search("a crew crosses a wormhole", fusion=method, legs=legs)
    assert found.method == method
    scores = [hit.score for hit in found]
    assert scores == sorted(scores, reverse=True)
    assert all(0.0 <= score <= 1.0 for score in scores)
    for hit in found:
        product = sum(part.value for part in hit.contributions)
        for factor in hit.factors:
            product *= factor.value
        assert hit.score == pytest.approx(product, abs=1e-9)


def test_min_score_never_drops_an_exact_identifier(t: trivium.Trivium) -> None:
    exact = t.add("the job ended with ERR_CONN_4711 at night").id
    t.add_many({"content": f"deploy failed again and again, deploy {n}", "importance": 1.0} for n in range(3))
    found = t.search("deploy failed ERR_CONN_4711", min_score=1.0)
    assert exact in ids(found)
    assert ids(t.search("deploy failed", min_score=1.0)) == []


def test_typos_are_corrected_by_the_words_that_are_there(films: trivium.Trivium) -> None:
    found = films.search("matriz", legs=["lexical"])
    assert ids(found) == ["matrix"]
    assert found.corrections == {"matriz": ("matrix",)}
    assert "searched matrix for matriz" in found.explain()
    assert ids(films.search("matriz", legs=["lexical"], correct_typos=False)) == []


def test_portuguese_is_found_without_its_accents(t: trivium.Trivium) -> None:
    id = t.add("A reunião sobre a migração do banco de dados foi adiada para amanhã").id
    for question in ("reuniao", "migracao", "migrações", "REUNIÕES amanha"):
        assert ids(t.search(question, legs=["lexical"])) == [id]


def test_order_by_importance_and_by_time(t: trivium.Trivium, clock: Clock) -> None:
    for id, importance in (("a", 0.9), ("b", 0.1), ("c", 0.5)):
        clock.pass_days(1)
        t.add("equal words", id=id, importance=importance, allow_duplicate=True)
    assert ids(t.search("equal words", sort_by="importance")) == ["a", "c", "b"]
    assert ids(t.search("equal words", sort_by="recency")) == ["c", "b", "a"]
    assert ids(t.search("equal words", sort_by="relevance")) == ["a", "c", "b"]  # importance is a prior
    assert ids(t.search("equal words", use_importance=False)) == ["a", "b", "c"]


def test_priors_move_what_is_equal_and_say_so(t: trivium.Trivium, clock: Clock) -> None:
    t.add("equal words", id="old")
    clock.pass_days(100)
    t.add("equal words", id="young", allow_duplicate=True)
    fresh = t.search("equal words", recency_half_life_days=30.0)
    assert ids(fresh) == ["young", "old"]
    assert fresh[0].rank_without == {"importance": 1, "recency": 2}
    t.used("old")
    used = t.search("equal words", usage_weight=0.5)
    assert ids(used) == ["old", "young"]
    assert {factor.name for factor in used[0].factors} == {"importance", "usage"}


def test_a_time_is_when_it_happened_or_else_when_it_was_stored(t: trivium.Trivium, clock: Clock) -> None:
    t.add("a meeting of last year", id="then", occurred_at=clock.now - timedelta(days=400))
    t.add("a meeting of today", id="now")
    assert ids(t.search("meeting", since=clock.now - timedelta(days=30))) == ["now"]
    assert ids(t.search("meeting", until=clock.now - timedelta(days=30))) == ["then"]


def test_similar_is_by_meaning_and_not_by_time(open_any: Open, clock: Clock) -> None:
    t = open_any(embedder="static")
    asked = t.add("The spacecraft landed on Mars after a long flight").id
    near = t.add("A rocket brought the astronauts to the moon").id
    for day in range(12):
        clock.pass_days(1)
        t.add(f"Recipe number {day}: boil the potatoes, add salt and butter")
    found = t.similar(asked, limit=5)
    newest = [memory.id for memory in t.list(limit=5)]
    assert found[0].memory.id == near
    assert near not in newest
    assert asked not in ids(found)
    assert found.legs.keys() == {"dense"}


def test_weights_and_method_of_a_space_hold_there(t: trivium.Trivium) -> None:
    t.add("equal words")
    t.set_space(settings={"search": {"fusion": "rrf", "weights": {"dense": 0.0}}})
    found = t.search("equal words")
    assert (found.method, dict(found.weights)) == ("rrf", {"lexical": 0.7})
    assert t.search("equal words", space="elsewhere").method == "linear"
    assert t.search("equal words", fusion="minmax").method == "minmax"


def test_one_search_sees_one_state(open_file: Open) -> None:
    """What is written by another while a search runs is seen by the next one."""
    embedder = HashEmbedder()
    t = open_file(embedder=embedder)
    t.add("equal words")
    with t.store.reading():
        open_file().add("equal words", allow_duplicate=True)
        assert len(t.search("equal words")) == 1
    assert len(t.search("equal words")) == 2


def test_asking_for_a_reranker_that_is_not_there_is_said(t: trivium.Trivium) -> None:
    t.add("one memory")
    assert "no reranker is set" in t.search("one memory", rerank=True).notices[0]


def test_an_update_to_another_language_is_analysed_in_it(t: trivium.Trivium) -> None:
    added = t.add("The meeting about the budget is on Monday.")
    changed = t.update(added.id, content="A reunião sobre o orçamento não será na segunda-feira.")
    assert (added.memory.language, changed.language) == ("en", "pt")
    assert [hit.memory.id for hit in t.search("reuniões", legs=["lexical"])] == [added.id]
