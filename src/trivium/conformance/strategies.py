"""What the state machine draws from: so little of everything that ties, shared terms and empty answers are common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from trivium.conformance.builders import DIMENSION, index_lines, make_memory, moment, vector_of
from trivium.filter import And, Between, Contains, Eq, Filter, In, Not, Or
from trivium.record import Memory
from trivium.store.contract import TF_UNIT, Bm25, Epoch, IndexedPassage, QueryTerm, Vector

SPACES = ("a", "b")
IDS = ("m0", "m1", "m2", "m3", "m4", "m5")
WORDS = ("ada", "adam", "dada", "lisbon", "libson", "war", "raw")
UNKNOWN_WORDS = ("add", "lisbom", "wars", "nothing")
EPOCHS = (Epoch("e1", "one", DIMENSION), Epoch("e2", "two", DIMENSION))
CONTEXT = TF_UNIT // 3  # what a neighbour's word counts

spaces = st.sampled_from(SPACES)
ids = st.sampled_from(IDS)
words = st.sampled_from(WORDS)
epochs = st.sampled_from(EPOCHS)
orders = st.sampled_from(("created", "updated", "occurred", "importance", "thread"))
depths = st.sampled_from((0, 1, 2, 3, 100))
moments = st.integers(0, 3).map(moment)
contents = st.lists(st.lists(words, max_size=4).map(" ".join), min_size=1, max_size=3).map("\n".join)
query_terms = st.lists(
    st.builds(QueryTerm, st.sampled_from(WORDS + UNKNOWN_WORDS), st.sampled_from((1.0, 0.7, 1 / 3))),
    min_size=1,
    max_size=5,
)
constants = st.sampled_from((Bm25(), Bm25(), Bm25(k1=0.9, b=0.4), Bm25(k1=2.0, b=0.0)))
years = st.sampled_from((None, 1, 1.0, True, "1", 2, [1, "x"], 2**60))

# Halves on four axes are of unit length, and their products are exact in any arithmetic: ties are ties everywhere.
halves = st.lists(st.sampled_from((0.5, -0.5)), min_size=4, max_size=4).flatmap(
    lambda signs: st.permutations([*signs, 0.0, 0.0, 0.0, 0.0]).map(lambda row: np.array(row, np.float32))
)
vectors: st.SearchStrategy[Vector] = st.one_of(halves, words.map(vector_of))


@st.composite
def memories(draw: st.DrawFn) -> Memory:
    year = draw(years)
    return make_memory(
        draw(ids),
        draw(contents),
        space=draw(spaces),
        minute=draw(st.integers(0, 3)),
        updated_at=draw(moments),
        kind=draw(st.sampled_from(("note", "fact"))),
        title=draw(st.sampled_from(("", "Ada", "WAR"))),
        tags=draw(st.sampled_from(((), ("x",), ("x", "Y")))),
        metadata={} if year is None else {"year": year},
        importance=draw(st.sampled_from((0.0, 0.5, 1.0))),
        sensitive=draw(st.sampled_from((False, False, False, True))),
        occurred_at=draw(st.none() | moments),
        thread=draw(st.sampled_from(("", "t"))),
        position=draw(st.none() | st.integers(0, 3)),
        superseded_at=draw(st.sampled_from((None, None, moment(3)))),
    )


@st.composite
def amendments(draw: st.DrawFn) -> dict[str, object]:
    """New values for fields that no index holds."""
    changes: dict[str, object] = {
        "importance": draw(st.sampled_from((0.0, 0.25, 1.0))),
        "uses": draw(st.integers(0, 2)),
        "kind": draw(st.sampled_from(("note", "fact", "task"))),
        "tags": draw(st.sampled_from(((), ("x",), ("z",)))),
        "updated_at": draw(moments),
        "superseded_at": draw(st.none() | moments),
    }
    return {name: changes[name] for name in draw(st.sets(st.sampled_from(sorted(changes)), min_size=1))}


@st.composite
def clauses(draw: st.DrawFn) -> Filter:
    choices: list[st.SearchStrategy[Filter]] = [
        st.builds(Eq, st.just("kind"), st.sampled_from(("note", "fact", "task"))),
        st.builds(Eq, st.just("tags"), st.sampled_from(("x", "Y", "z"))),
        st.builds(Eq, st.sampled_from(("superseded", "sensitive")), st.booleans()),
        st.builds(Eq, st.just("metadata.year"), st.sampled_from((None, 1, True, "1", 2, "x"))),
        st.builds(In, st.just("id"), st.lists(ids, max_size=3).map(tuple)),
        st.builds(In, st.just("position"), st.lists(st.none() | st.integers(0, 3), max_size=2).map(tuple)),
        st.builds(Between, st.just("importance"), st.sampled_from((0.25, 0.5)), st.sampled_from((None, 0.5, 1))),
        st.builds(Between, st.sampled_from(("created_at", "occurred_at", "superseded_at")), st.none(), moments),
        st.builds(Between, st.just("metadata.year"), st.sampled_from((0, 1.5)), st.sampled_from((None, 1, 2))),
        st.builds(Contains, st.just("content"), st.sampled_from(("DA", "raw\n", "%"))),
        st.builds(Contains, st.sampled_from(("title", "tags")), st.sampled_from(("ada", "y", "a"))),
    ]
    return draw(st.one_of(choices))


filters: st.SearchStrategy[Filter] = st.recursive(
    clauses() | st.just(And(())),
    lambda inner: st.one_of(
        inner.map(Not),
        st.lists(inner, max_size=2).map(lambda parts: And(tuple(parts))),
        st.lists(inner, max_size=2).map(lambda parts: Or(tuple(parts))),
    ),
    max_leaves=3,
)


def with_context(content: str, context: Sequence[str]) -> list[IndexedPassage]:
    """The passages of a text, each with the words of neighbours at a third of their weight."""
    passages: list[IndexedPassage] = []
    for passage in index_lines(content):
        terms = dict(passage.terms)
        for word in context:
            terms[word] = terms.get(word, 0) + CONTEXT
        passages.append(replace(passage, terms=terms, length=sum(terms.values())))
    return passages
