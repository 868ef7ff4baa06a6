"""What a backend gives to the suite."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

import pytest

from trivium.store.contract import Store

OpenStore: TypeAlias = Callable[[], Store]
Reopen: TypeAlias = Callable[[Store], Store]


class Bound:
    """The fixtures every part of the suite asks for. A backend overrides the first two."""

    @pytest.fixture
    def open_store(self) -> OpenStore:
        raise NotImplementedError("open_store: a backend's test class gives a function that opens a new, empty store")

    @pytest.fixture
    def reopen(self) -> Reopen:
        raise NotImplementedError(
            "reopen: a backend's test class gives a function that closes a store and opens it again"
        )

    @pytest.fixture
    def store(self, open_store: OpenStore) -> Iterator[Store]:
        store = open_store()
        yield store
        store.close()
