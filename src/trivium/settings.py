"""Settings: `trivium.toml`, then the environment, then flags; the last that speaks wins. Read only by interfaces/.

db = "notes.db"              # relative to the folder of this file; "memory:" keeps nothing
space = "work"
embedder = "static"          # "none": words only
dense_index = "codes"        # "hnsw": a graph over the vectors of large spaces
[search]                     # what a space's own settings may say as well
fusion = "rrf"
weights = { lexical = 0.7, dense = 0.3 }
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from trivium.errors import InvalidInput
from trivium.record import DEFAULT_SPACE, Json

if TYPE_CHECKING:
    from trivium.search.query import SearchDefaults

FILE_NAME = "trivium.toml"
CONFIG_VARIABLE = "TRIVIUM_CONFIG"
VARIABLES = {
    "db": "TRIVIUM_DB",
    "space": "TRIVIUM_SPACE",
    "embedder": "TRIVIUM_EMBEDDER",
    "dense_index": "TRIVIUM_DENSE_INDEX",
}
KEYS = (*VARIABLES, "search")
NO_EMBEDDER = "none"
DEFAULT_EMBEDDER = "static"
DEFAULT_DENSE_INDEX = "codes"
MEMORY = "memory:"


@dataclass(frozen=True, slots=True)
class Setting:
    """A value in effect, and who said so."""

    value: Json
    source: str


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings in effect. `file` is the one that was read, None where there is none."""

    db: Setting
    space: Setting
    embedder: Setting
    dense_index: Setting
    search: Setting
    file: Path | None

    def defaults(self) -> SearchDefaults:
        """The [search] table, checked. An error names the file and the key."""
        from trivium.search.query import SearchDefaults, defaults_for

        try:
            return defaults_for(SearchDefaults(), {"search": self.search.value})
        except InvalidInput as error:
            raise InvalidInput(f"{self.search.source}: {error}") from error


def read_settings(
    flags: Mapping[str, str | None], environment: Mapping[str, str], folder: Path, config: Path | None = None
) -> Settings:
    """What holds for a command run in `folder`. `config` names the file to read and must exist; else the first found
    of `trivium.toml` in the folder and in the user's config folder."""
    file = find_file(environment, folder, config)
    written = {} if file is None else read_file(file)
    found = {
        "db": Setting(None, "default"),
        "space": Setting(DEFAULT_SPACE, "default"),
        "embedder": Setting(DEFAULT_EMBEDDER, "default"),
        "dense_index": Setting(DEFAULT_DENSE_INDEX, "default"),
        "search": Setting({}, "default"),
    }
    for key, value in written.items():
        found[key] = Setting(value, str(file))
    for key, variable in VARIABLES.items():
        if environment.get(variable):
            found[key] = Setting(environment[variable], variable)
        given = flags.get(key)
        if given is not None:
            found[key] = Setting(given, f"--{key}")
    return Settings(**found, file=file)


def find_file(environment: Mapping[str, str], folder: Path, config: Path | None) -> Path | None:
    """The settings file that holds, None where there is none."""
    named = config or (Path(environment[CONFIG_VARIABLE]) if environment.get(CONFIG_VARIABLE) else None)
    if named is not None:
        if not named.is_file():
            raise InvalidInput(f"config: {named} is not a file; `trivium config path` shows where settings are sought")
        return named
    return next((path for path in (folder / FILE_NAME, user_file()) if path.is_file()), None)


def user_file() -> Path:
    """Where the user's own settings live."""
    from platformdirs import user_config_path

    return user_config_path("trivium", appauthor=False) / FILE_NAME


def read_file(path: Path) -> dict[str, Json]:
    """The checked content of a settings file; `db` is made absolute, since it is relative to the file."""
    try:
        written: dict[str, Json] = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidInput(f"config: {path} cannot be read ({error.strerror})") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path}: is not TOML ({error})") from error
    try:
        checked(written)
    except InvalidInput as error:
        raise InvalidInput(f"{path}: {error}") from error
    db = written.get("db")
    if isinstance(db, str) and db != MEMORY and "://" not in db:
        written["db"] = str(path.absolute().parent / Path(db).expanduser())
    return written


def checked(written: Mapping[str, Json]) -> None:
    """Raise where a key is unknown or its value is of the wrong type. The [search] table is checked by its users."""
    for key, value in written.items():
        if key not in KEYS:
            near = difflib.get_close_matches(key, KEYS, n=1)
            hint = f" did you mean {near[0]!r}?" if near else ""
            raise InvalidInput(f"{key}: is not a setting;{hint} known: {', '.join(KEYS)}")
        if key == "search" and not isinstance(value, dict):
            raise InvalidInput("search: is not a table; write [search] and its keys below it")
        if key != "search" and (not isinstance(value, str) or not value.strip()):
            raise InvalidInput(f"{key}: {value!r} is not a text")
