"""A seeded corpus with the word statistics of natural text, made on the fly: passages and questions about them.

Words follow a Zipf-Mandelbrot law over an open-ended vocabulary, so new words keep coming as the corpus grows (Heaps'
law). Every content word lives in one topic; a passage draws much of its text from two topics and repeats itself, so
terms co-occur and come in bursts. Topics are drawn in proportion to the frequency of their words: that leaves the
law of the whole corpus exactly as it was set.

Passages are made in blocks, each from its own random stream: a small corpus is the beginning of a large one, and any
passage can be made again without those before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from bench import words
from bench.words import Ranks

# Two regimes, fitted on books by Gerlach and Altmann (2013): a common core, and a tail out of which new words come,
# so that the number of different words grows with the tokens to the power of about 1 / 1.77.
CORE_EXPONENT = 1.0
CORE_RANKS = 7_873
TAIL_EXPONENT = 1.77
MANDELBROT_SHIFT = 2.7  # flattens the first ranks, as in English
MEAN_WORDS = 80
SIGMA_WORDS = 0.45  # of the logarithm of the length: most passages have 35 to 160 words
MIN_WORDS = 8
MAX_WORDS = 400

TOPICS = 80
GENERAL_RANKS = words.FUNCTION_COUNT + 150  # function words and the commonest content words belong to no topic
TOPICAL_SHARE = 0.6  # of the other words of a passage, those drawn from its own topics
FIRST_TOPIC_SHARE = 0.7
REPEAT_SHARE = 0.12  # words that take up an earlier word of the passage
CODE_SHARE = 0.012  # numbers, versions, error codes, identifiers

BLOCK = 100  # passages made at once
PASSAGES, QUESTIONS = 0, 1  # names of the random streams
KINDS = ("note", "fact", "document", "message", "log")


@dataclass(frozen=True, slots=True)
class Passage:
    """One generated record. `ranks` are the vocabulary ranks of its words, -1 where a code stands."""

    number: int
    title: str
    content: str
    kind: str
    topic: int
    ranks: tuple[int, ...]

    def record(self) -> dict[str, object]:
        """As the keyword arguments of `add`; `metadata.number` tells a hit's passage."""
        return {
            "content": self.content,
            "title": self.title,
            "kind": self.kind,
            "tags": [f"topic-{self.topic}"],
            "metadata": {"number": self.number},
        }


@dataclass(frozen=True, slots=True)
class _Law:
    """The vocabulary laid out topic by topic: the cumulated probability of ranks in that order."""

    ranks: Ranks
    cumulated: npt.NDArray[np.float64]
    starts: npt.NDArray[np.float64]  # where each topic begins on the cumulated scale
    masses: npt.NDArray[np.float64]


@lru_cache(maxsize=1)
def _law() -> _Law:
    ranks = np.arange(words.VOCABULARY_SIZE, dtype=np.int64)
    shifted = ranks + 1 + MANDELBROT_SHIFT
    chance = np.where(
        ranks < CORE_RANKS,
        shifted**-CORE_EXPONENT,
        CORE_RANKS ** (TAIL_EXPONENT - CORE_EXPONENT) * shifted**-TAIL_EXPONENT,
    )
    chance /= chance.sum()
    # Stems are spread over topics by a fixed stride; the general words come first, as a topic of their own.
    topic = 1 + words.stems_of(ranks) * 7_919 % TOPICS
    topic[:GENERAL_RANKS] = 0
    order = np.argsort(topic, kind="stable")
    masses = np.bincount(topic, weights=chance, minlength=TOPICS + 1).astype(np.float64)
    starts = np.concatenate(([0.0], np.cumsum(masses)[:-1]))
    return _Law(order, np.cumsum(chance[order]), starts, masses)


