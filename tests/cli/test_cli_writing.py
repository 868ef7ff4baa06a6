from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.running import Run


def test_add_prints_the_id_and_show_has_every_field(trivium: Run) -> None:
    flags = (
        "--title T --kind movie --tag a --tag b --keyword k --category c --importance 0.9 --source s --thread film"
        " --position 3 --language pt --occurred 2014-11-07 --id my-id --meta year=2014 --meta rating=high"
        " --meta x=[1,true]"
    )
    added = trivium("add", "Interstellar", *flags.split())
    assert (added.code, added.out, added.err) == (0, "my-id\n", "")
    [memory] = trivium("show", "my-id", "--json").json["memories"]
    wanted = {
        "content": "Interstellar", "title": "T", "kind": "movie", "tags": ["a", "b"], "keywords": ["k"],
        "category": "c",
        "importance": 0.9, "source": "s", "thread": "film", "position": 3, "language": "pt",
        "occurred_at": "2014-11-07T00:00:00+00:00", "metadata": {"year": 2014, "rating": "high", "x": [1, True]},
    }  # fmt: skip
    assert {name: memory[name] for name in wanted} == wanted


def test_add_reads_stdin_and_files(trivium: Run, home: Path) -> None:
    (home / "a.md").write_text("# A file\nwith lines\n", encoding="utf-8")
    (home / "b.md").write_text("another", encoding="utf-8")
    assert trivium("add", "-", stdin="olá\n".encode()).code == 0
    assert trivium("add", stdin=b"no argument").code == 0
    added = trivium("add", "--file", "a.md", "--file", "b.md")
    assert len(added.out.split()) == 2
    assert added.err == "stored 2, already there 0\n"
    stored = {(m["content"], m["source"]) for m in trivium("list", "--json").json["memories"]}
    assert stored == {("olá", ""), ("no argument", ""), ("# A file\nwith lines", "a.md"), ("another", "b.md")}


def test_the_same_text_is_reported_and_stored_again_only_where_asked(trivium: Run) -> None:
    first = trivium("add", "once").out
    again = trivium("add", "once")
    assert again.out == first
    assert "already there" in again.err
    assert trivium("add", "once", "--json").json["duplicates"] == 1
    assert trivium("add", "once", "--allow-duplicate").out != first


def test_add_jsonl_fills_records_with_flags_and_names_a_bad_line(trivium: Run) -> None:
    good = b'{"content": "one", "tags": ["x"], "occurred_at": "2026-01-31"}\n\n{"content": "two", "kind": "log"}\n'
    added = trivium("add", "--jsonl", "-", "--kind", "message", "--json", stdin=good)
    assert (added.code, added.json["stored"]) == (0, 2)
    kinds = {m["content"]: m["kind"] for m in trivium("list", "--json").json["memories"]}
    assert kinds == {"one": "message", "two": "log"}
    for bad, said in (
        (b'{"content": "x"}\n{"content": ""}', "line 2: content: is empty"),
        (b'{"content": "x"}\n\n{"contents": "x"}', "line 3: contents: is not a field"),
        (b"{", "line 1: is not JSON"),
        (b"[1]", "line 1: is not a JSON object"),
        (b'{"content": "x", "metadata": {"a": NaN}}', "line 1: is not JSON (NaN"),
        (b'\xff\xfe{"content"', "line 1: is not UTF-8"),
        (b'{"content": "x", "created_at": 5}', "line 1: created_at: 5 is not a time"),
        (b"[" * 100_000, "line 1: is not JSON"),
    ):
        ran = trivium("add", "--jsonl", "-", stdin=bad)
        assert ran.code == 2
        assert said in ran.err
        assert ran.out == ""
    assert len(trivium("list", "--json").json["memories"]) == 2


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["x", "--file", "y"], "one of them"),
        (["x", "--importance", "2"], "importance: 2.0 is not a number from 0 to 1"),
        (["x", "--meta", "novalue"], "meta: 'novalue' is not KEY=VALUE"),
        (["x", "--occurred", "soon"], "occurred: 'soon' is not a time"),
        (["x", "--kind", "No Kind"], "kind: 'No Kind' is not valid"),
        (["x", "--position", "1"], "position: stands without a thread"),
        (["--file", "missing.md"], "file: missing.md cannot be read"),
        (["--file", "."], "file: . cannot be read"),
        (["--jsonl", "-", "--id", "x"], "id: is for one memory"),
        ([" "], "content: is empty"),
        (["x", "--space", "a", "--space", "b"], "give --space once"),
        (["x", "--importance", "much"], "--importance"),
        (["x", "--nope"], "--nope"),
    ],
)
def test_bad_input_is_one_line_that_names_the_field(trivium: Run, args: list[str], said: str) -> None:
    ran = trivium("add", *args)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
    assert ran.err.count("\n") == 1
    assert ran.err.startswith("error: ")


def test_edit_changes_what_is_named_and_leaves_the_rest(trivium: Run) -> None:
    trivium("add", "text", "--id", "e", "--tag", "a", "--meta", "x=1", "--occurred", "2020")
    assert trivium("edit", "e", "--tag", "b", "--meta", "y=2", "--sensitive").out == "e\n"
    [memory] = trivium("show", "e", "--json").json["memories"]
    assert (memory["content"], memory["tags"], memory["metadata"]) == ("text", ["b"], {"x": 1, "y": 2})
    assert memory["sensitive"]
    edited = trivium("edit", "e", "--tag", "", "--occurred", "", "--content", "-", "--json", stdin=b"new text\n").json
    assert (edited["memory"]["tags"], edited["memory"]["occurred_at"]) == ([], None)
    assert edited["memory"]["content"] == "new text"
    trivium("edit", "e", stdin=b"from the pipe")
    assert trivium("show", "e", "--json").json["memories"][0]["content"] == "from the pipe"


def test_superseding_and_history(trivium: Run) -> None:
    trivium("add", "Ada lives in Lisbon", "--id", "old", "--tag", "people")
    new = trivium("supersede", "old", "Ada lives in Porto").out.strip()
    newest = trivium("edit", new, "--content", "Ada lives in Faro", "--keep-history").out.strip()
    line = trivium("history", new, "--json").json["memories"]
    assert [memory["id"] for memory in line] == ["old", new, newest]
    assert [memory["tags"] for memory in line] == [["people"]] * 3
    assert [memory["id"] for memory in trivium("list", "--json").json["memories"]] == [newest]
    assert len(trivium("list", "--include-superseded", "--json").json["memories"]) == 3
    assert trivium("supersede", "old", "again").code == 2
    assert "content: is missing" in trivium("supersede", newest).err


def test_forget_prints_a_receipt_and_names_what_was_not_there(trivium: Run) -> None:
    trivium("add", "secret", "--id", "s")
    receipt = trivium("forget", "s", "nope", "--json").json
    assert (receipt["forgotten"], receipt["missing"], receipt["records"]) == (["s"], ["nope"], 1)
    gone = trivium("forget", "s", "--json")
    assert (gone.code, gone.json["error"]["code"]) == (3, "not_found")
    assert trivium("show", "s").code == 3
    assert trivium("verify").code == 0
