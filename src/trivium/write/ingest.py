"""RECORD -> INDEXES: validate > split > analyse > embed > put. Read `add_batch` first.

Everything slow (analysing, embedding) is done before the transaction begins; inside it there is only storing.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from trivium.errors import InvalidInput, NotFound
from trivium.models.embed import Embedder
from trivium.record import Memory, new_id
from trivium.store.contract import MadeVectors, Receipt, Store, Writer
from trivium.text import DEFAULT_LANGUAGE, detect_language, resolve_language
from trivium.write.analyse import CONTEXT_REACH, Analysed, analyse, indexed
from trivium.write.drafts import Draft, memory_of
from trivium.write.threads import Line, indexed_in

BATCH = 512  # records in one transaction
BULK = 8_192  # records of a load between two rounds of upkeep, and from which it is gathered at its end


@dataclass(frozen=True, slots=True)
class Added:
    """What `add` did: the memory, which is an older one where the same text was there already."""

    memory: Memory
    duplicate: bool = False

    @property
    def id(self) -> str:
        return self.memory.id


@dataclass(frozen=True, slots=True)
class Filling:
    """The epoch that vectors are made for, and the embedder that makes them."""

    fingerprint: str
    embedder: Embedder


def add_batch(
    store: Store, space: str, drafts: Sequence[Draft], now: datetime, filling: Filling | None, *, allow_duplicates: bool
) -> list[Added]:
    """Store all of them in one transaction, or none. Exact duplicates are reported, not stored twice unless asked."""
    spoken_here = store.space_settings(space).language
    memories = [with_language(memory_of(draft, space, now), spoken_here) for draft in drafts]
    analysed = [analyse(memory) for memory in memories]
    made = make_vectors(analysed, filling)
    with store.writing(space) as writer:
        _refuse_known_ids(writer, memories, drafts)
        added, fresh = _without_duplicates(writer, analysed, allow_duplicates=allow_duplicates)
        put_all(writer, fresh)
        if filling is not None:
            kept = {member.memory.id for member in fresh}
            writer.put_vectors(filling.fingerprint, (vectors for vectors in made if vectors.key.id in kept))
    return added


def with_language(memory: Memory, spoken_here: str) -> Memory:
    """The memory with the language it is analysed in: its own, else its space's, else the one its words speak."""
    if memory.language:
        return replace(memory, language=resolve_language(memory.language))
    if spoken_here:
        return replace(memory, language=spoken_here)
    return replace(memory, language=detect_language(f"{memory.title}\n{memory.content}", None, DEFAULT_LANGUAGE))


def _refuse_known_ids(writer: Writer, memories: Sequence[Memory], drafts: Sequence[Draft]) -> None:
    given = Counter(draft.id for draft in drafts if draft.id is not None)
    known = sorted({id for id, times in given.items() if times > 1} | writer.get(given).keys()) if given else []
    if known:
        raise InvalidInput(
            f"id: {known[0]!r} is already in space {memories[0].space!r}; use update, or leave the id out"
        )


def _without_duplicates(
    writer: Writer, analysed: Sequence[Analysed], *, allow_duplicates: bool
) -> tuple[list[Added], list[Analysed]]:
    added: list[Added] = []
    fresh: list[Analysed] = []
    seen: dict[str, Memory] = {}
    ends: dict[str, int] = {}
    for member in analysed:
        memory = member.memory
        older = None if allow_duplicates else _duplicate(writer, memory, seen)
        if older is not None:
            added.append(Added(older, duplicate=True))
            continue
        if memory.thread:
            memory = _placed(writer, memory, ends)
        seen[memory.content_hash] = memory
        added.append(Added(memory))
        fresh.append(replace(member, memory=memory))
    return added, fresh


def _duplicate(writer: Writer, memory: Memory, seen: dict[str, Memory]) -> Memory | None:
    """The same text in the same space. In a thread, saying the same thing again is something new."""
    if memory.thread:
        return None
    found = seen.get(memory.content_hash)
    if found is not None:
        return found
    id = writer.with_hash(memory.content_hash)
    return None if id is None else writer.get([id])[id]


