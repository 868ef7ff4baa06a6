"""One HTTP call that is tried again where that can help, and an error that says what to do where it cannot."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from trivium.errors import EmbedderError
from trivium.record import Json, utc_now

if TYPE_CHECKING:
    import httpx

RETRIED = frozenset({408, 425, 429, 500, 502, 503, 504, 529})  # 529: "overloaded", used by some providers
FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 30.0  # also when the server asks for more: the worker comes back later anyway
SHOWN_CHARACTERS = 300

ADVICE = {
    400: "check the model's name and the length of the texts",
    401: "the key is missing or wrong: set the variable that key_env names",
    403: "the key may not use this model",
    404: "check that the URL ends in /v1 and that the server has this model",
    413: "lower max_items or max_characters",
    422: "check the model's name and the length of the texts",
}


@dataclass(frozen=True, slots=True)
class Waiting:
    """The clock and the dice of a retry."""

    sleep: Callable[[float], None] = time.sleep
    chance: Callable[[], float] = random.random
    now: Callable[[], datetime] = utc_now


@dataclass(frozen=True, slots=True)
class Call:
    """A POST of JSON. The key appears in no repr and no error."""

    url: str
    body: Mapping[str, Json]
    timeout_s: float
    retries: int
    key: str = field(default="", repr=False)


def post(client: httpx.Client, call: Call, waiting: Waiting) -> object:
    """The JSON of the answer. Raises EmbedderError when the server refuses, or still fails after the last retry."""
    import httpx

    headers = {"Authorization": f"Bearer {call.key}"} if call.key else {}
    for attempt in range(call.retries + 1):
        asked_s = None
        try:
            response = client.post(call.url, json=call.body, headers=headers, timeout=call.timeout_s)
        except httpx.TransportError as error:
            problem = f"cannot be reached ({type(error).__name__}: {error}); is the server running?"
        else:
            if response.is_success:
                return _json(response, call)
            problem = _refusal(response, call)
            if response.status_code not in RETRIED:
                break
            asked_s = retry_after_s(response.headers.get("Retry-After", ""), waiting.now())
        if attempt < call.retries:
            waiting.sleep(min(pause_s(attempt, waiting.chance()) if asked_s is None else asked_s, LONGEST_PAUSE_S))
    raise EmbedderError(f"{call.url} {problem}")


def pause_s(attempt: int, chance: float) -> float:
    """Twice as long each time, spread over its upper half so that many clients do not come back together."""
    return FIRST_PAUSE_S * 2.0**attempt * (0.5 + 0.5 * chance)


def retry_after_s(header: str, now: datetime) -> float | None:
    """What a Retry-After asks for, in seconds or as a date; None where it says nothing that can be read."""
    if header.isdecimal():
        return float(header)
    try:
        return max(0.0, (parsedate_to_datetime(header) - now).total_seconds())
    except (TypeError, ValueError):  # not a date, or one without a zone
        return None


def _json(response: httpx.Response, call: Call) -> object:
    try:
        return response.json()
    except ValueError as error:
        raise EmbedderError(f"{call.url} did not answer in JSON; check that the URL ends in /v1") from error


def _refusal(response: httpx.Response, call: Call) -> str:
    text = " ".join(response.text.split())
    if call.key:
        text = text.replace(call.key, "(key)")
    advice = ADVICE.get(response.status_code, "try again later")
    return f"answered {response.status_code}: {text[:SHOWN_CHARACTERS]} ({advice})"
