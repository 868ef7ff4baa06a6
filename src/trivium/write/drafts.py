"""What a caller gives becomes a Memory, or an error that names the field and the limit."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from trivium.errors import InvalidInput
from trivium.record import DEFAULT_IMPORTANCE, DEFAULT_KIND, Json, Memory, new_id

MAX_CONTENT_BYTES = 1_000_000
MAX_TITLE_CHARS = 1_000
MAX_NAME_CHARS = 200
MAX_LIST_ITEMS = 200
MAX_METADATA_BYTES = 64_000
MAX_METADATA_DEPTH = 64  # objects and lists inside each other: far from where reading them back would run out of stack
MAX_POSITION = 2**53
KIND = re.compile(r"[a-z][a-z0-9_-]{0,63}")
ID = re.compile(r"[\w.:/@+-]{1,128}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A memory as the caller writes it: everything but the content may be left out."""

    content: str
    title: str = ""
    kind: str = DEFAULT_KIND
    keywords: Iterable[str] = ()
    tags: Iterable[str] = ()
    category: str = ""
    metadata: Mapping[str, Json] = field(default_factory=dict)
    importance: float = DEFAULT_IMPORTANCE
    sensitive: bool = False
    occurred_at: datetime | None = None
    created_at: datetime | None = None
    source: str = ""
    thread: str = ""
    position: int | None = None
    language: str = ""
    id: str | None = None

    @classmethod
    def of(cls, fields: Mapping[str, object]) -> Draft:
        """A draft of named fields; a name that is not a field is an error."""
        if not isinstance(fields, Mapping):
            raise InvalidInput(f"record: is {type(fields).__name__}; an object of named fields is wanted")
        unknown = sorted(set(fields) - set(cls.__slots__))
        if unknown:
            raise InvalidInput(f"{unknown[0]}: is not a field of a memory; fields: {', '.join(cls.__slots__)}")
        if "content" not in fields:
            raise InvalidInput("content: is missing")
        return cls(**fields)  # type: ignore[arg-type]


def memory_of(draft: Draft, space: str, now: datetime) -> Memory:
    """The memory a draft stands for, every field checked. Times are brought to UTC."""
    created = _time("created_at", draft.created_at) or now
    return Memory(
        id=new_id() if draft.id is None else _matching("id", draft.id, ID, "1 to 128 letters, digits or . : / @ + - _"),
        space=space_name(space),
        content=_content(draft.content),
        created_at=created,
        updated_at=created,
        kind=_matching("kind", draft.kind, KIND, "a lower-case letter, then up to 63 letters, digits, - or _"),
        title=_text("title", draft.title, MAX_TITLE_CHARS),
        keywords=_names("keywords", draft.keywords),
        tags=_names("tags", draft.tags),
        category=_text("category", draft.category, MAX_NAME_CHARS),
        metadata=_metadata(draft.metadata),
        importance=_importance(draft.importance),
        sensitive=_flag("sensitive", draft.sensitive),
        occurred_at=_time("occurred_at", draft.occurred_at),
        source=_text("source", draft.source, MAX_TITLE_CHARS),
        thread=_text("thread", draft.thread, MAX_NAME_CHARS),
        position=_position(draft.position, draft.thread),
        language=_text("language", draft.language, MAX_NAME_CHARS),
    )


def space_name(name: str) -> str:
    if not isinstance(name, str) or not name.strip() or name != name.strip():
        raise InvalidInput(f"space: {name!r} is empty or has white space around it")
    return _text("space", name, MAX_NAME_CHARS)


def _content(content: str) -> str:
    _text("content", content, MAX_CONTENT_BYTES)
    if not content.strip():
        raise InvalidInput("content: is empty; write what is to be remembered")
    size = len(content.encode())
    if size > MAX_CONTENT_BYTES:
        raise InvalidInput(f"content: has {size:,} bytes; the limit is {MAX_CONTENT_BYTES:,}: split it into several")
    return content


def _text(name: str, value: str, limit: int) -> str:
    if not isinstance(value, str):
        raise InvalidInput(f"{name}: is {type(value).__name__}; text is wanted")
    if len(value) > limit:
        raise InvalidInput(f"{name}: has {len(value):,} characters; the limit is {limit:,}")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput(
            f"{name}: has a lone surrogate at character {error.start}, which is not text; decode the source as UTF-8"
        ) from error
    return value


def _matching(name: str, value: str, pattern: re.Pattern[str], wanted: str) -> str:
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise InvalidInput(f"{name}: {value!r} is not valid; wanted: {wanted}")
    return value


def _names(name: str, values: Iterable[str]) -> tuple[str, ...]:
    """Distinct names in the order given, white space trimmed."""
    if isinstance(values, str):
        raise InvalidInput(f"{name}: is one text; a list of texts is wanted: [{values!r}]")
    if not isinstance(values, Iterable):
        raise InvalidInput(f"{name}: is {type(values).__name__}; a list of texts is wanted")
    listed = list(values)
    if len(listed) > MAX_LIST_ITEMS:
        raise InvalidInput(f"{name}: has {len(listed):,} items; the limit is {MAX_LIST_ITEMS}")
    trimmed = (_text(name, value, MAX_NAME_CHARS).strip() for value in listed)
    return tuple(dict.fromkeys(value for value in trimmed if value))


def _metadata(metadata: Mapping[str, Json]) -> Mapping[str, Json]:
    if not isinstance(metadata, Mapping):
        raise InvalidInput(f"metadata: is {type(metadata).__name__}; an object of named values is wanted")
    try:
        text = json.dumps(dict(metadata), ensure_ascii=False, allow_nan=False)
        size = len(text.encode())
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(f"metadata: is not JSON ({error}); use text, numbers, lists and objects") from error
    if size > MAX_METADATA_BYTES:
        raise InvalidInput(f"metadata: has {size:,} bytes as JSON; the limit is {MAX_METADATA_BYTES:,}")
    plain: dict[str, Json] = json.loads(text)
    if _deeper(plain, MAX_METADATA_DEPTH):
        raise InvalidInput(f"metadata: is nested more than {MAX_METADATA_DEPTH} deep; write it flatter")
    return plain


def _deeper(value: Json, levels: int) -> bool:
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return bool(inside) and (levels == 0 or any(_deeper(inner, levels - 1) for inner in inside))


def _importance(value: float) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0.0 <= value <= 1.0 or math.isnan(value):
        raise InvalidInput(f"importance: {value!r} is not a number from 0 to 1")
    return float(value)


def _flag(name: str, value: bool) -> bool:
    if not isinstance(value, bool):
        raise InvalidInput(f"{name}: {value!r} is neither True nor False")
    return value


def _time(name: str, value: datetime | None) -> datetime | None:
    if value is None:
        return None
    if not isinstance(value, datetime) or value.tzinfo is None:
        raise InvalidInput(f"{name}: {value!r} is not a time with a time zone; use datetime(..., tzinfo=UTC)")
    try:
        return value.astimezone(UTC)
    except OverflowError as error:
        raise InvalidInput(f"{name}: {value!r} is outside the years 1 to 9999 in UTC") from error


def _position(value: int | None, thread: str) -> int | None:
    if value is None:
        return None
    if not thread:
        raise InvalidInput("position: stands without a thread; name the thread it is a position in")
    if isinstance(value, bool) or not isinstance(value, int) or not -MAX_POSITION <= value <= MAX_POSITION:
        raise InvalidInput(f"position: {value!r} is not a whole number within ±2^53")
    return value
