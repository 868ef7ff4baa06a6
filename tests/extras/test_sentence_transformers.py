"""The sentence-transformers embedder, with a tiny random BERT made here. Needs torch: run by its own target."""

from __future__ import annotations

import socket
from pathlib import Path

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer
from transformers import BertConfig, BertModel, BertTokenizerFast

from trivium.errors import EmbedderError
from trivium.models.loading import load_embedder
from trivium.models.sentence_transformers import SentenceTransformersEmbedder, SentenceTransformersOptions

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "tea", "coffee", "the", "is", "green", "query", ":"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("tiny")
    torch.manual_seed(7)
    (base / "vocab.txt").write_text("\n".join(WORDS))
    config = BertConfig(
        vocab_size=len(WORDS), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32
    )
    BertModel(config).save_pretrained(base / "bert")
    BertTokenizerFast(str(base / "vocab.txt")).save_pretrained(base / "bert")
    whole = SentenceTransformer(str(base / "bert"), prompts={"query": "query: "}, device="cpu")
    whole.max_seq_length = 32
    whole.save(str(base / "model"))
    return base / "model"


def test_rows_have_unit_length_and_blank_texts_none(folder: Path) -> None:
    rows = SentenceTransformersEmbedder(str(folder)).embed(["green tea", "", "the coffee \ud800"], "document")
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), [1.0, 0.0, 1.0], atol=1e-5)


def test_the_models_own_prompt_is_used_and_described(folder: Path) -> None:
    own = SentenceTransformersEmbedder(str(folder))
    told = SentenceTransformersEmbedder(str(folder), SentenceTransformersOptions(query_prefix="the "))
    assert (own.card.query_prefix, own.card.document_prefix) == ("query: ", "")
    assert np.allclose(own.embed(["tea"], "query"), own.embed(["query: tea"], "document"), atol=1e-6)
    assert np.allclose(told.embed(["tea"], "query"), own.embed(["the tea"], "document"), atol=1e-6)
    assert told.card.fingerprint != own.card.fingerprint


def test_the_card_makes_the_model_again(folder: Path) -> None:
    embedder = SentenceTransformersEmbedder(str(folder))
    assert (embedder.card.model, embedder.card.dimension) == ("model", 16)
    assert len(embedder.card.revision) == 16
    again = load_embedder(embedder.card.spec)
    assert again.card == embedder.card
    assert np.array_equal(again.embed(["tea"], "query"), embedder.embed(["tea"], "query"))


def test_no_texts_are_no_rows(folder: Path) -> None:
    assert SentenceTransformersEmbedder(str(folder)).embed([], "query").shape == (0, 16)


def test_a_model_that_is_not_here_is_not_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    hosts: list[object] = []
    monkeypatch.setattr(socket, "getaddrinfo", lambda host, *_, **__: hosts.append(host))
    with pytest.raises(EmbedderError, match=r"'no/such-model' is not on this machine; download it"):
        SentenceTransformersEmbedder("no/such-model").embed(["tea"], "query")
    assert hosts == []
