"""Judgements as a converter collects them: what cannot be used is left out and counted, not passed over in silence."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field

from bench.datasets.folder import Question


@dataclass(slots=True)
class Judging:
    """Grades by question. `documents` are the ids there are; a judgement of another one is dropped."""

    documents: Container[str]
    grades: dict[str, dict[str, int]] = field(default_factory=dict)
    dropped: int = 0

    def judge(self, question: str, document: str, grade: int = 1) -> None:
        """A grade below 0 (spam, in some TREC sets) is 0. Of two grades for the same document the higher holds."""
        if document not in self.documents:
            self.dropped += 1
            return
        own = self.grades.setdefault(question, {})
        own[document] = max(grade, own.get(document, 0))

    def of(self, questions: Iterable[Question]) -> dict[str, dict[str, int]]:
        """The grades of these questions; some sources judge what they do not ask."""
        return {one.id: self.grades[one.id] for one in questions if one.id in self.grades}

    def notes(self) -> Mapping[str, str]:
        return {"dropped": f"{self.dropped} judgements name what is not in the corpus"} if self.dropped else {}
