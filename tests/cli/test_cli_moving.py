from __future__ import annotations

import hashlib
import json
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cli.running import Run

import trivium as library
from trivium.lines import json_line, read_lines
from trivium.transfer import export_lines

ODD = "\x00\x1f\x7f\x85\x9b\u2028\u2029\u202e\ufeff\ufffd\U0001f600e\u0301"
texts = st.text(st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from(ODD)), max_size=20)
filled = texts.filter(str.strip)
times = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30), timezones=st.just(UTC))  # noqa: DTZ001 made aware by `timezones`
values = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(-(2**60), 2**60), st.floats(allow_nan=False, allow_infinity=False), texts
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(texts, inner, max_size=3)),
    max_leaves=5,
)
fields = st.fixed_dictionaries(
    {"content": filled},
    optional={
        "title": texts, "tags": st.lists(texts, max_size=3), "keywords": st.lists(texts, max_size=3), "category": texts,
        "metadata": st.dictionaries(texts, values, max_size=3), "importance": st.floats(0, 1),
        "sensitive": st.booleans(),
        "occurred_at": times, "created_at": times, "source": texts, "thread": st.sampled_from(["", "a", "b"]),
        "language": st.sampled_from(["", "pt", "none"]),
    },
)  # fmt: skip


def exported(memory: library.Trivium) -> list[str]:
    return list(export_lines(memory.store, (), include_sensitive=True))


def imported(memory: library.Trivium, lines: list[str]) -> None:
    memory.import_lines(read_lines(line.encode() + b"\n" for line in lines))


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(fields, st.sampled_from(["default", "ärger", "a b"])), min_size=1, max_size=5), st.data())
def test_export_import_export_gives_the_same_bytes(
    records: list[tuple[dict[str, object], str]], data: st.DataObject
) -> None:
    with library.open("memory:", embedder=None) as first, tempfile.TemporaryDirectory() as folder:
        added = [first.add(space=space, allow_duplicate=True, **record).memory for record, space in records]  # type: ignore[arg-type]
        chosen = data.draw(st.sampled_from(added))
        first.used(chosen.id, space=chosen.space)
        first.supersede(chosen.id, "what took its place", space=chosen.space)
        first.set_space("ärger", language="pt", settings={"search": {"k": 7}})
        lines = exported(first)
        with library.open(Path(folder) / "copy.db", embedder=None) as second:
            imported(second, lines)
            assert exported(second) == lines
            assert second.upkeep.verify() == []
            passages = {m.key: first.store.passages(m.key) for m in first.store.scan((), library.And(()))}
            assert {key: second.store.passages(key) for key in passages} == passages


def test_lines_of_an_export_can_be_read_by_any_line_reader() -> None:
    line = json_line({"text": ODD, "lone": "\ud800"})
    assert len(line.splitlines()) == 1
    assert json.loads(line) == {"text": ODD, "lone": "\ud800"}
    assert line.isprintable() or "\ufeff" in line
    line.encode()


def test_export_leaves_sensitive_memories_out_unless_asked(trivium: Run, home: Path) -> None:
    trivium("add", "open", "--id", "o")
    trivium("add", "my password", "--sensitive", "--space", "vault")
    out = trivium("export")
    assert [json.loads(line)["id"] for line in out.out.splitlines()] == ["o"]
    assert "left out 1 sensitive" in out.err
    everything = trivium("export", "--include-sensitive")
    assert (len(everything.out.splitlines()), everything.err) == (2, "")
    told = trivium("export", "all.jsonl", "--json").json
    assert (told["lines"], told["sensitive_left_out"]) == (1, 1)
    assert (home / "all.jsonl").read_text(encoding="utf-8") == out.out
    assert trivium("export", "--json").code == 2
    assert trivium("export", "--where", "id = x").out == ""
    assert len(trivium("export", "--space", "vault", "--include-sensitive").out.splitlines()) == 1
    assert trivium("export", "no/such/folder.jsonl").code == 4


def test_import_passes_over_what_is_there_and_refuses_what_disagrees(trivium: Run) -> None:
    trivium("add", "one", "--id", "1")
    trivium("add", "two", "--id", "2", "--thread", "t")
    lines = trivium("export").out
    assert trivium("import", "-", "--json", stdin=lines.encode()).json == {
        "ok": True,
        "stored": 0,
        "replaced": 0,
        "same": 2,
    }
    other = lines.replace('"two"', '"another"').encode() + b'{"id": "3", "content": "three"}\n'
    refused = trivium("import", "-", stdin=other)
    assert refused.code == 2
    assert "line 2: id '2' is in space 'default' already and says otherwise; --replace" in refused.err
    assert trivium("show", "3").code == 3  # nothing of the batch was stored
    assert trivium("import", "-", "--replace", "--json", stdin=other).json["replaced"] == 1
    assert trivium("show", "2", "--json").json["memories"][0]["content"] == "another"
    assert trivium("verify").code == 0


