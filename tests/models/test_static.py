"""The default embedder: its promises, and what it must never do."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trivium.errors import EmbedderError
from trivium.models import static
from trivium.models.function_words import FUNCTION_WORDS
from trivium.models.static import DIMENSION, StaticEmbedder

EMBEDDER = StaticEmbedder()


def similarity(one: str, other: str) -> float:
    a, b = EMBEDDER.embed([one, other], "document")
    return float(a @ b)


def run(code: str) -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join(path for path in sys.path if path)
    environment = os.environ | {"PYTHONPATH": paths}
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False, timeout=60
    )


@settings(deadline=None)  # the first example loads the model
@given(st.lists(st.text(), max_size=5))
def test_any_text_gives_unit_or_zero_rows(texts: list[str]) -> None:
    rows = EMBEDDER.embed(texts, "document")
    assert rows.dtype == np.float32
    assert rows.shape == (len(texts), DIMENSION)
    lengths = np.linalg.norm(rows, axis=1)
    assert np.all((np.abs(lengths - 1.0) < 1e-5) | (lengths == 0.0))


@pytest.mark.parametrize("text", ["", " \n\t", "?!… — «»", "\x00\x07", "\ud800", "🙂🚀", "___"])
def test_text_without_words_gives_the_zero_row(text: str) -> None:
    assert not EMBEDDER.embed([text], "query").any()


@pytest.mark.parametrize("text", ["de la que", "das", "中文", "हिन्दी", "привет", "x", "a\ud800b"])
def test_text_with_words_gives_a_vector(text: str) -> None:
    assert EMBEDDER.embed([text], "query").any()


def test_meaning_is_near() -> None:
    assert similarity("a film about space travel", "a movie on astronauts") > similarity(
        "a film about space travel", "the deploy failed because the disk was full"
    )


def test_function_words_of_other_languages_do_not_make_texts_alike() -> None:
    same_topic = similarity("o preço da gasolina no Brasil", "quanto custa a gasolina")
    same_small_words = similarity("o preço da gasolina no Brasil", "o nome da mãe de um rei que não foi para a guerra")
    assert same_topic > same_small_words + 0.2


def test_function_words_weigh_less_and_english_ones_are_left_to_the_model() -> None:
    assert similarity("gasolina", "de que para gasolina") > 0.95
    assert not FUNCTION_WORDS & {"war", "die", "son", "man", "the", "i", "ada"}


def test_punctuation_and_composition_change_nothing() -> None:
    plain, marked, decomposed = EMBEDDER.embed(
        ["café near Lisbon", "(café), near_Lisbon!", "cafe\u0301 near Lisbon"], "query"
    )
    assert np.array_equal(plain, marked)
    assert np.array_equal(plain, decomposed)


def test_a_text_has_the_same_vector_alone_and_in_a_batch() -> None:
    texts = [f"note number {number} about {'tea ' * (number % 7)}" for number in range(200)]
    together = EMBEDDER.embed(texts, "document")
    assert all(np.array_equal(together[n], EMBEDDER.embed([text], "query")[0]) for n, text in enumerate(texts))


def test_pooling_equals_the_plain_formula() -> None:
    model = static._model()
    ids, weights = model.tokens("Ada moved para Lisboa")
    plain = sum(weight * model.table[token].astype(np.float64) for token, weight in zip(ids, weights, strict=True))
    assert min(weights) == static.FUNCTION_WORD_WEIGHT
    expected = np.asarray(plain) / np.linalg.norm(np.asarray(plain))
    assert np.allclose(EMBEDDER.embed(["Ada moved para Lisboa"], "query")[0], expected, atol=1e-6)


def test_threads_agree_while_the_word_memory_overflows(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"word{number} and other{number} words" for number in range(400)]
    expected = EMBEDDER.embed(texts, "document")
    monkeypatch.setattr(static, "KNOWN_WORDS", 50)
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: EMBEDDER.embed(texts, "document"), range(8)))
    assert all(np.array_equal(answer, expected) for answer in answers)


def test_a_huge_word_is_embedded_and_not_remembered() -> None:
    EMBEDDER.embed(["z" * 100_000], "document")
    assert all(len(word) <= static.KNOWN_WORD_LENGTH for word in static._model()._known)


def test_what_stands_beyond_the_limit_does_not_count() -> None:
    filled = "tea " * (static.MAX_CHARACTERS // 4)
    cut, whole = EMBEDDER.embed([filled + "coffee " * 1_000_000, filled], "query")
    assert np.array_equal(cut, whole)


def test_opens_no_socket_and_does_not_import_the_package() -> None:
    code = (
        "import sys\n"
        "def refuse(event, args):\n"
        "    if event.startswith('socket.'): raise RuntimeError(event)\n"
        "sys.addaudithook(refuse)\n"
        "from trivium.models.loading import load_embedder\n"
        "print(load_embedder().embed(['hello world'], 'query').any())\n"
        "print(any(name in sys.modules for name in ('wordllama', 'huggingface_hub', 'httpx', 'onnxruntime')))\n"
    )
    done = run(code)
    assert done.stdout.split() == ["True", "False"], done.stderr


def test_works_after_a_fork_without_a_warning() -> None:
    code = (
        "import os\n"
        "from trivium.models.static import StaticEmbedder\n"
        "embedder = StaticEmbedder()\n"
        "embedder.embed(['one text'] * 100, 'document')\n"
        "child = os.fork()\n"
        "ok = embedder.embed(['quite another text'] * 100, 'document').all()\n"
        "if not child: os._exit(0 if ok else 1)\n"
        "print(os.waitpid(child, 0)[1])\n"
    )
    done = run(code)
    assert (done.stdout.strip(), done.stderr) == ("0", "")


def test_a_missing_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(static, "PACKAGE", "no_such_package")
    with pytest.raises(EmbedderError, match="pip install"):
        static._package_folder()


def test_card_changes_with_the_weight_of_function_words(monkeypatch: pytest.MonkeyPatch) -> None:
    before = EMBEDDER.card
    static._card.cache_clear()
    monkeypatch.setattr(static, "FUNCTION_WORD_WEIGHT", 0.2)
    after = EMBEDDER.card
    static._card.cache_clear()
    assert (before.dimension, before.spec) == (256, "static")
    assert before.fingerprint != after.fingerprint
