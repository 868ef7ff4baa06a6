"""Text to chunks, and a chunk to its pieces. Knows no language.

A *chunk* is what stands between spaces and punctuation: a word, an identifier, a path, a run of Chinese, an emoji.
Its *pieces* are what can be searched for:

    running                  running
    e-mail                   email, e, mail
    U.S.A.                   usa
    find_similar_executions  find_similar_executions, find, similar, executions
    HTTPServer2              httpserver2, http, server, 2
    E1234                    e1234, 1234
    v1.2.3                   v1.2.3, 1.2.3, v1, 1, 2, 3
    src/app/main.py          src/app/main.py, src, app, main.py, main, py
    1,000                    1000, 1, 000
    3f2a9bc0                 3f2a9bc0 (random-looking: no parts)
    東京タワー               東京, 京タ, タワ, ワー (and, only in the index, 東 and 京: a lone 京 finds it)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple
from unicodedata import category

from trivium.text.normalise import normalise

# Blocks of the scripts in use that have combining marks, which `\w` leaves out though they are parts of words.
_MARK_BLOCKS = (range(0x0300, 0x1E00), range(0xA800, 0xAC00))
_MARKS = "".join(chr(code) for block in _MARK_BLOCKS for code in block if category(chr(code)) in ("Mn", "Mc"))
_LETTER = rf"[\w{_MARKS}]"

# Scripts written without spaces (and Hangul, whose particles cling to words): pairs of characters are the terms.
_UNSPACED = (
    r"\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"  # Han
    r"\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ebd\u0ec0-\u0ece\u1000-\u103f\u1050-\u109f\u1780-\u17d3"
    r"\u1100-\u11ff\u3041-\u309f\u30a1-\u30ff\u31f0-\u31ff\ua960-\ua97f\uac00-\ud7ff"
)
_EMOJI = "[\U0001f300-\U0001f3fa\U0001f400-\U0001faff\u2600-\u27bf\u231a\u231b\u23e9-\u23fa\u2b50\u2b55]"
_TONE = "[\ufe0e\ufe0f\U0001f3fb-\U0001f3ff]"

# A chunk with more joints than this is cut there: the work per chunk stays bounded, and all its parts are still found.
_MAX_JOINTS = 31
_JOINT = r"(?:://|::|:\\{1,2}|[-.'@/\\:+]|(?<=\d),(?=\d{3}(?!\w)))"
_CHUNK = re.compile(
    rf"{_LETTER}++(?:{_JOINT}{_LETTER}++){{0,{_MAX_JOINTS}}}+(?:\+\+|\#(?!\w))?"
    rf"|[\U0001f1e6-\U0001f1ff]{{2}}|{_EMOJI}{_TONE}*+(?:\u200d{_EMOJI}{_TONE}*+){{0,7}}+"
)
_RUNS = re.compile(rf"([{_UNSPACED}]++)")
_IS_EMOJI = re.compile(rf"{_EMOJI}|[\U0001f1e6-\U0001f1ff]")
_TONES = re.compile(_TONE)

_SEGMENTS = re.compile(r"[/\\:@,+#]+")
_ATOMS = re.compile(r"[-._]+")
_HUMPS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_VERSION = re.compile(r"v[0-9]+(?:\.[0-9]+)+")
_DIGIT = re.compile(r"\d")
_ALPHA = re.compile(r"[^\W\d_]")
_PLURAL_ACRONYM = re.compile(r"[A-Z]{2,}s")
_HEX = re.compile(r"(?=.*[0-9])[0-9a-f]{7,}")
_QUANTITY = re.compile(r"\d+(?:[.,]\d+)*[^\W\d_]{1,2}|\d+(?:-[^\W\d_]+)+")  # 10km, 1st, 1990s, 20-year-old
_CAMEL_NAME = re.compile(r"(?:[a-z]{2,}|(?:[A-Z][a-z]+){2})[A-Z]")  # getUser, FindAllRows; not iPhone, YouTube

# Beyond these a string of letters, capitals and digits is random (base64, hashes): its parts would be noise.
_MAX_HUMPS = 8
_MAX_SPLIT_CHARS = 64


class Piece(NamedTuple):
    """`word`: stop words and stemming apply. `identifier`: a whole identifier. `index_only`: of no use in a query."""

    text: str
    word: bool = False
    identifier: bool = False
    index_only: bool = False


def chunks(text: str) -> list[str]:
    """The chunks of a text in order. Whatever is no part of one separates them: controls and surrogates as well."""
    found: list[str] = _CHUNK.findall(normalise(text))
    return found


def pieces(chunk: str) -> list[Piece]:
    """What a chunk can be found by, the whole first."""
    chunk = chunk.strip("_")
    if chunk.isalpha() and chunk.isascii() and (chunk[1:].islower() or chunk.isupper()):
        return [Piece(chunk.lower(), word=True)]
    if _IS_EMOJI.match(chunk):
        return _emoji(chunk)
    if not chunk.isascii() and _RUNS.search(chunk):
        return _runs(chunk)
    return _compound(chunk)


def _emoji(chunk: str) -> list[Piece]:
    plain = _TONES.sub("", chunk)
    parts = plain.split("\u200d")
    return [Piece(plain), *(Piece(part) for part in parts if len(parts) > 1 and part)]


def _runs(chunk: str) -> list[Piece]:
    found: list[Piece] = []
    for number, run in enumerate(_RUNS.split(chunk)):
        if number % 2:
            found.extend(_pairs(run))
        else:
            found.extend(piece for inner in _CHUNK.findall(run) for piece in pieces(inner))
    return found


def _pairs(run: str) -> Iterator[Piece]:
    if len(run) == 1:
        yield Piece(run)
        return
    for left, right in pairwise(run):
        if _is_han(left):
            yield Piece(left, False, False, True)
        yield Piece(left + right)
    if _is_han(run[-1]):
        yield Piece(run[-1], index_only=True)


def _is_han(letter: str) -> bool:
    return "\u3400" <= letter <= "\u9fff" or letter >= "\U00020000" or "\uf900" <= letter <= "\ufaff"


def _compound(chunk: str) -> list[Piece]:
    segments = [segment for segment in _SEGMENTS.split(chunk) if segment]
    if len(segments) == 1 and chunk == segments[0]:
        return _segment(chunk)
    found = [Piece(chunk.casefold(), identifier=_is_path_like(chunk, segments))]
    if "," in chunk and len(segments) > 1 and all(segment.isdigit() for segment in segments):
        found = [Piece("".join(segments))]
    for segment in segments:
        found.extend(_segment(segment))
    return found


def _is_path_like(chunk: str, segments: list[str]) -> bool:
    if not _ALPHA.search(chunk):
        return False
    return (
        len(segments) > 2
        or any(mark in chunk for mark in ("@", "\\", "::", "++", "#"))
        or any(piece.identifier for segment in segments for piece in _segment(segment)[:1])
    )


def _segment(segment: str) -> list[Piece]:
    atoms = [atom for atom in _ATOMS.split(segment) if atom]
    if len(atoms) < 2:
        return [piece for atom in atoms for piece in _atom(atom)]
    plain = segment.casefold()
    if not _DIGIT.search(segment):
        if "_" not in segment and "." not in segment:
            found = [Piece("".join(atoms).casefold(), word=True)]
        elif all(len(atom) == 1 for atom in atoms) and "_" not in segment:
            return [Piece("".join(atoms).casefold(), word=True)]
        else:
            found = [Piece(plain, identifier=True)]
    else:
        found = [Piece(plain, identifier=_is_numbered_name(plain, atoms))]
        if _VERSION.match(plain):
            found.append(Piece(plain[1:], identifier=True))
    for atom in atoms:
        found.extend(_atom(atom, inside=True))
    return found


def _is_numbered_name(plain: str, atoms: list[str]) -> bool:
    if _ALPHA.search(plain):
        return not _QUANTITY.fullmatch(plain)
    return plain.count(".") > 1 and len(atoms) > 2


def _atom(atom: str, *, inside: bool = False) -> list[Piece]:
    plain = atom.casefold()
    if len(atom) > _MAX_SPLIT_CHARS or not atom.isascii() or _PLURAL_ACRONYM.fullmatch(atom):
        return [Piece(plain, word=not _DIGIT.search(plain))]
    numbered = bool(_DIGIT.search(atom) and _ALPHA.search(atom))
    named = bool(_CAMEL_NAME.match(atom)) or (numbered and not _QUANTITY.fullmatch(plain))
    found = [Piece(plain, word=not _DIGIT.search(plain), identifier=named and not inside)]
    humps = _HUMPS.findall(atom)
    if "'" in atom or len(humps) < 2 or len(humps) > _MAX_HUMPS or _looks_random(plain, humps):
        return found
    # A lone letter (the E of E1234) says nothing.
    return found + [Piece(hump.lower(), word=hump.isalpha()) for hump in humps if len(hump) > 1 or hump.isdigit()]


def _looks_random(plain: str, humps: list[str]) -> bool:
    """Hashes, and strings where digits and single letters alternate."""
    if _HEX.fullmatch(plain):
        return True
    turns = sum(left.isdigit() != right.isdigit() for left, right in pairwise(humps))
    return turns > 1 and any(len(hump) == 1 and hump.isalpha() for hump in humps)
