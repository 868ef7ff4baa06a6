"""The benchmark's command line. `python -m bench latency --help` lists what can be set."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from bench.latency import Settings, measure, write_json
from bench.report import render

SEED = 20_260_101
MIN_QUERIES = 200  # below, a 95th percentile rests on fewer than ten samples


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="python -m bench", description="Benchmarks of Trivium.")
    commands = top.add_subparsers(dest="command", required=True)
    latency = commands.add_parser("latency", help="speed, memory, size and recall, beside FTS5 + sqlite-vec")
    latency.add_argument("--sizes", type=sizes, default=(1_000, 100_000), help="passages, separated by commas")
    latency.add_argument("--json", type=Path, help="write the figures to this file")
    latency.add_argument("--seed", type=int, default=SEED)
    latency.add_argument("--queries", type=at_least(MIN_QUERIES), default=300, help="measured questions of each leg")
    latency.add_argument("--adds", type=at_least(1), default=200, help="measured single writes")
    latency.add_argument(
        "--skip-baseline-above", type=at_least(0), default=100_000, metavar="N", help="larger sizes run without it"
    )
    return top


def sizes(text: str) -> tuple[int, ...]:
    return tuple(at_least(1)(part) for part in text.split(","))


def at_least(low: int) -> Callable[[str], int]:
    """An argument type: a whole number that is not below `low`."""

    def whole(text: str) -> int:
        if not text.replace("_", "").isdecimal():
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number")
        if int(text) < low:
            raise argparse.ArgumentTypeError(f"{text} is too small: at least {low}")
        return int(text)

    return whole


def main(arguments: Sequence[str] | None = None) -> None:
    given = parser().parse_args(arguments)
    settings = Settings(given.sizes, given.seed, given.queries, given.adds, given.skip_baseline_above)
    measured = measure(settings, progress=lambda line: print(line, file=sys.stderr, flush=True))
    print("\n\n".join(render(one.size, one.figures) for one in measured))
    if given.json:
        write_json(given.json, settings, measured)


if __name__ == "__main__":
    main()