def _placed(writer: Writer, memory: Memory, ends: dict[str, int]) -> Memory:
    """The memory at its own position, or else at the end of its thread. `ends` has the ends of the threads so far."""
    thread = memory.thread
    if thread not in ends:
        last = writer.last_position(thread)
        ends[thread] = -1 if last is None else last
    position = ends[thread] + 1 if memory.position is None else memory.position
    ends[thread] = max(ends[thread], position)
    return replace(memory, position=position)


def put_all(writer: Writer, fresh: Sequence[Analysed]) -> None:
    """Put memories and index them with their neighbours; stored neighbours are indexed again."""
    threads: defaultdict[str, list[Analysed]] = defaultdict(list)
    for member in fresh:
        if member.memory.thread:
            threads[member.memory.thread].append(member)
        else:
            writer.put(member.memory, indexed(member, (), ()))
    for thread, arrivals in threads.items():
        places = [(arrival.memory.position or 0, arrival.memory.id) for arrival in arrivals]
        line = Line(writer, thread, [place[0] for place in places], frozenset(place[1] for place in places))
        line.join(arrivals)
        line.put(writer, arrivals)
        line.reindex_beside(writer, places)
    writer.note_languages({member.memory.language for member in fresh})


def make_vectors(analysed: Iterable[Analysed], filling: Filling | None) -> list[MadeVectors]:
    """Vectors for every passage that may be embedded, all in one call. Sensitive text never reaches a model."""
    if filling is None:
        return []
    members = [member for member in analysed if not member.memory.sensitive]
    texts = [text for member in members for text in passage_texts(member)]
    if not texts:
        return []
    matrix = filling.embedder.embed(texts, "document")
    made = []
    at = 0
    for member in members:
        count = len(member.passages)
        made.append(MadeVectors(member.memory.key, member.memory.content_hash, list(matrix[at : at + count])))
        at += count
    return made


def passage_texts(member: Analysed) -> list[str]:
    """What is embedded for each passage: its text under the memory's title."""
    memory = member.memory
    head = f"{memory.title}\n" if memory.title else ""
    return [f"{head}{memory.content[passage.start : passage.end]}" for passage in member.passages]


def changed(old: Memory, fields: Mapping[str, object], now: datetime) -> Memory:
    """The memory with some fields replaced, all of them checked again."""
    if "id" in fields:
        raise InvalidInput("id: cannot be changed; add a new memory, or supersede this one")
    kept = {name: getattr(old, name) for name in Draft.__slots__}
    if "thread" in fields and "position" not in fields and fields["thread"] != old.thread:
        kept["position"] = None
    new = memory_of(Draft.of({**kept, **fields}), old.space, now)
    return replace(
        new,
        created_at=old.created_at if "created_at" not in fields else new.created_at,
        updated_at=now,
        language=_language_of(old, new, fields),
        supersedes=old.supersedes,
        superseded_by=old.superseded_by,
        superseded_at=old.superseded_at,
        uses=old.uses,
    )


def _language_of(old: Memory, new: Memory, fields: Mapping[str, object]) -> str:
    """The language asked for; else the new text's own, which is the old one unless it clearly speaks another."""
    if fields.get("language"):
        return resolve_language(new.language)
    if (old.title, old.content) == (new.title, new.content):
        return old.language
    return detect_language(f"{new.title}\n{new.content}", None, old.language or DEFAULT_LANGUAGE)


