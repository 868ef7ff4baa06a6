"""`python -m bench convert`: what people download becomes the uniform folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from bench.datasets.beir import from_beir
from bench.datasets.catalogue import source_of
from bench.datasets.folder import Dataset, read_dataset, write_dataset
from bench.datasets.hipporag import from_hipporag
from bench.datasets.locomo import from_locomo
from bench.datasets.longmemeval import from_longmemeval
from bench.datasets.trec import from_trec
from trivium.errors import InvalidInput

READERS: Mapping[str, Callable[[Path, str], Dataset]] = {
    "beir": from_beir,
    "locomo": from_locomo,
    "longmemeval": from_longmemeval,
    "hipporag": from_hipporag,
    "trec": from_trec,
}


def convert(source: str, given: Path, output: Path) -> Dataset:
    """Read a source, write the folder, and read that again: what was written passes the strict reader."""
    if not given.exists():
        about = source_of(source)
        raise InvalidInput(
            f"{given}: is not there; get {about.files} from {about.address}; licence: {about.licence}. "
            "Nothing is downloaded here"
        )
    write_dataset(output, READERS[source](given, output.name))
    return read_dataset(output)
