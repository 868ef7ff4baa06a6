"""MIRACL, Quati and others in TREC's form: a file of topics, a file of qrels, and the passages.

A folder (and those below it) with one file whose name has `topics` in it (id, tab, text), one with `qrels` (question,
a column that is not used, document, grade), and the passages in every other .jsonl, .jsonl.gz or .tsv file.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from bench.datasets.catalogue import source_of
from bench.datasets.folder import Dataset, Document, Question
from bench.datasets.judging import Judging
from bench.datasets.lines import Row, json_lines, text_lines
from trivium.errors import InvalidInput

IDS = ("docid", "_id", "id", "passage_id")
TEXTS = ("text", "passage", "contents")
HEADINGS = ("query_id", "passage_id", "qid", "docid")
PASSAGES = (".jsonl", ".jsonl.gz", ".tsv")


def from_trec(folder: Path, name: str) -> Dataset:
    """Questions without a judgement are left out: in TREC's form those were not assessed."""
    topics, qrels = _one(folder, "topics"), _one(folder, "qrels")
    files = [path for path in _files(folder) if path.name.endswith(PASSAGES) and path not in (topics, qrels)]
    documents = tuple(one for path in files for one in _passages(path))
    judging = Judging({one.id for one in documents})
    for place, line in text_lines(qrels):
        parts = line.split()
        if len(parts) != 4 or not parts[3].removeprefix("-").isdecimal():
            raise InvalidInput(f"{place}: question, 0, document and a whole grade are wanted")
        judging.judge(parts[0], parts[2], int(parts[3]))
    asked = (Question(id, text) for id, text in _pairs(topics))
    questions = tuple(one for one in asked if one.id in judging.grades)
    about = source_of("trec")
    return Dataset(name, about.address, about.licence, documents, questions, judging.of(questions), judging.notes())


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _one(folder: Path, word: str) -> Path:
    found = [path for path in _files(folder) if word in path.name]
    if len(found) != 1:
        raise InvalidInput(f"{folder}: {len(found)} files have {word!r} in their name; exactly one is wanted")
    return found[0]


def _passages(path: Path) -> Iterator[Document]:
    if path.suffix == ".tsv":
        yield from (Document(id, text) for id, text in _pairs(path))
        return
    for row in json_lines(path):
        yield Document(_first(row, IDS), _first(row, TEXTS), row.maybe_text("title"))


def _first(row: Row, names: tuple[str, ...]) -> str:
    for name in names:
        if name in row.fields:
            return row.maybe_text(name)
    raise row.wrong(f"{names[0]}: is missing; one of {', '.join(names)} is wanted")


def _pairs(path: Path) -> Iterator[tuple[str, str]]:
    """The lines of a file of two columns, without its heading."""
    for place, line in text_lines(path):
        id, tab, text = line.partition("\t")
        if not tab or not id.strip():
            raise InvalidInput(f"{place}: an id, a tab and a text are wanted")
        if id not in HEADINGS:
            yield id, text
