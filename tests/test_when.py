"""Times as people write them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.errors import InvalidInput
from trivium.when import from_micros, parse_when, to_micros

NOW = datetime(2026, 3, 10, 1, 30, tzinfo=timezone(timedelta(hours=3)))  # still the 9th in UTC


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("2026", datetime(2026, 1, 1, tzinfo=UTC)),
        ("2026-03", datetime(2026, 3, 1, tzinfo=UTC)),
        ("2026-01-31", datetime(2026, 1, 31, tzinfo=UTC)),
        ("2026-01-31T10:00", datetime(2026, 1, 31, 10, tzinfo=UTC)),
        (" 2026-01-31t10:00z ", datetime(2026, 1, 31, 10, tzinfo=UTC)),
        ("2026-01-31 10:00:00.000001-02:30", datetime(2026, 1, 31, 12, 30, 0, 1, tzinfo=UTC)),
        ("today", datetime(2026, 3, 9, tzinfo=UTC)),
        ("Yesterday", datetime(2026, 3, 8, tzinfo=UTC)),
        ("30m", NOW - timedelta(minutes=30)),
        ("24h", NOW - timedelta(hours=24)),
        ("7d", NOW - timedelta(days=7)),
        ("2W", NOW - timedelta(weeks=2)),
    ],
)
def test_reads(text: str, wanted: datetime) -> None:
    read = parse_when(text, now=NOW, field="since")
    assert read == wanted
    assert read.tzinfo is UTC


@pytest.mark.parametrize(
    "text",
    ["", "soon", "0000", "2026-13", "2026-02-30", "2026-01-31x10:00", "2026-01-31T", "2026-01-31T25:00", "7y", "-7d",
     "7 d", "999999999w", "0001-01-01T00:00+14:00", "٢٠٢٦", "20260131", "x" * 1000, "\ud800"],
)  # fmt: skip
def test_refuses_and_shows_how(text: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        parse_when(text, now=NOW, field="since")
    message = str(refused.value)
    assert message.startswith("since: ")
    assert "2026-01-31" in message
    assert "7d" in message
    assert len(message) < 200


@given(
    st.datetimes(
        timezones=st.sampled_from((UTC, timezone(timedelta(hours=-11, seconds=1)), timezone(timedelta(hours=14))))
    )
)
def test_micros_are_exact(moment: datetime) -> None:
    micros = to_micros(moment)
    assert timedelta(microseconds=micros) == moment - datetime(1970, 1, 1, tzinfo=UTC)
    if datetime.min.replace(tzinfo=UTC) <= moment <= datetime.max.replace(tzinfo=UTC):
        assert from_micros(micros) == moment


def test_micros_of_known_times() -> None:
    assert to_micros(datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)) == -1
    assert to_micros(datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)) == 253402300799999999
    assert from_micros(1) == datetime(1970, 1, 1, 0, 0, 0, 1, tzinfo=UTC)


@given(st.text(max_size=30))
def test_any_text_is_a_time_or_refused(text: str) -> None:
    try:
        outcome = parse_when(text, now=NOW, field="since").isoformat()
    except InvalidInput as refused:
        outcome = str(refused)
    assert outcome.endswith("+00:00") or outcome.startswith("since: ")
