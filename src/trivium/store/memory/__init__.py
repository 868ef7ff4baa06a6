"""The store in memory, by brute force: the executable specification of `contract.py` and the oracle in tests.

Nothing here is fast and nothing is clever: every question walks every row of the space, `filter.matches` decides,
`bm25_weight` and `idf` are applied term by term in query order. The one departure from plain values is shared by every
backend: vectors are rounded to float16 when they are stored and compared as float32.

A committed `State` is never changed. A transaction works on a copy that takes its place at the end, so an exception
leaves nothing behind and a reader keeps the state it began with.
"""

from trivium.store.memory.store import MemoryStore

__all__ = ["MemoryStore"]
