"""Neighbours: what stands before and after a record in its thread is its context, and must be re-indexed with it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence

from trivium.record import Memory
from trivium.store.contract import IndexedPassage, Writer
from trivium.write.analyse import CONTEXT_REACH, Analysed, analyse, indexed


class Line:
    """Part of a thread, in order: records already stored and records about to be."""

    def __init__(self, writer: Writer, thread: str, positions: Iterable[int], leave_out: frozenset[str]) -> None:
        """The stored records around the given positions. A record that changes reaches CONTEXT_REACH records to each
        side, and those have as many neighbours again."""
        stored: dict[str, Memory] = {}
        for position in sorted(set(positions)):
            stored.update(
                (m.id, m) for m in writer.around(thread, position, 2 * CONTEXT_REACH) if m.id not in leave_out
            )
        self._stored = {memory.id: analyse(memory) for memory in stored.values()}
        self._members: list[Analysed] = sorted(self._stored.values(), key=_place)

    def join(self, arrivals: Iterable[Analysed]) -> None:
        self._members = sorted([*self._members, *arrivals], key=_place)

    def put(self, writer: Writer, arrivals: Sequence[Analysed]) -> None:
        """Store the arrivals, which have joined, each with its context."""
        ids = {arrival.memory.id for arrival in arrivals}
        for at, member in enumerate(self._members):
            if member.memory.id in ids:
                writer.put(member.memory, indexed_in(self._members, at))

    def reindex(self, writer: Writer, id: str) -> None:
        """Index a member again, with its context."""
        at = next(at for at, member in enumerate(self._members) if member.memory.id == id)
        writer.reindex(id, indexed_in(self._members, at))

    def reindex_beside(self, writer: Writer, places: Iterable[tuple[int, str]]) -> None:
        """Index again the stored records whose context reaches these places, where something came, went or changed."""
        keys = [_place(member) for member in self._members]
        touched: set[int] = set()
        for place in places:
            left, right = bisect_left(keys, place), bisect_right(keys, place)
            touched.update(range(max(0, left - CONTEXT_REACH), left))
            touched.update(range(right, min(right + CONTEXT_REACH, len(keys))))
        for at in sorted(touched):
            id = self._members[at].memory.id
            if id in self._stored:
                writer.reindex(id, indexed_in(self._members, at))


def indexed_in(line: Sequence[Analysed], at: int) -> tuple[IndexedPassage, ...]:
    """The passages of a member of a line with its context: the passages of its neighbours in the same thread."""
    thread = line[at].memory.thread

    def terms(neighbours: Sequence[Analysed]) -> list[Sequence[str]]:
        return [own for one in neighbours if thread and one.memory.thread == thread for own in one.terms]

    before, after = line[max(0, at - CONTEXT_REACH) : at], line[at + 1 : at + 1 + CONTEXT_REACH]
    return indexed(line[at], terms(before), terms(after))


def _place(member: Analysed) -> tuple[int, str]:
    return (member.memory.position or 0, member.memory.id)
