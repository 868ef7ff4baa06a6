"""StoreSuite: every promise of `store/contract.py` that holds for every backend, as tests."""

from __future__ import annotations

from trivium.conformance.dense import DenseSuite
from trivium.conformance.epochs import EpochSuite
from trivium.conformance.filters import FilterSuite
from trivium.conformance.lexical import LexicalSuite
from trivium.conformance.records import RecordSuite
from trivium.conformance.scans import ScanSuite
from trivium.conformance.transactions import TransactionSuite
from trivium.conformance.upkeep import UpkeepSuite


class StoreSuite(
    RecordSuite, ScanSuite, FilterSuite, LexicalSuite, DenseSuite, EpochSuite, TransactionSuite, UpkeepSuite
):
    """Subclass it, name the class Test…, and give the fixtures `open_store` and `reopen`."""
