"""What the killed processes do. Each tells its parent what it is about to do and what was acknowledged."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Callable
from functools import wraps
from multiprocessing.connection import Connection
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, NamedTuple

from tests.models.hashing import HashEmbedder

import trivium
from trivium.store.sqlite import segments, vectors

OLD, NEW = 32, 48  # dimensions of the embedder before and after a re-embedding
BATCH = 16


class Word(NamedTuple):
    """`state` is trying, there or gone; `word` is one that only this memory has."""

    state: str
    id: str
    word: str = ""


def make_small() -> None:
    """Flush, merge and write caches all the time, so that a kill may strike in the middle of each."""
    segments.DELTA_LIMIT = 24
    vectors.TAIL_LIMIT, vectors.CACHE_LEAST = 16, 64


def write_all_day(path: Path, seed: int, parent: Connection) -> None:
    """Add, add many, go on with threads, update, supersede and forget until killed."""
    make_small()
    chance = random.Random(seed)
    with trivium.open(path, embedder=HashEmbedder(OLD)) as t:
        mine: list[str] = []
        for number in range(1_000_000):
            name = f"r{seed}n{number}"
            do = chance.choices([_add, _add_many, _talk, _update, _forget], [4, 1, 3, 2, 1])[0]
            if mine or do not in (_update, _forget):
                do(t, name, mine, parent, chance)


def _text(name: str) -> str:
    return f"unique{name} and some words that all of them have in common"


def _add(t: trivium.Trivium, name: str, mine: list[str], parent: Connection, _: random.Random) -> None:
    mine.append(t.add(_text(name), id=name).id)
    parent.send(Word("there", name, f"unique{name}"))


def _add_many(t: trivium.Trivium, name: str, mine: list[str], parent: Connection, _: random.Random) -> None:
    names = [f"{name}b{part}" for part in range(BATCH)]
    t.add_many([{"content": _text(each), "id": each, "tags": [f"batch-{name}"]} for each in names])
    for each in names:
        mine.append(each)
        parent.send(Word("there", each, f"unique{each}"))


def _talk(t: trivium.Trivium, name: str, mine: list[str], parent: Connection, chance: random.Random) -> None:
    t.add(_text(name), id=name, thread=f"talk{chance.randrange(3)}")
    mine.append(name)
    parent.send(Word("there", name, f"unique{name}"))


def _update(t: trivium.Trivium, name: str, mine: list[str], parent: Connection, chance: random.Random) -> None:
    id = chance.choice(mine)
    parent.send(Word("trying", id))
    t.update(id, content=_text(name))
    parent.send(Word("there", id, f"unique{name}"))


def _forget(t: trivium.Trivium, _: str, mine: list[str], parent: Connection, chance: random.Random) -> None:
    id = mine.pop(chance.randrange(len(mine)))
    parent.send(Word("trying", id))
    t.forget(id)
    parent.send(Word("gone", id))


def deadly(point: str, *, after: bool, calls: int) -> None:
    """Let this process die before or after a call of a function of the store: `module:name` or `module:Class.name`."""
    place, _, name = f"trivium.store.sqlite.{point}".replace(":", ".").rpartition(".")
    owner = resolve_name(place)
    function: Callable[..., Any] = getattr(owner, name)
    left = calls

    @wraps(function)
    def dies(*args: Any, **options: Any) -> Any:
        nonlocal left
        left -= 1
        if left == 0 and not after:
            os.kill(os.getpid(), signal.SIGKILL)
        found = function(*args, **options)
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return found

    setattr(owner, name, dies)


def write_until_deadly(path: Path, point: str, after: bool, parent: Connection) -> None:
    """The same day, but it ends at one point of the code."""
    deadly(point, after=after, calls=2)
    write_all_day(path, 7, parent)


def reembed_and_die(path: Path, at: int) -> None:
    """Begin to re-embed and die once so many memories are done."""

    def progress(done: int, _total: int) -> None:
        if done >= at:
            os.kill(os.getpid(), signal.SIGKILL)

    with trivium.open(path, embedder=HashEmbedder(NEW)) as t:
        t.reembed(progress)


def reembed_and_die_at(path: Path, point: str, after: bool) -> None:
    deadly(point, after=after, calls=1)
    with trivium.open(path, embedder=HashEmbedder(NEW)) as t:
        t.reembed()
