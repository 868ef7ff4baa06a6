"""What the figures were measured on: no host name, no user, no path."""

from __future__ import annotations

import os
import platform
import resource
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ("trivium", "numpy", "apsw", "sqlite-vec", "wordllama")
CPU_FACTS = Path("/proc/cpuinfo")
OWN_FACTS = Path("/proc/self/status")


def machine() -> dict[str, str | int]:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "cpu": _after("model name", CPU_FACTS) or platform.processor() or platform.machine(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        "memory_bytes": memory,
        "system": f"{platform.system()} {platform.machine()}",
    }


def versions() -> dict[str, str]:
    """Of everything that changes a figure. Both SQLites: ours is the standard library's, the baseline's is apsw's."""
    import sqlite3

    import apsw

    found = {"python": platform.python_version(), "sqlite": sqlite3.sqlite_version}
    found["sqlite_of_baseline"] = apsw.sqlite_lib_version()
    found |= {name: _version(name) for name in PACKAGES}
    found["commit"] = _commit()
    return found


def peak_bytes() -> int:
    """The most memory this process had resident, mapped files included.

    Where the kernel keeps it per address space we read that: `ru_maxrss` outlives exec, so a small child of a large
    parent would report the parent.
    """
    own = _after("VmHWM", OWN_FACTS)
    if own:
        return int(own.split()[0]) * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def disk_bytes(folder: Path) -> int:
    """All files under a folder: the database, its write-ahead log and the caches beside it."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def _after(label: str, file: Path) -> str:
    if not file.exists():
        return ""
    lines = (line.partition(":") for line in file.read_text().splitlines())
    return next((value.strip() for name, _, value in lines if name.strip() == label), "")


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "source tree"


def _commit() -> str:
    """The commit of the tree measured, marked where files differ from it."""
    described = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        return subprocess.run(described, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
