from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from tests.cli.running import Run

from trivium.errors import InvalidInput
from trivium.settings import read_settings
from trivium.settings_edit import with_key


def test_file_then_environment_then_flags(tmp_path: Path) -> None:
    (tmp_path / "trivium.toml").write_text('db = "notes.db"\nspace = "file"\nembedder = "none"\n', encoding="utf-8")
    found = read_settings({"space": "flag"}, {"TRIVIUM_SPACE": "env", "TRIVIUM_EMBEDDER": "static"}, tmp_path)
    assert (found.db.value, found.db.source) == (str(tmp_path / "notes.db"), str(tmp_path / "trivium.toml"))
    assert (found.embedder.value, found.embedder.source) == ("static", "TRIVIUM_EMBEDDER")
    assert (found.space.value, found.space.source) == ("flag", "--space")
    assert (found.search.value, found.search.source) == ({}, "default")


def test_the_first_file_found_is_read(home: Path) -> None:
    own = home / "config" / "trivium" / "trivium.toml"
    own.parent.mkdir(parents=True)
    own.write_text('space = "user"', encoding="utf-8")
    (home / "named.toml").write_text('space = "named"\ndb = "memory:"', encoding="utf-8")
    assert read_settings({}, {}, home).space.value == "user"
    (home / "trivium.toml").write_text('space = "here"', encoding="utf-8")
    assert read_settings({}, {}, home).space.value == "here"
    assert read_settings({}, {"TRIVIUM_CONFIG": str(home / "named.toml")}, home).space.value == "named"
    assert read_settings({}, {}, home, home / "named.toml").db.value == "memory:"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('spaces = "x"', "spaces: is not a setting; did you mean 'space'?"),
        ("db = 5", "db: 5 is not a text"),
        ('space = ""', "space: '' is not a text"),
        ("search = 1", "search: is not a table"),
        ("db = ", "is not TOML"),
        ('[search]\nfusoin = "rrf"', "search: unknown 'fusoin'; did you mean 'fusion'?"),
        ('[search]\nfusion = "best"', "search.fusion: unknown 'best'"),
        ("[search.weights]\nlexical = -1", "search.weights.lexical: -1 is not a number"),
        ("[search.bm25]\nk2 = 1", "search.bm25: unknown 'k2'"),
    ],
)
def test_errors_name_the_file_and_the_key(trivium: Run, home: Path, text: str, said: str) -> None:
    (home / "trivium.toml").write_text(text, encoding="utf-8")
    ran = trivium("config")
    assert ran.code == 2
    assert str(home / "trivium.toml") in ran.err
    assert said in ran.err


def test_settings_reach_the_search(trivium: Run, home: Path) -> None:
    trivium("add", "a word")
    text = '[search]\nfusion = "rrf"\nk = 9\n[search.weights]\nlexical = 0.25'
    (home / "trivium.toml").write_text(text, encoding="utf-8")
    answer = trivium("search", "word", "--json").json
    assert (answer["method"], answer["weights"]["lexical"]) == ("rrf", 0.25)
    assert trivium("search", "word", "--fusion", "linear", "--json").json["method"] == "linear"


def test_config_shows_values_and_their_sources(trivium: Run, home: Path) -> None:
    shown = trivium("config", "--space", "mine", "--json").json
    assert shown["settings"]["db"] == {"value": str(home / "m.db"), "source": "TRIVIUM_DB"}
    assert shown["settings"]["space"] == {"value": "mine", "source": "--space"}
    assert shown["found"] is False
    assert "TRIVIUM_EMBEDDER" in trivium("config").out
    assert trivium("config", "--config", "missing.toml").code == 2


def test_config_set_writes_the_file_in_effect(trivium: Run, home: Path) -> None:
    where = trivium("config", "path").out.strip()
    assert where == str(home / "config" / "trivium" / "trivium.toml")
    assert trivium("config", "set", "space", "work").code == 0
    assert trivium("config", "set", "search.kind_weights.movie.dense", "0.8").code == 0
    assert tomllib.loads(Path(where).read_text(encoding="utf-8")) == {
        "space": "work",
        "search": {"kind_weights": {"movie": {"dense": 0.8}}},
    }
    assert trivium("config", "path", "--json").json == {"ok": True, "file": where, "found": True}
    for key, value in (
        ("spice", "x"),
        ("search.fusion", "best"),
        ("space", ""),
        ("search", "5"),
        ("search.weights", "{}"),
    ):
        before = Path(where).read_text(encoding="utf-8")
        assert trivium("config", "set", key, value).code == 2
        assert Path(where).read_text(encoding="utf-8") == before
    assert trivium("--config", "new.toml", "config", "set", "space", "2014").code == 0
    assert (home / "new.toml").read_text(encoding="utf-8") == 'space = "2014"\n'


def test_setting_a_key_leaves_the_rest_of_the_file_alone() -> None:
    text = '# mine\nspace = "a"  # old\n\n[search] # how\nk = 60\n\n[search.weights]\ndense = 1\n'
    changed = with_key(text, ["search", "fusion"], "rrf")
    assert (
        changed
        == '# mine\nspace = "a"  # old\n\n[search] # how\nk = 60\nfusion = "rrf"\n\n[search.weights]\ndense = 1\n'
    )
    assert 'space = "b"\n' in with_key(text, ["space"], "b")
    assert with_key("", ["search", "kind_weights", "a b", "dense"], 1.5).startswith('[search.kind_weights."a b"]\n')


def test_a_file_it_cannot_change_safely_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"search\.weights\.dense: cannot be set"):
        with_key("search = { weights = { lexical = 1 } }\n", ["search", "weights", "dense"], 2)
    with pytest.raises(InvalidInput, match="edit the file by hand"):
        with_key('space = """\na\n"""\n', ["space"], "b")


def test_the_dense_index_is_a_setting(tmp_path: Path) -> None:
    (tmp_path / "trivium.toml").write_text('dense_index = "hnsw"\n', encoding="utf-8")
    assert read_settings({}, {}, tmp_path).dense_index.value == "hnsw"
    assert read_settings({}, {"TRIVIUM_DENSE_INDEX": "codes"}, tmp_path).dense_index.source == "TRIVIUM_DENSE_INDEX"
