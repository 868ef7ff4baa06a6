"""LongMemEval: longmemeval_*.json. A document is a turn, a group is a question's own history, gold is `has_answer`.

The questions that cannot be answered (`…_abs`) stay without gold, so they are read and not scored.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from bench.datasets.catalogue import source_of
from bench.datasets.folder import Dataset, Document, Question
from bench.datasets.lines import Row, json_rows, row_of
from bench.datasets.times import time_of


def from_longmemeval(file: Path, name: str) -> Dataset:
    documents: list[Document] = []
    questions: list[Question] = []
    grades: dict[str, dict[str, int]] = {}
    for item in json_rows(file):
        id = item.text("question_id")
        questions.append(Question(id, item.text("question"), item.text("question_type"), id))
        for turn, answers in _turns(item, id):
            documents.append(turn)
            if answers:
                grades.setdefault(id, {})[turn.id] = 1
    about = source_of("longmemeval")
    return Dataset(name, about.address, about.licence, tuple(documents), tuple(questions), grades)


def _turns(item: Row, group: str) -> Iterator[tuple[Document, bool]]:
    """Each turn, and whether it holds the answer."""
    dates, sessions = item.texts("haystack_dates"), item.fields.get("haystack_sessions")
    if not isinstance(sessions, list) or len(sessions) != len(dates):
        raise item.wrong("haystack_sessions: is not a list as long as haystack_dates")
    for number, (written, session) in enumerate(zip(dates, sessions, strict=True), start=1):
        when = time_of(written)
        if when is None:
            raise item.wrong(f"haystack_dates: {written!r} is not a time such as '2023/05/20 (Sat) 02:21'")
        if not isinstance(session, list):
            raise item.wrong(f"haystack_sessions: session {number} is not a list of turns")
        for place, turn in enumerate(session, start=1):
            row = row_of(f"{item.place}, session {number}, turn {place}", turn)
            text, speaker = row.maybe_text("content"), row.text("role")
            # By number: a session may stand twice in one history.
            id = f"{group}:{number}:{place}"
            document = Document(id, text, group=group, session=str(number), timestamp=when, speaker=speaker)
            yield document, row.fields.get("has_answer") is True
