"""Text to vectors: the Embedder protocol and its description. `loading.py` names the embedders there are."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Literal, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

Matrix: TypeAlias = npt.NDArray[np.float32]
Role: TypeAlias = Literal["query", "document"]


@dataclass(frozen=True, slots=True)
class ModelCard:
    """Everything that changes a vector. Its fingerprint names an embedding epoch.

    `spec` is what `load_embedder` takes to make this embedder again.
    """

    spec: str
    model: str
    revision: str
    dimension: int
    pooling: str
    query_prefix: str = ""
    document_prefix: str = ""

    @property
    def fingerprint(self) -> str:
        return _fingerprint(self)


@lru_cache(maxsize=64)  # every search asks
def _fingerprint(card: ModelCard) -> str:
    text = "\0".join(f"{name}={value}" for name, value in asdict(card).items() if name != "spec")
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()


class Embedder(Protocol):
    """Makes one float32 row of unit length per text; an all-zero row where it has nothing to say of a text."""

    @property
    def card(self) -> ModelCard: ...

    @property
    def remote(self) -> bool:
        """True when text leaves this process or a call may be slow: `add` then leaves rows pending."""

    def embed(self, texts: Sequence[str], role: Role) -> Matrix: ...


@dataclass(frozen=True, slots=True)
class Serving:
    """The epoch of vectors that serves and the embedder that makes its vectors, or why there is none."""

    fingerprint: str = ""
    embedder: Embedder | None = None
    reason: str = ""
