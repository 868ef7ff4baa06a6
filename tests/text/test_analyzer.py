"""The analyzer in many languages, and what holds for any text at all."""

from __future__ import annotations

import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trivium.errors import InvalidInput
from trivium.text import LANGUAGES, QueryToken, detect_language, index_terms, query_terms, resolve_language
from trivium.text.languages import listed_languages, stop_words
from trivium.text.tokenise import chunks, pieces

# All code points, lone surrogates too, with those that join, mark and normalise given more than their share.
ANY_TEXT = st.text(
    st.one_of(
        st.characters(exclude_categories=()),
        st.sampled_from("aZé9_-.'@/\\:+#,’\u200d\ufe0f\u0300\u0316\u00ad\ud800\x00漢かกह😀🏽🇧İßſ\ufdfa"),
    )
)
CODES = sorted(LANGUAGES)


@pytest.mark.parametrize(
    ("language", "document", "query"),
    [
        ("en", "The runners were running through Lisbon's streets", "run street lisbon"),
        ("de", "Die Häuser an der Straße gehören den Städten", "haus STRASSE stadt"),
        ("es", "Las canciones y la tecnología de los niños", "canción tecnologia niño"),
        ("fr", "L'eau de l'école n'est pas à l'élève", "eau ecole élèves"),
        ("it", "Nell'acqua dell'università ci sono le città", "acqua universita citta"),
        ("ru", "Книги о ёлках лежали на столах", "книга елка стол"),
        ("zh", "我们在北京的图书馆讨论", "北京 图书馆"),
        ("ja", "東京タワーでラーメンを食べた", "東京 ラーメン"),
        ("ko", "서울에서 회의를 했습니다", "서울 회의"),
        ("th", "ภาษาไทยเป็นภาษา", "ภาษา"),
        ("hi", "हिन्दी भाषा की किताबें", "हिन्दी भाषा"),
        ("en", "Great work 👍🏽 from the team ❤️", "👍 ❤"),
        ("en", "made by 👩🏽‍💻 in 🇧🇷", "👩‍💻 🇧🇷"),
    ],
)
def test_every_word_of_the_query_is_in_the_document(language: str, document: str, query: str) -> None:
    terms = set(index_terms(document, language))
    asked = query_terms(query, [language])
    assert len(asked) >= len(query.split())
    assert [token.term for token in asked if token.term not in terms] == []


def test_one_han_character_is_found_inside_a_longer_run() -> None:
    assert [token.term for token in query_terms("猫", ["ja"])] == ["猫"]
    assert "猫" in index_terms("黒猫が好き", "ja")
    assert [token.term for token in query_terms("黒猫が", ["ja"])] == ["黒猫", "猫が"]


def test_scripts_mixed_in_one_chunk_are_taken_apart() -> None:
    assert index_terms("Python是 v1.2を", "zh") == ["python", "是", "v1.2", "1.2", "v1", "1", "2", "を"]


def test_compatibility_forms_case_and_apostrophes_are_folded() -> None:
    assert index_terms("ﬁne Ｆｉｎｅ fi\u00adne FINE", "none") == ["fine"] * 4
    assert index_terms("O’Brien O'Brien", "none") == ["obrien"] * 2
    assert index_terms("cafe\u0301 café Café", "none") == ["cafe"] * 3


def test_control_characters_and_surrogates_separate() -> None:
    assert index_terms("one\x00two\ud800three\u200bfour", "none") == ["one", "two", "three", "four"]


def test_terms_are_in_order_with_every_occurrence() -> None:
    assert index_terms("to be, or not to be", "en") == ["to", "be", "or", "not", "to", "be"]


def test_a_query_is_the_union_over_languages_each_term_once() -> None:
    tokens = query_terms("ficção film film", ["en", "pt", "en"])
    assert tokens == [
        QueryToken("ficcao", word="ficção"),
        QueryToken("ficca", word="ficção"),
        QueryToken("film", count=2, word="film"),
    ]


def test_stop_words_leave_the_query_unless_nothing_else_is_there() -> None:
    assert [token.term for token in query_terms("why did the deploy fail", ["en"])] == ["deploy", "fail"]
    assert [token.term for token in query_terms("don't you know where it is?", ["en"])] == ["know"]
    assert [token.term for token in query_terms("der deploy", ["en", "de"])] == ["deploy"]
    assert [(token.term, token.count) for token in query_terms("to be or not to be", ["en"])] == [
        ("to", 2),
        ("be", 2),
        ("or", 1),
        ("not", 1),
    ]
    assert [token.term for token in query_terms("Qu'est-ce que l'eau ?", ["fr"])] == ["eau"]
    assert query_terms("?!", ["en"]) == []


@pytest.mark.parametrize("code", CODES)
def test_every_language_analyses_text(code: str) -> None:
    text = "Ada 2024 naïve हिन्दी العربية 東京 мир σοφός"
    terms = index_terms(text, code)
    assert len(terms) >= 8
    assert {token.term for token in query_terms(text, [code])} <= set(terms)


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("en", "en"),
        ("pt-BR", "pt"),
        ("pt_BR", "pt"),
        ("Portuguese", "pt"),
        ("nb", "no"),
        ("simple", "none"),
        ("zh-Hant", "zh"),
        ("dutch_porter", "dutch_porter"),
    ],
)
def test_a_language_has_several_names(name: str, code: str) -> None:
    assert resolve_language(name) == code