def replace_memory(
    store: Store, old: Memory, fields: Mapping[str, object], now: datetime, filling: Filling | None
) -> Memory:
    """Store a changed memory in place of the old one, touching only the indexes that the change touches."""
    new = changed(old, fields, now)
    changed_text = (old.title, old.content, old.sensitive) != (new.title, new.content, new.sensitive)
    analysed = analyse(new)
    made = make_vectors([analysed], filling) if changed_text else []
    with store.writing(new.space) as writer:
        new = replace(new, uses=_unchanged(writer, old).uses)
        if new.thread and new.position is None:
            new = _placed(writer, new, {})
        analysed = replace(analysed, memory=new)
        if changed_text:
            put_all(writer, [analysed])
            if filling is not None:
                writer.put_vectors(filling.fingerprint, made)
        else:
            writer.amend(new)
            _reindex_place(writer, analysed)
        if (old.thread, old.position) != (new.thread, new.position):
            _reindex_left(writer, old)
    return new


def supersede(
    store: Store, old: Memory, fields: Mapping[str, object], now: datetime, filling: Filling | None
) -> Memory:
    """Add a memory that takes the old one's place: fields not named are the old one's. The old one is marked."""
    if old.superseded_by is not None:
        raise InvalidInput(f"id: {old.id!r} is already superseded by {old.superseded_by!r}; supersede that one")
    taken_over = changed(old, {"thread": "", "position": None, **fields}, now)
    new = replace(
        taken_over, id=new_id(), created_at=now, supersedes=old.id, superseded_by=None, superseded_at=None, uses=0
    )
    analysed = analyse(new)
    made = make_vectors([analysed], filling)
    with store.writing(new.space) as writer:
        current = _unchanged(writer, old)
        put_all(writer, [analysed])
        if filling is not None:
            writer.put_vectors(filling.fingerprint, made)
        writer.amend(replace(current, superseded_by=new.id, superseded_at=now, updated_at=now))
    return new


class ChangedMeanwhile(InvalidInput):
    """Another writer came between reading a memory and writing it."""


def _unchanged(writer: Writer, old: Memory) -> Memory:
    """The memory as it is stored now: unchanged, but for how often it was used."""
    current = writer.get([old.id]).get(old.id)
    if current is None:
        raise NotFound(f"no memory {old.id!r} in space {old.space!r}; it was forgotten meanwhile")
    if current.updated_at != old.updated_at:
        raise ChangedMeanwhile(f"id: {old.id!r} was changed by someone else meanwhile; repeat the change")
    return current


def _reindex_place(writer: Writer, analysed: Analysed) -> None:
    """Index a memory whose text stayed the same, and its neighbours, again."""
    memory = analysed.memory
    if not memory.thread:
        writer.reindex(memory.id, indexed(analysed, (), ()))
        return
    place = (memory.position or 0, memory.id)
    line = Line(writer, memory.thread, [place[0]], frozenset([memory.id]))
    line.join([analysed])
    line.reindex(writer, memory.id)
    line.reindex_beside(writer, [place])


def _reindex_left(writer: Writer, gone: Memory) -> None:
    """The neighbours that a memory had in a thread it is no longer in."""
    if gone.thread and gone.position is not None:
        line = Line(writer, gone.thread, [gone.position], frozenset())
        line.reindex_beside(writer, [(gone.position, gone.id)])


def forget(store: Store, space: str, ids: Sequence[str], now: datetime) -> Receipt:
    """Delete memories, and index their neighbours again without them, in one transaction."""
    with store.writing(space) as writer:
        gone = writer.get(ids)
        receipt = writer.forget(ids, now)
        for memory in gone.values():
            _reindex_left(writer, memory)
    return receipt


def reindex_run(store: Store, space: str, ids: Sequence[str], start: int, end: int) -> int:
    """Analyse and index again `ids[start:end]`, a run of a space in the order of its threads. Vectors stay."""
    first = max(0, start - CONTEXT_REACH)
    around = ids[first : end + CONTEXT_REACH]
    with store.writing(space) as writer:
        found = writer.get(around)
        line = [analyse(found[id]) for id in around if id in found]
        core = set(ids[start:end]) & found.keys()
        for at, member in enumerate(line):
            if member.memory.id in core:
                writer.reindex(member.memory.id, indexed_in(line, at))
        writer.note_languages({member.memory.language for member in line})
    return len(core)
