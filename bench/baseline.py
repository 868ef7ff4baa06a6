"""The plain baseline: one SQLite file with FTS5 and sqlite-vec, fused by reciprocal ranks in Python.

It goes through apsw, not the standard library's sqlite3: that one is often built without extension loading, and
brings an older SQLite whose FTS5 is slower. The baseline gets the faster of the two. Writes are as durable as ours.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import cast

import apsw
import sqlite_vec

from bench.contender import CANDIDATES, LIMIT, Found, Leg, Record
from bench.words import FUNCTION_WORDS
from trivium.models.embed import Embedder

RRF_K = 60
BATCH = 512  # records a transaction, and texts embedded at once: as in our bulk load

SCHEMA = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;
CREATE TABLE IF NOT EXISTS record (
    id INTEGER PRIMARY KEY, title TEXT, content TEXT, kind TEXT, tags TEXT, metadata TEXT
);
CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(
    title, content, content='record', content_rowid='id', tokenize='porter unicode61'
);
CREATE VIRTUAL TABLE IF NOT EXISTS meaning USING vec0(
    id INTEGER PRIMARY KEY, vector float[{dimension}] distance_metric=cosine
);
"""
PUT_RECORD = "INSERT INTO record (title, content, kind, tags, metadata) VALUES (?, ?, ?, ?, ?)"
PUT_WORDS = "INSERT INTO words (rowid, title, content) VALUES (?, ?, ?)"
PUT_VECTOR = "INSERT INTO meaning (id, vector) VALUES (?, ?)"
BY_WORDS = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY bm25(words), rowid LIMIT ?"
BY_MEANING = "SELECT id FROM meaning WHERE vector MATCH ? AND k = ? ORDER BY distance"
FETCH = "SELECT title, content, kind, tags, metadata FROM record WHERE id = ?"

WORD = re.compile(r"\w+")
STOP_WORDS = frozenset(FUNCTION_WORDS)


class Baseline:
    def __init__(self, folder: Path, embedder: Embedder) -> None:
        folder.mkdir(exist_ok=True)
        self._embedder = embedder
        self._db = apsw.Connection(str(folder / "baseline.db"))
        self._db.enable_load_extension(True)
        self._db.load_extension(sqlite_vec.loadable_path())
        # apsw runs a script only as far as its rows are read.
        self._db.execute(SCHEMA.format(dimension=embedder.card.dimension)).fetchall()

    def load(self, records: Iterable[Record]) -> None:
        source = iter(records)
        while batch := list(islice(source, BATCH)):
            self._put(batch)

    def add(self, record: Record) -> None:
        self._put([record])

    def search(self, text: str, leg: Leg) -> Found:
        rankings = [self._by_words(text)] if leg != "dense" else []
        if leg != "lexical":
            rankings.append(self._by_meaning(text))
        return Found(tuple(self._fetch(fused(rankings)[:LIMIT])))

    def close(self) -> None:
        self._db.close()

    def _put(self, batch: Sequence[Record]) -> None:
        # Title and text: the two legs see the same words.
        vectors = self._embedder.embed([f"{record['title']}\n{record['content']}" for record in batch], "document")
        with self._db:
            for record, vector in zip(batch, vectors, strict=True):
                title, content = str(record["title"]), str(record["content"])
                tags, metadata = json.dumps(record["tags"]), json.dumps(record["metadata"])
                self._db.execute(PUT_RECORD, (title, content, str(record["kind"]), tags, metadata))
                row = self._db.last_insert_rowid()
                self._db.execute(PUT_WORDS, (row, title, content))
                self._db.execute(PUT_VECTOR, (row, vector.tobytes()))

    def _by_words(self, text: str) -> list[int]:
        query = any_of_words(text)
        return self._ids(BY_WORDS, (query, CANDIDATES)) if query else []

    def _by_meaning(self, text: str) -> list[int]:
        vector = self._embedder.embed([text], "query")[0]
        return self._ids(BY_MEANING, (vector.tobytes(), CANDIDATES))

    def _ids(self, statement: str, bound: tuple[str | bytes | int, ...]) -> list[int]:
        return [cast(int, row[0]) for row in self._db.execute(statement, bound)]

    def _fetch(self, ids: Sequence[int]) -> Iterator[int]:
        for row_id in ids:
            *_, metadata = next(iter(self._db.execute(FETCH, (row_id,))))
            yield int(json.loads(cast(str, metadata))["number"])


def any_of_words(text: str) -> str:
    """The FTS5 query for any of the words that are not stop words, each quoted."""
    found = dict.fromkeys(word for word in WORD.findall(text.lower()) if word not in STOP_WORDS)
    return " OR ".join(f'"{word}"' for word in found)


def fused(rankings: Sequence[Sequence[int]]) -> list[int]:
    """Ids by the sum of their reciprocal ranks, ties by id."""
    scores: dict[int, float] = {}
    for ranking in rankings:
        for rank, row_id in enumerate(ranking, start=1):
            scores[row_id] = scores.get(row_id, 0.0) + 1 / (RRF_K + rank)
    return sorted(scores, key=lambda row_id: (-scores[row_id], row_id))
