"""Four processes at one file: no error, nothing lost, nobody starved."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import trivium

PROCESSES = 4
SECONDS = 20
WORST_WAIT_S = 10.0  # of one add behind the others' adds, flushes and merges; 0.1 to 0.4 s is what it takes
SOURCES = Path(trivium.__file__).parents[1]
CROWD = Path(__file__).with_name("crowd.py")


def started(path: Path, name: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(CROWD), str(path), name, str(SECONDS)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": f"{SOURCES}"},
    )  # fmt: skip


def acknowledged(process: subprocess.Popen[str]) -> tuple[list[str], float]:
    """The ids a process printed, and its longest wait."""
    assert process.stdout is not None
    assert process.stderr is not None
    ids: list[str] = []
    for line in process.stdout:
        if line.startswith("done "):
            return ids, float(line.split()[1])
        ids.append(line.strip())
    raise AssertionError(process.stderr.read())


def test_four_processes_add_and_search_one_file(tmp_path: Path) -> None:
    path = tmp_path / "store.db"  # made by all of them at once
    crowd = [started(path, f"p{number}") for number in range(PROCESSES)]
    try:
        told = [acknowledged(process) for process in crowd]
        everything = [id for ids, _ in told for id in ids]
        (tmp_path / "ids").write_text("\n".join(everything))
        for process in crowd:
            assert process.stdin is not None
            process.stdin.write(f"{tmp_path / 'ids'}\n")
            process.stdin.flush()
        for process in crowd:
            said, complaint = process.communicate(timeout=120)
            assert (process.returncode, complaint) == (0, "")
            assert said == "all found\n"
    finally:
        for process in crowd:
            process.kill()
            process.wait()
    waits = [wait for _, wait in told]
    print(f"{len(everything)} rows by {PROCESSES} processes in {SECONDS} s; worst waits {waits}")
    assert max(waits) < WORST_WAIT_S
    assert min(len(ids) for ids, _ in told) > 20
    with trivium.open(path) as t:
        assert {memory.id for memory in t.scan()} == set(everything)
        assert t.upkeep.verify() == []
