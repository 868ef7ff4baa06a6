"""A set is read strictly: whatever is wrong is named with its file and line."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from bench.datasets.folder import Dataset, Document, Question, find_sets, read_dataset, write_dataset

from trivium.errors import InvalidInput

SMALL = Dataset(
    name="small",
    source="written for this test",
    licence="as this project",
    documents=(
        Document("a/1", "Line\u2028separators stay inside a text.", "One", group="x", session="1", speaker="Ada",
                 timestamp=datetime(2023, 5, 8, 13, 56, tzinfo=UTC)),
        Document("a 2", "", "Only a title", group="y"),
    ),
    questions=(Question("q1", "a?", "hard", "x"), Question("q2", "b?", group="y"), Question("q3", "c?", "hard", "y")),
    grades={"q1": {"a/1": 3}, "q2": {"a 2": 0}},
)  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_dataset(tmp_path / "small", SMALL)
    return tmp_path / "small"


def test_what_is_written_is_read(folder: Path) -> None:
    read = read_dataset(folder)
    assert (read.documents, read.questions, read.grades) == (SMALL.documents, SMALL.questions, SMALL.grades)
    assert (read.name, read.source, read.licence) == ("small", "written for this test", "as this project")


def test_only_questions_with_gold_are_judged(folder: Path) -> None:
    assert [one.id for one in read_dataset(folder).judged()] == ["q1"]


def test_a_hash_follows_the_bytes(folder: Path) -> None:
    before = read_dataset(folder)
    with (folder / "qrels.tsv").open("a") as qrels:
        qrels.write("q3\ta 2\t1\n")
    after = read_dataset(folder)
    assert after.corpus_hash == before.corpus_hash
    assert after.whole_hash != before.whole_hash


def appended(name: str, line: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        path = folder / name
        path.write_bytes(path.read_bytes() + line.encode("latin-1") + b"\n")

    return change


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        (appended("corpus.jsonl", '{"id": "c", "text": '), r"corpus\.jsonl, line 3: is not JSON"),
        (appended("corpus.jsonl", ""), r"corpus\.jsonl, line 3: is not JSON"),
        (appended("corpus.jsonl", "[1]"), r"corpus\.jsonl, line 3: is list"),
        (appended("corpus.jsonl", '{"id": "", "text": "t"}'), r"corpus\.jsonl, line 3: id: is missing or empty"),
        (appended("corpus.jsonl", '{"id": "c", "title": "t"}'), r"corpus\.jsonl, line 3: text: is missing"),
        (appended("corpus.jsonl", '{"id": "c", "text": ["t"]}'), r"corpus\.jsonl, line 3: text: is list"),
        (appended("corpus.jsonl", '{"id": "a/1", "text": "t"}'), r"corpus\.jsonl, line 3: id: 'a/1' is there twice"),
        (appended("corpus.jsonl", '{"id": "\xff", "text": "t"}'), r"corpus\.jsonl, line 3: is not UTF-8"),
        (
            appended("corpus.jsonl", '{"id": "c", "text": "t", "timestamp": "soon"}'),
            r"corpus\.jsonl, line 3: timestamp: 'soon' is not a time",
        ),
        (appended("corpus.jsonl", '{"id": "c", "text": "t"}'), r"corpus\.jsonl: some documents have a group"),
        (appended("queries.jsonl", '{"id": "q4", "text": " "}'), r"queries\.jsonl, line 4: text: is missing or empty"),
        (appended("queries.jsonl", '{"id": "q4", "text": "t", "group": "z"}'), r"no document has group 'z'"),
        (appended("qrels.tsv", "q1 a 1"), r"qrels\.tsv, line 3: has 1 columns"),
        (appended("qrels.tsv", "q9\ta/1\t1"), r"qrels\.tsv, line 3: no question 'q9'"),
        (appended("qrels.tsv", "q1\tb\t1"), r"qrels\.tsv, line 3: no document 'b'"),
        (appended("qrels.tsv", "q1\ta 2\t1"), r"qrels\.tsv, line 3: 'a 2' is not in the group of 'q1'"),
        (appended("qrels.tsv", "q1\ta/1\t1.5"), r"qrels\.tsv, line 3: grade: '1.5' is not a whole number"),
        (appended("qrels.tsv", "q1\ta/1\t1"), r"qrels\.tsv, line 3: 'a/1' is judged twice"),
        (lambda folder: (folder / "META.json").unlink(), r"META\.json: is not there"),
        (lambda folder: (folder / "META.json").write_text("{\n 1}"), r"META\.json, line 2: is not JSON"),
        (lambda folder: (folder / "META.json").write_text('{"name": "small"}'), r"META\.json: source: is missing"),
        (
            lambda folder: (folder / "META.json").write_text('{"name": "n"}'),
            r"META\.json: name: 'n' is not the folder's",
        ),
        (lambda folder: (folder / "corpus.jsonl").write_text(""), r"corpus\.jsonl: is empty"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(folder: Path, change: Callable[[Path], object], wanted: str) -> None:
    change(folder)
    with pytest.raises(InvalidInput, match=wanted):
        read_dataset(folder)


def test_a_missing_set_says_where_to_get_it_and_what_is_allowed(folder: Path) -> None:
    assert find_sets(folder.parent) == [folder]
    with pytest.raises(InvalidInput, match=r"no set 'locomo'.*snap-research/locomo.*CC BY-NC.*convert locomo"):
        find_sets(folder.parent, ["locomo"])
    with pytest.raises(InvalidInput, match=r"no set 'mine'.*catalogue"):
        find_sets(folder.parent, ["mine"])


def test_a_folder_is_not_overwritten(folder: Path) -> None:
    kept = json.loads((folder / "META.json").read_text())
    with pytest.raises(InvalidInput, match="is there already"):
        write_dataset(folder, SMALL)
    assert json.loads((folder / "META.json").read_text()) == kept
