"""The benchmark's command line. `python -m bench quality --help` lists what can be set; so do the others."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from bench import latency, quality_command, report
from trivium.errors import TriviumError

SEED = 20_260_101
MIN_QUERIES = 200  # below, a 95th percentile rests on fewer than ten samples


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="python -m bench", description="Benchmarks of Trivium.")
    commands = top.add_subparsers(dest="command", required=True)
    speed = commands.add_parser("latency", help="speed, memory, size and recall, beside FTS5 + sqlite-vec")
    speed.add_argument("--sizes", type=sizes, default=(1_000, 100_000), help="passages, separated by commas")
    speed.add_argument("--json", type=Path, help="write the figures to this file")
    speed.add_argument("--seed", type=int, default=SEED)
    speed.add_argument("--queries", type=at_least(MIN_QUERIES), default=300, help="measured questions of each leg")
    speed.add_argument("--adds", type=at_least(1), default=200, help="measured single writes")
    speed.add_argument(
        "--skip-baseline-above", type=at_least(0), default=100_000, metavar="N", help="larger sizes run without it"
    )
    speed.set_defaults(run=run_latency)
    quality_command.add_to(commands)
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


def run_latency(given: argparse.Namespace) -> None:
    settings = latency.Settings(given.sizes, given.seed, given.queries, given.adds, given.skip_baseline_above)
    measured = latency.measure(settings, progress=lambda line: print(line, file=sys.stderr, flush=True))
    print("\n\n".join(report.render(one.size, one.figures) for one in measured))
    if given.json:
        latency.write_json(given.json, settings, measured)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command. What the user can put right ends with one line and exit code 2."""
    given = parser().parse_args(arguments)
    try:
        given.run(given)
    except TriviumError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