@dataclass(frozen=True, slots=True)
class Corpus:
    """The corpus of a seed. It has no end: `passages(start, stop)` makes any part of it."""

    seed: int

    def passages(self, start: int, stop: int) -> Iterator[Passage]:
        for block in range(start // BLOCK, -(-stop // BLOCK)):
            for passage in self._block(block):
                if start <= passage.number < stop:
                    yield passage

    def passage(self, number: int) -> Passage:
        return self._block(number // BLOCK)[number % BLOCK]

    def _block(self, block: int) -> list[Passage]:
        random = np.random.default_rng((self.seed, PASSAGES, block))
        lengths = np.exp(random.normal(np.log(MEAN_WORDS) - SIGMA_WORDS**2 / 2, SIGMA_WORDS, BLOCK))
        lengths = np.clip(lengths.round(), MIN_WORDS, MAX_WORDS).astype(np.int64)
        topics = _draw_topics(random, (BLOCK, 2))
        ranks = _draw_words(random, lengths, topics)
        texts = _spelled(random, ranks)
        kinds = random.integers(len(KINDS), size=BLOCK)
        ends = np.cumsum(lengths)
        return [
            Passage(
                number=block * BLOCK + row,
                title=_title(ranks[end - length : end], texts[end - length : end]),
                content=_sentences(texts[end - length : end]),
                kind=KINDS[kinds[row]],
                topic=int(topics[row, 0]),
                ranks=tuple(ranks[end - length : end].tolist()),
            )
            for row, (length, end) in enumerate(zip(lengths.tolist(), ends.tolist(), strict=True))
        ]


def _draw_topics(random: np.random.Generator, shape: tuple[int, int]) -> Ranks:
    masses = _law().masses[1:]
    drawn: Ranks = np.searchsorted(np.cumsum(masses), random.random(shape) * masses.sum())
    return 1 + drawn


def _draw_words(random: np.random.Generator, lengths: Ranks, topics: Ranks) -> Ranks:
    """Ranks of all words of a block, one passage after another."""
    law = _law()
    owner = np.repeat(np.arange(len(lengths)), lengths)
    size = len(owner)
    point = random.random(size)  # on the cumulated scale: the general words first, then the topics
    topical = (point >= law.masses[0]) & (random.random(size) < TOPICAL_SHARE)
    own = topics[owner, (random.random(size) >= FIRST_TOPIC_SHARE).astype(np.int64)]
    point = np.where(topical, law.starts[own] + random.random(size) * law.masses[own], point)
    ranks = law.ranks[np.minimum(np.searchsorted(law.cumulated, point), words.VOCABULARY_SIZE - 1)]
    begins = np.repeat(np.cumsum(lengths) - lengths, lengths)
    place = np.arange(size) - begins
    earlier = begins + (random.random(size) * place).astype(np.int64)
    repeats = (random.random(size) < REPEAT_SHARE) & (ranks[earlier] >= words.FUNCTION_COUNT)
    ranks = np.where(repeats & (ranks >= words.FUNCTION_COUNT), ranks[earlier], ranks)
    return np.where(random.random(size) < CODE_SHARE, -1, ranks)


def _spelled(random: np.random.Generator, ranks: Ranks) -> list[str]:
    """The words of the ranks; a code, made up on the spot, for -1."""
    distinct, where = np.unique(ranks, return_inverse=True)
    spelled = np.array(["" if rank < 0 else words.word(rank) for rank in distinct.tolist()], dtype=object)
    texts: list[str] = spelled[where].tolist()
    for place in np.flatnonzero(ranks < 0).tolist():
        texts[place] = _code(random)
    return texts


def _code(random: np.random.Generator) -> str:
    form, number, first, second = (int(value) for value in random.integers((5, 10_000, 900, 900)))
    left, right = words.CONTENT_STEMS[first], words.CONTENT_STEMS[second]
    return (
        str(1900 + number % 130),
        str(number),
        f"v{number % 9}.{first % 30}.{second % 10}",
        f"ERR-{number:04d}",
        f"{left}_{right}",
    )[form]


def _sentences(texts: list[str]) -> str:
    """The words as sentences of 9 to 17 words, which follow from the words alone."""
    parts: list[str] = []
    start = 0
    while start < len(texts):
        end = min(start + 9 + len(texts[start]) % 9, len(texts))
        sentence = " ".join(texts[start:end])
        parts.append(f"{sentence[0].upper()}{sentence[1:]}.")
        start = end
    return " ".join(parts)


def _title(ranks: Ranks, texts: list[str]) -> str:
    """The first few content words."""
    places = np.flatnonzero(ranks >= GENERAL_RANKS)[:4].tolist()
    return " ".join(texts[place] for place in places).capitalize()
