"""The one analyzer: text to terms, for the index and for queries, so that the two agree.

The index keeps every term, stop words too: "to be or not to be" must be found. A query drops them when other words
are left. Text is NFKC, case and accents are folded, words are stemmed in their language; identifiers, codes, versions,
paths and addresses are kept whole and in parts (`trivium.text.tokenise` has the table). No input raises, and the time
is linear in the length of the text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from trivium.text.languages import resolve_language, stop_words
from trivium.text.normalise import fold_accents
from trivium.text.stems import MAX_TERM_CHARS, bounded, term_of, without_elision
from trivium.text.tokenise import Piece, chunks, pieces

# Stored with every index. Change it with any change that gives a text other terms: the store then asks for a re-index.
ANALYZER_VERSION = "1"

# Chunks remembered per language, about 15 MB when full. Words repeat (Zipf), so starting over is cheap. Long chunks do
# not repeat.
_MAX_REMEMBERED = 1 << 16
_MAX_REMEMBERED_TERMS = 8
_remembered: dict[str, dict[str, tuple[str, ...]]] = {}

# Typos are likelier in long words, and a short word is one letter away from many others.
_NO_TYPO_BELOW = 4
_TWO_TYPOS_FROM = 8


@dataclass(frozen=True, slots=True)
class QueryToken:
    """A term of a query, how often it was asked for, and whether it is a whole identifier.

    `word` is what it was made from: tokens with the same word are its terms in several languages.
    """

    term: str
    identifier: bool = False
    count: int = 1
    word: str = ""


def index_terms(text: str, language: str) -> list[str]:
    """Every term of a text in order, repeated as often as it occurs."""
    code = resolve_language(language)
    remembered = _remembered.get(code)
    if remembered is None:
        remembered = _remembered.setdefault(code, {})
    terms: list[str] = []
    for chunk in chunks(text):
        found = remembered.get(chunk)
        if found is None:
            found = tuple(term for piece in pieces(chunk) if (term := _term(piece, code)))
            if len(chunk) <= MAX_TERM_CHARS and len(found) <= _MAX_REMEMBERED_TERMS:
                if len(remembered) >= _MAX_REMEMBERED:
                    remembered.clear()
                remembered[chunk] = found
        terms += found
    return terms


def query_terms(text: str, languages: Sequence[str]) -> list[QueryToken]:
    """The terms to look for in a space that holds these languages, each once, in the order of the query.

    A word that is a stop word in any of the languages is left out, unless nothing else is asked for.
    """
    codes = tuple(dict.fromkeys(resolve_language(language) for language in languages)) or ("none",)
    wanted: dict[str, QueryToken] = {}
    stopped: dict[str, QueryToken] = {}
    for piece, count in _asked(text).items():
        found = stopped if any(_is_stop_word(piece, code) for code in codes) else wanted
        for term in dict.fromkeys(_term(piece, code) for code in codes):
            before = found.get(term)
            if before is not None:
                identifier = before.identifier or piece.identifier
                found[term] = replace(before, count=before.count + count, identifier=identifier)
            elif term:
                found[term] = QueryToken(term, piece.identifier, count, word=bounded(piece.text))
    return list((wanted or stopped).values())


def _asked(text: str) -> dict[Piece, int]:
    """The distinct pieces of a query in order, and how often each occurs: a long query repeats itself."""
    counts: dict[Piece, int] = {}
    for chunk, times in Counter(chunks(text)).items():
        for piece in pieces(chunk):
            if not piece.index_only:
                counts[piece] = counts.get(piece, 0) + times
    return counts


def typo_distance(term: str) -> int:
    """How many edits away a word of the vocabulary may be to stand in for this unknown term."""
    if len(term) < _NO_TYPO_BELOW or not term.isalpha() or any(piece.text != term for piece in pieces(term)):
        return 0
    return 2 if len(term) >= _TWO_TYPOS_FROM else 1


def _is_stop_word(piece: Piece, code: str) -> bool:
    return piece.word and without_elision(piece.text, code) in stop_words(code)


def _term(piece: Piece, code: str) -> str:
    if piece.word:
        return term_of(piece.text, code)
    return bounded(piece.text if len(piece.text) > MAX_TERM_CHARS else fold_accents(piece.text))
