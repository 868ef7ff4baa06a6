"""The legs: each looks in every space of the query, with its filter inside, and says what it did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from trivium.errors import EmbedderError
from trivium.models.embed import Serving
from trivium.search.query import Plan
from trivium.search.result import LegReport
from trivium.store.contract import LegAnswer, LegHit, Place, QueryTerm, Store, Vector
from trivium.text import DEFAULT_LANGUAGE, QueryToken, query_terms, typo_distance

CORRECTED_WEIGHT = 0.5  # the guesses for a word count half of what it would have counted, together


@dataclass(frozen=True, slots=True)
class Spoken:
    """The query's vector in the serving epoch, or why there is none."""

    fingerprint: str
    vector: Vector | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class LegOutcome:
    """What a leg found. `place` is that of the memory asked about, `identifiers` the terms that are names."""

    hits: tuple[LegHit, ...]
    report: LegReport
    corrections: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    identifiers: frozenset[str] = frozenset()
    place: Place | None = None


def lexical_leg(store: Store, plan: Plan, probe: str | None = None) -> LegOutcome:
    """Words: BM25 with each space's own statistics. A word no document of a space has is corrected there."""
    answers: list[LegAnswer] = []
    corrections: dict[str, tuple[str, ...]] = {}
    identifiers: set[str] = set()
    for space in plan.query.spaces:
        languages = store.space_settings(space).languages or (DEFAULT_LANGUAGE,)
        tokens = query_terms(plan.query.text, languages)
        identifiers.update(token.term for token in tokens if token.identifier)
        terms = [QueryTerm(token.term, float(token.count)) for token in tokens]
        answer = store.lexical(space, terms, plan.where, plan.depth, plan.bm25, probe=probe)
        guesses = _guesses(store, space, tokens, answer.unknown) if plan.query.correct_typos else {}
        if guesses:
            corrections.update(guesses)
            answer = store.lexical(space, _corrected(terms, guesses), plan.where, plan.depth, plan.bm25, probe=probe)
        answers.append(answer)
    hits = merged(answers, plan.depth)
    report = LegReport("lexical", "ok" if hits else "empty", len(hits), "" if hits else _why_no_words(answers, plan))
    place = next((answer.place for answer in answers if answer.place), None)
    return LegOutcome(hits, report, corrections, frozenset(identifiers), place)


def _guesses(
    store: Store, space: str, tokens: Sequence[QueryToken], unknown: Sequence[str]
) -> dict[str, tuple[str, ...]]:
    """For each unknown word the nearest words the space knows. A word has a term in every language of the space: it is
    unknown only where none of them is known."""
    known = {token.word for token in tokens if token.term not in unknown}
    guesses = {}
    for token in tokens:
        distance = 0 if token.identifier or token.word in known else typo_distance(token.term)
        if distance:
            near = store.near_terms(space, token.term, distance)
            if near:
                guesses[token.term] = near
    return guesses


def _corrected(terms: Sequence[QueryTerm], guesses: Mapping[str, Sequence[str]]) -> list[QueryTerm]:
    """The terms with each unknown one replaced by its guesses, which share its place."""
    known = {term.text for term in terms}
    found: list[QueryTerm] = []
    for term in terms:
        if term.text not in guesses:
            found.append(term)
            continue
        shared = CORRECTED_WEIGHT / len(guesses[term.text])
        for guess in guesses[term.text]:
            if guess not in known:
                known.add(guess)
                found.append(QueryTerm(guess, shared * term.weight))
    return found


def _why_no_words(answers: Sequence[LegAnswer], plan: Plan) -> str:
    unknown = sorted({term for answer in answers for term in answer.unknown})
    if unknown:
        return f"no memory has {', '.join(unknown[:5])}"
    return "no memory that passes the filter has these words" if plan.query.text.strip() else "no words"


def query_vector(plan: Plan, serving: Serving) -> Spoken:
    """The caller's vector, else the text's. A model that is down costs this leg, not the answer."""
    if "dense" not in plan.legs or plan.query.vector is not None:
        return Spoken(serving.fingerprint, plan.query.vector, serving.reason)
    if serving.embedder is None:
        return Spoken(serving.fingerprint, None, serving.reason)
    try:
        return Spoken(serving.fingerprint, serving.embedder.embed([plan.query.text], "query")[0], serving.reason)
    except EmbedderError as error:
        return Spoken(serving.fingerprint, None, str(error))


def dense_leg(store: Store, plan: Plan, spoken: Spoken, probe: str | None = None) -> LegOutcome:
    """Meaning: cosine to the query's vector in the serving epoch."""
    if spoken.vector is None:
        return LegOutcome((), LegReport("dense", "failed", 0, spoken.reason))
    if not spoken.vector.any():
        return LegOutcome((), LegReport("dense", "empty", 0, "the embedder knows no word of this query"))
    answers = [
        store.dense(space, spoken.vector, spoken.fingerprint, plan.where, plan.depth, probe=probe)
        for space in plan.query.spaces
    ]
    hits = merged(answers, plan.depth)
    missing = sum(answer.without_vector for answer in answers)
    place = next((answer.place for answer in answers if answer.place), None)
    if missing:
        reason = f"{missing} memories have no vector yet; run `trivium reembed`"
        return LegOutcome(hits, LegReport("dense", "degraded", len(hits), reason), place=place)
    return LegOutcome(hits, LegReport("dense", "ok" if hits else "empty", len(hits), spoken.reason), place=place)


def merged(answers: Sequence[LegAnswer], depth: int) -> tuple[LegHit, ...]:
    """The hits of several spaces as one list, in the one order."""
    if len(answers) == 1:
        return answers[0].hits
    hits = [hit for answer in answers for hit in answer.hits]
    return tuple(sorted(hits, key=lambda hit: (-hit.score, hit.key))[:depth])
