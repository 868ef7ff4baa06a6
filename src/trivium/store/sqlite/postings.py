"""The two blobs of the lexical index: a passage's terms (forwards) and a term's documents (backwards). Pure."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from itertools import accumulate

import numpy as np
import numpy.typing as npt

Documents = npt.NDArray[np.uint32]
Frequencies = npt.NDArray[np.uint16]

DOCUMENT_BYTES = 4
POSTING_BYTES = 6  # four for the document's number in its segment, two for the term frequency in 1/TF_UNIT


def pack_terms(terms: Mapping[str, int]) -> bytes:
    """The count, then a u16 frequency and a u16 length in characters for each term, then all terms as one text."""
    frequencies = array("H", terms.values())
    lengths = array("H", map(len, terms))
    return len(terms).to_bytes(4, "little") + frequencies.tobytes() + lengths.tobytes() + "".join(terms).encode()


def unpack_terms(blob: bytes) -> tuple[list[str], array[int]]:
    count = int.from_bytes(blob[:4], "little")
    frequencies, lengths = array("H"), array("H")
    frequencies.frombytes(blob[4 : 4 + 2 * count])
    lengths.frombytes(blob[4 + 2 * count : 4 + 4 * count])
    text = blob[4 + 4 * count :].decode()
    ends = list(accumulate(lengths))
    return [text[end - length : end] for end, length in zip(ends, lengths, strict=True)], frequencies


def pack_postings(documents: Iterable[int], frequencies: Iterable[int]) -> bytes:
    return array("I", documents).tobytes() + array("H", frequencies).tobytes()


def join_postings(documents: Documents, frequencies: Frequencies) -> bytes:
    return documents.tobytes() + frequencies.tobytes()


def unpack_postings(blob: bytes) -> tuple[Documents, Frequencies]:
    count = len(blob) // POSTING_BYTES
    return (
        np.frombuffer(blob, np.uint32, count),
        np.frombuffer(blob, np.uint16, count, offset=DOCUMENT_BYTES * count),
    )


def without(blob: bytes, gone: Documents) -> bytes:
    """The postings less those of the documents in `gone`."""
    documents, frequencies = unpack_postings(blob)
    keep = ~np.isin(documents, gone)
    return join_postings(documents[keep], frequencies[keep])
