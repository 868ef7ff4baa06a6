"""One command's work with a memory: the settings in effect, the memory they name, and where the answer goes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from trivium.errors import InvalidInput, StoreError
from trivium.interfaces.cli.flags import Common
from trivium.interfaces.cli.output import Shown, print_result
from trivium.settings import MEMORY, NO_EMBEDDER, Settings, read_settings

if TYPE_CHECKING:
    from trivium.engine import Trivium
    from trivium.models.embed import Embedder
    from trivium.record import Json


@dataclass(frozen=True, slots=True)
class Session:
    """What a command works with."""

    memory: Trivium
    common: Common

    def answer(self, payload: Mapping[str, Json], shown: Callable[[], Iterable[Shown]]) -> None:
        print_result(payload, shown, as_json=self.common.json)


def settings_for(common: Common) -> Settings:
    flags = {"db": common.db, "space": common.space[-1] if common.space else None, "embedder": common.embedder}
    return read_settings(flags, os.environ, Path.cwd(), common.config)


def merged(ctx: typer.Context, common: Common) -> Common:
    """The flags after the command's name over those before it."""
    return common.over(ctx.obj if isinstance(ctx.obj, Common) else None)


@contextmanager
def session(ctx: typer.Context, common: Common, *, makes: bool = False, many: bool = False) -> Iterator[Session]:
    """Open the memory, and close it whatever happens. Only a command that `makes` may begin a new store: a mistyped
    name must not look like an empty memory. Only one that reads `many` spaces may be given several."""
    flags = merged(ctx, common)
    settings = settings_for(flags)
    if len(flags.space) > 1 and not many:
        raise InvalidInput("space: this command works in one space; give --space once")
    defaults = settings.defaults()
    from trivium.engine import open as open_memory

    target = None if settings.db.value is None else str(settings.db.value)
    if not makes:
        _refuse_missing(store_file(settings))
    space, embedder = str(settings.space.value), _embedder(settings)
    index = str(settings.dense_index.value)
    with open_memory(target, space=space, embedder=embedder, defaults=defaults, dense_index=index) as memory:
        yield Session(memory, flags)


def store_file(settings: Settings) -> Path | None:
    """The file of the store in effect, None where it is not a file."""
    from trivium.store.opening import default_path

    target = settings.db.value
    if target is None:
        return default_path()
    name = str(target)
    return None if name == MEMORY or "://" in name else Path(name).expanduser()


def _embedder(settings: Settings) -> Embedder | str | None:
    """What makes vectors. One that was asked for by name and does not exist here is an error, not a search by words;
    the default is left to be loaded when it is needed."""
    from trivium.models.loading import DEFAULT_SPEC, load_embedder

    spec = str(settings.embedder.value)
    if spec in (NO_EMBEDDER, DEFAULT_SPEC):
        return None if spec == NO_EMBEDDER else spec
    return load_embedder(spec)


def _refuse_missing(file: Path | None) -> None:
    if file is not None and not file.exists():
        raise StoreError(f"there is no memory at {file}; `trivium add` begins one, --db names another")
