"""What the documents show is what happens: their Python blocks and their commands are run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
CLAIM = re.compile(r"^(?P<expression>\S.*?)  # → (?P<wanted>.*)$", re.MULTILINE)
LINK = re.compile(r"\]\((?!https?:)([^)#]+)")


def blocks(document: Path, language: str) -> list[str]:
    return [text for found, text in BLOCK.findall(document.read_text()) if found == language]


def with_claims_checked(source: str) -> str:
    """`expression  # → wanted` becomes a call that compares; line numbers stay."""
    return CLAIM.sub(lambda claim: f"claim({claim['expression']}, {claim['wanted']!r})", source)


def claim(value: object, wanted: str) -> None:
    assert repr(value) == wanted


@pytest.mark.parametrize("name", ["README.md", "docs/python.md"])
def test_python_blocks_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = blocks(ROOT / name, "python")
    assert found
    names: dict[str, object] = {"claim": claim, "__name__": "document"}
    for number, block in enumerate(found, start=1):
        exec(compile(with_claims_checked(block), f"{name}, block {number}", "exec"), names)


def test_a_false_claim_is_noticed() -> None:
    with pytest.raises(AssertionError):
        exec(with_claims_checked("1 + 1  # → 3"), {"claim": claim})


def test_readme_commands_run(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    commands = [block for block in blocks(ROOT / "README.md", "sh") if block.startswith("trivium ")]
    assert commands
    for block in commands:
        done = shell(block, tmp_path)
        assert done.returncode == 0, done.stderr


def test_the_demo_tells_why(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    done = shell("sh examples/demo.sh", tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("$ trivium --db demo.db search") == 4
    assert "superseded by fact-ada-lisbon" in done.stdout


def shell(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a script with `trivium` on the path and the user's data folder inside `folder`."""
    commands = folder / "bin"
    commands.mkdir(exist_ok=True)
    trivium = commands / "trivium"
    trivium.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m trivium "$@"\n')
    trivium.chmod(0o755)
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("TRIVIUM_")},
        "PATH": f"{commands}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT / "src"),
        "HOME": str(folder),
        "XDG_DATA_HOME": str(folder / "share"),
        "XDG_CONFIG_HOME": str(folder / "config"),
    }
    return subprocess.run(
        ["sh", "-eu", "-c", script],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.mark.parametrize("document", [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))], ids=lambda d: d.name)
def test_links_lead_somewhere(document: Path) -> None:
    missing = [link for link in LINK.findall(document.read_text()) if not (document.parent / link).exists()]
    assert missing == []
