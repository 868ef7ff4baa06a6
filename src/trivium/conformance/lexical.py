"""The lexical leg: BM25 to the last bit, per space, whatever was deleted before."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from trivium.conformance.bound import Bound, OpenStore
from trivium.conformance.builders import (
    ALL,
    OTHER_SPACE,
    SPACE,
    find,
    forget,
    ids,
    index,
    index_lines,
    make_memory,
    moment,
    put,
    words,
)
from trivium.filter import EVERYTHING, Eq
from trivium.store.contract import (
    TF_MAX,
    TF_UNIT,
    Bm25,
    Facts,
    IndexedPassage,
    Place,
    QueryTerm,
    Store,
    bm25_weight,
    idf,
)
from trivium.when import to_micros

CORPUS = [
    make_memory("a", "red green blue"),
    make_memory("b", "red red"),
    make_memory("c", "green yellow\nred blue blue blue violet"),
    make_memory("d", "violet"),
]


class LexicalSuite(Bound):
    def test_a_score_worked_out_by_hand(self, store: Store) -> None:
        """Two passages of 1 and 3 words, mean 2; the term is in one of them, once."""
        put(store, make_memory("a", "x"), make_memory("b", "y y z"))
        (hit,) = find(store, "x").hits
        rarity = math.log(1.0 + 1.5 / 1.5)
        assert hit.score == rarity * (1.0 * 2.2 / (1.0 + 1.2 * (1.0 - 0.75 + 0.75 * (1.0 / 2.0))))

    @pytest.mark.parametrize("bm25", [Bm25(), Bm25(k1=0.9, b=0.4), Bm25(k1=2.0, b=1.0)])
    def test_terms_are_summed_in_query_order_with_their_weights(self, store: Store, bm25: Bm25) -> None:
        """Enough passages and odd weights that another order of the same operations ends in other bits."""
        content = {f"m{number}": "red " * (number % 3 + 1) + "green blue " * (number % 4 + 1) for number in range(12)}
        put(store, *(make_memory(id, text) for id, text in content.items()))
        terms = [QueryTerm("blue", 1 / 3), QueryTerm("red", 0.7), QueryTerm("green", 1.1), QueryTerm("blue", 0.1)]
        found = {hit.key.id: hit.score for hit in store.lexical(SPACE, terms, EVERYTHING, ALL, bm25).hits}
        mean = sum(len(text.split()) for text in content.values()) / len(content)
        wanted: dict[str, float] = {}
        for id, text in content.items():
            document = text.split()
            wanted[id] = 0.0
            for term in terms:
                frequency = float(document.count(term.text))
                wanted[id] += term.weight * bm25_weight(frequency, len(document), mean, idf(12, 12), bm25)
        assert found == wanted

    def test_fractions_of_a_word_count(self, store: Store) -> None:
        passage = IndexedPassage(0, 0, 1, {"x": TF_UNIT // 3, "y": TF_MAX}, TF_UNIT // 3 + TF_MAX)
        with store.writing(SPACE) as writer:
            writer.put(make_memory("a"), [passage])
        (hit,) = find(store, "x").hits
        length = passage.length / TF_UNIT
        assert hit.score == bm25_weight((TF_UNIT // 3) / TF_UNIT, length, length, idf(1, 1), Bm25())

    def test_any_term_is_enough_and_matched_terms_are_named_once_in_query_order(self, store: Store) -> None:
        put(store, *CORPUS)
        answer = find(store, "violet red nothing violet zero nothing")
        assert {hit.key.id: hit.terms for hit in answer.hits} == {
            "a": ("red",),
            "b": ("red",),
            "c": ("violet", "red"),
            "d": ("violet",),
        }
        assert answer.unknown == ("nothing", "zero")

    def test_matched_terms_are_those_of_the_best_passage(self, store: Store) -> None:
        put(store, *CORPUS)
        (hit,) = find(store, "green yellow violet", Eq("id", "c")).hits
        assert (hit.ordinal, hit.terms) == (0, ("green", "yellow"))

    def test_a_term_is_known_even_when_the_filter_hides_its_documents(self, store: Store) -> None:
        put(store, *CORPUS)
        answer = find(store, "violet", Eq("id", "a"))
        assert (answer.hits, answer.unknown) == ((), ())

    def test_no_terms_find_nothing(self, store: Store) -> None:
        put(store, *CORPUS)
        answer = find(store, "")
        assert (answer.hits, answer.unknown) == ((), ())

    def test_ties_are_ordered_by_id(self, store: Store) -> None:
        put(store, *(make_memory(id, "same words") for id in ["c", "a", "é", "B", "b"]))
        put(store, make_memory("a", "same words"))
        assert ids(find(store, "words")) == ["B", "a", "b", "c", "é"]
        assert ids(find(store, "words", depth=2)) == ["B", "a"]

    def test_a_memory_appears_once_with_its_best_passage(self, store: Store) -> None:
        put(store, make_memory("a", "x y z\nx\nx y"), make_memory("b", "y"))
        answer = find(store, "x")
        assert [(hit.key.id, hit.ordinal) for hit in answer.hits] == [("a", 1)]

    def test_the_first_of_equal_passages_is_the_best(self, store: Store) -> None:
        put(store, make_memory("a", "y\nx z\nz x\nx z"))
        assert [hit.ordinal for hit in find(store, "x").hits] == [1]

    def test_a_hit_carries_the_facts_of_its_memory(self, store: Store) -> None:
        put(store, make_memory("a", "x", kind="fact", importance=0.2, sensitive=True, uses=6, occurred_at=moment(-1)))
        (hit,) = find(store, "x").hits
        assert hit.key == (SPACE, "a")
        assert hit.facts == Facts("fact", 0.2, True, 6, to_micros(moment()))

    @pytest.mark.parametrize("depth", [0, 1, 3, 4, 99])
    def test_depth_cuts_the_list_and_nothing_else(self, store: Store, depth: int) -> None:
        put(store, *CORPUS)
        assert find(store, "red violet", depth=depth).hits == find(store, "red violet").hits[:depth]

    def test_a_probe_tells_the_rank_without_depth(self, store: Store) -> None:
        put(store, *(make_memory(f"m{number:02}", "x " + "y " * (number % 5)) for number in range(20)))
        put(store, make_memory("elsewhere", "x", space=OTHER_SPACE), make_memory("wordless", "z"))
        full = find(store, "x y").hits
        for rank, hit in enumerate(full, start=1):
            answer = find(store, "x y", depth=3, probe=hit.key.id)
            assert answer.place == Place(rank, hit.score, hit.terms)
            assert answer.hits == full[:3]
        assert find(store, "x y", probe="wordless").place is None
        assert find(store, "x y", probe="elsewhere").place is None
        assert find(store, "x y", probe="nobody").place is None
        assert find(store, "x y", Eq("id", "m00"), probe="m01").place is None
        assert find(store, "x y").place is None

    def test_deletion_leaves_the_statistics_of_a_store_that_never_had_the_rows(
        self, store: Store, open_store: OpenStore
    ) -> None:
        extra = [make_memory(f"x{number}", "red blue violet " * (number + 1)) for number in range(9)]
        put(store, *extra[:5], *CORPUS[:2], *extra[5:], *CORPUS[2:])
        forget(store, *(memory.id for memory in extra))
        fresh = open_store()
        put(fresh, *CORPUS)
        assert find(store, "red blue violet green") == find(fresh, "red blue violet green")
        fresh.close()

    def test_replacing_and_reindexing_leave_the_statistics_of_the_last_state(
        self, store: Store, open_store: OpenStore
    ) -> None:
        put(store, *(replace(memory, content="violet violet red") for memory in CORPUS))
        put(store, *CORPUS[:3])
        with store.writing(SPACE) as writer:
            writer.amend(replace(CORPUS[3], content="violet violet red", uses=1))
            writer.reindex("d", index_lines("violet"))
        fresh = open_store()
        put(fresh, *CORPUS)
        terms = "red blue violet green"
        assert [(hit.key, hit.score) for hit in find(store, terms).hits] == [
            (hit.key, hit.score) for hit in find(fresh, terms).hits
        ]
        fresh.close()

    def test_superseded_memories_count_in_the_statistics(self, store: Store) -> None:
        put(store, *CORPUS)
        before = find(store, "red", Eq("superseded", False)).hits
        put(store, replace(CORPUS[1], superseded_at=moment(1)))
        after = find(store, "red", Eq("superseded", False)).hits
        assert after == tuple(hit for hit in before if hit.key.id != "b")

    def test_one_space_changes_nothing_in_another(self, store: Store, open_store: OpenStore) -> None:
        put(store, *CORPUS, *(make_memory(f"o{number}", "red red orange", space=OTHER_SPACE) for number in range(50)))
        put(store, make_memory("a", "red", space=OTHER_SPACE))
        alone = open_store()
        put(alone, *CORPUS)
        assert find(store, "red orange violet") == find(alone, "red orange violet")
        assert find(store, "orange").unknown == ("orange",)
        alone.close()

    def test_empty_passages_count_as_documents(self, store: Store) -> None:
        with store.writing(SPACE) as writer:
            writer.put(make_memory("a"), [index("x")])
            writer.put(make_memory("b"), [index("")])
        (hit,) = find(store, "x").hits
        assert hit.score == bm25_weight(1.0, 1.0, 0.5, idf(2, 1), Bm25())

    def test_any_text_is_a_term(self, store: Store) -> None:
        odd = ["AND", '"', "*", "naïve", "日本", "a\0b", "🙂", "x" * 5_000, "Straße", "strasse"]
        with store.writing(SPACE) as writer:
            for number, term in enumerate(odd):
                writer.put(make_memory(f"m{number}"), [IndexedPassage(0, 0, 1, {term: TF_UNIT}, TF_UNIT)])
        for number, term in enumerate(odd):
            answer = store.lexical(SPACE, [QueryTerm(term)], EVERYTHING, ALL, Bm25())
            assert ids(answer) == [f"m{number}"]

    def test_a_query_of_many_terms(self, store: Store) -> None:
        put(store, *CORPUS)
        many = [QueryTerm(f"unknown{number}") for number in range(3_000)]
        answer = store.lexical(SPACE, [*many, *words("violet")], EVERYTHING, ALL, Bm25())
        assert ids(answer) == ["d", "c"]
        assert len(answer.unknown) == 3_000

    def test_near_terms_are_ordered_by_distance_frequency_and_text(self, store: Store) -> None:
        put(
            store,
            make_memory("a", "matrix matrices mattress\nmetric matrix\nmatric"),
            make_memory("b", "matric patrix"),
        )
        assert store.near_terms(SPACE, "matriz", 1) == ("matric", "matrix")
        assert store.near_terms(SPACE, "matrix", 1) == ("matric", "patrix")
        assert store.near_terms(SPACE, "matriy", 2) == ("matric", "matrix", "metric")

    def test_near_terms_swap_letters_at_the_cost_of_one(self, store: Store) -> None:
        put(store, make_memory("a", "lisbon berlin"))
        assert store.near_terms(SPACE, "libson", 1) == ("lisbon",)
        assert store.near_terms(SPACE, "ilsbon", 1) == ("lisbon",)

    def test_near_terms_are_within_the_distance_and_never_the_term_itself(self, store: Store) -> None:
        put(store, make_memory("a", "lisbon"))
        assert store.near_terms(SPACE, "risbom", 2) == ("lisbon",)
        assert store.near_terms(SPACE, "risbom", 1) == ()
        assert store.near_terms(SPACE, "lisbon", 2) == ()

    def test_near_terms_forget_with_the_memory_and_stay_in_their_space(self, store: Store) -> None:
        put(store, make_memory("a", "lisbon"), make_memory("b", "lisbon", space=OTHER_SPACE))
        put(store, make_memory("c", "lisbom", superseded_at=moment()))
        assert store.near_terms(SPACE, "lisbox", 1) == ("lisbom", "lisbon")
        forget(store, "a")
        assert store.near_terms(SPACE, "lisbox", 1) == ("lisbom",)
        assert store.near_terms(OTHER_SPACE, "lisbox", 1) == ("lisbon",)
