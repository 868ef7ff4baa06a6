"""HippoRAG's samples of MuSiQue, 2WikiMultihopQA and HotpotQA: NAME.json and NAME_corpus.json beside it.

Gold is every supporting passage. MuSiQue marks its paragraphs; the other two name titles.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.datasets.catalogue import source_of
from bench.datasets.folder import DEFAULT_STRATUM, Dataset, Document, Question
from bench.datasets.judging import Judging
from bench.datasets.lines import Row, json_file, json_rows
from trivium.errors import InvalidInput

CORPUS_END = "_corpus.json"


def from_hipporag(file: Path, name: str) -> Dataset:
    """`file` is NAME.json."""
    documents = _corpus(file.with_name(file.stem + CORPUS_END))
    by_title: dict[str, list[Document]] = defaultdict(list)
    for document in documents:
        by_title[document.title].append(document)
    judging = Judging({one.id for one in documents})
    questions: list[Question] = []
    for row in json_rows(file):
        one = Question(row.maybe_text("_id") or row.text("id"), row.text("question"), _stratum(row))
        questions.append(one)
        for title, text in _support(row):
            for id in _passages(by_title[title], text) or ["not there"]:
                judging.judge(one.id, id)
    about = source_of("hipporag")
    return Dataset(name, about.address, about.licence, documents, tuple(questions), judging.grades, judging.notes())


def _corpus(path: Path) -> tuple[Document, ...]:
    """A list of {title, text}; HippoRAG's first HotpotQA is an object of title -> sentences instead."""
    value = json_file(path)
    if not isinstance(value, dict):
        rows = json_rows(path)
        return tuple(Document(f"d{n}", row.maybe_text("text"), row.maybe_text("title")) for n, row in enumerate(rows))
    found: list[Document] = []
    for number, (title, sentences) in enumerate(value.items()):
        if not isinstance(sentences, list):
            raise InvalidInput(f"{path}: {title!r} has no list of sentences")
        found.append(Document(f"d{number}", "".join(map(str, sentences)), title))
    return tuple(found)


def _support(row: Row) -> Iterator[tuple[str, str]]:
    """The title and the text of each supporting passage; the text is empty where the source does not give it."""
    if "paragraphs" in row.fields:
        for paragraph in row.rows("paragraphs"):
            if paragraph.fields.get("is_supporting", True) is True:  # some list nothing but the support
                text = paragraph.maybe_text("paragraph_text") or paragraph.maybe_text("text")
                yield paragraph.maybe_text("title"), text
        return
    texts = {title: " ".join(sentences) for title, sentences in _pairs(row, "context")}
    for title in dict.fromkeys(title for title, _ in _pairs(row, "supporting_facts")):
        yield title, texts.get(title, "")


def _pairs(row: Row, name: str) -> Iterator[tuple[str, list[str]]]:
    """The `[title, …]` pairs of HotpotQA: a context has sentences, a supporting fact a number."""
    value = row.fields.get(name)
    if not isinstance(value, list):
        raise row.wrong(f"{name}: is missing or is not a list")
    for pair in value:
        if not isinstance(pair, list) or len(pair) != 2:
            raise row.wrong(f"{name}: {pair!r} is not a pair of a title and what belongs to it")
        yield str(pair[0]), [str(part) for part in pair[1]] if isinstance(pair[1], list) else []


def _passages(same_title: Sequence[Document], text: str) -> list[str]:
    """The passages of a title with this text; all of that title where none has it."""
    exact = [one.id for one in same_title if _letters(one.text) == _letters(text)]
    return exact or [one.id for one in same_title]


def _letters(text: str) -> str:
    """Sources join sentences with and without a space."""
    return "".join(text.split())


def _stratum(row: Row) -> str:
    """HotpotQA and 2Wiki name a type; MuSiQue has the hops at the start of the id, as in `3hop1__…`."""
    hops = row.maybe_text("id").partition("__")[0]
    return row.maybe_text("type") or (hops[:4] if "hop" in hops else DEFAULT_STRATUM)
