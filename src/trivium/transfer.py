"""Carrying memories out of a store and into another: JSONL without loss.

A line of an export is a memory with every field, or, before the memories of a space that has some, its settings:
`{"space_settings": {"space": "work", "language": "pt", "settings": {…}}}`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby, islice

from trivium.errors import InvalidInput
from trivium.filter import EVERYTHING, Eq, Filter, all_of
from trivium.lines import Line, json_line
from trivium.record import Json, Key, Memory
from trivium.search.result import memory_to_dict
from trivium.store.contract import Store, Writer
from trivium.text import resolve_language
from trivium.when import parse_when
from trivium.write.analyse import analyse
from trivium.write.drafts import ID, Draft, memory_of, space_name
from trivium.write.ingest import BATCH, BULK, Filling, make_vectors, put_all, with_language
from trivium.write.threads import Line as ThreadLine

SETTINGS = "space_settings"
TIMES = ("occurred_at", "created_at", "updated_at", "superseded_at")
KEPT = ("updated_at", "supersedes", "superseded_by", "superseded_at", "uses")  # fields that a caller cannot give


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did. `same` were there already, as the file has them."""

    stored: int = 0
    replaced: int = 0
    same: int = 0


@dataclass(frozen=True, slots=True)
class _Read:
    """A memory as a line gives it, and the fields that the line names."""

    line: int
    named: frozenset[str]
    memory: Memory

    def agrees(self, stored: Memory | None) -> bool:
        """Whether the stored memory has what the line says; on what it does not name it has nothing to say."""
        if stored is None:
            return False
        old, new = memory_to_dict(stored), memory_to_dict(self.memory)
        return all(json_line({"": old[name]}) == json_line({"": new[name]}) for name in self.named)


def export_lines(
    store: Store, spaces: Sequence[str], where: Filter = EVERYTHING, *, include_sensitive: bool = False
) -> Iterator[str]:
    """Every memory that matches, superseded ones too, space by space and oldest first. No spaces means all."""
    wanted = where if include_sensitive else all_of((where, Eq("sensitive", False)))
    for space in _named(store, spaces):
        own = store.space_settings(space)
        if own.language or own.settings:
            kept: Json = {"space": space, "language": own.language, "settings": dict(own.settings)}
            yield json_line({SETTINGS: kept})
        for memory in store.scan([space], wanted):
            yield json_line(memory_to_dict(memory))


def sensitive_left_out(store: Store, spaces: Sequence[str], where: Filter = EVERYTHING) -> int:
    """How many memories an export without the sensitive ones leaves out."""
    return store.count(_named(store, spaces), all_of((where, Eq("sensitive", True))))


def _named(store: Store, spaces: Sequence[str]) -> list[str]:
    return list(spaces) or [facts.name for facts in store.spaces()]


def import_lines(
    store: Store, lines: Iterable[Line], space: str, now: datetime, filling: Filling | None, *,
    replace_known: bool = False, progress: Callable[[int], None] | None = None,
) -> Imported:  # fmt: skip
    """Store what an export wrote, one transaction a batch of one space. `space` is for lines that name none.

    A bad line, or one that says otherwise than the store of the same id, is an error that names it: nothing of its
    batch is stored, batches before it are. `replace_known` lets the file win instead."""
    done = Imported()
    seen = 0
    for (name, settings), run in groupby(lines, key=lambda line: (_space_of(line, space), SETTINGS in line.fields)):
        while chunk := list(islice(run, BATCH)):
            if settings:
                _set_spaces(store, name, chunk, replace_known=replace_known)
            else:
                spoken_here = store.space_settings(name).language
                read = [_read(line, with_language(_memory(line, name, now), spoken_here)) for line in chunk]
                batch = _import_batch(store, name, read, filling, replace_known=replace_known)
                done = Imported(done.stored + batch.stored, done.replaced + batch.replaced, done.same + batch.same)
            seen += len(chunk)
            store.tend()
            if progress is not None:
                progress(seen)
    store.tend(after_bulk=done.stored >= BULK)
    return done


def _import_batch(
    store: Store, space: str, read: Sequence[_Read], filling: Filling | None, *, replace_known: bool
) -> Imported:
    known = store.get(Key(space, one.memory.id) for one in read)
    unlike = [one for one in _distinct(read) if not one.agrees(known.get(one.memory.key))]
    analysed = [analyse(one.memory) for one in unlike]
    made = make_vectors(analysed, filling)
    with store.writing(space) as writer:
        older = writer.get([one.memory.id for one in unlike])
        if older and not replace_known:
            _refuse(next(one for one in unlike if one.memory.id in older))
        put_all(writer, analysed)
        for memory in older.values():
            _reindex_left(writer, memory)
        if filling is not None:
            writer.put_vectors(filling.fingerprint, made)
    return Imported(len(unlike) - len(older), len(older), len(read) - len(unlike))


