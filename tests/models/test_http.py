"""The embedder over HTTP, against a real server."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from datetime import UTC, datetime

import numpy as np
import pytest

from trivium.errors import EmbedderError, InvalidInput
from trivium.models.http import Endpoint, HttpEmbedder
from trivium.models.loading import load_embedder
from trivium.models.retry import Waiting, pause_s, retry_after_s

from .hashing import HashEmbedder
from .server import Answer, Request, Server, serving, vectors

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
KEY = "sk-secret-123"


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as running:
        yield running


@pytest.fixture
def slept() -> list[float]:
    return []


def embedder(server: Server, slept: list[float] | None = None, **options: object) -> HttpEmbedder:
    endpoint = Endpoint(base_url=server.url, model="m", **options)  # type: ignore[arg-type]
    return HttpEmbedder(endpoint, Waiting((slept if slept is not None else []).append, lambda: 0.0, lambda: NOW))


def test_rows_come_back_in_order_of_unit_length(server: Server) -> None:
    texts = ["green tea", "black coffee", "red wine"]
    rows = embedder(server).embed(texts, "document")
    assert np.allclose(rows, HashEmbedder(8).embed(texts, "document"), atol=1e-6)
    assert server.paths == ["/v1/embeddings"]
    assert server.requests == [{"model": "m", "input": texts}]


def test_batches_keep_to_items_and_characters(server: Server) -> None:
    texts = ["aaaa", "bb", "cc", "dd", "e" * 20, "f"]
    rows = embedder(server, max_items=3, max_characters=7).embed(texts, "document")
    assert [request["input"] for request in server.requests] == [["aaaa", "bb"], ["cc", "dd"], ["e" * 20], ["f"]]
    assert np.allclose(rows, HashEmbedder(8).embed(texts, "document"), atol=1e-6)


def test_blank_texts_are_not_sent_and_get_the_zero_row(server: Server) -> None:
    rows = embedder(server).embed(["", "tea", " \n"], "document")
    assert server.requests[0]["input"] == ["tea"]
    assert rows.any(axis=1).tolist() == [False, True, False]


def test_lone_surrogates_are_sent_as_something_json_can_hold(server: Server) -> None:
    assert embedder(server).embed(["tea \ud800"], "query").any()
    assert server.requests[0]["input"] == ["tea ?"]


def test_prefixes_and_input_type_follow_the_role(server: Server) -> None:
    asked = embedder(server, query_prefix="query: ", document_prefix="passage: ", input_type=True)
    asked.embed(["tea"], "query")
    asked.embed(["tea"], "document")
    sent = [(request["input"], request["input_type"]) for request in server.requests]
    assert sent == [(["query: tea"], "query"), (["passage: tea"], "document")]


def test_a_shorter_vector_is_asked_for_in_the_field_told(server: Server) -> None:
    embedder(server, dimension=8, dimension_field="dimensions").embed(["tea"], "query")
    assert server.requests[0]["dimensions"] == 8


def test_busy_servers_are_asked_again_after_longer_pauses(server: Server, slept: list[float]) -> None:
    server.answers = [Answer(503), Answer(500), Answer(429)]
    assert embedder(server, slept).embed(["tea"], "document").any()
    assert slept == [0.25, 0.5, 1.0]


def test_retry_after_is_honoured_up_to_a_limit(server: Server, slept: list[float]) -> None:
    date = "Thu, 01 Jan 2026 12:00:09 GMT"
    server.answers = [Answer(429, headers=(("Retry-After", value),)) for value in ("7", date, "3600")]
    assert embedder(server, slept).embed(["tea"], "document").any()
    assert slept == [7.0, 9.0, 30.0]


def test_a_query_is_retried_once_only(server: Server, slept: list[float]) -> None:
    server.answers = [Answer(503, "overloaded")] * 5
    with pytest.raises(EmbedderError, match="answered 503: overloaded"):
        embedder(server, slept).embed(["tea"], "query")
    assert (len(server.requests), len(slept)) == (2, 1)


def test_a_server_that_is_not_there_is_tried_again_and_named(slept: list[float]) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    asked = HttpEmbedder(
        Endpoint(base_url=f"http://127.0.0.1:{port}/v1", model="m", retries=2), Waiting(slept.append, lambda: 0.0)
    )
    with pytest.raises(EmbedderError, match=f"127.0.0.1:{port}.*cannot be reached.*is the server running"):
        asked.embed(["tea"], "document")
    assert len(slept) == 2


def test_a_server_that_hangs_is_given_up(slept: list[float]) -> None:
    release = threading.Event()

    def hang(request: Request) -> Answer:
        release.wait(10)
        return vectors(request)

    with serving(hang) as server:
        with pytest.raises(EmbedderError, match="ReadTimeout"):
            embedder(server, slept, query_timeout_s=0.05).embed(["tea"], "query")
        release.set()
    assert len(slept) == 1


def test_a_refused_key_says_so_and_is_not_shown(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEA_KEY", KEY)
    server.answers = [Answer(401, f"bad key {KEY}")]
    asked = embedder(server, key_env="TEA_KEY")
    with pytest.raises(EmbedderError, match=r"401.*key_env") as caught:
        asked.embed(["tea"], "document")
    assert server.keys == [f"Bearer {KEY}"]
    assert KEY not in str(caught.value)
    assert KEY not in repr(asked.card) + repr(vars(asked))


def test_a_key_that_is_not_set_is_asked_for_by_its_name(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TEA_KEY", raising=False)
    with pytest.raises(EmbedderError, match="TEA_KEY is not set"):
        embedder(server, key_env="TEA_KEY").embed(["tea"], "query")
    assert server.requests == []


def entries(*rows: object) -> str:
    return json.dumps({"data": [{"index": number, "embedding": row} for number, row in enumerate(rows)]})


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (entries([1.0, 2.0]), "1 vectors to 2 texts"),
        ('{"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [1]}]}', "1 vectors to 2 texts"),
        (entries([1.0, 2.0], [1.0, float("nan")]), "NaN"),
        (entries([1.0, 2.0], [1.0, None]), "NaN"),
        (entries([1.0, 2.0], [1.0]), "not a list of embeddings"),
        (entries([], []), "not a list of embeddings"),
        (entries(["a"], ["b"]), "not a list of embeddings"),
        (entries([1.0, 2.0], [3.0, 4.0]), "2 dimensions where 8 were expected"),
        ('{"error": "no"}', "not a list of embeddings"),
        ("[]", "not a list of embeddings"),
        ("<html>", "did not answer in JSON"),
    ],
)
def test_a_wrong_answer_is_an_error_that_says_what(server: Server, body: str, message: str) -> None:
    server.answers = [Answer(body=body)]
    with pytest.raises(EmbedderError, match=message):
        embedder(server, dimension=8).embed(["tea", "coffee"], "document")
    assert len(server.requests) == 1


def test_an_answer_of_another_length_than_the_first_is_refused(server: Server) -> None:
    asked = embedder(server)
    asked.embed(["tea"], "query")
    server.answers = [Answer(body=entries([1.0, 2.0]))]
    with pytest.raises(EmbedderError, match="2 dimensions where 8"):
        asked.embed(["tea"], "query")


def test_the_dimension_is_found_out_once_or_told(server: Server) -> None:
    asked = embedder(server)
    assert (asked.card.dimension, asked.card.dimension, len(server.requests)) == (8, 8, 1)
    assert embedder(server, dimension=8).card == asked.card
    assert len(server.requests) == 1


def test_no_texts_need_no_call_where_the_dimension_is_told(server: Server) -> None:
    assert embedder(server, dimension=8).embed([], "document").shape == (0, 8)
    assert server.requests == []


def test_the_card_makes_the_embedder_again(server: Server) -> None:
    asked = embedder(server, query_prefix="query: ", input_type=True, max_items=7, key_env="TEA_KEY", dimension=8)
    again = load_embedder(asked.card.spec)
    assert again.card == asked.card
    assert again.remote


def test_fingerprint_names_the_model_and_not_the_place(server: Server) -> None:
    here, plain = embedder(server, dimension=8), HttpEmbedder(Endpoint(base_url="http://b/v1", model="m", dimension=8))
    other = HttpEmbedder(Endpoint(base_url="http://b/v1", model="m", dimension=8, query_prefix="query: "))
    assert here.card.fingerprint == plain.card.fingerprint != other.card.fingerprint


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"base_url": "ftp://host/v1"}, "base_url"),
        ({"base_url": "http:///v1"}, "base_url"),
        ({"base_url": "http://host:port/v1"}, "base_url"),
        ({"base_url": f"http://user:{KEY}@host/v1"}, "base_url"),
        ({"model": ""}, "model"),
        ({"dimension_field": "dimensions"}, "dimension"),
        ({"max_items": 0}, "max_items"),
        ({"retries": -1}, "max_items"),
    ],
)
def test_a_wrong_endpoint_names_the_field_and_no_secret(options: dict[str, object], field: str) -> None:
    with pytest.raises(InvalidInput, match=f"^{field}") as caught:
        Endpoint(**({"base_url": "http://host/v1", "model": "m"} | options))  # type: ignore[arg-type]
    assert KEY not in str(caught.value)


def test_pauses_double_and_spread() -> None:
    assert [pause_s(attempt, 0.0) for attempt in range(3)] == [0.25, 0.5, 1.0]
    assert [pause_s(attempt, 1.0) for attempt in range(3)] == [0.5, 1.0, 2.0]


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("", None),
        ("soon", None),
        ("3", 3.0),
        ("Thu, 01 Jan 2026 11:00:00 GMT", 0.0),
        ("Thu, 01 Jan 2026 12:00:00", None),
    ],
)
def test_retry_after_is_read_or_ignored(header: str, seconds: float | None) -> None:
    assert retry_after_s(header, NOW) == seconds