def test_every_snowball_algorithm_has_a_name() -> None:
    import Stemmer

    assert set(Stemmer.algorithms()) <= {LANGUAGES[resolve_language(name)] for name in Stemmer.algorithms()}


def test_an_unknown_language_is_refused_with_the_nearest() -> None:
    with pytest.raises(InvalidInput, match=r"^language: 'portugese' .*Did you mean 'portuguese'\? Known: .*\ben\b"):
        index_terms("text", "portugese")


def test_stop_word_lists_belong_to_known_languages() -> None:
    assert set(listed_languages()) <= set(LANGUAGES)
    assert {"en", "pt", "es", "fr", "de", "it", "nl", "sv", "no", "da", "fi", "ru"} <= set(listed_languages())
    assert all(len(stop_words(code)) > 50 for code in listed_languages())
    assert stop_words("zh") == frozenset()


@pytest.mark.parametrize("code", listed_languages())
def test_a_stop_word_is_one_the_tokeniser_can_make(code: str) -> None:
    """A word in a list that no text can produce would be dead weight."""
    made = {word: {piece.text for chunk in chunks(word) for piece in pieces(chunk)} for word in stop_words(code)}
    assert [word for word, texts in made.items() if word not in texts] == []


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("why did the deploy fail on the server", "en"),
        ("quais são os filmes de ficção científica que você viu", "pt"),
        ("El perro no está en la casa de mi hermano", "es"),
        ("Der Hund ist nicht in dem Haus", "de"),
        ("Le chat est sur la table et il dort", "fr"),
        ("hej jag heter Ada och jag bor i Sverige med min hund", "sv"),
        ("我们在北京", "zh"),
        ("今日は東京に行きました", "ja"),
        ("안녕하세요 세계", "ko"),
        ("Это хороший день", "ru"),
        ("Καλημέρα κόσμε", "el"),
        ("مرحبا بالعالم", "ar"),
    ],
)
def test_a_language_shows(text: str, code: str) -> None:
    assert detect_language(text, None, "en") == code


@pytest.mark.parametrize("text", ["", "Lisboa", "a b c d e", "de Vries, de Jong", "E1234 v1.2.3", "\ud800"])
def test_a_short_text_stays_with_the_fallback(text: str) -> None:
    assert detect_language(text, None, "en") == "en"


def test_only_candidates_are_answered() -> None:
    assert detect_language("Der Hund ist nicht in dem Haus", ["en", "pt"], "en") == "en"
    assert detect_language("Это хороший день", ["en"], "en") == "en"
    assert detect_language("Ово је добар дан", None, "sr") == "sr"


@given(ANY_TEXT, st.sampled_from(CODES), st.sampled_from(CODES))
@settings(max_examples=400, deadline=None)
def test_no_text_raises_and_terms_are_clean(text: str, one: str, other: str) -> None:
    terms = index_terms(text, one)
    tokens = query_terms(text, [one, other])
    for term in [*terms, *(token.term for token in tokens)]:
        assert 0 < len(term) <= 64
        assert not any(letter.isspace() for letter in term)
        term.encode("utf-8")
    assert detect_language(text, None, one) in LANGUAGES


@given(ANY_TEXT, st.sampled_from(CODES))
@settings(max_examples=400, deadline=None)
def test_a_text_queried_with_itself_shares_every_term(text: str, code: str) -> None:
    terms = index_terms(text, code)
    tokens = query_terms(text, [code])
    assert bool(tokens) == bool(terms)
    assert all(terms.count(token.term) >= token.count for token in tokens)


@given(st.lists(st.from_regex(r"[A-Za-zçãéõü0-9_.@/'-]{1,20}", fullmatch=True), max_size=8), st.sampled_from(CODES))
@settings(max_examples=100, deadline=None)
def test_each_word_queried_alone_finds_the_text(words: list[str], code: str) -> None:
    terms = set(index_terms(" ".join(words), code))
    for word in words:
        assert {token.term for token in query_terms(word, [code])} <= terms


PATHOLOGICAL = [
    "a", "a.", "a'", "_", "-", "1,000", "漢", "👩\u200d", "\ud800", "\ufdfa", "aA1", "a://", "\u0300\u0316", "\x00",
]  # fmt: skip


@pytest.mark.parametrize("unit", PATHOLOGICAL, ids=ascii)
def test_long_hostile_text_gives_bounded_terms(unit: str) -> None:
    """A quadratic step would not come back from these 200,000 characters."""
    text = unit * (200_000 // len(unit))
    terms = index_terms(text, "en")
    assert len(terms) <= 20 * len(text)
    assert all(len(term) <= 64 for term in set(terms))


def test_threads_get_the_same_terms() -> None:
    rng = random.Random(7)
    texts = [" ".join("".join(rng.choices("abcdefgilmnoprstu", k=9)) + "ing" for _ in range(200)) for _ in range(16)]
    with ThreadPoolExecutor(8) as threads:
        together = list(threads.map(lambda text: index_terms(text, "en"), texts))
    assert together == [index_terms(text, "en") for text in texts]


def test_importing_is_light() -> None:
    code = "import sys, trivium.text; print({'numpy', 'Stemmer'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
