"""Embedding over HTTP, in the form OpenAI made common: OpenAI, Voyage, Ollama, vLLM, TEI, llama.cpp. Extra `http`."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urlsplit

import numpy as np
import numpy.typing as npt

from trivium.errors import EmbedderError, InvalidInput, MissingExtra
from trivium.models.embed import Matrix, ModelCard, Role
from trivium.models.retry import Call, Waiting, post
from trivium.models.rows import unit_rows
from trivium.models.spec import escape, join_spec

if TYPE_CHECKING:
    import httpx

    from trivium.record import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where a model is served and how it wants to be asked. The key itself is never here, only the name of the
    environment variable that holds it."""

    base_url: str  # up to and with /v1
    model: str
    key_env: str = ""
    dimension: int | None = None  # found out by a first call where it is not told
    dimension_field: str = ""  # the request's field that asks for this dimension; empty: it is not asked for
    input_type: bool = False  # tell queries from documents, as Voyage wants it
    query_prefix: str = ""
    document_prefix: str = ""
    max_items: int = 64
    max_characters: int = 100_000  # a request; servers refuse more than some 300,000 tokens, or 2 MB
    timeout_s: float = 30.0
    query_timeout_s: float = 5.0  # someone is waiting, and the words alone can answer
    retries: int = 4

    def __post_init__(self) -> None:
        parts = urlsplit(self.base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname or not _has_good_port(parts):
            raise InvalidInput("base_url: must be a URL such as https://HOST/v1 or http://HOST:PORT/v1")
        if parts.username or parts.password or parts.query:
            raise InvalidInput("base_url: must hold no user, password or query; name the key's variable in key_env")
        if not self.model:
            raise InvalidInput("model: must not be empty; write http://HOST/v1#MODEL")
        if self.dimension_field and not self.dimension:
            raise InvalidInput("dimension: must be told where dimension_field is")
        if min(self.max_items, self.max_characters, self.timeout_s, self.query_timeout_s) <= 0 or self.retries < 0:
            raise InvalidInput("max_items, max_characters and timeouts must be above 0, retries not below")


class HttpEmbedder:
    """Embeds through an endpoint. Rows come back in the order of the texts, checked and of unit length; a blank text
    is not sent and gets the zero row. Documents are retried patiently, queries once. Safe in threads."""

    def __init__(self, endpoint: Endpoint, waiting: Waiting | None = None) -> None:
        self._endpoint = endpoint
        self._waiting = waiting or Waiting()
        self._dimension = endpoint.dimension
        self._client = _client()
        self._lock = threading.Lock()
        weakref.finalize(self, self._client.close)

    @property
    def card(self) -> ModelCard:
        """Asks the server once where the dimension was not told, so it may raise EmbedderError."""
        endpoint = self._endpoint
        known = replace(endpoint, dimension=self._known_dimension())
        return ModelCard(
            spec=join_spec(f"{endpoint.base_url}#{escape(endpoint.model)}", known),
            model=endpoint.model,
            revision="",  # the protocol has none
            dimension=self._known_dimension(),
            pooling="remote, with input_type" if endpoint.input_type else "remote",
            query_prefix=endpoint.query_prefix,
            document_prefix=endpoint.document_prefix,
        )

    @property
    def remote(self) -> bool:
        return True

    def embed(self, texts: Sequence[str], role: Role) -> Matrix:
        prefix = self._endpoint.query_prefix if role == "query" else self._endpoint.document_prefix
        # JSON in UTF-8 has no place for lone surrogates.
        sent = [(n, prefix + text.encode("utf-8", "replace").decode()) for n, text in enumerate(texts) if text.strip()]
        made = [(batch, self._ask([text for _, text in batch], role)) for batch in self._batches(sent)]
        rows = np.zeros((len(texts), self._known_dimension()), np.float32)
        for batch, vectors in made:
            rows[[number for number, _ in batch]] = vectors
        return rows

    def _batches(self, texts: Sequence[tuple[int, str]]) -> Iterator[list[tuple[int, str]]]:
        batch: list[tuple[int, str]] = []
        characters = 0
        for number, text in texts:
            full = len(batch) == self._endpoint.max_items or characters + len(text) > self._endpoint.max_characters
            if batch and full:
                yield batch
                batch, characters = [], 0
            batch.append((number, text))
            characters += len(text)
        if batch:
            yield batch

    def _ask(self, texts: Sequence[str], role: Role) -> Matrix:
        answer = post(self._client, self._call(texts, role), self._waiting)
        rows = unit_rows(_rows(answer, len(texts), self._endpoint.model), self._endpoint.model)
        with self._lock:
            if self._dimension is None:
                self._dimension = rows.shape[1]
        if rows.shape[1] != self._dimension:
            raise EmbedderError(
                f"{self._endpoint.model}: gave {rows.shape[1]} dimensions where {self._dimension} were expected; "
                "correct the dimension, or the model's name"
            )
        return rows

    def _known_dimension(self) -> int:
        return self._dimension or self._ask(["dimension"], "query").shape[1]

    def _call(self, texts: Sequence[str], role: Role) -> Call:
        endpoint = self._endpoint
        body: dict[str, Json] = {"model": endpoint.model, "input": list(texts)}
        if endpoint.dimension_field:
            body[endpoint.dimension_field] = endpoint.dimension
        if endpoint.input_type:
            body["input_type"] = role
        patient = role == "document"
        return Call(
            url=endpoint.base_url.rstrip("/") + "/embeddings",
            body=body,
            timeout_s=endpoint.timeout_s if patient else endpoint.query_timeout_s,
            retries=endpoint.retries if patient else min(endpoint.retries, 1),
            key=_key(endpoint.key_env),
        )


def _has_good_port(parts: SplitResult) -> bool:
    try:
        return parts.port is None or parts.port > 0
    except ValueError:  # not a number, or too large
        return False


def _key(variable: str) -> str:
    """The key, read anew for each call and kept nowhere."""
    if not variable:
        return ""
    key = os.environ.get(variable, "")
    if not key:
        raise EmbedderError(
            f"the environment variable {variable} is not set; set it to the key of the embedding server"
        )
    return key


def _rows(answer: object, count: int, model: str) -> npt.NDArray[np.float64]:
    """The vectors of an answer, in the order of the texts, whatever order they came in."""
    try:
        entries = {entry["index"]: entry["embedding"] for entry in answer["data"]}  # type: ignore[index]
        if entries.keys() != set(range(count)):
            raise EmbedderError(f"{model}: answered with {len(entries)} vectors to {count} texts; lower max_items")
        rows = np.array([entries[number] for number in range(count)], np.float64)
    except (KeyError, TypeError, ValueError) as error:
        raise EmbedderError(f"{model}: the answer is not a list of embeddings; is this an embedding model?") from error
    if rows.ndim != 2 or not rows.shape[1]:
        raise EmbedderError(f"{model}: the answer is not a list of embeddings; is this an embedding model?")
    return rows


def _client() -> httpx.Client:
    try:
        import httpx
    except ImportError as error:
        raise MissingExtra("an embedder over HTTP", "http") from error
    return httpx.Client()  # it follows no redirect: a key goes to the host it was meant for and to no other
