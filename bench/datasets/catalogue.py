"""Where sets are, what their licences allow, and which converter reads them. Nothing is downloaded by this project."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Source:
    """A source of sets. `sets` are names a converted folder may have."""

    converter: str
    title: str
    sets: tuple[str, ...]
    address: str
    files: str
    licence: str


SOURCES = (
    Source(
        "beir",
        "BEIR",
        (
            "scifact",
            "nfcorpus",
            "fiqa",
            "arguana",
            "scidocs",
            "trec-covid",
            "nq",
            "quora",
            "dbpedia",
            "fever",
            "cqadupstack",
        ),
        "https://github.com/beir-cellar/beir (links to one archive per set)",
        "corpus.jsonl, queries.jsonl, qrels/test.tsv",
        "differs by set; most allow research, some no commercial use: read the set's own licence. SciFact: claims "
        "CC BY 4.0, abstracts ODC-By 1.0",
    ),
    Source(
        "locomo",
        "LoCoMo",
        ("locomo",),
        "https://github.com/snap-research/locomo (data/locomo10.json)",
        "locomo10.json",
        "CC BY-NC 4.0: no commercial use",
    ),
    Source(
        "longmemeval",
        "LongMemEval",
        ("longmemeval", "longmemeval_s", "longmemeval_m", "longmemeval_oracle"),
        "https://github.com/xiaowu0162/LongMemEval (links to longmemeval_s.json, _m, _oracle)",
        "longmemeval_*.json",
        "MIT for the benchmark; its filler sessions come from ShareGPT and UltraChat, with terms of their own",
    ),
    Source(
        "hipporag",
        "MuSiQue, 2WikiMultihopQA and HotpotQA as HippoRAG samples them",
        ("musique", "2wiki", "2wikimultihopqa", "hotpotqa"),
        "https://github.com/OSU-NLP-Group/HippoRAG (reproduce/dataset)",
        "NAME_corpus.json beside NAME.json",
        "MIT (HippoRAG); the questions: MuSiQue CC BY 4.0, 2Wiki Apache-2.0, HotpotQA CC BY-SA 4.0",
    ),
    Source(
        "trec",
        "MIRACL, Quati and other sets in TREC's form",
        ("miracl", "quati", "quati-pt"),
        "https://github.com/project-miracl/miracl and https://github.com/unicamp-dl/quati",
        "one *topics* file, one *qrels* file and *.jsonl files with the passages",
        "MIRACL Apache-2.0 over Wikipedia (CC BY-SA); Quati CC BY 4.0 over ClueWeb22, whose own terms are for research",
    ),
)
CONVERTERS = tuple(source.converter for source in SOURCES)


def source_of(converter: str) -> Source:
    return next(source for source in SOURCES if source.converter == converter)


def where_to_get(name: str) -> str:
    """One sentence: where a set of this name is to be had, under which licence, and how to convert it."""
    for source in SOURCES:
        if name in source.sets:
            return (
                f"it is part of {source.title}: get {source.files} from {source.address}; licence: {source.licence}. "
                f"Then `python -m bench convert {source.converter} IN OUT/{name}`"
            )
    return f"bench/datasets/catalogue.py lists sources; `python -m bench convert` reads {', '.join(CONVERTERS)}"