def test_a_bad_line_is_named_and_earlier_batches_stay(trivium: Run) -> None:
    good = [json.dumps({"id": f"n{number}", "content": f"text {number}", "space": "s"}) for number in range(600)]
    for bad, said in (
        ('{"content": "no id"}', "id: is missing"),
        ('{"id": "x", "content": "x", "thread": "t"}', "position: is missing"),
        ('{"id": "x", "content": "x", "uses": -1}', "uses: -1"),
        ('{"id": "x", "content": "x", "superseded_by": "y"}', "superseded_at: stands with"),
        ('{"id": "x", "content": "x", "supersedes": 5}', "supersedes: 5 is not an id"),
        ('{"id": "x", "content": "x", "space": ""}', "space: '' is empty"),
        ('{"id": "x", "content": "x", "colour": 1}', "colour: is not a field"),
        ('{"space_settings": 5}', "space: '' is empty"),
        ('{"space_settings": {"space": "s", "settings": 5}}', "is not an object with space"),
        ("nonsense", "is not JSON"),
    ):
        ran = trivium("import", "-", stdin="\n".join([*good, bad]).encode())
        assert ran.code == 2
        assert f"line 601: {said}" in ran.err.replace("space_settings: ", "")
        stored = trivium("stats", "--json").json["memories"]
        assert 512 <= stored <= 600
    assert trivium("verify").code == 0


def test_settings_of_a_space_are_replaced_only_where_asked(trivium: Run) -> None:
    trivium("spaces", "set", "s", "--language", "pt")
    other = b'{"space_settings": {"space": "s", "language": "de", "settings": {}}}\n'
    refused = trivium("import", "-", stdin=other)
    assert "line 1: space 's' has other settings" in refused.err
    assert trivium("import", "-", "--replace", stdin=other).code == 0
    assert trivium("spaces", "--json").json["spaces"][0]["language"] == "de"


def test_replacing_moves_a_memory_of_a_thread_and_its_neighbours_know(trivium: Run) -> None:
    for position, word in enumerate(["alpha", "beta", "gamma", "delta", "epsilon"]):
        trivium("add", word, "--id", word, "--thread", "t", "--position", str(position * 10))
    lines = trivium("export").out.replace('"position": 0', '"position": 25')
    assert trivium("import", "-", "--replace", stdin=lines.encode()).code == 0
    with library.open("m.db", embedder=None) as memory:
        indexed = {m.id: memory.store.passages(m.key) for m in memory.scan()}
        memory.upkeep.reindex()
        assert {m.id: memory.store.passages(m.key) for m in memory.scan()} == indexed


def test_backup_and_restore(trivium: Run, home: Path) -> None:
    trivium("add", "kept", "--id", "k")
    told = trivium("backup", "b.db", "--json").json
    assert told["sha256"] == hashlib.sha256((home / "b.db").read_bytes()).hexdigest()
    assert (home / "b.db.sha256").read_text(encoding="utf-8") == f"{told['sha256']}  b.db\n"
    assert trivium("backup", "b.db").code == 2
    assert trivium("backup", "no/folder/b.db").code == 2
    trivium("add", "later", "--id", "l")
    assert trivium("restore", "b.db").code == 4
    assert trivium("show", "l").code == 0
    done = trivium("restore", "b.db", "--force", "--json").json
    assert done["kept"] == str(home / "m.db.before-restore")
    assert (trivium("show", "k").code, trivium("show", "l").code) == (0, 3)
    assert trivium("show", "l", "--db", done["kept"]).code == 0
    assert trivium("verify").code == 0
    again = trivium("restore", "b.db", "--force", "--json").json
    assert again["kept"] == str(home / "m.db.before-restore-2")
    assert trivium("restore", "b.db", "--db", "new/place.db").code == 0
    assert trivium("show", "k", "--db", "new/place.db").code == 0


def test_restore_refuses_what_it_cannot_trust(trivium: Run, home: Path) -> None:
    trivium("add", "kept", "--id", "k")
    trivium("backup", "b.db")
    whole = (home / "b.db").read_bytes()
    (home / "b.db").write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    damaged = trivium("restore", "b.db", "--force")
    assert (damaged.code, "checksum" in damaged.err) == (4, True)
    (home / "b.db.sha256").unlink()
    assert "sha256 is not beside" in trivium("restore", "b.db", "--force").err
    assert trivium("restore", "nothing.db").code == 2
    (home / "text.db").write_bytes(b"not a store" * 1000)
    (home / "text.db.sha256").write_text(hashlib.sha256(b"not a store" * 1000).hexdigest(), encoding="utf-8")
    assert trivium("restore", "text.db", "--force").code == 4
    assert trivium("show", "k").code == 0
    assert sorted(path.name for path in home.iterdir() if "restor" in path.name) == []
    (home / "b.db").write_bytes(whole)
    (home / "b.db.sha256").write_text(hashlib.sha256(whole).hexdigest(), encoding="utf-8")
    with library.open("m.db", embedder=None) as other:
        other.add("someone is writing")
        busy = trivium("restore", "b.db", "--force")
    assert (busy.code, "open in another program" in busy.err) == (4, True)
    (home / "m.db").write_bytes(b"damaged " * 999)
    assert trivium("restore", "b.db", "--force").code == 0
    assert trivium("show", "k").code == 0
    assert (home / "m.db.before-restore").read_bytes() == b"damaged " * 999


def test_old_times_survive(trivium: Run) -> None:
    born = datetime(1815, 12, 10, tzinfo=UTC) + timedelta(microseconds=1)
    line = json_line({"id": "ada", "content": "Ada is born", "created_at": born.isoformat()}).encode()
    assert trivium("import", "-", stdin=line).code == 0
    assert trivium("show", "ada", "--json").json["memories"][0]["created_at"] == born.isoformat()