def _distinct(read: Sequence[_Read]) -> list[_Read]:
    """Each memory once; two lines of one id that disagree are an error."""
    first: dict[str, _Read] = {}
    for one in read:
        if not one.agrees(first.setdefault(one.memory.id, one).memory):
            _refuse(one)
    return list(first.values())


def _refuse(one: _Read) -> None:
    id, space = one.memory.id, one.memory.space
    raise InvalidInput(
        f"line {one.line}: id {id!r} is in space {space!r} already and says otherwise; --replace lets the file win"
    )


def _reindex_left(writer: Writer, old: Memory) -> None:
    """Neighbours of the place where a replaced memory stood; it may stand among them still."""
    if old.thread and old.position is not None:
        line = ThreadLine(writer, old.thread, [old.position], frozenset())
        line.reindex_beside(writer, [(old.position, old.id)])


def _space_of(line: Line, default: str) -> str:
    held = line.fields.get(SETTINGS, line.fields)
    named = held.get("space", default) if isinstance(held, Mapping) else ""
    try:
        return space_name(named)  # type: ignore[arg-type]  # it checks that this is a text
    except InvalidInput as error:
        raise InvalidInput(f"line {line.number}: {error}") from error


def _read(line: Line, memory: Memory) -> _Read:
    return _Read(line.number, frozenset(line.fields), memory)


def _memory(line: Line, space: str, now: datetime) -> Memory:
    try:
        fields = with_times({name: value for name, value in line.fields.items() if name != "space"}, now)
        if not fields.get("id"):
            raise InvalidInput("id: is missing; `trivium add --jsonl` takes records without one")
        if fields.get("thread") and fields.get("position") is None:
            raise InvalidInput("position: is missing; a memory of a thread has one")
        given = {name: value for name, value in fields.items() if name not in KEPT}
        memory = memory_of(Draft.of(given), space, now)
        return _with_kept(memory, {name: fields[name] for name in KEPT if name in fields})
    except InvalidInput as error:
        raise InvalidInput(f"line {line.number}: {error}") from error


def _with_kept(memory: Memory, kept: Mapping[str, object]) -> Memory:
    uses = kept.get("uses", 0)
    if not isinstance(uses, int) or isinstance(uses, bool) or not 0 <= uses < 2**53:
        raise InvalidInput(f"uses: {uses!r} is not a whole number from 0")
    updated, superseded = kept.get("updated_at"), kept.get("superseded_at")
    new = replace(
        memory,
        uses=uses,
        updated_at=updated if isinstance(updated, datetime) else memory.created_at,
        supersedes=_id("supersedes", kept.get("supersedes")),
        superseded_by=_id("superseded_by", kept.get("superseded_by")),
        superseded_at=superseded if isinstance(superseded, datetime) else None,
    )
    if (new.superseded_by is None) != (new.superseded_at is None):
        raise InvalidInput("superseded_at: stands with superseded_by, or neither is there")
    return new


def _id(name: str, value: object) -> str | None:
    if value is None or (isinstance(value, str) and ID.fullmatch(value)):
        return value
    raise InvalidInput(f"{name}: {value!r} is not an id")


def with_times(fields: Mapping[str, object], now: datetime) -> dict[str, object]:
    """The fields with their times read from text."""
    read = dict(fields)
    for name in TIMES:
        value = read.get(name)
        if value is None:
            continue
        if not isinstance(value, str):
            raise InvalidInput(f'{name}: {value!r} is not a time; write it as text, e.g. "2026-01-31T10:00Z"')
        read[name] = parse_when(value, now=now, field=name)
    return read


def draft_fields(line: Line, defaults: Mapping[str, object], now: datetime) -> dict[str, object]:
    """The fields of a new memory that a line gives, over the defaults; checked here, where the line is known."""
    try:
        fields = {**defaults, **with_times(line.fields, now)}
        memory_of(Draft.of(fields), "default", now)
    except InvalidInput as error:
        raise InvalidInput(f"line {line.number}: {error}") from error
    return fields


def _set_spaces(store: Store, space: str, lines: Sequence[Line], *, replace_known: bool) -> None:
    for line in lines:
        held = line.fields[SETTINGS]
        if not isinstance(held, dict) or not isinstance(held.get("settings", {}), dict):
            raise InvalidInput(f"line {line.number}: {SETTINGS}: is not an object with space, language and settings")
        language, settings = held.get("language") or "", held.get("settings") or {}
        if not isinstance(language, str) or not isinstance(settings, dict):
            raise InvalidInput(f"line {line.number}: {SETTINGS}: language is a text, settings an object")
        language = resolve_language(language) if language else ""
        own = store.space_settings(space)
        differs = (own.language, dict(own.settings)) not in (("", {}), (language, settings))
        if differs and not replace_known:
            raise InvalidInput(f"line {line.number}: space {space!r} has other settings; --replace lets the file win")
        with store.writing(space) as writer:
            writer.set_space(language=language, settings=settings)
