"""The languages the analyzer knows: their names, their stemmers, their stop words."""

from __future__ import annotations

import threading
from functools import cache, lru_cache
from pathlib import Path
from typing import Protocol, cast

from trivium.errors import InvalidInput
from trivium.text.normalise import fold_accents

DEFAULT_LANGUAGE = "en"  # of a text that does not say clearly which it speaks

# Code -> Snowball algorithm; the last ones have no stemmer: characters in pairs, or words as they are.
LANGUAGES: dict[str, str | None] = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "eo": "esperanto", "es": "spanish", "et": "estonian", "eu": "basque", "fa": "persian", "fi": "finnish",
    "fr": "french", "ga": "irish", "hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian",
    "it": "italian", "lt": "lithuanian", "ne": "nepali", "nl": "dutch", "no": "norwegian", "pl": "polish",
    "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian", "st": "sesotho", "sv": "swedish",
    "ta": "tamil", "tr": "turkish", "yi": "yiddish", "porter": "porter", "dutch_porter": "dutch_porter",
    "zh": None, "ja": None, "ko": None, "th": None, "none": None,
}  # fmt: skip

_OTHER_NAMES = {
    "nb": "no", "nn": "no", "simple": "none", "chinese": "zh", "japanese": "ja", "korean": "ko", "thai": "th",
    **{algorithm: code for code, algorithm in LANGUAGES.items() if algorithm},
}  # fmt: skip

# Elsewhere a word without its marks is often another one: Swedish får (gets), far (father); Turkish şu, su (water).
_ACCENTS_LEFT_OUT = frozenset(("ca", "es", "fr", "it", "pt", "ro", "ru"))

_STOPWORDS = Path(__file__).parent / "stopwords"


class Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...


@lru_cache(maxsize=256)
def resolve_language(name: str) -> str:
    """The code of a language given by code (`pt`, `pt-BR`, `pt_BR`) or by name (`portuguese`), in any case."""
    plain = name.strip().lower()
    for known in (plain, plain.replace("_", "-").partition("-")[0]):
        code = _OTHER_NAMES.get(known, known)
        if code in LANGUAGES:
            return code
    import difflib

    names = sorted({*LANGUAGES, *_OTHER_NAMES})
    near = difflib.get_close_matches(plain, names, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise InvalidInput(f"language: {name[:40]!r} is not known.{hint} Known: {', '.join(names)}")


@cache
def stop_words(code: str) -> frozenset[str]:
    """The function words of a language, also as typed without accents where that is common; none without a list."""
    try:
        text = (_STOPWORDS / f"{code}.txt").read_text(encoding="utf-8")
    except FileNotFoundError:
        return frozenset()
    words = [word for line in text.splitlines() if not line.startswith("#") for word in line.split()]
    return frozenset(words) | {fold_accents(word) for word in words if code in _ACCENTS_LEFT_OUT}


@cache
def listed_languages() -> tuple[str, ...]:
    """The languages that have a list of stop words."""
    return tuple(sorted(path.stem for path in _STOPWORDS.glob("*.txt")))


_of_thread = threading.local()  # a stemmer is not safe to share between threads


def stemmer(code: str) -> Stemmer | None:
    """This thread's stemmer of a language."""
    algorithm = LANGUAGES[code]
    if algorithm is None:
        return None
    found = _of_thread.__dict__.get(algorithm)
    if found is None:
        import Stemmer as snowball

        found = snowball.Stemmer(algorithm, 0)  # without its own cache: the analyzer keeps whole chunks
        _of_thread.__dict__[algorithm] = found
    return cast(Stemmer, found)
