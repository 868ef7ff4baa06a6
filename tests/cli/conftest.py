"""Running the command line in this process, in a folder that knows no settings of this machine."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path

import pytest
from tests.cli.running import SOURCE, Ran, Run

from trivium.interfaces.cli.main import main


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in that knows no settings of this machine; words only, since most tests need no vectors."""
    for name in [name for name in os.environ if name.startswith("TRIVIUM_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PYTHONPATH", SOURCE)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("TRIVIUM_DB", str(tmp_path / "m.db"))
    monkeypatch.setenv("TRIVIUM_EMBEDDER", "none")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def trivium(home: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command line in this process."""
    assert home.is_dir()

    def run(*args: str, stdin: bytes = b"") -> Ran:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        capfd.readouterr()
        code = main(args)
        out, err = capfd.readouterr()
        return Ran(code, out, err)

    return run
