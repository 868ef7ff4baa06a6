"""Which language a text is in, cheaply: by its script, else by a vote of stop words. When unsure: the fallback."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from trivium.text.languages import listed_languages, resolve_language, stop_words
from trivium.text.normalise import normalise

_READ_CHARS = 400  # some seventy words: more hardly ever change the vote, and every record pays for them
_MIN_SIGNS = 2  # different words or letters that speak for a language
_MIN_SIGNS_RARE = 3  # for one that few of our texts are in: two words are soon a chance hit among so many languages
_COMMON = frozenset(("en", "pt", "es", "fr", "de", "it"))
# Letters that most of the languages we list do without, and those that use them.
_LETTERS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys("ãõ", ("pt",)),
    **dict.fromkeys("ñ¿¡", ("es",)),
    **dict.fromkeys("êôâ", ("pt", "fr")),
    **dict.fromkeys("ç", ("pt", "fr", "ca", "tr")),
    **dict.fromkeys("áíóú", ("pt", "es", "cs")),
    **dict.fromkeys("é", ("pt", "es", "fr")),
    **dict.fromkeys("àèìù", ("it", "fr")),
    **dict.fromkeys("ß", ("de",)),
    **dict.fromkeys("äöü", ("de", "sv", "fi", "tr")),
    **dict.fromkeys("å", ("sv", "da", "no")),
    **dict.fromkeys("øæ", ("da", "no")),
    **dict.fromkeys("łąęśżźń", ("pl",)),
    **dict.fromkeys("řěůčš", ("cs",)),
    **dict.fromkeys("ğış", ("tr",)),
    **dict.fromkeys("ăț", ("ro",)),
}
_CLEAR_LEAD = 1.5  # times the votes of the fallback
_CLEAR_FIRST = 1.15  # times the votes of the second best: Danish and Norwegian, Spanish and Portuguese are near

# Single plain letters are variables and initials as often as words.
_WORD = re.compile(r"(?:[^\W\d_]{2,}|[^\W\d_a-z])(?:'[^\W\d_]+)*")
_LETTER = re.compile(r"[^\W\d_]")

# Languages by script, the likeliest first; a fallback or candidates of the same script are preferred to it.
_SCRIPTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("[\u3041-\u30ff]", ("ja",)),
    ("[\uac00-\ud7a3]", ("ko",)),
    ("[\u3400-\u9fff]", ("zh", "ja")),
    ("[\u0e01-\u0e4e]", ("th",)),
    ("[\u0370-\u03ff\u1f00-\u1fff]", ("el",)),
    ("[\u0400-\u04ff]", ("ru", "sr")),
    ("[\u067e\u0686\u0698\u06a9\u06af\u06cc]", ("fa",)),
    ("[\u0600-\u06ff]", ("ar", "fa")),
    ("[\u0900-\u097f]", ("hi", "ne")),
    ("[\u0b80-\u0bff]", ("ta",)),
    ("[\u0530-\u058f]", ("hy",)),
)
# The share of letters that decides: kana are a part of Japanese and Persian letters a part of Persian.
_SCRIPT_SHARES: dict[tuple[str, ...], float] = {("ja",): 0.1, ("fa",): 0.05}
_SCRIPT_SHARE = 0.5


def detect_language(text: str, candidates: Sequence[str] | None, fallback: str) -> str:
    """The code of the text's language among the candidates (None: all we can tell), or the fallback's when unsure."""
    home = resolve_language(fallback)
    allowed = None if candidates is None else frozenset(resolve_language(name) for name in candidates) | {home}
    head = normalise(text[:_READ_CHARS])
    if not head.isascii():
        for codes in _scripts(head):
            if home in codes:
                return home
            for code in codes:
                if allowed is None or code in allowed:
                    return code
    return _vote(head, allowed, home)


def _scripts(head: str) -> list[tuple[str, ...]]:
    letters = len(_LETTER.findall(head))
    return [
        codes
        for script, codes in _SCRIPTS
        if letters and len(re.findall(script, head)) >= letters * _SCRIPT_SHARES.get(codes, _SCRIPT_SHARE)
    ]


def _vote(head: str, allowed: frozenset[str] | None, home: str) -> str:
    """A stop word or a letter shared by several languages is split between them; one seen twice counts twice."""
    speakers = _speakers(tuple(sorted(allowed)) if allowed else tuple({*listed_languages(), home}))
    folded = head.casefold()
    signs: dict[str, set[str]] = {}
    votes = {home: 0.0}
    letters = () if folded.isascii() else (letter for letter in folded if letter in _LETTERS)
    for sign in (*_WORD.findall(folded), *letters):
        codes = _LETTERS.get(sign) or speakers.get(sign, ())
        for code in codes:
            if allowed is None or code in allowed:
                signs.setdefault(code, set()).add(sign)
                votes[code] = votes.get(code, 0.0) + 1 / len(codes)
    ranked = sorted(votes, key=lambda code: (-votes[code], code))
    needed = _MIN_SIGNS if ranked[0] in _COMMON else _MIN_SIGNS_RARE
    if ranked[0] == home or len(signs[ranked[0]]) < needed:
        return home
    best, second = votes[ranked[0]], votes[ranked[1]]
    if best < max(1.0, _CLEAR_LEAD * votes[home]) or best < _CLEAR_FIRST * second:
        return home
    return ranked[0]


@lru_cache(maxsize=32)
def _speakers(codes: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for code in codes:
        for word in stop_words(code):
            found[word] = (*found.get(word, ()), code)
    return found
