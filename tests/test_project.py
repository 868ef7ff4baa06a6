"""The project keeps its own rules: public names are explained, extras exist, files stay short."""

from __future__ import annotations

import ast
import inspect
import re
import sys
import tomllib
from pathlib import Path

import pytest

import trivium

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
LONGEST_FILE = 450  # lines
METHODS = sorted(name for name in vars(trivium.Trivium) if not name.startswith("_"))


@pytest.mark.parametrize("name", sorted(trivium.__all__))
def test_public_names_are_explained(name: str) -> None:
    value = getattr(trivium, name)
    said = inspect.getdoc(value) or ""
    assert len(said) > 10
    assert not said.startswith(f"{name}("), "a dataclass without a docstring shows only its signature"


@pytest.mark.parametrize("name", METHODS)
def test_methods_are_explained(name: str) -> None:
    assert inspect.getdoc(getattr(trivium.Trivium, name))


def test_extras_named_in_errors_can_be_installed() -> None:
    named = {extra for path in SOURCES for extra in re.findall(r'MissingExtra\([^)]*"([\w-]+)"\)', path.read_text())}
    assert named
    assert named <= set(PROJECT["optional-dependencies"])


def test_the_version_is_one() -> None:
    assert PROJECT["version"] == trivium.__version__
    assert f"## [{trivium.__version__}]" in (ROOT / "CHANGELOG.md").read_text()


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT / "src")))
def test_files_stay_short(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= LONGEST_FILE


def _imports(path: Path) -> set[str]:
    nodes = list(ast.walk(ast.parse(path.read_text())))
    whole = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    parts = {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    return {name.split(".", 1)[0] for name in whole | parts}


def test_every_import_of_others_is_a_dependency() -> None:
    """What the source imports beyond the standard library and its extras is named in pyproject.toml."""
    wanted = {re.split(r"[<>=\[ ]", line)[0].lower() for line in _requirements()}
    provided_by = {"stemmer": "pystemmer", "sentence_transformers": "sentence-transformers"}
    imported = {top for path in SOURCES for top in _imports(path)} - sys.stdlib_module_names - {"trivium", "_typeshed"}
    assert {provided_by.get(name.lower(), name.lower()) for name in imported} <= wanted


def _requirements() -> list[str]:
    extras = PROJECT["optional-dependencies"].values()
    return [*PROJECT["dependencies"], *(line for extra in extras for line in extra)]
