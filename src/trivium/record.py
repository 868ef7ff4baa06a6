"""What Trivium stores: a Memory, the passages it is indexed by, and the key that names it."""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import NamedTuple, TypeAlias

Json: TypeAlias = "str | int | float | bool | list[Json] | dict[str, Json] | None"

DEFAULT_SPACE = "default"
DEFAULT_KIND = "note"
DEFAULT_IMPORTANCE = 0.5

# Kinds that need no introduction; any other well-formed kind may be stored as well.
BUILT_IN_KINDS = (
    "note",
    "fact",
    "movie",
    "link",
    "document",
    "meeting",
    "message",
    "log",
    "execution",
    "task",
    "event",
)


class Key(NamedTuple):
    """What names a memory: ids are unique within a space."""

    space: str
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """One record. Immutable: `update` and `supersede` make new values. All times are aware and in UTC."""

    id: str
    space: str
    content: str
    created_at: datetime
    updated_at: datetime
    kind: str = DEFAULT_KIND
    title: str = ""
    keywords: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    category: str = ""
    metadata: Mapping[str, Json] = field(default_factory=dict)
    importance: float = DEFAULT_IMPORTANCE
    sensitive: bool = False
    occurred_at: datetime | None = None
    source: str = ""
    thread: str = ""
    position: int | None = None
    language: str = ""
    supersedes: str | None = None
    superseded_by: str | None = None
    superseded_at: datetime | None = None
    uses: int = 0

    @property
    def key(self) -> Key:
        return Key(self.space, self.id)

    @property
    def content_hash(self) -> str:
        return content_hash(self.title, self.content)


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a memory's content: `content[start:end]`, numbered from 0."""

    ordinal: int
    start: int
    end: int


def content_hash(title: str, content: str) -> str:
    """What makes two memories of one space exact duplicates."""
    return hashlib.blake2b(f"{title}\0{content}".encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


_last_lock = threading.Lock()
_last_ms = 0
_last_count = 0


def new_id() -> str:
    """A UUIDv7 (RFC 9562): ids made later by this process sort later, also within one millisecond."""
    global _last_ms, _last_count  # noqa: PLW0603 the order of ids is a promise of the process
    with _last_lock:
        ms = time.time_ns() // 1_000_000
        if ms > _last_ms:
            _last_ms, _last_count = ms, int.from_bytes(os.urandom(2)) & 0x7FF
        else:
            _last_count += 1
            if _last_count > 0xFFF:
                _last_ms, _last_count = _last_ms + 1, 0
        ms, count = _last_ms, _last_count
    tail = int.from_bytes(os.urandom(8)) & 0x3FFF_FFFF_FFFF_FFFF
    text = f"{(ms << 80) | (0x7 << 76) | (count << 64) | (0b10 << 62) | tail:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def utc_now() -> datetime:
    return datetime.now(UTC)
