"""Known-item questions: what a person types who remembers a passage of the corpus, but not its wording."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bench import words
from bench.corpus import QUESTIONS, Corpus, Passage

MAX_QUESTION_WORDS = 9
OPENINGS = ("", "", "what about the", "how did the", "who said", "where is the", "when was the", "notes on", "why")
JOINTS = ("", "", "", "and", "of the", "in", "for the", "with")


@dataclass(frozen=True, slots=True)
class Question:
    """A text and the number of the passage it was made from."""

    text: str
    passage: int


def questions(
    corpus: Corpus, size: int, count: int, *, stream: int, apart_from: frozenset[str] = frozenset()
) -> list[Question]:
    """`count` different questions about the first `size` passages, none of them in `apart_from`.

    Each stream is a random stream of its own: one for the warm-up, one for what is measured.
    """
    random = np.random.default_rng((corpus.seed, QUESTIONS, stream))
    made: dict[str, Question] = {}
    while len(made) < count:
        passage = corpus.passage(int(random.integers(size)))
        text = _ask(random, passage)
        if text and text not in apart_from:
            made.setdefault(text, Question(text, passage.number))
    return list(made.values())


def _ask(random: np.random.Generator, passage: Passage) -> str:
    """One or two of the rarer words of the passage, one to three of its commoner ones, and small words between.

    Empty where the passage has too few content words to ask about.
    """
    known = sorted({rank for rank in passage.ranks if rank >= words.FUNCTION_COUNT})
    if len(known) < 6:
        return ""
    cut = len(known) * 2 // 3
    rare = random.choice(known[cut:], size=int(random.integers(1, 3)), replace=False)
    common = random.choice(known[:cut], size=int(random.integers(1, 4)), replace=False)
    chosen = random.permutation(np.concatenate((rare, common)))
    parts = [OPENINGS[int(random.integers(len(OPENINGS)))], words.word(int(chosen[0]))]
    for rank in chosen[1:].tolist():
        parts += [JOINTS[int(random.integers(len(JOINTS)))], words.word(rank)]
    asked = " ".join(part for part in parts if part).split()
    return " ".join(asked) if 3 <= len(asked) <= MAX_QUESTION_WORDS else ""
