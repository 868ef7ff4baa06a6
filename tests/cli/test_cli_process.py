"""What only shows in a process of its own: streams, signals, terminals, what is imported."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.running import Run, spawn

LIGHT = """
import sys
from trivium.interfaces.cli.main import main
code = main(sys.argv[1:])
heavy = [name for name in ("numpy", "sqlite3", "trivium.engine", "rich", "platformdirs") if name in sys.modules]
sys.exit(f"imported {heavy}" if heavy else code)
"""


@pytest.mark.parametrize("args", [["--help"], ["--version"], ["search", "--help"], ["config", "set", "--help"]])
def test_asking_for_help_imports_nothing_heavy(args: list[str]) -> None:
    done = subprocess.run([sys.executable, "-c", LIGHT, *args], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "trivium" in done.stdout


def test_streams_and_exit_codes_of_a_process(home: Path) -> None:
    with spawn("add", "one text") as adding:
        out, err = adding.communicate()
    assert (adding.returncode, len(out.split()), err) == (0, 1, b"")
    with spawn("show", "nope") as showing:
        out, err = showing.communicate()
    assert (showing.returncode, out) == (3, b"")
    assert err.startswith(b"error: no memory 'nope'")
    assert home.joinpath("m.db").exists()


def test_a_closed_pipe_ends_quietly(trivium: Run) -> None:
    lines = b"".join(b'{"content": "%d %s"}\n' % (number, b"word " * 300) for number in range(300))
    trivium("add", "--jsonl", "-", stdin=lines)
    for args in (["list", "--limit", "300"], ["export"]):
        with spawn(*args) as writing:
            assert writing.stdout is not None
            assert writing.stderr is not None
            writing.stdout.readline()
            writing.stdout.close()
            assert writing.stderr.read() == b""
            assert writing.wait() == 0


def test_an_interrupt_ends_with_130_and_a_clean_store(trivium: Run) -> None:
    with spawn("import", "-") as importing:
        assert importing.stdin is not None
        for number in range(600):  # one whole batch of 512, and part of another that never ends
            importing.stdin.write(b'{"id": "n%d", "content": "text %d"}\n' % (number, number))
        importing.stdin.flush()
        while trivium("stats", "--json").out.find('"memories": 512') < 0:
            assert importing.poll() is None
        importing.send_signal(signal.SIGINT)
        out, err = importing.communicate()
    assert (importing.returncode, out) == (130, b"")
    assert b"Traceback" not in err
    assert trivium("stats", "--json").json["memories"] == 512
    assert trivium("verify").code == 0


def on_terminal(*args: str, typed: bytes = b"", **environment: str) -> tuple[int, str]:
    """Run on a pseudo-terminal: the exit code and all that was shown."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update({"TERM": "xterm", "COLUMNS": "120", **environment})
        os.execv(sys.executable, [sys.executable, "-m", "trivium", *args])
    os.write(terminal, typed)
    shown = b""
    while True:
        try:
            piece = os.read(terminal, 65_536)
        except OSError:  # the other side is gone
            break
        if not piece:
            break
        shown += piece
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), shown.decode()


def test_colours_and_marks_on_a_terminal_only(trivium: Run) -> None:
    trivium("add", "The deploy failed")
    code, shown = on_terminal("search", "deploys")
    assert code == 0
    assert "\x1b[1;4mdeploy\x1b[0m" in shown  # the matched word, though another form of it was asked for
    _, plain = on_terminal("search", "deploys", NO_COLOR="1")
    assert "\x1b[3" not in plain
    assert "\x1b" not in trivium("search", "deploys").out


def test_forget_asks_on_a_terminal(trivium: Run) -> None:
    trivium("add", "keep me", "--id", "k")
    code, shown = on_terminal("forget", "k", typed=b"n\n")
    assert code == 2
    assert "Forget 1 for good?" in shown
    assert trivium("show", "k").code == 0
    assert on_terminal("forget", "k", typed=b"y\n")[0] == 0
    assert trivium("show", "k").code == 3


def test_edit_opens_the_editor_on_a_terminal(trivium: Run, home: Path) -> None:
    trivium("add", "old text", "--id", "e")
    editor = home / "editor.sh"
    editor.write_text('#!/bin/sh\nsed -i s/old/new/ "$1"\n', encoding="utf-8")
    editor.chmod(0o755)
    assert on_terminal("edit", "e", EDITOR=str(editor), VISUAL="")[0] == 0
    assert trivium("show", "e", "--json").json["memories"][0]["content"] == "new text"
    assert on_terminal("edit", "e", EDITOR="false", VISUAL="")[0] == 2


def test_a_filter_error_points_at_its_place_on_a_terminal(trivium: Run) -> None:
    trivium("add", "x")
    code, shown = on_terminal("list", "--where", "kind = = note")
    assert code == 2
    assert shown.rstrip().endswith("^")


def test_a_bar_shows_progress_on_a_terminal(trivium: Run, home: Path) -> None:
    trivium("add", "x")
    (home / "many.jsonl").write_text('{"content": "a"}\n{"content": "b"}\n', encoding="utf-8")
    code, shown = on_terminal("add", "--jsonl", "many.jsonl")
    assert code == 0
    assert "storing" in shown
