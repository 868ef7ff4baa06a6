"""The last few states of something, by version: threads whose snapshots differ each find their own."""

from __future__ import annotations

from collections import OrderedDict
from typing import Generic, TypeVar

State = TypeVar("State")

KEPT = 4  # states share what did not change, so a few more cost little


class Versions(Generic[State]):
    def __init__(self) -> None:
        self._states: OrderedDict[int, State] = OrderedDict()

    def at(self, version: int) -> State | None:
        return self._states.get(version)

    def before(self, version: int) -> State | None:
        """The newest state, if it is older than `version`: what a state at `version` can be made from."""
        if not self._states:
            return None
        newest = next(reversed(self._states))
        return self._states[newest] if newest < version else None

    def keep(self, version: int, state: State) -> State:
        """Remember a state, unless a newer one is known: a reader of an old snapshot is rare and soon gone."""
        if not self._states or next(reversed(self._states)) < version:
            self._states[version] = state
            while len(self._states) > KEPT:
                self._states.popitem(last=False)
        return state
