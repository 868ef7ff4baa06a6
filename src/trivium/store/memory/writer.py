"""What one transaction may do to its draft."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from trivium.errors import InvalidInput, NotFound
from trivium.record import Json, Key, Memory
from trivium.store.contract import (
    IndexedPassage,
    MadeVectors,
    Receipt,
)
from trivium.store.memory.state import Row, State, own, own_passages, rounded


class MemoryWriter:
    """The `Writer` of one space, over the draft of one transaction."""

    def __init__(self, draft: State, space: str) -> None:
        self._draft = draft
        self._space = space

    def get(self, ids: Iterable[str]) -> dict[str, Memory]:
        found = ((id, self._draft.rows.get(Key(self._space, id))) for id in ids)
        return {id: own(row.memory) for id, row in found if row is not None}

    def with_hash(self, content_hash: str) -> str | None:
        same = [
            memory.id
            for memory in self._memories()
            if memory.content_hash == content_hash and memory.superseded_at is None
        ]
        return min(same, default=None)

    def last_position(self, thread: str) -> int | None:
        return max((position for position, _, _ in self._thread(thread)), default=None)

    def around(self, thread: str, position: int, reach: int) -> list[Memory]:
        members = self._thread(thread)
        before = [member for member in members if member[0] < position]
        here = [member for member in members if member[0] == position]
        after = [member for member in members if member[0] > position]
        near = before[max(0, len(before) - reach) :] + here + after[:reach]
        return [own(memory) for _, _, memory in near]

    def put(self, memory: Memory, passages: Sequence[IndexedPassage]) -> None:
        self._check_space(memory.space)
        key = memory.key
        self._draft.drop_vectors(key)
        self._draft.rows[key] = Row(own(memory), own_passages(passages))
        self._draft.forgotten.pop(key, None)  # it is back because somebody put it back
        for fingerprint in self._draft.epochs:
            self._draft.pending.discard((fingerprint, key))
            if not memory.sensitive:
                self._draft.pending.add((fingerprint, key))

    def reindex(self, id: str, passages: Sequence[IndexedPassage]) -> None:
        row = self._row(id)
        self._draft.rows[row.memory.key] = Row(row.memory, own_passages(passages))

    def amend(self, memory: Memory) -> None:
        self._check_space(memory.space)
        row = self._row(memory.id)
        for name in ("title", "content", "sensitive"):
            if getattr(memory, name) != getattr(row.memory, name):
                raise InvalidInput(f"{name}: `amend` leaves the indexes alone, so it cannot change this; use `put`")
        self._draft.rows[memory.key] = Row(own(memory), row.passages)

    def put_vectors(self, fingerprint: str, made: Iterable[MadeVectors]) -> int:
        dimension = self._draft.epoch(fingerprint).dimension
        stored = 0
        for one in made:
            self._check_space(one.key.space)
            row = self._draft.rows.get(one.key)
            if row is None or row.memory.sensitive or row.memory.content_hash != one.content_hash:
                continue
            if len(one.vectors) != len(row.passages):
                wanted = f"{len(one.vectors)} vectors for {len(row.passages)} passages of {one.key.id}"
                raise InvalidInput(f"vectors: {wanted}; give one each, in order")
            self._draft.vectors[fingerprint, one.key] = tuple(rounded(vector, dimension) for vector in one.vectors)
            self._draft.pending.discard((fingerprint, one.key))
            stored += 1
        return stored

    def forget(self, ids: Sequence[str], at: datetime) -> Receipt:
        keys = [Key(self._space, id) for id in dict.fromkeys(ids)]
        there = [key for key in keys if key in self._draft.rows]
        rows = [self._draft.rows.pop(key) for key in there]
        receipt = Receipt(
            space=self._space,
            forgotten=tuple(key.id for key in there),
            missing=tuple(key.id for key in keys if key not in there),
            records=len(rows),
            passages=sum(len(row.passages) for row in rows),
            vectors=sum(self._draft.drop_vectors(key) for key in there),
            at=at,
        )
        self._draft.pending.difference_update((epoch, key) for epoch in self._draft.epochs for key in there)
        self._draft.forgotten.update((key, receipt) for key in there)
        return receipt

    def set_space(self, *, language: str | None = None, settings: Mapping[str, Json] | None = None) -> None:
        before = self._draft.spaces[self._space]
        self._draft.spaces[self._space] = replace(
            before,
            language=before.language if language is None else language,
            settings=before.settings if settings is None else copy.deepcopy(dict(settings)),
        )

    def note_languages(self, languages: Iterable[str]) -> None:
        before = self._draft.spaces[self._space]
        self._draft.spaces[self._space] = replace(before, languages=before.languages.union(languages))

    def _memories(self) -> list[Memory]:
        return [row.memory for row in self._draft.rows_of(self._space)]

    def _thread(self, thread: str) -> list[tuple[int, str, Memory]]:
        """The memories that have a place in the thread, as (position, id, memory), in order."""
        return sorted(
            (memory.position, memory.id, memory)
            for memory in self._memories()
            if memory.thread == thread and memory.position is not None
        )

    def _row(self, id: str) -> Row:
        row = self._draft.rows.get(Key(self._space, id))
        if row is None:
            raise NotFound(f"no memory {id!r} in space {self._space!r}")
        return row

    def _check_space(self, space: str) -> None:
        if space != self._space:
            raise InvalidInput(f"space: this transaction writes to {self._space!r}, not to {space!r}")
