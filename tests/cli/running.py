"""What a command said and how it ended; a command as a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import trivium

SOURCE = str(Path(trivium.__file__).parents[1])  # so that processes in other folders run the code under test


@dataclass(frozen=True, slots=True)
class Ran:
    """How a command ended and what it said."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.out)
        assert self.out.count("\n") == 1
        return found


Run = Callable[..., Ran]


def spawn(*args: str, **options: Any) -> subprocess.Popen[bytes]:
    """`python -m trivium` as a process of its own, its streams as pipes."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.Popen([sys.executable, "-m", "trivium", *args], **pipes)
