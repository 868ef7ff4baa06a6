"""Any sentence model exported to ONNX, run by onnxruntime on the CPU. Needs the extra `onnx`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

from trivium.errors import EmbedderError, InvalidInput, MissingExtra
from trivium.models.embed import Matrix, ModelCard, Role
from trivium.models.folder import digest, model_folder
from trivium.models.rows import unit_rows
from trivium.models.spec import escape, join_spec

if TYPE_CHECKING:
    import onnxruntime

MODEL, TOKENIZER = "model.onnx", "tokenizer.json"
POOLED_OUTPUT = "sentence_embedding"  # the name exporters give an output that is pooled already
BATCH = 32  # larger ones gain nothing on a CPU and pad more

_Tokens: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class OnnxOptions:
    """How a model wants to be used; its own documentation says. `threads` 0 lets onnxruntime take every core."""

    pooling: Literal["mean", "cls"] = "mean"
    max_tokens: int = 256
    query_prefix: str = ""
    document_prefix: str = ""
    threads: int = 0

    def __post_init__(self) -> None:
        if self.pooling not in ("mean", "cls"):
            raise InvalidInput(f"pooling: {self.pooling!r} is unknown; use mean or cls")
        if self.max_tokens < 3 or self.threads < 0:
            raise InvalidInput("max_tokens must be at least 3, threads at least 0")


class OnnxEmbedder:
    """Embeds with `model.onnx` and `tokenizer.json` of a folder, loaded at the first use. Safe in threads."""

    def __init__(self, folder: str | Path, options: OnnxOptions | None = None) -> None:
        if find_spec("onnxruntime") is None:
            raise MissingExtra("an onnx embedder", "onnx")
        self._folder = model_folder(folder, (MODEL, TOKENIZER))
        self._options = options or OnnxOptions()

    @cached_property
    def card(self) -> ModelCard:
        options = self._options
        pooling = POOLED_OUTPUT if self._output == POOLED_OUTPUT else options.pooling
        return ModelCard(
            spec=join_spec(f"onnx:{escape(str(self._folder))}", options),
            model=self._folder.name,
            revision=digest([*sorted(self._folder.glob(f"{MODEL}*")), self._folder / TOKENIZER]),
            dimension=self._dimension,
            pooling=f"{pooling} of {options.max_tokens} tokens",
            query_prefix=options.query_prefix,
            document_prefix=options.document_prefix,
        )

    @property
    def remote(self) -> bool:
        return True  # nothing leaves the process, but a passage takes tens of milliseconds: `add` must not wait

    def embed(self, texts: Sequence[str], role: Role) -> Matrix:
        prefix = self._options.query_prefix if role == "query" else self._options.document_prefix
        # One text at a time never wakes the tokenizer's thread pool, which a fork would leave locked.
        tokens = [self._tokenizer.encode(prefix + _encodable(text)).ids for text in texts]
        by_length = sorted(range(len(texts)), key=lambda number: len(tokens[number]))
        rows = np.zeros((len(texts), self._dimension), np.float32)
        for start in range(0, len(texts), BATCH):
            batch = by_length[start : start + BATCH]
            rows[batch] = self._run([tokens[number] for number in batch])
        blank = [number for number, text in enumerate(texts) if not text.strip()]
        rows[blank] = 0.0
        return unit_rows(rows, str(self._folder))

    def _run(self, batch: Sequence[Sequence[int]]) -> Matrix:
        longest = max(len(ids) for ids in batch)
        ids = np.zeros((len(batch), longest), np.int64)  # which token pads does not matter: the mask hides it
        mask = np.zeros_like(ids)
        for number, tokens in enumerate(batch):
            ids[number, : len(tokens)] = tokens
            mask[number, : len(tokens)] = 1
        return pool(self._session.run([self._output], self._feeds(ids, mask))[0], mask, self._options.pooling)

    def _feeds(self, ids: _Tokens, mask: _Tokens) -> Mapping[str, _Tokens]:
        known = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        wanted = [entry.name for entry in self._session.get_inputs()]
        unknown = [name for name in wanted if name not in known]
        if unknown:
            raise EmbedderError(f"{self._folder / MODEL} wants the input {unknown[0]}; export it as a sentence model")
        return {name: known[name] for name in wanted}

    @cached_property
    def _session(self) -> onnxruntime.InferenceSession:
        import onnxruntime
        from onnxruntime.capi import onnxruntime_pybind11_state as states

        settings = onnxruntime.SessionOptions()
        settings.intra_op_num_threads = self._options.threads
        settings.log_severity_level = 3  # errors only: its warnings about the graph tell a user nothing
        path = self._folder / MODEL
        try:
            return onnxruntime.InferenceSession(str(path), settings, providers=["CPUExecutionProvider"])
        except (states.Fail, states.InvalidProtobuf, states.InvalidGraph, states.InvalidArgument) as error:
            raise EmbedderError(f"{path} cannot be loaded: {error}; export or copy it again") from error

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        tokenizer = Tokenizer.from_file(str(self._folder / TOKENIZER))
        tokenizer.no_padding()  # many files ask for a fixed length; a batch is padded to its own longest text
        tokenizer.enable_truncation(self._options.max_tokens)
        return tokenizer

    @cached_property
    def _output(self) -> str:
        names = [entry.name for entry in self._session.get_outputs()]
        return POOLED_OUTPUT if POOLED_OUTPUT in names else str(names[0])

    @cached_property
    def _dimension(self) -> int:
        output = next(entry for entry in self._session.get_outputs() if entry.name == self._output)
        declared = output.shape[-1]
        return declared if isinstance(declared, int) else self._run([[0]]).shape[1]


def pool(hidden: Matrix, mask: _Tokens, how: Literal["mean", "cls"]) -> Matrix:
    """One row per text from one row per token; the padding counts for nothing. Two axes are pooled already."""
    if hidden.ndim == 2:
        return hidden
    if how == "cls":
        return hidden[:, 0]
    weights = mask.astype(np.float32)
    mean: Matrix = np.einsum("btd,bt->bd", hidden, weights) / np.maximum(weights.sum(axis=1, keepdims=True), 1.0)
    return mean


def _encodable(text: str) -> str:
    """Lone surrogates cannot be handed to the tokenizer."""
    return text.encode("utf-8", "replace").decode()
