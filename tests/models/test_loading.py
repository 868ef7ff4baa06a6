"""Specs: every kind is known, wrong ones say what is, and a card's spec comes back to the same card."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trivium.errors import InvalidInput, MissingExtra
from trivium.models.loading import load_embedder
from trivium.models.spec import escape, filled, join_spec, split_spec, unescape


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    model: str
    prefix: str = ""
    threads: int = 0
    wait_s: float = 1.5
    typed: bool = False
    dimension: int | None = None


def test_static_is_the_default_and_comes_back() -> None:
    assert load_embedder().card == load_embedder("static").card == load_embedder(load_embedder().card.spec).card


@pytest.mark.parametrize(
    ("spec", "canonical", "pooling"),
    [
        ("openai:te-3?dimension=512", "https://api.openai.com/v1#te-3", "remote"),
        ("voyage:voyage-3.5?dimension=512", "https://api.voyageai.com/v1#voyage-3.5", "remote, with input_type"),
        ("ollama:nomic-embed-text?dimension=512", "http://localhost:11434/v1#nomic-embed-text", "remote"),
        ("http://127.0.0.1:8080/v1#org/model?dimension=512", "http://127.0.0.1:8080/v1#org/model", "remote"),
        ("https://host/v1#a%3Fb?dimension=512", "https://host/v1#a%3Fb", "remote"),
    ],
)
def test_http_specs_name_the_place_and_come_back(spec: str, canonical: str, pooling: str) -> None:
    card = load_embedder(spec).card
    assert card.spec.split("?")[0] == canonical
    assert (card.dimension, card.pooling) == (512, pooling)
    assert load_embedder(card.spec).card == card


def test_named_providers_ask_for_the_dimension_in_their_own_field() -> None:
    assert "dimension_field=dimensions" in load_embedder("openai:m?dimension=8").card.spec
    assert "dimension_field=output_dimension" in load_embedder("voyage:m?dimension=8").card.spec
    assert "dimension_field" not in load_embedder("ollama:m?dimension=8").card.spec


@pytest.mark.parametrize(
    "spec", ["", "staticc", "static:x", "static?threads=2", "onnx:", "openai:", "word2vec:x", "http"]
)
def test_an_unknown_spec_says_what_is_known(spec: str) -> None:
    with pytest.raises(InvalidInput, match=r"^embedder: .* known are static, onnx:FOLDER"):
        load_embedder(spec)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("ollama:m?colour=red", "'colour' is unknown; known here: key_env, dimension"),
        ("ollama:m?dimension=many", "dimension must be a number"),
        ("ollama:m?timeout_s=long", "timeout_s must be a number"),
        ("ollama:m?input_type=yes", "input_type must be true or false"),
        ("ollama:m?model=other", "'model' is unknown"),
        ("ollama:m?dimension", "name=value"),
        ("http://host/v1", "^model: "),
        ("onnx:/no/such/folder", r"no model\.onnx"),
    ],
)
def test_a_wrong_option_is_named(spec: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        load_embedder(spec)


@pytest.mark.parametrize(
    ("spec", "module", "extra"),
    [
        ("ollama:m", "httpx", "http"),
        ("onnx:/folder", "onnxruntime", "onnx"),
        ("sentence-transformers:m", "sentence_transformers", "sentence-transformers"),
    ],
)
def test_a_missing_dependency_names_its_extra(
    spec: str, module: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra, match=rf"pip install \"trivium\[{extra}\]\""):
        load_embedder(spec)


@settings(deadline=None)
@given(
    st.builds(
        Options,
        model=st.just("m"),
        prefix=st.text(st.characters(codec="utf-8")),
        threads=st.integers(),
        wait_s=st.floats(allow_nan=False),
        typed=st.booleans(),
        dimension=st.none() | st.integers(),
    ),
    st.text(st.characters(codec="utf-8")),
)
def test_what_is_joined_comes_apart_again(options: Options, name: str) -> None:
    head, told = split_spec(join_spec(f"kind:{escape(name)}", options))
    assert unescape(head) == f"kind:{name}"
    assert filled(Options(model="m"), told) == options
