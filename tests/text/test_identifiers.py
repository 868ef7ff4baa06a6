"""Identifiers, codes, versions, paths and addresses: whole and in parts, in documents and in queries."""

from __future__ import annotations

import pytest

from trivium.text import index_terms, query_terms, typo_distance

WHOLE_AND_PARTS = [
    ("find_similar_executions", ["find_similar_executions", "find", "similar", "execut"]),
    ("HTTPServer2", ["httpserver2", "http", "server", "2"]),
    ("getUserName", ["getusernam", "get", "user", "name"]),
    ("E1234", ["e1234", "1234"]),
    ("ERR_CONN_RESET", ["err_conn_reset", "err", "conn", "reset"]),
    ("v1.2.3", ["v1.2.3", "1.2.3", "v1", "1", "2", "3"]),
    ("src/app/main.py", ["src/app/main.py", "src", "app", "main.py", "main", "py"]),
    ("/etc/nginx/nginx.conf", ["etc/nginx/nginx.conf", "etc", "nginx", "nginx.conf", "nginx", "conf"]),
    (r"C:\Users\ada", [r"c:\users\ada", "c", "user", "ada"]),
    ("ada@example.com", ["ada@example.com", "ada", "example.com", "exampl", "com"]),
    ("CVE-2024-1234", ["cve-2024-1234", "cve", "2024", "1234"]),
    ("std::vector", ["std::vector", "std", "vector"]),
    ("3f2a9bc0", ["3f2a9bc0"]),
    ("C++", ["c++", "c"]),
    ("utf-8", ["utf-8", "utf", "8"]),
    ("192.168.0.1", ["192.168.0.1", "192", "168", "0", "1"]),
]


@pytest.mark.parametrize(("text", "terms"), WHOLE_AND_PARTS, ids=lambda value: value if isinstance(value, str) else "")
def test_an_identifier_is_kept_whole_and_in_parts(text: str, terms: list[str]) -> None:
    assert index_terms(f"see {text}, then", "en") == ["see", *terms, "then"]
    assert query_terms(text, ["en"])[0].identifier


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("e-mails", ["email", "e", "mail"]),
        ("U.S.A.", ["usa"]),
        ("1,000", ["1000", "1", "000"]),
        ("2024-05-01", ["2024-05-01", "2024", "05", "01"]),
        ("10:30", ["10:30", "10", "30"]),
        ("3.14", ["3.14", "3", "14"]),
        ("URLs", ["url"]),
        ("YouTube", ["youtub", "you", "tube"]),
        ("20-year-old", ["20-year-old", "20", "year", "old"]),
        ("_emphasis_", ["emphasi"]),
        ("and/or", ["and/or", "and", "or"]),
        ("1990s", ["1990s", "1990"]),
    ],
)
def test_words_and_numbers_are_no_identifiers(text: str, terms: list[str]) -> None:
    assert index_terms(text, "en") == terms
    assert not any(token.identifier for token in query_terms(text, ["en"]))


def test_a_uuid_is_whole_and_its_groups_are_not_shredded() -> None:
    uuid = "550e8400-e29b-41d4-a716-446655440000"
    assert index_terms(uuid.upper(), "en")[0] == uuid
    assert {"550e8400", "e29b", "41d4"} <= set(index_terms(uuid, "en"))
    assert not {"e", "29", "b", "41", "d", "4"} & set(index_terms(uuid, "en"))


@pytest.mark.parametrize(
    ("document", "query"),
    [
        ("the file src/app/main.py fails", "main.py"),
        ("https://example.com/docs/page.html", "example.com"),
        ("calls findSimilarExecutions twice", "find similar execution"),
        ("running v1.2.3 here", "1.2.3"),
        ("GPT-4 answers", "gpt4"),
        ("send an e-mail", "email"),
        ("wi-fi is down", "wifi"),
        ("on GitHub", "github"),
    ],
)
def test_another_way_of_writing_it_is_found(document: str, query: str) -> None:
    assert {token.term for token in query_terms(query, ["en"])} & set(index_terms(document, "en"))


def test_a_very_long_token_is_one_bounded_term_on_both_sides() -> None:
    blob = "QUJD" * 300
    terms = index_terms(blob, "en")
    assert [len(term) <= 64 for term in terms] == [True]
    assert [token.term for token in query_terms(blob.lower(), ["en"])] == terms
    assert index_terms(blob + "x", "en") != terms


@pytest.mark.parametrize(
    ("term", "distance"),
    [
        ("cat", 0),
        ("e1234", 0),
        ("main.py", 0),
        ("東京タワー", 0),
        ("😀😀😀😀", 0),
        ("matriz", 1),
        ("lisbons", 1),
        ("interstel", 2),
    ],
)
def test_typo_distance_grows_with_the_word(term: str, distance: int) -> None:
    assert typo_distance(term) == distance
