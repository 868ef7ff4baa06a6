"""Each converter reads its source's own shape, here with texts of our own."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from bench.__main__ import main
from bench.datasets.catalogue import CONVERTERS
from bench.datasets.convert import READERS, convert

from trivium.errors import InvalidInput


def lines(path: Path, *rows: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_every_source_has_a_converter() -> None:
    assert set(READERS) == set(CONVERTERS)


def test_beir_keeps_the_test_split(tmp_path: Path) -> None:
    source = tmp_path / "in"
    lines(
        source / "corpus.jsonl",
        {"_id": "4983", "title": "Cells", "text": "Cells divide.", "metadata": {}},
        {"_id": "5836", "title": "", "text": "", "metadata": {}},
    )
    lines(
        source / "queries.jsonl",
        {"_id": "1", "text": "Do cells divide?", "metadata": {}},
        {"_id": "2", "text": "Only in the training split?", "metadata": {}},
    )
    (source / "qrels").mkdir()
    (source / "qrels" / "test.tsv").write_text(
        "query-id\tcorpus-id\tscore\n1\t4983\t2\n1\t5836\t-1\n1\t9\t1\n8\t4983\t1\n"
    )
    made = convert("beir", source, tmp_path / "mine")
    assert [one.id for one in made.documents] == ["4983", "5836"]
    assert [one.text for one in made.questions] == ["Do cells divide?"]
    assert made.grades == {"1": {"4983": 2, "5836": 0}}
    assert json.loads((tmp_path / "mine" / "META.json").read_text())["dropped"].startswith("1 judgements")


def test_locomo_has_turns_in_groups(tmp_path: Path) -> None:
    sample = {
        "sample_id": "conv-1",
        "conversation": {
            "speaker_a": "Ada",
            "speaker_b": "Bo",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Ada", "dia_id": "D1:1", "text": "I planted roses."},
                {"speaker": "Bo", "dia_id": "D1:2", "text": "Look!", "blip_caption": "a red door", "img_url": ["u"]},
            ],
            "session_2_date_time": "9:05 am on 12 June, 2023",
            "session_2": [{"speaker": "Bo", "dia_id": "D2:1", "text": "How are the roses?"}],
        },
        "qa": [
            {"question": "What did Ada plant?", "answer": "roses", "evidence": ["D1:1; D2:01"], "category": 1},
            {
                "question": "What did Bo plant?",
                "adversarial_answer": "roses",
                "evidence": ["D1:1", "D:1:2"],
                "category": 5,
            },
            {"question": "When?", "answer": "8 May", "evidence": ["D7:3"], "category": 2},
        ],
    }
    (tmp_path / "locomo10.json").write_text(json.dumps([sample]))
    made = convert("locomo", tmp_path / "locomo10.json", tmp_path / "locomo")
    second = made.documents[1]
    assert (second.id, second.text) == ("conv-1:D1:2", "Bo: Look! [shares a photo: a red door]")
    assert (second.group, second.session, second.speaker) == ("conv-1", "1", "Bo")
    assert second.timestamp == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
    assert [(one.stratum, one.group) for one in made.questions] == [
        ("multi-hop", "conv-1"),
        ("adversarial", "conv-1"),
        ("temporal", "conv-1"),
    ]
    assert made.grades["conv-1:q0"] == {"conv-1:D1:1": 1, "conv-1:D2:1": 1}
    assert made.grades["conv-1:q1"] == {"conv-1:D1:1": 1, "conv-1:D1:2": 1}
    assert "conv-1:q2" not in made.grades


def longmemeval_item(id: str, *turns: dict[str, object]) -> dict[str, object]:
    return {
        "question_id": id,
        "question_type": "single-session-user",
        "question": "Which city?",
        "answer": "Lisbon",
        "question_date": "2023/05/30 (Tue) 23:40",
        "haystack_dates": ["2023/05/20 (Sat) 02:21"],
        "haystack_session_ids": ["answer_1"],
        "haystack_sessions": [list(turns)],
        "answer_session_ids": ["answer_1"],
    }


def test_longmemeval_has_a_history_for_each_question(tmp_path: Path) -> None:
    file = tmp_path / "longmemeval_s.json"
    first = longmemeval_item(
        "q1",
        {"role": "user", "content": "I moved to Lisbon.", "has_answer": True},
        {"role": "assistant", "content": "Welcome.", "has_answer": False},
    )
    file.write_text(json.dumps([first, longmemeval_item("q2_abs", {"role": "user", "content": "Hello."})]))
    made = convert("longmemeval", file, tmp_path / "out")
    assert [(one.id, one.group, one.speaker) for one in made.documents] == [
        ("q1:1:1", "q1", "user"),
        ("q1:1:2", "q1", "assistant"),
        ("q2_abs:1:1", "q2_abs", "user"),
    ]
    assert made.documents[0].timestamp == datetime(2023, 5, 20, 2, 21, tzinfo=UTC)
    assert made.grades == {"q1": {"q1:1:1": 1}}
    assert [one.id for one in made.judged()] == ["q1"]


def test_musique_marks_its_paragraphs(tmp_path: Path) -> None:
    corpus = [
        {"title": "Rose", "text": "A plant."},
        {"title": "Rose", "text": "A ship."},
        {"title": "Oak", "text": "A tree."},
    ]
    question = {
        "id": "3hop1__1_2_3",
        "question": "Which ship?",
        "paragraphs": [
            {"idx": 0, "title": "Rose", "paragraph_text": "A ship.", "is_supporting": True},
            {"idx": 1, "title": "Oak", "paragraph_text": "A tree.", "is_supporting": False},
        ],
    }
    (tmp_path / "musique_corpus.json").write_text(json.dumps(corpus))
    (tmp_path / "musique.json").write_text(json.dumps([question]))
    made = convert("hipporag", tmp_path / "musique.json", tmp_path / "out")
    assert made.grades == {"3hop1__1_2_3": {"d1": 1}}
    assert made.questions[0].stratum == "3hop"


@pytest.mark.parametrize(
    "corpus",
    [
        [{"title": "Rose", "text": "A plant. It is red."}, {"title": "Oak", "text": "A tree."}],
        {"Rose": ["A plant.", " It is red."], "Oak": ["A tree."]},
    ],
)
def test_hotpotqa_names_titles(tmp_path: Path, corpus: object) -> None:
    question = {
        "_id": "5a77",
        "type": "bridge",
        "question": "Which is red?",
        "supporting_facts": [["Rose", 0], ["Rose", 1], ["Gone", 0]],
        "context": [["Rose", ["A plant.", " It is red."]], ["Oak", ["A tree."]]],
    }
    (tmp_path / "hotpotqa_corpus.json").write_text(json.dumps(corpus))
    (tmp_path / "hotpotqa.json").write_text(json.dumps([question]))
    made = convert("hipporag", tmp_path / "hotpotqa.json", tmp_path / "out")
    assert made.documents[0].text == "A plant. It is red."
    assert made.grades == {"5a77": {"d0": 1}}
    assert made.questions[0].stratum == "bridge"


def test_miracl_has_topics_qrels_and_packed_passages(tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.mkdir()
    (source / "topics.miracl-v1.0-pt-dev.tsv").write_text("7\tOnde fica Lisboa?\n8\tsem juízo\n")
    (source / "qrels.miracl-v1.0-pt-dev.tsv").write_text("7\tQ0\t12#0\t1\n7\tQ0\t12#1\t0\n")
    rows = [{"docid": f"12#{n}", "title": "Lisboa", "text": f"Parte {n}."} for n in range(2)]
    with gzip.open(source / "docs-0.jsonl.gz", "wt") as passages:
        passages.writelines(json.dumps(row) + "\n" for row in rows)
    made = convert("trec", source, tmp_path / "out")
    assert [one.id for one in made.documents] == ["12#0", "12#1"]
    assert [one.id for one in made.questions] == ["7"]
    assert made.grades == {"7": {"12#0": 1, "12#1": 0}}


def test_quati_has_headings_and_tables(tmp_path: Path) -> None:
    source = tmp_path / "in"
    for name, text in {
        "topics/quati_test_topics.tsv": "query_id\tquery\n1\tOnde fica a praça?\n",
        "qrels/quati_1M_qrels.txt": "1 0 clueweb22-pt0000-1_0 3\n",
        "quati_1M.tsv": "passage_id\tpassage\nclueweb22-pt0000-1_0\tA praça fica no centro.\n",
    }.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text)
    made = convert("trec", source, tmp_path / "out")
    assert made.documents[0].text == "A praça fica no centro."
    assert made.grades == {"1": {"clueweb22-pt0000-1_0": 3}}


def test_what_is_not_there_says_where_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"snap-research/locomo.*CC BY-NC 4\.0.*Nothing is downloaded"):
        convert("locomo", tmp_path / "locomo10.json", tmp_path / "out")


def test_a_source_that_is_wrong_ends_with_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "longmemeval_s.json").write_text('[{"question_id": "q1", "question": "?"}]')
    with pytest.raises(SystemExit) as ended:
        main(["convert", "longmemeval", str(tmp_path / "longmemeval_s.json"), str(tmp_path / "out")])
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "item 1: question_type: is missing" in said
