"""LoCoMo: locomo10.json. A document is a turn, a group is a conversation, gold is the evidence."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from bench.datasets.catalogue import source_of
from bench.datasets.folder import Dataset, Document, Question
from bench.datasets.judging import Judging
from bench.datasets.lines import Row, json_rows, row_of
from bench.datasets.times import time_of

STRATA = {"1": "multi-hop", "2": "temporal", "3": "open-domain", "4": "single-hop", "5": "adversarial"}
SESSION = re.compile(r"session_(\d+)")
# The source also writes "D8:6; D9:17", "D:11:26" and "D30:05".
EVIDENCE = re.compile(r"D:?(\d+):(\d+)")


def from_locomo(file: Path, name: str) -> Dataset:
    samples = json_rows(file)
    documents = tuple(turn for sample in samples for turn in _turns(sample))
    judging = Judging({one.id for one in documents})
    questions: list[Question] = []
    for sample in samples:
        group = sample.text("sample_id")
        for number, row in enumerate(sample.rows("qa")):
            one = Question(f"{group}:q{number}", row.text("question"), _stratum(row), group)
            questions.append(one)
            for said in row.texts("evidence"):
                for session, turn in EVIDENCE.findall(said):
                    judging.judge(one.id, f"{group}:D{int(session)}:{int(turn)}")
    about = source_of("locomo")
    return Dataset(name, about.address, about.licence, documents, tuple(questions), judging.grades, judging.notes())


def _turns(sample: Row) -> Iterator[Document]:
    group = sample.text("sample_id")
    conversation = row_of(f"{sample.place}, conversation", sample.fields.get("conversation"))
    numbers = sorted(int(found[1]) for key in conversation.fields if (found := SESSION.fullmatch(key)))
    for number in numbers:
        when = _time(conversation, f"session_{number}_date_time")
        for turn in conversation.rows(f"session_{number}"):
            yield _turn(turn, group, str(number), when)


def _turn(turn: Row, group: str, session: str, when: datetime | None) -> Document:
    speaker = turn.text("speaker")
    caption = turn.maybe_text("blip_caption")
    text = f"{speaker}: {turn.maybe_text('text')}" + (f" [shares a photo: {caption}]" if caption else "")
    id = f"{group}:{turn.text('dia_id')}"
    return Document(id, text, group=group, session=session, timestamp=when, speaker=speaker)


def _time(conversation: Row, key: str) -> datetime | None:
    written = conversation.maybe_text(key)
    found = time_of(written) if written else None
    if written and found is None:
        raise conversation.wrong(f"{key}: {written!r} is not a time such as '1:56 pm on 8 May, 2023'")
    return found


def _stratum(row: Row) -> str:
    category = row.text("category")
    if category not in STRATA:
        raise row.wrong(f"category: {category!r} is unknown; known: {', '.join(STRATA)}")
    return STRATA[category]
