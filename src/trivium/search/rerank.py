"""An optional second opinion on the best of the fused hits, with a hard timeout. The fused order is the fallback."""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from trivium.errors import TriviumError
from trivium.models.rerank import Reranker
from trivium.record import Key
from trivium.search.fuse import Before, Contribution, Fused

RERANK_DEPTH = 30  # the seeds' 20 to 30: deeper costs time on every search and seldom changes the first ten

# What a model or its connection can do to us. A failing reranker costs its opinion, never the answer, and is reported.
FAILURES = (TriviumError, RuntimeError, OSError, ValueError)


@dataclass(frozen=True, slots=True)
class Reranking:
    """All hits in their final order, and whether the reranker had a say. `reason` is for the reader."""

    hits: tuple[Fused, ...]
    state: Literal["ok", "skipped", "failed"]
    reason: str


def rerank(
    fused: Sequence[Fused],
    texts: Mapping[Key, str],
    query: str,
    reranker: Reranker,
    *,
    timeout_s: float,
    depth: int = RERANK_DEPTH,
) -> Reranking:
    """Let the reranker order the first `depth` hits; on a timeout or a failure keep the fused order and say so.

    Sensitive hits are never shown to it and keep their places; the others share the remaining places among
    themselves, ties in the fused order. Whoever takes a place takes its score, so scores still fall from first to last
    and `min_score` means what it meant; the reranker's own value is the `raw` of the contribution that replaces the
    old ones, and those are kept in `before`. `texts` has the text of every hit that is not sensitive.
    """
    places = [place for place, one in enumerate(fused[:depth]) if not one.facts.sensitive]
    if len(places) < 2:
        return Reranking(tuple(fused), "skipped", "fewer than two hits that may be shown to a reranker")
    scores = _ask(reranker, query, [texts[fused[place].key] for place in places], timeout_s)
    if isinstance(scores, str):
        return Reranking(tuple(fused), "failed", f"{reranker.name}: {scores}; the fused order stands")
    judged = sorted(zip(places, scores, strict=True), key=lambda pair: -pair[1])  # stable: ties keep their order
    hits = list(fused)
    for rank, (target, (source, raw)) in enumerate(zip(places, judged, strict=True), start=1):
        hits[target] = _moved(fused[source], source + 1, fused[target].score, rank, raw)
    return Reranking(tuple(hits), "ok", f"{reranker.name} ordered {len(places)} hits")


def _moved(one: Fused, old_rank: int, score: float, rank: int, raw: float) -> Fused:
    said = Contribution("rerank", rank=rank, raw=raw, weight=1.0, value=score)
    before = Before(old_rank, one.score, one.contributions, one.factors)
    return one._replace(contributions=(said,), factors=(), score=score, before=before)


def _ask(reranker: Reranker, query: str, texts: Sequence[str], timeout_s: float) -> list[float] | str:
    """The scores, or why there are none. A thread that hangs is left behind; as a daemon it keeps no process alive."""
    answer: list[list[float] | str] = []
    done = threading.Event()

    def work() -> None:
        try:
            answer.append(_checked(reranker.score(query, texts), len(texts)))
        except FAILURES as error:
            answer.append(f"{type(error).__name__}: {error}")
        finally:
            done.set()

    threading.Thread(target=work, name=f"rerank {reranker.name}", daemon=True).start()
    if not done.wait(timeout_s):
        return f"no answer within {timeout_s:g} s"
    return answer[0] if answer else "it ended without an answer"


def _checked(scores: Sequence[float], wanted: int) -> list[float]:
    found = [float(score) for score in scores]
    if len(found) != wanted:
        raise ValueError(f"{len(found)} scores for {wanted} texts")
    if any(math.isnan(score) for score in found):
        raise ValueError("a score is not a number")
    return found
