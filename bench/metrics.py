"""What a ranking is worth, question by question. The measures are those of ir-measures (trec_eval's definitions).

| name     | meaning |
|----------|---------|
| nDCG@10  | discounted gain of the first 10 over the best possible; the gain is the grade |
| R@k      | the fraction of the gold documents (grade above 0) among the first k |
| any@k    | 1 where at least one gold document is among the first k |
| all@k    | 1 where every gold document is among the first k |
| MRR@10   | 1 / rank of the first gold document, 0 where it is not among the first 10 |
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

Scores = npt.NDArray[np.float64]  # a row per question, a column per measure

MEASURES = ("nDCG@10", "R@2", "R@5", "R@10", "any@5", "any@10", "all@5", "all@10", "MRR@10")
MAIN = "nDCG@10"
DEPTH = 10  # no measure looks further
WHOLE = 1.0 - 1e-9  # a recall of 1 is a quotient of equal whole numbers; this is only for safety


def score(grades: Mapping[str, Mapping[str, int]], rankings: Mapping[str, Sequence[str]]) -> Scores:
    """One row per question of `rankings`, in its order. `grades` must have a gold document for each."""
    import ir_measures

    wanted = {
        **{f"R@{k}": ir_measures.R @ k for k in (2, 5, 10)},
        **{f"any@{k}": ir_measures.Success @ k for k in (5, 10)},
        MAIN: ir_measures.nDCG @ 10,
        "MRR@10": ir_measures.RR @ 10,
    }
    names = {measure: name for name, measure in wanted.items()}
    # trec_eval orders by score and breaks ties by document name: falling scores keep our order.
    run = {one: {id: float(-rank) for rank, id in enumerate(ids)} for one, ids in rankings.items()}
    judged = {one: dict(grades[one]) for one in rankings}
    found: dict[str, dict[str, float]] = {one: {} for one in rankings}
    for value in ir_measures.iter_calc(list(names), judged, run):
        found[value.query_id][names[value.measure]] = value.value
    for values in found.values():
        values |= {f"all@{k}": float(values[f"R@{k}"] >= WHOLE) for k in (5, 10)}
    return np.array([[values[name] for name in MEASURES] for values in found.values()], dtype=np.float64)


def column(measure: str) -> int:
    return MEASURES.index(measure)
