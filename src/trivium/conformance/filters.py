"""Filters: every store means what `filter.matches` means, and applies it before a limit."""

from __future__ import annotations

from trivium.conformance.bound import Bound
from trivium.conformance.builders import (
    EPOCH,
    OTHER_SPACE,
    SPACE,
    axis,
    embed,
    find,
    ids,
    made,
    make_memory,
    moment,
    nearest,
    put,
    scanned,
)
from trivium.filter import EVERYTHING, And, Between, Contains, Eq, Filter, In, Not, Or
from trivium.record import Memory
from trivium.store.contract import Store

ONE_MICROSECOND = 1 / 60_000_000  # in minutes

MEMORIES: list[Memory] = [
    make_memory("plain", "word"),
    make_memory(
        "movie",
        "word STRASSE 100% a_b",
        kind="movie",
        title="Größe",
        tags=("Sci-Fi", "space"),
        keywords=("K",),
        category="film",
        metadata={"year": 2014, "author": {"name": "Ada", "0": "zero"}, "list": [1, "two", True, None, [9]]},
        importance=0.75,
        minute=10,
        occurred_at=moment(-10),
        source="s",
        thread="t",
        position=0,
        language="pt",
        uses=3,
    ),
    make_memory("float", "word straße", metadata={"year": 2014.0, "list": [1.5]}, importance=1.0, position=-5),
    make_memory("bool", "word", metadata={"year": True, "list": [], "none": None}, importance=0.0),
    make_memory("text", "word\nword word", metadata={"year": "2014", "list": "two", "author": "Ada"}, tags=("SPACE",)),
    make_memory("huge", "word İstanbul", metadata={"year": 2**53 + 1, "big": 2**64, "a b": {'q"': 1, "ü": 2, "$": 3}}),
    make_memory("late", "word", minute=10 + ONE_MICROSECOND, occurred_at=moment(10), superseded_at=moment(20), uses=1),
    make_memory(
        "secret", "word nul\0here", sensitive=True, title="100", metadata={"n": "a\0b", "deep": {"x": {"y": 0}}}
    ),
]

FILTERS: list[Filter] = [
    EVERYTHING,
    Or(()),
    Not(EVERYTHING),
    Eq("id", "movie"),
    Eq("kind", "movie"),
    Eq("title", ""),
    Eq("title", None),
    Eq("content", "word"),
    Eq("content", "word nul\0here"),
    Eq("category", "film"),
    Eq("source", "s"),
    Eq("language", "pt"),
    Eq("thread", "t"),
    Eq("tags", "space"),
    Eq("tags", None),
    Not(Eq("tags", "space")),
    Eq("keywords", "K"),
    Eq("position", 0),
    Eq("position", None),
    Not(Eq("position", None)),
    Eq("importance", 1),
    Eq("uses", 3.0),
    Eq("occurred_at", None),
    Eq("occurred_at", moment(10)),
    Eq("superseded_at", None),
    Eq("superseded", True),
    Eq("superseded", False),
    Eq("sensitive", True),
    Not(Eq("sensitive", True)),
    Eq("metadata.year", 2014),
    Eq("metadata.year", 2014.0),
    Eq("metadata.year", "2014"),
    Eq("metadata.year", True),
    Eq("metadata.year", 1),
    Eq("metadata.year", None),
    Not(Eq("metadata.year", 2014)),
    Eq("metadata.year", 2**53),
    Eq("metadata.year", 2**53 + 1),
    Eq("metadata.big", 2**64),
    Eq("metadata.big", 2.0**64),
    Between("metadata.big", 2**63, None),
    Eq("metadata.none", None),
    Eq("metadata.list", 1),
    Eq("metadata.list", True),
    Eq("metadata.list", "two"),
    Eq("metadata.list", None),
    Eq("metadata.author.name", "Ada"),
    Eq("metadata.author.0", "zero"),
    Eq("metadata.list.0", 1),
    Eq("metadata.author.name.more", None),
    Eq("metadata.deep.x.y", 0),
    Eq("metadata.deep.x.y", False),
    Eq('metadata.a b.q"', 1),
    Eq("metadata.a b.ü", 2),
    Eq("metadata.a b.$", 3),
    Eq("metadata.n", "a\0b"),
    In("kind", ("movie", "note")),
    In("kind", ()),
    In("metadata.year", (2014, "2014", None)),
    In("position", (None, 0)),
    In("tags", ("space", "SPACE")),
    Between("importance", 0.5, 0.75),
    Between("importance", 1, None),
    Between("position", None, 0),
    Between("uses", 1, 3),
    Between("title", "1", "H"),
    Between("title", None, "100"),
    Between("content", "word", "word a"),
    Between("tags", "S", "T"),
    Between("created_at", moment(10), moment(10)),
    Between("created_at", moment(10 + ONE_MICROSECOND), None),
    Between("occurred_at", None, moment(0)),
    Between("superseded_at", moment(0), None),
    Between("metadata.year", 2000, 2020),
    Between("metadata.year", "2", "3"),
    Between("metadata.year", 2**53 + 1, None),
    Between("metadata.year", None, 2**53),
    Between("metadata.list", 1.25, 2),
    Between("metadata.list", "a", "z"),
    Not(Between("metadata.year", 0, None)),
    Contains("content", "STRASSE"),
    Contains("content", "straße"),
    Contains("content", "İ"),
    Contains("content", "i̇stan"),
    Contains("content", "0%"),
    Contains("content", "%"),
    Contains("content", "_"),
    Contains("content", "a_"),
    Contains("content", "\0h"),
    Contains("content", "\n"),
    Contains("content", ""),
    Contains("title", "GRÖSSE"),
    Contains("tags", "sci-FI"),
    Contains("tags", "sci"),
    Contains("tags", ""),
    Contains("metadata.list", "TWO"),
    Contains("metadata.author", "ad"),
    Contains("metadata.year", "01"),
    Contains("metadata.nowhere", ""),
    And((Eq("kind", "movie"), Between("metadata.year", 2010, 2019), Contains("tags", "sci-fi"))),
    Or((Eq("id", "late"), And((Eq("kind", "note"), Not(Eq("superseded", False)))), Eq("sensitive", True))),
    Not(Or((Eq("kind", "movie"), Contains("metadata.author", "ada")))),
]


