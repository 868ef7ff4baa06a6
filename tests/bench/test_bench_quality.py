"""The quality run on a set of our own: it drives the engine, repeats exactly, and files nothing of the set."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from bench.__main__ import main
from bench.datasets.folder import Dataset, Document, Question, read_dataset, write_dataset
from bench.filed import figures, file_name, newest, report, write_report
from bench.metrics import MEASURES
from bench.quality import Measured, Settings, measure
from bench.quality_configs import AGAIN, BASELINE, DENSE, SHIPPED, configurations, method_and_weight
from bench.quality_stores import open_built, store_key
from bench.quality_table import Target, columns, noise_line, read_targets, render
from bench.readme import README, quality_section, replaced

from trivium.errors import InvalidInput
from trivium.models.loading import load_embedder
from trivium.search.query import METHOD_NAMES

SECRET = "heliotrope"
TEXTS = (
    "The ferry to the island leaves at nine.",
    "Our cat sleeps on the radiator.",
    f"The {SECRET} by the gate needs water.",
    "The boat trip was cancelled because of wind.",
    "Bread dough has to rise for two hours.",
    "Kittens like warm places in winter.",
)
ASKED = (("When does the ferry leave?", "exact"), ("Where does the pet rest?", "paraphrase"), (SECRET, "exact"))


def tiny(name: str = "tiny") -> Dataset:
    documents = tuple(
        Document(f"doc/{group}{number}", text, group=group, session="1", speaker="Ada")
        for group in ("g1", "g2")
        for number, text in enumerate(TEXTS)
    )
    questions = tuple(
        Question(f"ask-{group}{number}", text, stratum, group)
        for group in ("g1", "g2")
        for number, (text, stratum) in enumerate(ASKED)
    )
    grades = {one.id: {f"doc/{one.group}{int(one.id[-1])}": 1} for one in questions}
    return Dataset(name, "written for this test", "as this project", documents, questions, grades)


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    folder = tmp_path_factory.mktemp("quality")
    write_dataset(folder / "sets" / "tiny", tiny())
    write_dataset(folder / "sets" / "other", tiny("other"))
    return Settings((folder / "sets" / "other", folder / "sets" / "tiny"), folder / "work", "static", resamples=200)


@pytest.fixture(scope="module")
def measured(settings: Settings) -> Measured:
    return measure(settings, progress=lambda _: None)


def test_every_configuration_has_every_measure(measured: Measured) -> None:
    for one in measured.sets:
        assert set(one.whole.standings) == {way.name for way in configurations()}
        assert all(tuple(standing.means) == MEASURES for standing in one.whole.standings.values())
        assert one.whole.questions == 6
        assert {name: part.questions for name, part in one.strata.items()} == {"exact": 4, "paraphrase": 2}


def test_words_find_words_and_only_their_group(measured: Measured) -> None:
    exact = measured.sets[0].strata["exact"].standings[BASELINE].means
    # Both groups hold the same texts: a search that left its group would find a document that is not gold first.
    assert exact["nDCG@10"] == 1.0
    assert exact["MRR@10"] == 1.0


def test_legs_are_really_alone(measured: Measured) -> None:
    paraphrase = measured.sets[0].strata["paraphrase"].standings
    assert paraphrase[BASELINE].means["any@10"] == 0.0
    assert paraphrase[DENSE].means["any@10"] == 1.0


def test_two_equal_runs_do_not_differ(measured: Measured) -> None:
    assert [one.noise for one in measured.sets] == [0.0, 0.0]
    assert measured.overall[AGAIN] == measured.overall[SHIPPED]


def test_the_baseline_neither_wins_nor_loses_against_itself(measured: Measured) -> None:
    own = measured.overall[BASELINE]
    assert (own.wins, own.losses, own.to_baseline.low, own.to_baseline.high) == (0, 0, 0.0, 0.0)


def test_a_run_repeats_to_the_last_digit(settings: Settings, measured: Measured, tmp_path: Path) -> None:
    fresh = Settings(settings.folders, tmp_path / "another", "static", resamples=200)
    again = measure(fresh, progress=lambda _: None)
    assert json.dumps(figures(again)) == json.dumps(figures(measured))


def test_a_set_alone_has_the_figures_it_has_among_others(settings: Settings, measured: Measured) -> None:
    alone = measure(Settings(settings.folders[1:], settings.work, "static", resamples=200), progress=lambda _: None)
    assert figures(alone)["sets"]["tiny"] == figures(measured)["sets"]["tiny"]


def test_a_store_is_built_once_and_again_after_a_change(settings: Settings, tmp_path: Path) -> None:
    embedder = load_embedder("static")
    dataset = read_dataset(settings.folders[0])
    stale, foreign = tmp_path / f"other-{'0' * 16}", tmp_path / f"other-en-{'0' * 16}"
    stale.mkdir()
    foreign.mkdir()
    open_built(dataset, embedder, tmp_path).close()
    built = tmp_path / f"other-{store_key(dataset, embedder)}"
    first = (built / "store.db").stat().st_ino
    open_built(dataset, embedder, tmp_path).close()
    assert sorted(tmp_path.iterdir()) == sorted([built, foreign])
    assert (built / "store.db").stat().st_ino == first
    more = replace(tiny("other"), documents=(*tiny().documents, Document("extra", "One more.", group="g1")))
    write_dataset(tmp_path / "changed" / "other", more)
    changed = read_dataset(tmp_path / "changed" / "other")
    open_built(changed, embedder, tmp_path / "changed").close()
    assert store_key(changed, embedder) != store_key(dataset, embedder)


def test_a_result_holds_nothing_of_the_set(settings: Settings, measured: Measured, tmp_path: Path) -> None:
    filed = report(measured, settings, load_embedder("static"))
    write_report(tmp_path / file_name(filed), filed)
    written = (tmp_path / file_name(filed)).read_text()
    assert json.loads(written)["sets"]["tiny"]["documents"] == 12
    for private in (SECRET, "ferry", "ask-", "doc/", str(settings.work)):
        assert private not in written
    assert newest(tmp_path)["overall"] == json.loads(json.dumps(filed["overall"]))


def test_the_newest_is_the_one_measured_last(tmp_path: Path) -> None:
    write_report(tmp_path / "quality-b.json", {"measured_at": "2026-01-01T00:00:00+00:00", "who": "old"})
    write_report(tmp_path / "quality-a.json", {"measured_at": "2026-02-01T00:00:00+00:00", "who": "new"})
    assert newest(tmp_path)["who"] == "new"
    with pytest.raises(InvalidInput, match=r"run `python -m bench quality"):
        newest(tmp_path / "nothing")


def test_the_table_shows_sets_targets_and_every_configuration(settings: Settings, measured: Measured) -> None:
    filed = report(measured, settings, load_embedder("static"))
    text = render(filed, {"tiny": Target("R@5", 0.1, 1.1), "other": Target("R@5", 1.1, 1.2)})
    assert "pass  noise floor" in text
    assert any(line.startswith("other ") and line.endswith("MISS") for line in text.splitlines())
    assert any(line.startswith("tiny ") and line.endswith("pass") for line in text.splitlines())
    assert all(any(line.startswith(f"{way.name} ") for line in text.splitlines()) for way in configurations())
    assert columns(filed)[:3] == [BASELINE, DENSE, SHIPPED]
    assert [method_and_weight(name)[0] for name in columns(filed)[3:]] == list(METHOD_NAMES)


def test_noise_is_a_miss() -> None:
    assert noise_line({"sets": {"a": {"noise": 0.0}, "b": {"noise": 0.5}}}).startswith("MISS")


def test_a_target_is_judged_as_it_is_shown() -> None:
    target = Target("nDCG@10", 0.705, 0.74)
    shown = [target.verdict(value) for value in (0.7043, 0.7046, 0.7394, 0.7396)]
    assert shown == ["MISS", "pass", "pass", "aim reached"]
    assert all(one.measure in MEASURES and one.floor < one.aim for one in read_targets().values())


def test_plots_repeat_to_the_byte(settings: Settings, measured: Measured, tmp_path: Path) -> None:
    from bench.plots import write_plots

    filed = report(measured, settings, load_embedder("static"))
    first, second = write_plots(filed, tmp_path / "a"), write_plots(filed, tmp_path / "b")
    names = ["quality-sets.png", "quality-sets.svg", "quality-fusion.png", "quality-fusion.svg"]
    assert [path.name for path in first] == names
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


def test_the_readme_shows_the_newest_result() -> None:
    text = README.read_text(encoding="utf-8")
    assert replaced(text, "quality", quality_section(newest())) == text


def test_a_readme_without_markers_is_refused() -> None:
    with pytest.raises(InvalidInput, match="markers"):
        replaced("# no markers", "quality", "body")


def test_the_command_prints_and_writes(settings: Settings, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sets, out = settings.folders[0].parent, tmp_path / "out.json"
    main(["quality", "--sets", str(sets), "--only", "tiny", "--work", str(settings.work), "--json", str(out)])
    assert list(json.loads(out.read_text())["sets"]) == ["tiny"]
    assert {path.suffix for path in tmp_path.iterdir()} == {".json", ".png", ".svg"}
    assert "wins / losses" in capsys.readouterr().out
