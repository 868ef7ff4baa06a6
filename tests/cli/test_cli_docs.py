"""The page says what the command line does: every command, every flag, every example."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from tests.cli.running import SOURCE

from trivium.interfaces.cli.main import EXIT_CODES, INTERRUPTED, ROOMS, command_line, error_code

PAGE = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
ROOT: Any = typer.main.get_command(command_line())


def commands(group: Any = ROOT, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield path, group
    for name, command in getattr(group, "commands", {}).items():
        yield from commands(command, (*path, name))


COMMANDS = dict(commands())


def test_every_command_is_in_the_room_that_is_named_for_it() -> None:
    assert sorted(ROOT.commands) == sorted(name for names in ROOMS.values() for name in names)
    for names in ROOMS.values():
        assert sorted(typer.main.get_command(command_line(names)).commands) == sorted(names)  # type: ignore[attr-defined]


@pytest.mark.parametrize("path", [path for path in COMMANDS if path], ids=" ".join)
def test_every_command_and_flag_is_on_the_page(path: tuple[str, ...]) -> None:
    assert f"`trivium {' '.join(path)}" in PAGE
    for option in [one for one in COMMANDS[path].params if one.opts[0].startswith("-")]:
        for name in (*option.opts, *option.secondary_opts):
            assert re.search(rf"`{re.escape(name)}[` ]", PAGE), name


def test_every_flag_on_the_page_exists() -> None:
    known = {
        name for command in COMMANDS.values() for one in command.params for name in (*one.opts, *one.secondary_opts)
    }
    assert set(re.findall(r"`(--[a-z-]+)", PAGE)) <= known | {"--help"}


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_command_has_an_example_in_its_help(path: tuple[str, ...]) -> None:
    shown = COMMANDS[path].epilog
    assert "Example" in shown
    assert f"trivium {' '.join(path)}".strip() in shown
    assert path == () or COMMANDS[path].help


def test_every_exit_code_and_error_is_on_the_page() -> None:
    for code in {0, 1, INTERRUPTED} | {code for _, code in EXIT_CODES}:
        assert f"\n| {code} | " in PAGE
    for kind, _ in EXIT_CODES:
        for each in (kind, *kind.__subclasses__()):
            if each.__module__ == "trivium.errors":
                assert f"`{error_code(each.__new__(each))}`" in PAGE


def test_the_examples_of_the_page_run(tmp_path: Path) -> None:
    shim = tmp_path / "bin" / "trivium"
    shim.parent.mkdir()
    shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m trivium "$@"\n', encoding="utf-8")
    shim.chmod(0o755)
    folder = tmp_path / "work"
    folder.mkdir()
    script = "set -euo pipefail\n" + "\n".join(re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL))
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TRIVIUM_")}
    environment |= {
        "PATH": f"{shim.parent}{os.pathsep}{environment['PATH']}",
        "PYTHONPATH": SOURCE,
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "XDG_DATA_HOME": str(tmp_path / "data"),
    }
    done = subprocess.run(
        ["bash", "-c", script], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr.replace("stored 2, already there 0\n", "")) == (0, "")
    assert "Ada moved to Lisbon" in done.stdout
    assert not (tmp_path / "data").exists()
    assert not (tmp_path / "config").exists()
