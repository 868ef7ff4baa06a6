"""The embedded default: one SQLite file, one truth, with the fast indexes derived from it."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np

from trivium.errors import InvalidInput, StoreError, StoreFull, WrongVector
from trivium.filter import Filter
from trivium.record import Key, Memory
from trivium.store.contract import (
    Bm25,
    Epoch,
    Finding,
    IndexedPassage,
    LegAnswer,
    Order,
    Place,
    QueryTerm,
    SpaceFacts,
    SpaceSettings,
    Vector,
    Writer,
)
from trivium.store.sqlite import dense, epochs, hnsw, lexical, masks, ranking, records, segments
from trivium.store.sqlite.connection import Connections
from trivium.store.sqlite.dense import Integers
from trivium.store.sqlite.epochs import EpochRow
from trivium.store.sqlite.graphs import Graphs
from trivium.store.sqlite.lexical import Lexicon
from trivium.store.sqlite.postings import unpack_terms
from trivium.store.sqlite.schema import renew_identity
from trivium.store.sqlite.vectors import Vectors
from trivium.store.sqlite.versions import Versions
from trivium.store.sqlite.writer import SqliteWriter

DENSE_INDEXES = ("codes", "hnsw")
MASKS_KEPT = 64

SPACE = "SELECT num, version, flushed FROM space WHERE name = ?"
SPACES = """
SELECT s.name,
    (SELECT count(*) FROM memory m WHERE m.space = s.num),
    (SELECT count(*) FROM memory m WHERE m.space = s.num AND m.superseded_at IS NOT NULL),
    (SELECT count(*) FROM memory m WHERE m.space = s.num AND m.sensitive = 1),
    (SELECT count(*) FROM entry e WHERE e.space = s.num)
