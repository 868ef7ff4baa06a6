"""Any sentence-transformers model that is on this machine. Needs the extra `sentence-transformers`."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from trivium.errors import EmbedderError, MissingExtra
from trivium.models.embed import Matrix, ModelCard, Role
from trivium.models.folder import digest
from trivium.models.rows import unit_rows
from trivium.models.spec import escape, join_spec

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

WEIGHTS = ("*.safetensors", "*.bin")
BATCH = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceTransformersOptions:
    """A prefix that is left empty is the model's own prompt for the role, where it has one."""

    query_prefix: str = ""
    document_prefix: str = ""
    device: str = "cpu"


class SentenceTransformersEmbedder:
    """Embeds with a model folder, or a model of the local cache by its name; never goes to a hub. Loaded at the
    first use, with torch, which takes seconds."""

    def __init__(self, name: str, options: SentenceTransformersOptions | None = None) -> None:
        if find_spec("sentence_transformers") is None:
            raise MissingExtra("a sentence-transformers embedder", "sentence-transformers")
        self._name = str(Path(name).resolve()) if Path(name).is_dir() else name
        self._options = options or SentenceTransformersOptions()
        self._loading = threading.Lock()
        self._loaded: SentenceTransformer | None = None

    @cached_property
    def card(self) -> ModelCard:
        return ModelCard(
            spec=join_spec(f"sentence-transformers:{escape(self._name)}", self._options),
            model=Path(self._name).name if Path(self._name).is_dir() else self._name,
            revision=self._revision(),
            dimension=_dimension(self._model()),
            pooling=f"the model's own, of {self._model().max_seq_length} tokens",
            query_prefix=self._prefix("query"),
            document_prefix=self._prefix("document"),
        )

    @property
    def remote(self) -> bool:
        return True  # nothing leaves the process, but a passage takes tens of milliseconds: `add` must not wait

    def embed(self, texts: Sequence[str], role: Role) -> Matrix:
        prefix = self._prefix(role)
        sent = [prefix + text.encode("utf-8", "replace").decode() for text in texts]
        if not sent:
            return np.zeros((0, _dimension(self._model())), np.float32)
        # An empty prompt, or the model would put its default one before ours.
        made = self._model().encode(sent, prompt="", batch_size=BATCH, show_progress_bar=False, convert_to_numpy=True)
        rows = np.array(made, np.float32)
        rows[[number for number, text in enumerate(texts) if not text.strip()]] = 0.0
        return unit_rows(rows, self._name)

    def _prefix(self, role: Role) -> str:
        told = self._options.query_prefix if role == "query" else self._options.document_prefix
        return told or str(self._model().prompts.get(role) or "")

    def _revision(self) -> str:
        folder = Path(self._name)
        if folder.is_dir():
            return digest(sorted(path for pattern in WEIGHTS for path in folder.rglob(pattern)))
        return str(getattr(self._model()[0].auto_model.config, "_commit_hash", None) or "")

    def _model(self) -> SentenceTransformer:
        with self._loading:
            if self._loaded is None:
                self._loaded = _load(self._name, self._options.device)
            return self._loaded


def _load(name: str, device: str) -> SentenceTransformer:
    from sentence_transformers import SentenceTransformer

    try:
        return SentenceTransformer(name, device=device, local_files_only=True)
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise EmbedderError(
            f"sentence-transformers: {name!r} is not on this machine; download it ({reason})"
        ) from error


def _dimension(model: SentenceTransformer) -> int:
    name = (
        "get_embedding_dimension" if hasattr(model, "get_embedding_dimension") else "get_sentence_embedding_dimension"
    )
    return int(getattr(model, name)())