class FilterSuite(Bound):
    def test_every_filter_means_what_matches_says(self, store: Store) -> None:
        store.begin_epoch(EPOCH)
        put(store, *MEMORIES, make_memory("movie", "word", kind="movie", space=OTHER_SPACE))
        embed(store, *(made(memory) for memory in MEMORIES))
        wrong: list[tuple[Filter, str, set[str]]] = []
        for where in FILTERS:
            wanted = {memory.id for memory in MEMORIES if where.matches(memory)}
            scan = {memory.id for memory in scanned(store, SPACE, where=where)}
            words, meaning = set(ids(find(store, "word", where))), set(ids(nearest(store, axis(0), where)))
            wrong += [(where, "scan", scan ^ wanted)] if scan != wanted else []
            wrong += [(where, "lexical", words ^ wanted)] if words != wanted else []
            wrong += [(where, "dense", meaning ^ wanted)] if meaning != wanted - {"secret"} else []
            wrong += [(where, "count", wanted)] if store.count([SPACE], where) != len(wanted) else []
        assert wrong == []

    def test_a_selective_filter_still_finds_all_it_lets_through(self, store: Store) -> None:
        """Two of 2,000 match and both score worst: a filter after the cut would lose them."""
        rows = [make_memory(f"m{number:04}", "word word") for number in range(1_998)]
        rare = [make_memory(f"r{number}", "word and much beside it", kind="rare") for number in range(2)]
        store.begin_epoch(EPOCH)
        put(store, *rows, *rare)
        embed(store, *(made(memory, axis(0)) for memory in rows), *(made(memory, axis(1)) for memory in rare))
        where = Eq("kind", "rare")
        assert ids(find(store, "word", where, depth=10)) == ["r0", "r1"]
        assert ids(nearest(store, axis(0), where, depth=10)) == ["r0", "r1"]
        approximate = store.dense(SPACE, axis(0), EPOCH.fingerprint, where, 10)
        assert ids(approximate) == ["r0", "r1"]
        assert [memory.id for memory in store.scan([SPACE], where, limit=10)] == ["r0", "r1"]
        assert len(find(store, "word", depth=10).hits) == 10

    def test_a_filter_changes_no_score(self, store: Store) -> None:
        put(store, *(make_memory(f"m{number}", "word " * (number + 1), uses=number) for number in range(6)))
        every = {hit.key: hit.score for hit in find(store, "word").hits}
        some = {hit.key: hit.score for hit in find(store, "word", Between("uses", 2, 4)).hits}
        assert len(some) == 3
        assert all(every[key] == score for key, score in some.items())
