"""The uniform folder of a set, read strictly and written exactly.

corpus.jsonl    {"id", "title", "text"} and, where the source has them, "group", "session", "timestamp", "speaker"
queries.jsonl   {"id", "text", "stratum"} and "group"; a question with a group is asked of that group's documents only
qrels.tsv       question, document, grade, separated by tabs, no heading; a grade is a whole number, 0 is "not relevant"
META.json       {"name", "source", "licence"} and whatever else should be remembered; the name is the folder's

Further fields are allowed and not read.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from bench.datasets.catalogue import where_to_get
from bench.datasets.lines import Row, json_file, json_lines, row_of, text_lines
from bench.datasets.times import time_of
from trivium.errors import InvalidInput

CORPUS, QUESTIONS, JUDGEMENTS, META = "corpus.jsonl", "queries.jsonl", "qrels.tsv", "META.json"
DEFAULT_STRATUM = "all"

Kept = TypeVar("Kept", "Document", "Question")


@dataclass(frozen=True, slots=True)
class Document:
    id: str
    text: str
    title: str = ""
    group: str = ""
    session: str = ""
    timestamp: datetime | None = None
    speaker: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    id: str
    text: str
    stratum: str = DEFAULT_STRATUM
    group: str = ""


@dataclass(frozen=True, slots=True)
class Dataset:
    """A set, consistent in itself: ids are unique, and judgements name documents and questions that are there."""

    name: str
    source: str
    licence: str
    documents: tuple[Document, ...]
    questions: tuple[Question, ...]
    grades: Mapping[str, Mapping[str, int]]  # question -> document -> grade
    notes: Mapping[str, str] = field(default_factory=dict)
    corpus_hash: str = ""  # of the bytes that were read; empty for a set that was never in a folder
    whole_hash: str = ""

    def judged(self) -> tuple[Question, ...]:
        """The questions that have an answer in the corpus: only those can be scored."""
        return tuple(one for one in self.questions if any(grade > 0 for grade in self.grades.get(one.id, {}).values()))


def read_dataset(folder: Path) -> Dataset:
    """The set in a folder. Raises InvalidInput that names the file and the line."""
    if not folder.is_dir():
        raise InvalidInput(f"{folder}: is not a folder; {where_to_get(folder.name)}")
    meta = row_of(str(folder / META), json_file(folder / META))
    if meta.text("name") != folder.absolute().name:
        raise meta.wrong(f"name: {meta.text('name')!r} is not the folder's; results go by that name, so make them one")
    documents = _unique(folder / CORPUS, (_document(row) for row in json_lines(folder / CORPUS)))
    questions = _unique(folder / QUESTIONS, (_question(row) for row in json_lines(folder / QUESTIONS)))
    _check_groups(folder, documents, questions)
    return Dataset(
        name=meta.text("name"),
        source=meta.text("source"),
        licence=meta.text("licence"),
        documents=tuple(documents.values()),
        questions=tuple(questions.values()),
        grades=_grades(folder / JUDGEMENTS, documents, questions),
        corpus_hash=_hash(folder, (CORPUS,)),
        whole_hash=_hash(folder, (CORPUS, QUESTIONS, JUDGEMENTS)),
    )


def find_sets(folder: Path, only: Iterable[str] = ()) -> list[Path]:
    """The sets in a folder by name; those of `only` where it names some. A missing one says where to get it."""
    if not folder.is_dir():
        raise InvalidInput(f"--sets: {folder} is not a folder; make one with `python -m bench convert`")
    found = {path.name: path for path in sorted(folder.iterdir()) if (path / CORPUS).is_file()}
    wanted = list(dict.fromkeys(only)) or list(found)
    if not wanted:
        raise InvalidInput(f"--sets: no set in {folder}; make one with `python -m bench convert`")
    for name in wanted:
        if name not in found:
            raise InvalidInput(f"--only: no set {name!r} in {folder}; {where_to_get(name)}")
    return [found[name] for name in wanted]


def write_dataset(folder: Path, dataset: Dataset) -> None:
    """Write a set into a folder that is not there yet, or is empty."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InvalidInput(f"{folder}: is there already; give the name of a new folder")
    folder.mkdir(parents=True, exist_ok=True)
    _write_lines(folder / CORPUS, (_document_fields(one) for one in dataset.documents))
    _write_lines(folder / QUESTIONS, (_filled(id=q.id, text=q.text, stratum=q.stratum, group=q.group)
                                      for q in dataset.questions))  # fmt: skip
    lines = (f"{one}\t{other}\t{grade}\n" for one, own in dataset.grades.items() for other, grade in own.items())
    (folder / JUDGEMENTS).write_text("".join(lines), encoding="utf-8")
    counts = {"docs": len(dataset.documents), "queries": len(dataset.questions)}
    about = {"name": dataset.name, "source": dataset.source, "licence": dataset.licence, **dataset.notes, **counts}
    (folder / META).write_text(json.dumps(about, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _document(row: Row) -> tuple[Row, Document]:
    written = row.maybe_text("timestamp")
    timestamp = time_of(written) if written else None
    if written and timestamp is None:
        raise row.wrong(f"timestamp: {written!r} is not a time; write it as 2023-05-08T13:56:00+00:00")
    if "text" not in row.fields:
        raise row.wrong("text: is missing; a text is wanted, it may be empty")
    return row, Document(
        id=row.text("id"),
        text=row.maybe_text("text"),
        title=row.maybe_text("title"),
        group=row.maybe_text("group"),
        session=row.maybe_text("session"),
        timestamp=timestamp,
        speaker=row.maybe_text("speaker"),
    )


def _question(row: Row) -> tuple[Row, Question]:
    stratum = row.maybe_text("stratum") or DEFAULT_STRATUM
    return row, Question(row.text("id"), row.text("text"), stratum, row.maybe_text("group"))


def _unique(path: Path, read: Iterable[tuple[Row, Kept]]) -> dict[str, Kept]:
    found: dict[str, Kept] = {}
    for row, one in read:
        if one.id in found:
            raise row.wrong(f"id: {one.id!r} is there twice; ids are unique in a file")
        found[one.id] = one
    if not found:
        raise InvalidInput(f"{path}: is empty")
    return found


def _check_groups(folder: Path, documents: Mapping[str, Document], questions: Mapping[str, Question]) -> None:
    groups = {one.group for one in documents.values()}
    if "" in groups and len(groups) > 1:
        raise InvalidInput(f"{folder / CORPUS}: some documents have a group and some have none; give it to all or none")
    for one in questions.values():
        if one.group not in groups:
            raise InvalidInput(f"{folder / QUESTIONS}: group of {one.id!r}: no document has group {one.group!r}")


def _grades(
    path: Path, documents: Mapping[str, Document], questions: Mapping[str, Question]
) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for place, line in text_lines(path):
        parts = line.split("\t")
        if len(parts) != 3:
            raise InvalidInput(f"{place}: has {len(parts)} columns; question, document and grade are wanted, by tabs")
        question, document, grade = parts
        if question not in questions:
            raise InvalidInput(f"{place}: no question {question!r} in {QUESTIONS}")
        if document not in documents:
            raise InvalidInput(f"{place}: no document {document!r} in {CORPUS}")
        if questions[question].group != documents[document].group:
            raise InvalidInput(f"{place}: {document!r} is not in the group of {question!r}, so it cannot be found")
        if not (grade.isascii() and grade.isdecimal()):
            raise InvalidInput(f"{place}: grade: {grade!r} is not a whole number from 0")
        if document in found.setdefault(question, {}):
            raise InvalidInput(f"{place}: {document!r} is judged twice for {question!r}")
        found[question][document] = int(grade)
    return found


def _hash(folder: Path, names: Iterable[str]) -> str:
    digest = hashlib.blake2b(digest_size=12)
    for name in names:
        digest.update((folder / name).read_bytes())
    return digest.hexdigest()


def _document_fields(one: Document) -> dict[str, str]:
    when = "" if one.timestamp is None else one.timestamp.isoformat()
    rest = _filled(group=one.group, session=one.session, timestamp=when, speaker=one.speaker)
    return {"id": one.id, "title": one.title, "text": one.text, **rest}


def _filled(**fields: str) -> dict[str, str]:
    return {name: value for name, value in fields.items() if value}


def _write_lines(path: Path, rows: Iterable[Mapping[str, str]]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as out:
        out.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
