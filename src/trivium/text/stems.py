"""A word of a language to its term: elision, stem, accents folded.

Snowball wants the accents of a word, and people leave them out. Portuguese and Spanish stems depend on accents in
their endings (`programação` -> `program`, but `programacao` -> `programaca`), so there a word first loses all its
accents and then gets back those of its ending: both spellings come out the same, and stem well. Snowball also keeps
some Portuguese plurals apart (`avião` / `aviões`, `homem` / `homens`), which the same table mends. Of the 40
groups of spellings and plurals in `tests/text/test_portuguese.py`, for which the table was written, this makes one term
of 40; stemming and then folding of 12, folding and then stemming of 15. In the other languages that were tried
(French, Italian, German) folding after the stem is enough.
"""

from __future__ import annotations

from trivium.text.languages import stemmer
from trivium.text.normalise import fold_accents

# Ending without accents -> ending to stem, and the letters that must stand before it.
_PORTUGUESE_ENDINGS: dict[str, tuple[str, int]] = {
    "cao": ("ção", 2), "coes": ("ção", 2), "ao": ("ão", 1), "aos": ("ão", 2), "oes": ("ão", 1), "aes": ("ão", 2),
    "ancia": ("ância", 2), "ancias": ("ância", 2), "encia": ("ência", 2), "encias": ("ência", 2),
    "avel": ("ável", 2), "aveis": ("ável", 2), "ivel": ("ível", 2), "iveis": ("ível", 2),
    "ais": ("al", 3), "eis": ("el", 3), "ois": ("ol", 4), "ens": ("em", 2), "avamos": ("ávamos", 2),
}  # fmt: skip
_PORTUGUESE_WORDS = {
    "maos": "mão", "maes": "mae", "paes": "pão", "caes": "cão", "faceis": "facil", "dificeis": "dificil",
    "uteis": "util", "reais": "real", "herois": "heroi",
}  # fmt: skip
_SPANISH_ENDINGS: dict[str, tuple[str, int]] = {"ia": ("ía", 2), "ias": ("ías", 2)}

# Articles and pronouns that lean on the next word: l'eau is eau, dell'arte is arte.
_ELISIONS = frozenset(
    (
        *("l", "d", "j", "m", "t", "s", "n", "c", "qu", "jusqu", "lorsqu", "puisqu", "quoiqu"),
        *("dell", "all", "nell", "sull", "dall", "quell", "quest", "un", "bell", "sant"),
    )
)
_ELIDING = frozenset(("fr", "it", "ca"))

# A longer term is cut and marked with a hash of the whole, the same way in documents and in queries.
MAX_TERM_CHARS = 64
_KEPT_CHARS = 40


def term_of(text: str, code: str) -> str:
    """The term of one lower-case word; empty where nothing is left of it."""
    if len(text) > MAX_TERM_CHARS:
        return bounded(text)
    text = without_elision(text, code)
    if code == "pt":
        text = _with_ending(_PORTUGUESE_WORDS.get(plain := fold_accents(text), plain), _PORTUGUESE_ENDINGS)
    elif code == "es":
        text = _with_ending(fold_accents(text), _SPANISH_ENDINGS)
    stemming = stemmer(code)
    stem = stemming.stemWord(text) if stemming else text
    return bounded(fold_accents(stem or text).replace("'", ""))


def without_elision(text: str, code: str) -> str:
    """The word that an article or pronoun leans on, in a language that writes them together."""
    if "'" in text and code in _ELIDING:
        head, _, tail = text.partition("'")
        return tail if tail and head in _ELISIONS else text
    return text


def bounded(text: str) -> str:
    """The text itself up to MAX_TERM_CHARS; its beginning and its hash beyond."""
    if len(text) <= MAX_TERM_CHARS:
        return text
    import hashlib

    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return f"{text[:_KEPT_CHARS]}~{digest}"


def _with_ending(word: str, endings: dict[str, tuple[str, int]]) -> str:
    for size in (6, 5, 4, 3, 2):
        ending = endings.get(word[-size:])
        if ending and len(word) - size >= ending[1]:
            return word[:-size] + ending[0]
    return word
