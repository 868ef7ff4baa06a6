"""One error tree. Catch `TriviumError` for all of it; each message says what to do.

TriviumError
├── InvalidInput            a value the caller gave: names the field and the limit        (CLI exit 2)
│   ├── InvalidFilter       a --where that does not parse, a field or operator unknown
│   ├── UnknownKind         a kind that is neither built in nor present in the space
│   └── WrongVector         length, NaN or infinity
├── NotFound                no memory with that id in that space                           (CLI exit 3)
├── StoreError              the file or the server                                         (CLI exit 4)
│   ├── NotAStore           not a Trivium store, or a damaged one
│   ├── NewerStore          written by a newer Trivium
│   ├── ReadOnlyStore       a write to a store that cannot be written
│   ├── StoreFull           no room: nothing of the failed write was kept
│   └── StoreBusy           another process kept the store locked for too long
├── EmbedderError           a model failed or cannot be reached                            (CLI exit 5)
└── MissingExtra            an optional dependency is not installed: names the extra       (CLI exit 6)
"""

from __future__ import annotations


class TriviumError(Exception):
    """The root of every error Trivium raises on purpose."""


class InvalidInput(TriviumError, ValueError):
    """A value the caller gave cannot be used. The message begins with the name of the field."""


class InvalidFilter(InvalidInput):
    """A filter that does not parse or names something unknown."""


class UnknownKind(InvalidInput):
    """A kind that is neither built in nor present in the spaces searched."""


class WrongVector(InvalidInput):
    """A vector of another length than the store's, or with values that are not finite."""


class NotFound(TriviumError, KeyError):
    """No memory with that id in that space."""

    def __str__(self) -> str:  # KeyError would show the message's repr
        return str(self.args[0]) if self.args else ""


class StoreError(TriviumError):
    """The file or the server could not do what was asked."""


class NotAStore(StoreError):
    """The file is not a Trivium store, or it is damaged."""


class NewerStore(StoreError):
    """The store was written by a newer Trivium than this one."""


class ReadOnlyStore(StoreError):
    """A write was asked of a store that can only be read."""


class StoreFull(StoreError):
    """There is no room left where the store lives. Nothing of the failed write was kept."""


class StoreBusy(StoreError):
    """Another process held the store for longer than we were told to wait."""


class EmbedderError(TriviumError):
    """An embedder failed or could not be reached."""


class MissingExtra(TriviumError, ImportError):
    """An optional dependency is not installed."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(f'{feature} needs an optional dependency: pip install "trivium[{extra}]"')
