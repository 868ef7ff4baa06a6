"""The Store test suite, for anyone who writes a backend. It needs pytest and Hypothesis.

A backend's whole test file is its fixtures:

    class TestMyStore(StoreSuite):
        @pytest.fixture
        def open_store(self, tmp_path): ...   # () -> Store: a new, empty store at every call
        @pytest.fixture
        def reopen(self): ...                 # (Store) -> Store: close it and open what it left behind

    TestMyMachine = machine_for(open_store, reopen)
"""

import pytest

# Before they are imported, so that a failing assertion shows its values.
pytest.register_assert_rewrite(
    *(
        f"trivium.conformance.{module}"
        for module in ("records", "scans", "filters", "lexical", "dense", "epochs", "transactions", "upkeep", "machine")
    )
)

from trivium.conformance.machine import StoreMachine, machine_for  # noqa: E402
from trivium.conformance.suite import StoreSuite  # noqa: E402

__all__ = ["StoreMachine", "StoreSuite", "machine_for"]
