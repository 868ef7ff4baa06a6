"""The times that sources write, as aware UTC times. A source that names no zone is taken to be in UTC."""

from __future__ import annotations

from datetime import UTC, datetime

FORMATS = (
    "%I:%M %p on %d %B, %Y",  # LoCoMo: 1:56 pm on 8 May, 2023
    "%Y/%m/%d (%a) %H:%M",  # LongMemEval: 2023/05/20 (Sat) 02:21
)


def time_of(text: str) -> datetime | None:
    """None where the text is in none of the known forms."""
    for form in FORMATS:
        try:
            return datetime.strptime(text, form).replace(tzinfo=UTC)
        except ValueError:
            continue
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
