"""Trivium: the one object users hold. Read this file first; every method is a line or two into the rooms below.

    t = trivium.open("notes.db")
    t.add("Ada moved to Lisbon in May.", tags=["people"])
    for hit in t.search("where does Ada live"): print(hit.score, hit.memory.content)

docs/python.md shows each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, TypeAlias, TypeVar, Unpack, get_args

import numpy as np
import numpy.typing as npt

from trivium.asking import SearchOptions, query_of
from trivium.errors import InvalidInput, NotFound, StoreBusy, StoreFull, UnknownKind
from trivium.filter import EVERYTHING, Eq, Filter, In, Not, all_of, conjuncts
from trivium.lines import Line
from trivium.models.embed import Embedder, Serving
from trivium.models.loading import DEFAULT_SPEC, load_embedder
from trivium.models.rerank import Reranker
from trivium.record import BUILT_IN_KINDS, DEFAULT_SPACE, Json, Key, Memory, utc_now
from trivium.search.explain import WhyNot
from trivium.search.pipeline import Tools, search
from trivium.search.query import Plan, Query, SearchDefaults, defaults_for, make_plan
from trivium.search.result import Results
from trivium.store.contract import Order, Receipt, SpaceFacts, SpaceSettings, Store
from trivium.store.opening import open_store
from trivium.text import ANALYZER_VERSION, resolve_language
from trivium.upkeep import Health, Upkeep
from trivium.write.drafts import Draft, space_name
from trivium.write.epochs import Epochs
from trivium.write.ingest import (
    BATCH,
    BULK,
    Added,
    ChangedMeanwhile,
    Filling,
    add_batch,
    forget,
    replace_memory,
    supersede,
)
from trivium.write.reembed import Progress, Reembedded, Worker

if TYPE_CHECKING:
    from trivium.transfer import Imported

CHANGE_ATTEMPTS = 20  # each failed one means that another writer got on

Done = TypeVar("Done")
Change: TypeAlias = "Callable[[Store, Memory, Mapping[str, object], datetime, Filling | None], Memory]"


def open(  # `trivium.open` is the name users expect
    target: str | Path | None = None,
    *,
    space: str = DEFAULT_SPACE,
    embedder: Embedder | str | None = DEFAULT_SPEC,
    reranker: Reranker | None = None,
    defaults: SearchDefaults | None = None,
    read_only: bool = False,
    dense_index: str = "codes",
    clock: Callable[[], datetime] = utc_now,
) -> Trivium:
    """Open a memory: a file (made if it is not there), `"memory:"` for one that lives in this process only, or nothing
    for the one in the user's data folder. `embedder` is a name, an object with `embed`, or None for words only.
    `dense_index="hnsw"` builds a graph over the vectors of large spaces, in the background (extra `hnsw`)."""
    space = space_name(space)
    store = open_store(target, read_only=read_only, dense_index=dense_index)
    opened = Trivium(
        store, embedder, space=space, reranker=reranker, defaults=defaults or SearchDefaults(), clock=clock
    )
    if not read_only:
        opened.resume()
    return opened


class Trivium:
    """A memory. Safe to share between threads; several processes may open the same file."""

    def __init__(
        self, store: Store, embedder: Embedder | str | None, *, space: str = DEFAULT_SPACE,
        reranker: Reranker | None = None, defaults: SearchDefaults, clock: Callable[[], datetime] = utc_now,
    ) -> None:  # fmt: skip
        self.store = store
        self.default_space = space
        self._defaults = defaults
        self._reranker = reranker
        self._clock = clock
        self._epochs = Epochs(store, embedder, load_embedder)
        self._worker = Worker(store, self._slow_filling)
        self.upkeep = Upkeep(store, self._epochs, clock)

    @property
    def embedder(self) -> Embedder | None:
        """The embedder this memory was opened with."""
        return self._epochs.wanted()

    def resume(self) -> None:
        """Go on embedding what an earlier process left waiting."""
        serving = next((epoch for epoch in self.store.epochs() if epoch.serving), None)
        if serving is not None and self.store.pending_count(serving.fingerprint):
            self._worker.wake()

    def close(self) -> None:
        """End the background work and let go of the store. What waits for a vector stays marked."""
        self._worker.stop()
        self.store.close()

    def __enter__(self) -> Trivium:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # Writing

    def add(self, content: str, *, space: str | None = None, allow_duplicate: bool = False, **fields: object) -> Added:
        """Store one memory, durably. `fields` are those of `Draft`: title, kind, tags, metadata, importance, …

        The same text again is reported (`added.duplicate`) and not stored twice, unless `allow_duplicate`."""
        draft = Draft.of({"content": content, **fields})
        return self._add([draft], space, allow_duplicates=allow_duplicate, tend=True)[0]

    def add_many(
        self, records: Iterable[Mapping[str, object]], *, space: str | None = None, batch: int = BATCH,
        allow_duplicates: bool = False, progress: Callable[[int], None] | None = None,
    ) -> list[Added]:  # fmt: skip
        """Store many: one transaction a batch. `progress` hears how many are done."""
        if batch < 1:
            raise InvalidInput(f"batch: {batch} is not a number of records; give at least 1")
        drafts = (Draft.of(record) for record in records)
        added: list[Added] = []
        tended = 0
        while chunk := list(islice(drafts, batch)):
            added += self._add(chunk, space, allow_duplicates=allow_duplicates, tend=False)
            if len(added) - tended >= BULK:
                self._tend()
                tended = len(added)
            if progress is not None:
                progress(len(added))
        self._tend(after_bulk=len(added) >= BULK)
        return added

    def _add(self, drafts: Sequence[Draft], space: str | None, *, allow_duplicates: bool, tend: bool) -> list[Added]:
        add = partial(
            add_batch, self.store, self._space(space), drafts, self._clock(), allow_duplicates=allow_duplicates
        )
        return self._write(add, tend=tend)

    def update(self, id: str, *, space: str | None = None, keep_history: bool = False, **fields: object) -> Memory:
        """Change fields of a memory in place; with `keep_history` the old one is superseded by the new one instead."""
        if keep_history:
            return self.supersede(id, space=space, **fields)  # type: ignore[arg-type]  # content may be among them
        return self._change(id, space, replace_memory, fields)

    def supersede(self, id: str, content: str | None = None, *, space: str | None = None, **fields: object) -> Memory:
        """A new memory that takes the place of an old one. The old one leaves the default search and stays readable."""
        changes = fields if content is None else {"content": content, **fields}
        return self._change(id, space, supersede, changes)

    def _change(self, id: str, space: str | None, change: Change, fields: Mapping[str, object]) -> Memory:
        """Read a memory, change it, write it; again where another writer came between."""
        for _ in range(CHANGE_ATTEMPTS - 1):
            with suppress(ChangedMeanwhile):
                return self._change_once(id, space, change, fields)
        return self._change_once(id, space, change, fields)

    def _change_once(self, id: str, space: str | None, change: Change, fields: Mapping[str, object]) -> Memory:
        old, now = self.get(id, space=space), self._clock()
        return self._write(lambda filling: change(self.store, old, fields, now, filling), tend=True)

    def forget(self, *ids: str, space: str | None = None) -> Receipt:
        """Delete memories for good, from every index; the receipt says what went from where."""
        return forget(self.store, self._space(space), ids, self._clock())

    def used(self, *ids: str, space: str | None = None) -> None:
        """Note that memories were of use: the usage prior, where it is on, counts it."""
        with self.store.writing(self._space(space)) as writer:
            for memory in writer.get(ids).values():
                writer.amend(replace(memory, uses=memory.uses + 1))

    # Reading

    def get(self, id: str, *, space: str | None = None) -> Memory:
        """The memory with this id; `NotFound` where there is none."""
        key = Key(self._space(space), id)
        found = self.store.get([key]).get(key)
        if found is None:
            raise NotFound(f"no memory {id!r} in space {key.space!r}; `trivium list` shows what is there")
        return found

    def history(self, id: str, *, space: str | None = None) -> list[Memory]:
        """The memory with all that it superseded and was superseded by, oldest first."""
        line = [self.get(id, space=space)]
        while line[0].supersedes and (older := self._linked(line[0], line[0].supersedes)):
            line.insert(0, older)
        while line[-1].superseded_by and (newer := self._linked(line[-1], line[-1].superseded_by)):
            line.append(newer)
        return line

    def _linked(self, memory: Memory, id: str) -> Memory | None:
        key = Key(memory.space, id)
        return self.store.get([key]).get(key)

    def list(
        self, where: Filter | str = EVERYTHING, *, space: str | None = None, order: Order = "created",
        newest_first: bool = True, limit: int | None = 20, offset: int = 0, include_superseded: bool = False,
    ) -> list[Memory]:  # fmt: skip
        """Memories that match a filter, newest first."""
        found = self.scan(
            where, space=space, order=order, newest_first=newest_first, limit=limit, offset=offset,
            include_superseded=include_superseded,
        )  # fmt: skip
        return [*found]

    def scan(
        self, where: Filter | str = EVERYTHING, *, space: str | None = None, order: Order = "created",
        newest_first: bool = False, limit: int | None = None, offset: int = 0, include_superseded: bool = True,
    ) -> Iterator[Memory]:  # fmt: skip
        """All memories of a space that match, one by one."""
        _check_page(order, limit, offset)
        standing = () if include_superseded else (Eq("superseded", False),)
        wanted = all_of((*standing, self._filter(where)))
        return self.store.scan(
            [self._space(space)], wanted, order=order, newest_first=newest_first, limit=limit, offset=offset
        )

    def search(self, query: str | Query = "", **options: Unpack[SearchOptions]) -> Results:
        """Find memories by words and by meaning. See `SearchOptions` for what can be asked."""
        plan = self._plan(query, options)
        self._refuse_unknown_kinds(plan)
        return self._with_tools(plan, lambda tools: search(self.store, plan, tools, self._clock()))

    def why_not(self, query: str | Query, id: str, **options: Unpack[SearchOptions]) -> WhyNot:
        """Run the search again and name the stage that lost this memory, or its place."""
        plan = self._plan(query, options)
        space = plan.query.spaces[0]
        for name in (*plan.query.spaces, *(facts.name for facts in self.store.spaces())):
            if self.store.get([Key(name, id)]):
                space = name
                break
        from trivium.search.why import why_not  # here and below: what few calls need is imported when it is needed

        key = Key(space, id)
        return self._with_tools(plan, lambda tools: why_not(self.store, plan, tools, key, self._clock()))

    def similar(self, target: str | npt.ArrayLike, *, space: str | None = None, limit: int = 10) -> Results:
        """Memories that mean nearly the same as the memory with this id, itself left out, or as this vector."""
        if not isinstance(target, str):
            return self.search(vector=target, legs=("dense",), limit=limit, space=space)
        memory = self.get(target, space=space)
        vectors = self.store.vectors(memory.key, self._epochs.serving().fingerprint)
        if not vectors:
            why = "it is sensitive" if memory.sensitive else "it has no vector yet; run `trivium reembed`"
            raise InvalidInput(f"id: {target!r} cannot be compared by meaning: {why}")
        others = Not(Eq("id", target))
        return self.search(
            vector=np.mean(vectors, axis=0), legs=("dense",), limit=limit, space=memory.space, where=others
        )

    # Spaces

    def spaces(self) -> tuple[SpaceFacts, ...]:
        """Every space of the store with its sizes."""
        return self.store.spaces()

    def space_settings(self, space: str | None = None) -> SpaceSettings:
        """A space's language, the languages of its records, and its search settings."""
        return self.store.space_settings(self._space(space))

    def set_space(
        self, space: str | None = None, *, language: str | None = None, settings: Mapping[str, Json] | None = None
    ) -> None:
        """Set a space's language (empty: each record speaks for itself) and its search settings."""
        if language:
            language = resolve_language(language)
        if settings is not None:
            defaults_for(self._defaults, settings)  # refuse what a search could not use
        with self.store.writing(self._space(space)) as writer:
            writer.set_space(language=language, settings=settings)

    # Carrying over: see transfer.py

    def import_lines(
        self, lines: Iterable[Line], *, replace_known: bool = False, progress: Callable[[int], None] | None = None
    ) -> Imported:
        """Store what `export_lines` wrote, ids, times and links included."""
        from trivium.transfer import import_lines

        self._check_analyzer()
        now = self._clock()
        # Not tried again if the epochs flip meanwhile, as other writes are: the lines come only once.
        done, waits = _filled(
            self._epochs.serving(),
            lambda filling: import_lines(
                self.store, lines, self.default_space, now, filling, replace_known=replace_known, progress=progress
            ),
        )
        if waits:
            self._worker.wake()
        return done

    # Upkeep: see upkeep.py

    def reembed(self, progress: Progress | None = None) -> Reembedded:
        """Give every memory a vector of the embedder this store was opened with; then let those serve."""
        return self.upkeep.reembed(progress)

    def health(self) -> Health:
        """What is wrong, the command that mends it, and the live recall of the dense leg."""
        return self.upkeep.health()

    def wait_for_vectors(self, timeout_s: float = 60.0) -> bool:
        """True once the background worker has embedded what waits, or has given up for now."""
        return self._worker.wait(timeout_s)

    # Inside

    def _space(self, space: str | None) -> str:
        return self.default_space if space is None else space_name(space)

    def _filter(self, where: Filter | str) -> Filter:
        if not isinstance(where, str):
            return where
        from trivium.where import parse_where

        return parse_where(where, now=self._clock())

    def _plan(self, query: str | Query, options: SearchOptions) -> Plan:
        asked = query if isinstance(query, Query) else query_of(query, options, self.default_space, self._clock())
        settings = self.store.space_settings(asked.spaces[0]).settings
        return make_plan(asked, defaults_for(self._defaults, settings) if settings else self._defaults)

    def _refuse_unknown_kinds(self, plan: Plan) -> None:
        asked = _kinds_asked(plan.query.where)
        if asked <= set(BUILT_IN_KINDS):
            return
        known = self.store.kinds(plan.query.spaces)
        for kind in sorted(asked - set(BUILT_IN_KINDS) - set(known)):
            here = ", ".join(known) or "none yet"
            raise UnknownKind(f"kind: no memory here is a {kind!r}; kinds here: {here}")

    def _with_tools(self, plan: Plan, work: Callable[[Tools], Done]) -> Done:
        """Ask with the epoch that serves; a search by words alone loads no model."""
        if "dense" not in plan.legs:
            return work(Tools(Serving(), self._reranker))
        return self._epochs.with_serving(lambda serving: work(Tools(serving, self._reranker)))

    def _write(self, work: Callable[[Filling | None], Done], *, tend: bool) -> Done:
        """Write with what embeds at once; nothing where the embedder is slow or missing: rows then wait, marked."""
        self._check_analyzer()
        done, waits = self._epochs.with_serving(lambda serving: _filled(serving, work))
        if waits:
            self._worker.wake()
        if tend:
            self._tend()
        return done

    def _slow_filling(self) -> Filling | None:
        serving = self._epochs.serving()
        return None if serving.embedder is None else Filling(serving.fingerprint, serving.embedder)

    def _tend(self, *, after_bulk: bool = False) -> None:
        """Upkeep after a write that is safe already: no room for it must not make the write look failed."""
        with suppress(StoreFull, StoreBusy):
            self.store.tend(after_bulk=after_bulk)

    def _check_analyzer(self) -> None:
        """A store indexed by another analyzer must be indexed again before it is added to."""
        stored = self.store.analyzer_version()
        if not stored:
            self.store.set_analyzer_version(ANALYZER_VERSION)
        elif stored != ANALYZER_VERSION:
            raise InvalidInput(
                f"store: indexed by analyzer {stored}, this Trivium has {ANALYZER_VERSION}; run `trivium reindex`"
            )


def _filled(serving: Serving, work: Callable[[Filling | None], Done]) -> tuple[Done, bool]:
    """What the work gave, and whether vectors are still to be made for it."""
    if serving.embedder is None or serving.embedder.remote:
        return work(None), True
    return work(Filling(serving.fingerprint, serving.embedder)), False


def _check_page(order: str, limit: int | None, offset: int) -> None:
    if order not in get_args(Order):
        raise InvalidInput(f"order: unknown {order!r}; known: {', '.join(get_args(Order))}")
    if limit is not None and limit < 0:
        raise InvalidInput(f"limit: {limit} is below 0; leave it out for all")
    if offset < 0:
        raise InvalidInput(f"offset: {offset} is below 0")


def _kinds_asked(where: Filter) -> set[str]:
    """The kinds that a filter asks for outright."""
    asked: set[str] = set()
    for clause in conjuncts(where):
        if isinstance(clause, Eq) and clause.field == "kind":
            asked.add(str(clause.value))
        elif isinstance(clause, In) and clause.field == "kind":
            asked.update(str(value) for value in clause.values)
    return asked
