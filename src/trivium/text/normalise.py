"""One form for characters that mean the same: Unicode compatibility forms, hyphens, apostrophes, accents."""

from __future__ import annotations

import re
from functools import lru_cache
from unicodedata import is_normalized, normalize

# Sorting combining marks is quadratic in the length of a run of them, so a text is normalised in pieces no longer than
# this. A border falls inside a word only in a run without any ASCII, and is harmless there unless a bare mark follows.
_PIECE_CHARS = 128
_PIECE = re.compile(rf"[\x00-\x7f]?[^\x00-\x7f]{{1,{_PIECE_CHARS}}}")

# Marks that a reader may leave out: Latin, Greek and Cyrillic accents, Hebrew points, Arabic vowel signs. Vowel signs
# of Indic scripts and Japanese voicing marks are letters to their readers and stay.
_OPTIONAL_MARKS = (
    *range(0x0300, 0x0370),
    *range(0x0591, 0x05BE),
    *(0x05BF, 0x05C1, 0x05C2, 0x05C4, 0x05C5, 0x05C7),
    *range(0x064B, 0x0653),
    *(0x0640, 0x0670),
)
_FOLDED: dict[int, str | None] = dict.fromkeys(_OPTIONAL_MARKS, None) | {
    ord(letter): plain
    for letter, plain in {
        "ø": "o", "œ": "oe", "æ": "ae", "ß": "ss", "đ": "d", "ð": "d", "þ": "th", "ł": "l", "ı": "i", "ħ": "h",
    }.items()
}  # fmt: skip


def normalise(text: str) -> str:
    """NFKC, with one hyphen and one apostrophe and without soft hyphens. Linear time; case is kept."""
    if text.isascii():
        return text
    if not is_normalized("NFKC", text):
        text = _PIECE.sub(lambda piece: normalize("NFKC", piece[0]), text)
    return text.replace("’", "'").replace("‘", "'").replace("ʼ", "'").replace("‐", "-").replace("\u00ad", "")


@lru_cache(maxsize=1 << 15)
def fold_accents(word: str) -> str:
    """The word as typed by someone who leaves accents out. Meant for one word: long texts go through `normalise`."""
    return word if word.isascii() else normalize("NFKC", normalize("NFD", word).translate(_FOLDED))
