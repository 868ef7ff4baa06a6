"""The ONNX embedder, with a real quantised model."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from trivium.errors import EmbedderError, InvalidInput, MissingExtra
from trivium.models.loading import load_embedder
from trivium.models.onnx import OnnxEmbedder, OnnxOptions, pool

from .minilm import minilm_folder

ONE_THREAD = OnnxOptions(threads=1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return minilm_folder(tmp_path_factory.mktemp("models") / "minilm")


@pytest.fixture(scope="module")
def minilm(folder: Path) -> OnnxEmbedder:
    return OnnxEmbedder(folder, ONE_THREAD)


def test_meaning_is_near_and_rows_have_unit_length(minilm: OnnxEmbedder) -> None:
    cat, kitten, market = minilm.embed(
        ["the cat sat on the mat", "a kitten sleeps on a rug", "stock market prices fell sharply today"], "document"
    )
    assert cat @ kitten > 0.5
    assert abs(float(cat @ market)) < 0.2
    assert np.linalg.norm(cat) == pytest.approx(1.0, abs=1e-5)


def test_texts_of_every_length_keep_their_order(minilm: OnnxEmbedder) -> None:
    words = ["cat", "kitten", "market", "stock", "mat"]
    texts = [" ".join(words[number % 5 :] * (1 + number % 4)) for number in range(70)]
    together = minilm.embed(texts, "document")
    alone = np.concatenate([minilm.embed([text], "document") for text in texts])
    assert np.allclose(together, alone, atol=2e-3)  # padding moves a quantised model by a hair


def test_no_texts_blank_texts_and_surrogates(minilm: OnnxEmbedder) -> None:
    assert minilm.embed([], "query").shape == (0, 384)
    assert minilm.embed(["", "cat \ud800"], "query").any(axis=1).tolist() == [False, True]


def test_prefixes_are_put_before_the_text(folder: Path, minilm: OnnxEmbedder) -> None:
    prefixed = OnnxEmbedder(folder, OnnxOptions(query_prefix="query: ", document_prefix="passage: ", threads=1))
    assert np.allclose(prefixed.embed(["cat"], "query"), minilm.embed(["query: cat"], "query"), atol=1e-6)
    assert np.allclose(prefixed.embed(["cat"], "document"), minilm.embed(["passage: cat"], "query"), atol=1e-6)


def test_text_beyond_max_tokens_does_not_count(folder: Path) -> None:
    short = OnnxEmbedder(folder, OnnxOptions(max_tokens=4, threads=1))
    cut, whole = short.embed(["the cat sat on the mat", "the cat"], "document")
    assert np.allclose(cut, whole, atol=2e-3)


def test_cls_pooling_is_another_model(folder: Path, minilm: OnnxEmbedder) -> None:
    first_token = OnnxEmbedder(folder, OnnxOptions(pooling="cls", threads=1))
    assert first_token.card.fingerprint != minilm.card.fingerprint
    assert not np.allclose(first_token.embed(["cat"], "query"), minilm.embed(["cat"], "query"), atol=0.05)


def test_the_card_describes_the_model_and_makes_it_again(minilm: OnnxEmbedder) -> None:
    card = minilm.card
    assert (card.model, card.dimension, card.pooling) == ("minilm", 384, "mean of 256 tokens")
    again = load_embedder(card.spec)
    assert again.card == card
    assert np.array_equal(again.embed(["cat"], "query"), minilm.embed(["cat"], "query"))


def test_another_tokenizer_is_another_revision(tmp_path: Path, minilm: OnnxEmbedder) -> None:
    other = minilm_folder(tmp_path / "other")
    tokenizer = other / "tokenizer.json"
    tokenizer.write_text(tokenizer.read_text().replace('"kitten"', '"puppy"'))
    assert OnnxEmbedder(other).card.revision != minilm.card.revision


def test_threads_agree(minilm: OnnxEmbedder) -> None:
    with ThreadPoolExecutor(4) as threads:
        rows = list(threads.map(lambda _: minilm.embed(["the cat sat"], "query")[0], range(12)))
    assert all(np.array_equal(row, rows[0]) for row in rows)


def test_pooling_counts_no_padding_and_takes_pooled_output_as_it_is() -> None:
    hidden = np.array([[[1.0, 1.0], [3.0, 5.0], [99.0, 99.0]]], np.float32)
    mask = np.array([[1, 1, 0]])
    assert pool(hidden, mask, "mean").tolist() == [[2.0, 3.0]]
    assert pool(hidden, mask, "cls").tolist() == [[1.0, 1.0]]
    assert pool(hidden[:, 0], mask, "mean").tolist() == [[1.0, 1.0]]


def test_a_folder_without_the_files_names_them(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"no model\.onnx and no tokenizer\.json"):
        OnnxEmbedder(tmp_path)


def test_a_file_that_is_no_model_is_named(tmp_path: Path) -> None:
    broken = minilm_folder(tmp_path / "broken")
    (broken / "model.onnx").unlink()
    (broken / "model.onnx").write_bytes(b"not a model")
    with pytest.raises(EmbedderError, match=r"broken/model\.onnx cannot be loaded"):
        OnnxEmbedder(broken).embed(["cat"], "query")


@pytest.mark.parametrize("options", [{"pooling": "max"}, {"max_tokens": 1}, {"threads": -1}])
def test_wrong_options_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(InvalidInput, match=r"pooling|max_tokens"):
        OnnxOptions(**options)  # type: ignore[arg-type]


def test_a_missing_dependency_names_the_extra(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(MissingExtra, match=r"trivium\[onnx\]"):
        load_embedder(f"onnx:{folder}")
