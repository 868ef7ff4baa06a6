"""Times as people write them, and as stores keep them: whole microseconds since 1970 UTC."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from trivium.errors import InvalidInput

EXAMPLES = "2026-01-31, 2026-01-31T10:00Z, 2026-01, 2026, today, yesterday, or 30m, 24h, 7d, 2w ago"

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_AGO = re.compile(r"([0-9]{1,9})([mhdw])")
_UNITS = {"m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}
_YEAR_OR_MONTH = re.compile(r"([0-9]{4})(?:-([0-9]{2}))?")
# `fromisoformat` takes any character between date and time; only a T or a space is meant.
_ISO = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9:.,]+(?:Z|[+-][0-9:]+)?)?")


def parse_when(text: str, *, now: datetime, field: str) -> datetime:
    """The moment `text` names, in UTC: an ISO date or time (UTC where it names no zone), the start of a year, a month,
    `today` or `yesterday` (UTC), or a span such as `7d` before `now`."""
    written = text.strip()
    try:
        return _read(written, now.astimezone(UTC))
    except (ValueError, OverflowError) as wrong:
        raise InvalidInput(f"{field}: {_short(written)} is not a time; write {EXAMPLES}") from wrong


def _read(written: str, now: datetime) -> datetime:
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if written.lower() == "today":
        return midnight
    if written.lower() == "yesterday":
        return midnight - timedelta(days=1)
    if ago := _AGO.fullmatch(written.lower()):
        return now - int(ago[1]) * _UNITS[ago[2]]
    if period := _YEAR_OR_MONTH.fullmatch(written):
        return datetime(int(period[1]), int(period[2] or 1), 1, tzinfo=UTC)
    if not _ISO.fullmatch(written.upper()):
        raise ValueError(written)
    moment = datetime.fromisoformat(written.upper())
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:40] + "…")


def to_micros(moment: datetime) -> int:
    """Microseconds since 1970 UTC, exactly. The time must know its zone."""
    return (moment - _EPOCH) // _MICROSECOND


def from_micros(micros: int) -> datetime:
    """The time in UTC that `to_micros` made this number of."""
    return _EPOCH + timedelta(microseconds=micros)
