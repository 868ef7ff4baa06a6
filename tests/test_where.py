"""The language of `--where`."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.generated import filters, memories

from trivium.errors import InvalidFilter
from trivium.filter import And, Between, Contains, Eq, Filter, In, Not, Or
from trivium.record import Json, Memory
from trivium.where import MAX_LENGTH, parse_where, to_text

NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)
JANUARY = datetime(2026, 1, 1, tzinfo=UTC)
PLAIN = Memory(id="1", space="default", content="", created_at=NOW, updated_at=NOW)


def parse(text: str) -> Filter:
    return parse_where(text, now=NOW)


def strictly(field: str, *, low: Json | datetime = None, high: Json | datetime = None) -> Filter:
    end = high if low is None else low
    return And((Between(field, low, high), Not(Eq(field, end))))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("kind = movie", Eq("kind", "movie")),
        ("kind==movie", Eq("kind", "movie")),
        ("kind != movie", Not(Eq("kind", "movie"))),
        ("kind <> movie", Not(Eq("kind", "movie"))),
        (
            "metadata.year = 2014 and kind in (movie, note)",
            And((Eq("metadata.year", 2014), In("kind", ("movie", "note")))),
        ),
        (
            "kind = movie OR Not tags CONTAINS sci-fi",
            Or((Eq("kind", "movie"), Not(Contains("tags", "sci-fi")))),
        ),
        ("uses<3", strictly("uses", high=3)),
        ("uses <= 3", Between("uses", None, 3)),
        ("uses > -3.5e1", strictly("uses", low=-35.0)),
        ("uses >= 3", Between("uses", 3, None)),
        ("uses between 1 and 5 and id = x", And((Between("uses", 1, 5), Eq("id", "x")))),
        ("uses not between 1 and 5", Not(Between("uses", 1, 5))),
        ("kind not in (a, 'b c')", Not(In("kind", ("a", "b c")))),
        ("kind in ()", In("kind", ())),
        ("kind not contains a", Not(Contains("kind", "a"))),
        ("id = a or id = b and id = c", Or((Eq("id", "a"), And((Eq("id", "b"), Eq("id", "c")))))),
        ("(id = a or id = b) and not id = c", And((Or((Eq("id", "a"), Eq("id", "b"))), Not(Eq("id", "c"))))),
        ("not not not id = c", Not(Eq("id", "c"))),
        ("((id = c))", Eq("id", "c")),
        ("true", And(())),
        ("not false", Not(Or(()))),
        # The field's type decides.
        ("tags = 2014", Eq("tags", "2014")),
        ("tag = true", Eq("tags", "true")),
        ("keyword = x", Eq("keywords", "x")),
        ("title = and", Eq("title", "and")),
        ("importance = '0.5'", Eq("importance", 0.5)),
        ("sensitive = TRUE", Eq("sensitive", True)),
        ("created >= 2026-01-01", Between("created_at", JANUARY, None)),
        ("created_at <= 2026-01-01T10:00Z", Between("created_at", None, JANUARY + timedelta(hours=10))),
        ("created_at <= '2026-01-01 10:00'", Between("created_at", None, JANUARY + timedelta(hours=10))),
        ("occurred_at >= 7d", Between("occurred_at", NOW - timedelta(days=7), None)),
        ("metadata.when >= 2026-01-01", Between("metadata.when", "2026-01-01", None)),
        # Metadata: what is written decides.
        (
            "metadata.x in (1, 1.0, '1', true, 'true', null, x)",
            In("metadata.x", (1, 1.0, "1", True, "true", None, "x")),
        ),
        ("metadata.x = 100000000000000000000001", Eq("metadata.x", 100000000000000000000001)),
        ("metadata.a.b-c.é = .5", Eq("metadata.a.b-c.é", 0.5)),
        ("""metadata."odd key".'it''s' = x""", Eq("metadata.odd key.it's", "x")),
        # Quotes.
        ("title = 'it''s'", Eq("title", "it's")),
        ("title = \"it''s\"", Eq("title", "it''s")),
        (r"title = 'a\'b\\c\n\t'", Eq("title", "a'b\\c\n\t")),
        ('title = ""', Eq("title", "")),
        ("title = 'a\nb'", Eq("title", "a\nb")),
        # Null.
        ("metadata.x is null", Eq("metadata.x", None)),
        ("metadata.x = null", Eq("metadata.x", None)),
        ("metadata.x is not null", Not(Eq("metadata.x", None))),
        ("metadata.x != null", Not(Eq("metadata.x", None))),
        ("position is null", Eq("position", None)),
        ("category is null", Eq("category", "")),
        ("title = 'null'", Eq("title", "null")),
    ],
)
def test_reads(text: str, wanted: Filter) -> None:
    read = parse(text)
    assert read == wanted
    assert repr(read) == repr(wanted)  # == would take 1 for True


def test_strict_bounds_on_numbers_text_and_lists() -> None:
    def holds(text: str, value: Json) -> bool:
        return parse(text).matches(replace(PLAIN, metadata={"x": value}))

    assert holds("metadata.x < 5", 4.999)
    assert not holds("metadata.x < 5", 5)
    assert not holds("metadata.x < 5", 5.0)
    assert not holds("metadata.x < 5", None)
    assert not holds("metadata.x < 5", "4")
    assert holds("metadata.x > 5", 6)
    assert holds("metadata.x < b", "a")
    assert not holds("metadata.x < b", "b")
    # A list: an element is at most x, and none equals x.
    assert holds("metadata.x < 5", [4, 6])
    assert not holds("metadata.x < 5", [4, 5])
    assert not holds("metadata.x < 5", [6])
    assert not holds("metadata.x < 5", [])


def test_null_is_what_has_nothing() -> None:
    tagged = replace(PLAIN, tags=("a",), category="c")
    for text in ("tags is null", "tags = null", "category is null", "tags in (null, b)", "category in (b, null)"):
        assert parse(text).matches(PLAIN)
        assert not parse(text).matches(tagged)


@pytest.mark.parametrize(
    ("text", "problem", "pointed"),
    [
        ("kinds = movie", "did you mean kind?", "kinds"),
        ("metdata.year = 1", "did you mean metadata.year?", "metdata.year"),
        ("year = 2014", "what you put in the metadata is metadata.year", "year"),
        ("metadata = 1", "as in metadata.year", "metadata"),
        ("metadata..x = 1", "as in metadata.year", "metadata..x"),
        ("metadata.'a.b' = 1", "key with a dot", "metadata.'a.b'"),
        ("kind movie", "expected an operator", "movie"),
        ("kind = science fiction", "a value with spaces needs quotes", "fiction"),
        ("kind in (a b)", "expected `,` or `)`", "b"),
        ("kind in movie", "expected `(`", "movie"),
        ("kind = a and or", "expected a field", "or"),
        ("kind = a)", "expected the end", ")"),
        ("kind not = a", "expected `in`, `between` or `contains`", "="),
        ("title = 'abc", "this quote is never closed", "'"),
        (r"title = 'C:\dir'", "unknown escape", r"'C:\dir'"),
        ("importance > high", "importance: 'high' is not a number", "high"),
        ("created > soon", "created_at: 'soon' is not a time; write 2026-01-31", "soon"),
        ("sensitive = maybe", "sensitive is true or false", "maybe"),
        ("sensitive > true", "have no order", "sensitive"),
        ("uses < null", "null has no order", "null"),
        ("uses is null", "uses always has a value", "null"),
        ("uses contains 1", "`contains` is for text", "uses"),
        ("metadata.x = 1e999", "must be finite", "metadata.x"),
        ("metadata.x = " + "9" * 10_000, "must be finite", "metadata.x"),
        ("title = \ud800", "half a character", "title"),
        ("kind = a ! b", "expected `and` or `or` or the end", "!"),
    ],
)
def test_errors_point_at_the_place(text: str, problem: str, pointed: str) -> None:
    with pytest.raises(InvalidFilter) as refused:
        parse(text)
    message, shown, carets = str(refused.value).split("\n")
    assert message.startswith("where: ")
    assert problem in message
    start = len(carets) - len(carets.lstrip())
    assert shown[start : len(carets)] == pointed
    assert f"(at character {text.index(pointed) + 1})" in message or text.count(pointed) > 1


@pytest.mark.parametrize(
    ("text", "problem"),
    [("", "expected a field"), ("  ", "expected a field"), ("not", "expected a field"), ("kind =", "expected a value"),
     ("kind is", "expected `null`"), ("(kind = a", "`)`"), ("kind between a and", "expected a value")],
)  # fmt: skip
def test_errors_at_the_end(text: str, problem: str) -> None:
    with pytest.raises(InvalidFilter, match="expected") as refused:
        parse(text)
    message, _, carets = str(refused.value).split("\n")
    assert problem in message
    assert len(carets) == 2 + len(text.rstrip()) + 1


def test_a_long_text_is_shown_in_part() -> None:
    with pytest.raises(InvalidFilter) as refused:
        parse("kind = a and " * 200 + "kinds = b\tand " + "kind = c and " * 200 + "id = d")
    _, shown, carets = str(refused.value).split("\n")
    assert len(shown) < 70
    assert shown[carets.index("^") : len(carets)] == "kinds"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("(" * 10_000 + "kind = a" + ")" * 10_000, "parentheses"),
        ("(" * 10_000, "parentheses"),
        ("not (" * 17 + "kind = a" + ")" * 17, "parentheses"),
        ("not (true and " * 16 + "kind = a" + ")" * 16, "nested"),
        ("kind = a or " * 600 + "kind = a", "500 conditions"),
        ("kind = " + "a" * MAX_LENGTH, "longer than 100,000"),
    ],
)
def test_size_is_limited(text: str, problem: str) -> None:
    with pytest.raises(InvalidFilter, match=problem):
        parse(text)


def test_many_values_and_many_nots_are_read() -> None:
    assert parse("kind in (" + ",".join(["ab"] * 5_000) + ")") == In("kind", ("ab",) * 5_000)
    assert parse("not " * 5_001 + "kind = a") == Not(Eq("kind", "a"))


PIECES = ("kind", "metadata.x", "tags", "created", "=", "<", "!=", "in", "(", ")", ",", "and", "or", "not", "between",
          "is", "null", "contains", "1", "'a'", '"', "'", "7d", "true", ".", "\\", " ", "\0", "é")  # fmt: skip


@settings(max_examples=300)
@given(st.text(max_size=40) | st.lists(st.sampled_from(PIECES), max_size=12).map(" ".join))
def test_any_text_parses_or_is_refused(text: str) -> None:
    try:
        read = parse(text)
    except InvalidFilter as refused:
        outcome = str(refused)
    else:
        outcome = f"where: {to_text(read)}"
        assert parse(to_text(read)).matches(PLAIN) is read.matches(PLAIN)
    assert outcome.startswith("where: ")


@settings(max_examples=80, deadline=None)
@given(filters(), st.lists(memories(), min_size=1, max_size=4))
def test_text_of_a_filter_reads_back_with_the_same_meaning(where: Filter, some: list[Memory]) -> None:
    again = parse(to_text(where))
    assert [again.matches(memory) for memory in some] == [where.matches(memory) for memory in some]
    assert to_text(parse(to_text(again))) == to_text(again)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("created > 2026-01-01 AND tag = x", "created_at > 2026-01-01T00:00:00Z and tags = x"),
        ("not (kind=a or uses<3)", "not (kind = a or uses < 3)"),
        ("metadata.'odd key' in ('1', 1, null)", "metadata.'odd key' in ('1', 1, null)"),
        ("kind <> 'and'", "kind != 'and'"),
        ("position is null", "position is null"),
    ],
)
def test_prints(text: str, wanted: str) -> None:
    assert to_text(parse(text)) == wanted