FROM space s ORDER BY s.name
"""
SPANS = """
SELECT m.id, e.ordinal, e.start, e.stop FROM memory m JOIN space s ON s.num = m.space JOIN entry e ON e.memory = m.num
WHERE s.name = ? AND m.id IN (SELECT value FROM json_each(?))
"""
KINDS = "SELECT DISTINCT m.kind FROM memory m JOIN space s ON s.num = m.space WHERE s.name = ?"


class SqliteStore:
    """See `contract.Store`. The file is the truth; the cache folder beside it can be deleted at any time.

    `dense_index` makes the short list of a large space: "codes" needs nothing built; "hnsw" has a graph built in the
    background, and needs the extra `hnsw`."""

    def __init__(self, path: Path, *, read_only: bool = False, dense_index: str = "codes") -> None:
        if dense_index not in DENSE_INDEXES:
            raise InvalidInput(f"dense_index: {dense_index!r} is not one of {', '.join(DENSE_INDEXES)}")
        if dense_index == "hnsw":
            hnsw.require()
        self.path = path
        self._connections = Connections(path, read_only=read_only)
        self.read_only = self._connections.read_only
        self._vectors = Vectors(
            cache_folder(path),
            self._meta("identity"),
            self._gone_since,
            read_only=self.read_only,
            graphs=Graphs(read_only=self.read_only) if dense_index == "hnsw" else None,
        )
        self._lexicons: defaultdict[int, Versions[Lexicon]] = defaultdict(Versions)
        self._masks: OrderedDict[tuple[int, int, str], masks.Allowed] = OrderedDict()
        self._lock = threading.Lock()
        self._new_passages: Counter[str] = Counter()  # by space, since each was last tended
        self._new_vectors: Counter[str] = Counter()
        self._loaded: set[str] = set()  # spaces written to since the last bulk load ended

    def close(self) -> None:
        self._vectors.close()
        self._connections.close()

    @contextmanager
    def reading(self) -> Iterator[None]:
        with self._connections.snapshot():
            yield

    @contextmanager
    def writing(self, space: str) -> Iterator[Writer]:
        with self._connections.exclusive() as connection:
            writer = SqliteWriter(connection, space)
            yield writer
        self._new_passages[space] += writer.passages_added
        self._new_vectors[space] += writer.vectors_added
        if writer.erased:
            self._erase(writer)
        if writer.forgot:
            with suppress(StoreFull):  # the memories are gone already; the log is emptied when there is room again
                self._connections.truncate_log()

    def _erase(self, writer: SqliteWriter) -> None:
        epochs = {epoch.num: epoch for epoch in self._epoch_rows()}
        for num, gone in writer.erased.items():
            if num in epochs:  # else another process has just dropped the epoch and its caches
                self._vectors.erase(writer.space, epochs[num], np.array(gone, np.int64))

    # Records

    def get(self, keys: Iterable[Key]) -> dict[Key, Memory]:
        with self._connections.snapshot() as connection:
            return records.get(connection, keys)

    def scan(
        self, spaces: Sequence[str], where: Filter, *, order: Order = "created", newest_first: bool = False,
        limit: int | None = None, offset: int = 0,
    ) -> Iterator[Memory]:  # fmt: skip
        with self._connections.apart() as connection:
            yield from records.scan(
                connection, spaces, where, order=order, newest_first=newest_first, limit=limit, offset=offset
            )

    def count(self, spaces: Sequence[str], where: Filter) -> int:
        with self._connections.snapshot() as connection:
            return records.count(connection, spaces, where)

    def kinds(self, spaces: Sequence[str]) -> tuple[str, ...]:
        with self._connections.snapshot() as connection:
            names = spaces or [row[0] for row in connection.execute("SELECT name FROM space")]
            return tuple(sorted({row[0] for name in names for row in connection.execute(KINDS, (name,))}))

    def passages(self, key: Key) -> tuple[IndexedPassage, ...]:
        with self._connections.snapshot() as connection:
            rows = connection.execute(
                "SELECT e.ordinal, e.start, e.stop, e.terms, e.length FROM entry e JOIN memory m ON m.num = e.memory "
                "JOIN space s ON s.num = m.space WHERE s.name = ? AND m.id = ? ORDER BY e.ordinal",
                key,
            )
            return tuple(
                IndexedPassage(ordinal, start, stop, dict(zip(*unpack_terms(blob), strict=True)), length)
                for ordinal, start, stop, blob, length in rows
            )

    def spaces(self) -> tuple[SpaceFacts, ...]:
        with self._connections.snapshot() as connection:
            return tuple(SpaceFacts(*row) for row in connection.execute(SPACES))

    def space_settings(self, space: str) -> SpaceSettings:
        with self._connections.snapshot() as connection:
            sql = "SELECT language, languages, settings FROM space WHERE name = ?"
            row = connection.execute(sql, (space,)).fetchone()
            return (
                SpaceSettings() if row is None else SpaceSettings(row[0], tuple(json.loads(row[1])), json.loads(row[2]))
            )

    def spans(self, places: Iterable[tuple[Key, int]]) -> dict[tuple[Key, int], tuple[int, int]]:
        wanted = set(places)
        found = {}
        with self._connections.snapshot() as connection:
            for space in {key.space for key, _ in wanted}:
                ids = json.dumps([key.id for key, _ in wanted if key.space == space])
                for id, ordinal, start, stop in connection.execute(SPANS, (space, ids)):
                    if (Key(space, id), ordinal) in wanted:
                        found[Key(space, id), ordinal] = (start, stop)
        return found

    # Legs

    def lexical(
        self, space: str, terms: Sequence[QueryTerm], where: Filter, depth: int, bm25: Bm25, *,
        probe: str | None = None,
    ) -> LegAnswer:  # fmt: skip
        with self._connections.snapshot() as connection:
            lexicon = self._lexicon(connection, space)
            if lexicon is None or not terms:
                return LegAnswer((), unknown=tuple(dict.fromkeys(term.text for term in terms)))
            scored = lexical.score(connection, lexicon, terms, bm25)
            allowed = self._allowed(connection, lexicon.space, lexicon.version, where)
            passages, terms_of = lexical.candidates(scored, allowed)
            return LegAnswer(
                ranking.hits(connection, space, passages, depth, terms_of),
                unknown=scored.unknown,
                place=self._place(connection, lexicon.space, passages, probe, terms_of),
            )

    def dense(
        self, space: str, vector: Vector, fingerprint: str, where: Filter, depth: int, *, probe: str | None = None,
        exact: bool = False,
    ) -> LegAnswer:  # fmt: skip
        with self._connections.snapshot() as connection:
            epoch = epochs.row_of(connection, fingerprint)
            if vector.shape != (epoch.dimension,):
                raise WrongVector(f"vector: has {vector.size} numbers; this store holds vectors of {epoch.dimension}")
            if not np.isfinite(vector).all():
                raise WrongVector("vector: has a number that is not finite")
            row = connection.execute(SPACE, (space,)).fetchone()
            if row is None:
                return LegAnswer(())
            num, version, _ = row
            table = self._vectors.table(connection, num, version, epoch)
            allowed = self._allowed(connection, num, version, where)
            found = None
            if not exact and probe is None and allowed.included is None:  # a graph cannot keep to a filter
                graph = self._vectors.graph(num, epoch, table)
                found = graph and hnsw.candidates(graph, table, vector, allowed.of, depth)
            passages, compared_all = found or dense.candidates(
                table, vector, allowed.of, depth, exact=exact or probe is not None
            )
            hits = ranking.hits(connection, space, passages, depth, ranking.no_terms)
            if len(hits) < depth and not compared_all:  # few memories with many passages filled the short list
                passages, compared_all = dense.candidates(table, vector, allowed.of, depth, exact=True)
                hits = ranking.hits(connection, space, passages, depth, ranking.no_terms)
            missing = connection.execute(
                "SELECT count(*) FROM pending WHERE epoch = ? AND space = ?", (epoch.num, num)
            ).fetchone()[0]
            return LegAnswer(
                hits,
                without_vector=missing,
                exact=compared_all,
                place=self._place(connection, num, passages, probe, ranking.no_terms),
            )

    def near_terms(self, space: str, term: str, distance: int) -> tuple[str, ...]:
        with self._connections.snapshot() as connection:
            lexicon = self._lexicon(connection, space)
            return () if lexicon is None else lexical.near_terms(connection, lexicon, term, distance)

    def _lexicon(self, connection: sqlite3.Connection, space: str) -> Lexicon | None:
        row = connection.execute(SPACE, (space,)).fetchone()
        if row is None:
            return None
        num, version, flushed = row
        with self._lock:
            versions = self._lexicons[num]
            known = versions.at(version)
            if known is not None:
                return known
            return versions.keep(version, lexical.load(connection, num, version, flushed, versions.before(version)))

    def _allowed(self, connection: sqlite3.Connection, space: int, version: int, where: Filter) -> masks.Allowed:
        key = (space, version, repr(where))  # not the filter itself: Eq(…, 1) and Eq(…, True) are equal to Python
        known = self._masks.get(key)
        if known is None:
            known = masks.allowed(connection, space, where)
            with self._lock:
                self._masks[key] = known
                while len(self._masks) > MASKS_KEPT:
                    self._masks.popitem(last=False)
        return known

    def _place(
        self, connection: sqlite3.Connection, space: int, passages: ranking.Passages, probe: str | None,
        terms_of: ranking.TermsOf,
    ) -> Place | None:  # fmt: skip
        if probe is None:
            return None
        row = connection.execute("SELECT num FROM memory WHERE space = ? AND id = ?", (space, probe)).fetchone()
        return None if row is None else ranking.place(connection, passages, row[0], probe, terms_of)

    # Vectors: see epochs.py

    def epochs(self) -> tuple[Epoch, ...]:
        with self._connections.snapshot() as connection:
            return epochs.known(connection)

    def begin_epoch(self, epoch: Epoch) -> None:
        with self._connections.exclusive() as connection:
            epochs.begin(connection, epoch)

    def serve_epoch(self, fingerprint: str) -> None:
        with self._connections.exclusive() as connection:
            ended = epochs.serve(connection, fingerprint)
        for epoch in ended:
            self._vectors.drop(epoch)

    def pending(self, fingerprint: str, limit: int) -> tuple[Memory, ...]:
        with self._connections.snapshot() as connection:
            return epochs.pending(connection, fingerprint, limit)

    def pending_count(self, fingerprint: str) -> int:
        with self._connections.snapshot() as connection:
            return epochs.pending_count(connection, fingerprint)

    def vectors(self, key: Key, fingerprint: str) -> tuple[Vector, ...]:
        with self._connections.snapshot() as connection:
            return epochs.vectors(connection, key, fingerprint)

    def kept_query(self, fingerprint: str, text: str) -> Vector | None:
        with self._connections.snapshot() as connection:
            return epochs.kept_query(connection, fingerprint, text)

    def keep_query(self, fingerprint: str, text: str, vector: Vector) -> None:
        if self.read_only:
            return
        with suppress(StoreFull), self._connections.exclusive() as connection:  # a cache: a search does not fail for it
            epochs.keep_query(connection, fingerprint, text, vector)

    def _gone_since(self, epoch: int, space: int, number: int) -> Integers:
        """The vectors removed by now, whatever state the caller's own block sees."""
        with self._connections.latest() as connection:
            rows = connection.execute(dense.READ_GONE, (epoch, space, number)).fetchall()
            return np.array([row[1] for row in rows], np.int64)

    def _epoch_rows(self) -> list[EpochRow]:
        with self._connections.snapshot() as connection:
            return epochs.rows(connection)

    # Upkeep

    def analyzer_version(self) -> str:
        return self._meta("analyzer")

    def set_analyzer_version(self, version: str) -> None:
        with self._connections.exclusive() as connection:
            connection.execute("INSERT OR REPLACE INTO meta VALUES ('analyzer', ?)", (version,))

    def _meta(self, name: str) -> str:
        with self._connections.snapshot() as connection:
            row = connection.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
            return "" if row is None else str(row[0])

    def tend(self, *, after_bulk: bool = False) -> None:
        for space in [space for space, count in self._new_passages.items() if count]:
            del self._new_passages[space]
            self._tend_segments(space)
            self._loaded.add(space)
        if after_bulk:
            for space in sorted(self._loaded):
                self._gather_segments(space)
            self._loaded.clear()
        for space in [space for space, count in self._new_vectors.items() if self._vectors.due(count)]:
            del self._new_vectors[space]
            self._tend_vectors(space)

    def _tend_segments(self, name: str) -> None:
        with self._connections.snapshot() as connection:
            num = connection.execute(SPACE, (name,)).fetchone()[0]
            if not segments.flush_due(connection, num):
                return
        with self._connections.exclusive() as connection:
            if not segments.flush_due(connection, num):
                return  # another process was first, and does what follows
            segments.flush(connection, num)
        while True:
            with self._connections.exclusive() as connection:
                due = segments.merge_due(connection, num)
                if not due:
                    return
                segments.merge(connection, num, due)

    def _gather_segments(self, name: str) -> None:
        with self._connections.exclusive() as connection:
            num = connection.execute(SPACE, (name,)).fetchone()[0]
            segments.flush(connection, num)
            run = segments.newest_run(connection, num)
            if len(run) > 1:
                segments.merge(connection, num, run)

    def _tend_vectors(self, name: str) -> None:
        for epoch in self._epoch_rows():
            with self._connections.snapshot() as connection:
                num, version, _ = connection.execute(SPACE, (name,)).fetchone()
                self._vectors.table(connection, num, version, epoch)

    def verify(self) -> list[Finding]:
        from trivium.store.sqlite import verification  # a search need not wait for it

        with self._connections.snapshot() as connection:
            return verification.findings(connection, self._vectors, self._gone_by_now)

    def _gone_by_now(self, numbers: set[int]) -> set[int]:
        with self._connections.latest() as connection:
            sql = "SELECT num FROM vector WHERE num IN (SELECT value FROM json_each(?))"
            return numbers - {row[0] for row in connection.execute(sql, (json.dumps(sorted(numbers)),))}

    def size_bytes(self) -> int:
        own = [self.path.with_name(self.path.name + suffix) for suffix in ("", "-wal")]
        cached = cache_folder(self.path).rglob("*") if cache_folder(self.path).exists() else ()
        return sum(path.stat().st_size for path in (*own, *cached) if path.is_file())

    def backup(self, target: Path) -> None:
        if target.exists():
            raise StoreError(f"{target.name} exists already; choose another name")
        copy = sqlite3.connect(target)
        try:
            self._connections.own().backup(copy)
            with copy:
                renew_identity(copy)  # the caches of the original are not the copy's, wherever it is put
        finally:
            copy.close()


def cache_folder(path: Path) -> Path:
    return path.with_name(path.name + "-cache")
