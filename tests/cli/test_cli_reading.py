from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.cli.running import Run

import trivium as library


@pytest.fixture(scope="module")
def films_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with two memories in one space and one in another, made once."""
    file = tmp_path_factory.mktemp("films") / "m.db"
    with library.open(file, embedder=None) as memory:
        tags, year = ["sci-fi"], {"year": 2014}
        memory.add("Interstellar: a crew crosses a wormhole", id="i", kind="movie", tags=tags, metadata=year)
        happened = datetime(2020, 5, 1, tzinfo=UTC)
        memory.add("The deploy failed, the disk was full", id="d", tags=["infra"], occurred_at=happened)
        memory.add("Ein Raumschiff", id="x", space="other")
    return file


@pytest.fixture
def films(trivium: Run, home: Path, films_file: Path) -> Run:
    shutil.copyfile(films_file, home / "m.db")
    return trivium


def ids(answer: dict[str, object]) -> list[str]:
    hits = answer["hits"]
    assert isinstance(hits, list)
    return [hit["memory"]["id"] for hit in hits]


def test_search_in_json_has_its_documented_shape(films: Run) -> None:
    answer = films("search", "wormhole", "--json").json
    assert answer["ok"] is True
    assert set(answer) == {
        "ok", "query", "spaces", "method", "weights", "asked_at", "epoch", "degraded", "legs", "timings", "corrections",
        "notices", "hits",
    }  # fmt: skip
    assert set(answer["hits"][0]) == {
        "rank", "score", "memory", "passage", "contributions", "factors", "rank_without", "before",
    }  # fmt: skip
    assert ids(answer) == ["i"]


def test_every_flag_of_search_reaches_the_engine(films: Run) -> None:
    def found(*flags: str, query: str = "wormhole deploy raumschiff") -> list[str]:
        return sorted(ids(films("search", query, "--json", *flags).json))

    assert found() == ["d", "i"]
    assert found("--kind", "movie") == ["i"]
    assert found("--kind", "movie", "--kind", "note") == ["d", "i"]
    assert found("--tag", "infra") == ["d"]
    assert found("--until", "2021") == ["d"]
    assert found("--since", "2021") == ["i"]
    assert found("--where", "metadata.year = 2014") == ["i"]
    assert found("--limit", "1", "--sort-by", "recency") == ["d"]
    assert found("--min-score", "1") == []
    assert found("--as-of", "2000") == []
    assert found("--space", "other") == ["x"]
    assert found("--space", "other", "--space", "default") == ["d", "i", "x"]
    assert found(query="wormhoel") == ["i"]
    assert found("--no-typos", query="wormhoel") == []
    alone = ("--legs", "lexical", "--weight", "lexical=1", "--no-importance")
    one = films("search", "wormhole", "--json", "--fusion", "rrf", "--k", "7", *alone).json
    assert [factor["name"] for factor in one["hits"][0]["factors"]] == ["scale"]
    assert (one["method"], one["hits"][0]["contributions"][0]["value"]) == ("rrf", 1 / (7 + 1))
    weighted = films("search", "wormhole", "--json", "--weight", "lexical=.7", "--weight", "dense=.3").json
    assert weighted["weights"] == {"lexical": 0.7, "dense": 0.3}
    faded = films("search", "deploy", "--json", "--recency-half-life", "10", "--usage-weight", "0.5").json
    assert {factor["name"] for factor in faded["hits"][0]["factors"]} >= {"recency", "usage"}
    films("supersede", "i", "A film about a wormhole")
    assert "i" not in found("--tag", "sci-fi")
    assert "i" in found("--tag", "sci-fi", "--include-superseded")
    assert films("search", "wormhole", "--candidates", "0").code == 2


def test_people_see_text_kind_tags_age_and_id(films: Run) -> None:
    ran = films("search", "deploi failed", "--tag", "infra")
    assert "searched deploy for deploi" in ran.out
    assert "The deploy failed, the disk was full" in ran.out
    assert "note · #infra · just now · d" in ran.out
    assert "dense" in ran.out  # no embedder is set, and that is said
    assert "\x1b" not in ran.out


def test_explain_shows_the_sum(films: Run) -> None:
    assert "lexical #1 (bm25" in films("search", "wormhole", "--explain").out


def test_an_empty_answer_says_why_and_what_to_do(films: Run) -> None:
    nothing = films("search", "zebra", "--legs", "lexical")
    assert nothing.code == 0
    assert "nothing found in default (2 memories)" in nothing.out
    assert "no memory has zebra" in nothing.out
    assert "trivium why" in nothing.out
    assert "spaces with memories: default, other" in films("search", "zebra", "--space", "empty").out


@pytest.mark.parametrize(
    ("args", "code", "name"),
    [
        (["search", "x", "--where", "kind ="], 2, "invalid_filter"),
        (["search", "x", "--kind", "film"], 2, "unknown_kind"),
        (["search", "x", "--fusion", "best"], 2, "invalid_input"),
        (["search", "x", "--limit", "-1"], 2, "invalid_input"),
        (["search", ""], 2, "invalid_input"),
        (["search", "x", "--legs", "tarot"], 2, "invalid_input"),
        (["search", "x", "--weight", "lexical=much"], 2, "invalid_input"),
        (["search", "x", "--since", "soon"], 2, "invalid_input"),
        (["search", "x", "--embedder", "tarot"], 2, "invalid_input"),
        (["search"], 2, "usage"),
        (["serch", "x"], 2, "usage"),
        (["list", "--order", "taste"], 2, "invalid_input"),
        (["list", "--limit", "-1"], 2, "invalid_input"),
        (["show", "nope"], 3, "not_found"),
        (["similar", "nope"], 3, "not_found"),
        (["history", "nope"], 3, "not_found"),
        (["edit", "nope", "--tag", "x"], 3, "not_found"),
        (["search", "x", "--db", "missing.db"], 4, "store_error"),
        (["search", "x", "--db", "postgres://here"], 2, "invalid_input"),
        (["add", "x", "--db", "no-store.txt"], 4, "not_a_store"),
        (["add", "x", "--db", "no-store.txt/in/it.db"], 4, "store_error"),
        (["reembed", "--embedder", "http://127.0.0.1:9/v1#m?retries=0"], 5, "embedder_error"),
    ],
)
def test_errors_have_their_exit_code_and_name(films: Run, home: Path, args: list[str], code: int, name: str) -> None:
    (home / "no-store.txt").write_text("just text " * 500, encoding="utf-8")
    ran = films(*args, "--json")
    assert (ran.code, ran.json["ok"], ran.json["error"]["code"]) == (code, False, name)
    assert ran.err.startswith("error: ")
    assert ran.err.count("\n") == 1
    assert "Traceback" not in ran.err
    plain = films(*args)
    assert (plain.out, plain.code) == ("", code)


def test_debug_shows_where_an_error_comes_from(films: Run) -> None:
    assert "Traceback" in films("show", "nope", "--debug").err
    assert "Traceback" in films("--debug", "show", "nope").err


def test_why_names_the_stage(films: Run) -> None:
    verdict = films("why", "deploy", "i", "--legs", "lexical", "--json").json
    assert verdict["stage"] == "no_term_matched"
    assert films("why", "deploy", "d", "--kind", "movie", "--json").json["stage"] == "filtered"
    assert films("why", "deploy", "d", "--json").json["place"] == 1
    assert films("why", "deploy", "x", "--json").json["stage"] == "another_space"
    assert "not returned: no term matched" in films("why", "deploy", "i", "--legs", "lexical").out


def test_similar_is_by_meaning(films: Run) -> None:
    for text, id in (("A spaceship flies to another planet", "s"), ("Bread with butter", "b")):
        assert films("add", text, "--id", id, "--embedder", "static").code == 0
    films("reembed", "--embedder", "static")
    assert ids(films("similar", "i", "-n", "1", "--json", "--embedder", "static").json) == ["s"]


def test_list_orders_pages_and_filters(films: Run) -> None:
    def listed(*flags: str) -> list[str]:
        return [memory["id"] for memory in films("list", "--json", *flags).json["memories"]]

    assert listed() == ["d", "i"]
    assert listed("--oldest-first") == ["i", "d"]
    assert listed("--offset", "1") == ["i"]
    assert listed("--limit", "1") == ["d"]
    assert listed("--kind", "movie", "--tag", "sci-fi", "--where", "metadata.year > 2000") == ["i"]
    assert listed("--order", "occurred") == ["d", "i"]


def test_flags_work_before_and_after_the_command(films: Run, home: Path) -> None:
    before = films("--db", str(home / "m.db"), "--space", "other", "--json", "list")
    after = films("list", "--json", "--space", "other", "--db", str(home / "m.db"))
    assert before.json == after.json
    assert films("--space", "default", "list", "--space", "other", "--json").json == after.json
    assert films("--json", "spaces", "--db", str(home / "m.db")).json["spaces"][1]["name"] == "other"
    made = films("spaces", "--db", "new.db", "set", "s", "--language", "pt")
    assert made.code == 0
    assert (home / "new.db").exists()


def test_no_memory_can_steer_a_terminal(trivium: Run) -> None:
    evil = "evil \x1b]0;owned\x07 \x9b31m\u202etxt.exe\n\x1b[2J word"
    id = trivium("add", "-", "--title", "\x1b[31mred", stdin=evil.encode()).out.strip()
    for args in (
        ["show", id], ["list"], ["search", "evil"], ["search", "evil", "--explain"], ["search", "\x1b[31m evil"],
        ["why", "evil", id], ["history", id], ["show", "\x1b[31m"], ["search", "x", "--kind", "\x1b"],
        ["show", id, "--json"], ["export"],
    ):  # fmt: skip
        ran = trivium(*args)
        for steering in "\x1b\x07\x9b\u202e":
            assert steering not in ran.out + ran.err
    [memory] = trivium("show", id, "--json").json["memories"]
    assert memory["content"] == evil  # JSON says it in escapes, and loses nothing


def test_spaces_have_settings(trivium: Run) -> None:
    trivium("add", "eins", "--space", "de")
    args = ("--language", "german", "--setting", "search.fusion=rrf", "--setting", "search.weights.dense=0.7")
    assert trivium("spaces", "set", "de", *args).code == 0
    [space] = trivium("spaces", "--json").json["spaces"]
    assert (space["name"], space["memories"], space["language"]) == ("de", 1, "de")
    assert space["settings"] == {"search": {"fusion": "rrf", "weights": {"dense": 0.7}}}
    assert trivium("search", "eins", "--space", "de", "--json").json["method"] == "rrf"
    cleared = trivium("spaces", "set", "de", "--setting", "search.fusion=", "--language", "", "--json").json
    assert (cleared["language"], cleared["settings"]) == ("", {"search": {"weights": {"dense": 0.7}}})
    wrong = trivium("spaces", "set", "de", "--setting", "search.fusion=best")
    assert wrong.code == 2
    assert "search.fusion: unknown 'best'" in wrong.err
    assert trivium("spaces", "set", "de").code == 2
    assert "de" in trivium("spaces").out


def test_stats_and_upkeep(films: Run) -> None:
    stats = films("stats", "--json").json
    assert (stats["memories"], stats["spaces"], stats["kinds"]) == (3, ["default", "other"], ["movie", "note"])
    assert "kinds       movie, note" in films("stats").out
    assert films("reindex", "--json").json["memories"] == 3
    assert films("reembed").code == 2  # no embedder is set here
    done = films("reembed", "--embedder", "static", "--json").json
    assert (done["memories"], done["flipped"]) == (3, False)
    assert films("verify", "--json").json == {"ok": True, "findings": []}
    assert films("doctor", "--embedder", "static").code == 0


def test_verify_and_doctor_end_with_1_on_findings(films: Run) -> None:
    films("reembed", "--embedder", "static")
    sick = films("doctor", "--json")  # now without the embedder its vectors need
    assert sick.code == 1
    assert sick.json["findings"][0]["mend"] == "trivium reembed"
    plain = films("doctor")
    assert plain.code == 1
    assert "mend   trivium reembed" in plain.out


def test_json_is_plain_json(films: Run) -> None:
    assert json.loads(films("show", "i", "d", "--json").out)["memories"][1]["id"] == "d"
