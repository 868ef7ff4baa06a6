"""The commands `quality`, `convert` and `readme`: parse, call, print."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from bench.datasets.catalogue import CONVERTERS


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    quality = commands.add_parser("quality", help="how well the shipped search finds what was judged relevant")
    quality.add_argument("--sets", type=Path, required=True, help="a folder of sets: see bench/datasets/folder.py")
    quality.add_argument("--only", type=names, default=(), help="some of the sets, separated by commas")
    quality.add_argument("--embedder", default="static", help="static, onnx:FOLDER or any other that Trivium knows")
    quality.add_argument("--json", type=Path, help="write the figures to this file, the plots beside it")
    quality.add_argument("--file", action="store_true", help="file the figures in bench/results, by commit")
    quality.add_argument("--work", type=Path, help="where built stores are kept; default: the user's cache folder")
    quality.add_argument("--jobs", type=int, choices=range(1, 65), default=1, metavar="N", help="sets at a time")
    quality.set_defaults(run=run_quality)

    convert = commands.add_parser("convert", help="a downloaded set into the uniform folder; nothing is downloaded")
    convert.add_argument("source", choices=CONVERTERS, help="where the set is from: see bench/datasets/catalogue.py")
    convert.add_argument("input", type=Path, help="the file or folder that was downloaded")
    convert.add_argument("output", type=Path, help="a new folder; its name becomes the set's")
    convert.set_defaults(run=run_convert)

    readme = commands.add_parser("readme", help="bring bench/README.md and its plots up to the newest result")
    readme.set_defaults(run=run_readme)


def names(text: str) -> tuple[str, ...]:
    return tuple(name for part in text.split(",") if (name := part.strip()))


def run_quality(given: argparse.Namespace) -> None:
    from bench import filed as files
    from bench.datasets.folder import find_sets
    from bench.quality import Settings, measure
    from bench.quality_table import read_targets, render
    from trivium.models.loading import load_embedder

    folders = tuple(find_sets(given.sets, given.only))
    settings = Settings(folders, given.work or user_cache(), given.embedder, given.jobs)
    measured = measure(settings, progress=lambda line: print(line, file=sys.stderr, flush=True))
    filed = files.report(measured, settings, load_embedder(given.embedder))
    print(render(filed, read_targets()))
    if given.json:
        from bench.plots import write_plots

        files.write_report(given.json, filed)
        write_plots(filed, given.json.parent)
    if given.file:
        files.write_report(files.RESULTS / files.file_name(filed), filed)


def run_convert(given: argparse.Namespace) -> None:
    from bench.datasets.convert import convert

    made = convert(given.source, given.input, given.output)
    print(f"{given.output}: {len(made.documents):,} documents, {len(made.questions):,} questions; {made.licence}")


def run_readme(_given: argparse.Namespace) -> None:
    from bench.readme import write_readme

    write_readme()


def user_cache() -> Path:
    from platformdirs import user_cache_path

    return user_cache_path("trivium", appauthor=False) / "bench"
