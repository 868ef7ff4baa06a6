"""The default embedder: a table of token vectors and a weighted mean. Offline, 16 MB, no model to run.

The table and the tokenizer are files of the `wordllama` wheel. The package itself is never imported: that takes 300 ms
and looks for the tokenizer in a hub. Why this model, and why this pooling: docs/decisions/0002-default-embedder.md.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import re
import unicodedata
from collections.abc import Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

from trivium.errors import EmbedderError
from trivium.models.embed import Matrix, ModelCard, Role
from trivium.models.function_words import FUNCTION_WORDS
from trivium.models.rows import unit_rows

SPEC = "static"
DIMENSION = 256
PACKAGE, RELEASE = "wordllama", "0.4.0.post1"
WEIGHTS = "weights/l2_supercat_256.safetensors"
TENSOR = "embedding.weight"
TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"

# The dev sets' mean is flat between .05 and .2, and .022 lower without (docs/decisions/0002-default-embedder.md).
FUNCTION_WORD_WEIGHT = 0.1

# What stands between words: space, control characters, punctuation, symbols, emoji, lone surrogates. Each word is
# then tokenised by itself, as at the start of a text, so that "(word" and "word" are the same tokens.
_SEPARATORS = (
    r"\s\x00-/:-@\[-`{-\xa9\xab-\xb4\xb6-\xb9\xbb-\xbf×÷\u2000-\u2bff\u3000-\u3004\u3008-\u3020\ud800-\udfff"
    r"\ufe00-\ufe6f\uff00-\uff0f\U0001f000-\U0001faff"
)
_WORD = re.compile(f"[^{_SEPARATORS}]+")
_WORD_START = "▁"

# A passage has some hundred words; a mean over more than this says nothing, and its rows would fill the memory.
MAX_CHARACTERS = 100_000

# A word's tokens are looked up, not computed, the second time. Text without spaces makes "words" that never come back.
KNOWN_WORDS = 65_536
KNOWN_WORD_LENGTH = 32

WIDE_FROM = 64  # texts in one call from which a load is taken to be a bulk load

_Tokens: TypeAlias = tuple[list[int], list[float]]  # ids, and the weight of each


class StaticEmbedder:
    """Embeds with the static table. Opens no socket, is safe in threads and after a fork, gives a text the same
    vector whatever stands beside it in a batch. A text without any word gets the zero row; what stands
    beyond MAX_CHARACTERS does not count."""

    @property
    def card(self) -> ModelCard:
        return _card()

    @property
    def remote(self) -> bool:
        return False

    def embed(self, texts: Sequence[str], role: Role) -> Matrix:  # noqa: ARG002 one table serves both roles
        model = _model()
        table = model.wide_table if len(texts) >= WIDE_FROM else model.table
        rows = np.zeros((len(texts), DIMENSION), np.float32)
        for row, text in zip(rows, texts, strict=True):
            ids, weights = model.tokens(text)
            if ids:
                np.matmul(np.array(weights, np.float32), table[ids].astype(np.float32, copy=False), out=row)
        return unit_rows(rows, SPEC)


class _Model:
    """The files, opened: the table stays float16 on disk and only the rows a text needs are read and widened."""

    def __init__(self, folder: Path) -> None:
        self.table = _map_tensor(folder / WEIGHTS, TENSOR)
        self._tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
        self._tokenizer.normalizer = None  # it marks word starts and spaces: done here, a word at a time
        self._known: dict[str, _Tokens] = {}

    @cached_property
    def wide_table(self) -> Matrix:
        """The same values as float32, 33 MB: in a bulk load, widening row by row would be half of the work."""
        return self.table.astype(np.float32)

    def tokens(self, text: str) -> _Tokens:
        ids: list[int] = []
        weights: list[float] = []
        known = self._known
        for word in _WORD.findall(unicodedata.normalize("NFKC", text[:MAX_CHARACTERS])):
            found = known.get(word) or self._tokens_of(word)
            ids += found[0]
            weights += found[1]
        return ids, weights

    def _tokens_of(self, word: str) -> _Tokens:
        # One word at a time never wakes the tokenizer's thread pool, which a fork would leave locked.
        ids = self._tokenizer.encode(_WORD_START + word, add_special_tokens=False).ids
        weight = FUNCTION_WORD_WEIGHT if word.lower() in FUNCTION_WORDS else 1.0
        made = (ids, [weight] * len(ids))
        if len(word) <= KNOWN_WORD_LENGTH:
            if len(self._known) >= KNOWN_WORDS:
                self._known.clear()
            self._known[word] = made
        return made


@cache
def _model() -> _Model:
    return _Model(_package_folder())


@cache
def _card() -> ModelCard:
    words = hashlib.blake2b(" ".join(sorted(FUNCTION_WORDS)).encode(), digest_size=4).hexdigest()
    pooling = f"mean of words, function words ({words}) at {FUNCTION_WORD_WEIGHT}"
    return ModelCard(SPEC, f"{PACKAGE}/{Path(WEIGHTS).stem}", RELEASE, DIMENSION, pooling)


def _package_folder() -> Path:
    spec = importlib.util.find_spec(PACKAGE)  # finds a top-level package without running it
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        if (Path(folder) / WEIGHTS).is_file() and (Path(folder) / TOKENIZER).is_file():
            return Path(folder)
    raise EmbedderError(
        f"the static model's files are missing; run: pip install --force-reinstall {PACKAGE}=={RELEASE}"
    )


def _map_tensor(path: Path, name: str) -> npt.NDArray[np.float16]:
    """A float16 tensor of a safetensors file (8 bytes of header length, a JSON header, the data), memory-mapped."""
    with path.open("rb") as file:
        header_bytes = int.from_bytes(file.read(8), "little")
        tensor = json.loads(file.read(header_bytes))[name]
    if tensor["dtype"] != "F16" or tensor["shape"][1] != DIMENSION:
        raise EmbedderError(f"{path.name} is not the table of {PACKAGE} {RELEASE}; install that release")
    offset = 8 + header_bytes + tensor["data_offsets"][0]
    mapped = np.memmap(path, np.float16, "r", offset, tuple(tensor["shape"]))
    return mapped.view(np.ndarray)  # indexing the subclass is slower
