"""How sure a difference is: a paired bootstrap over questions, seeded, so that a run repeats to the last digit.

Both systems answered the same questions, so questions are resampled, not answers: a question that is hard for both
does not count as noise.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

RESAMPLES = 10_000
SEED = 20_260_101
TAILS = (2.5, 97.5)  # percent: the ends of a 95 % interval

Draws = npt.NDArray[np.float64]  # a row per resample, a column per question: how often it was drawn
Differences = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Difference:
    """A mean difference and the ends of its 95 % interval."""

    mean: float
    low: float
    high: float

    @property
    def verdict(self) -> int:
        """1 for a gain beyond noise, -1 for a loss beyond noise, else 0."""
        return int(self.low > 0.0) - int(self.high < 0.0)


def draws(questions: int, name: str, resamples: int = RESAMPLES) -> Draws:
    """Resamples of this many questions. `name` goes into the seed, so that sets are resampled independently, and a
    set's figures do not depend on which others were run."""
    own = int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest())
    random = np.random.default_rng([SEED, own])
    return random.multinomial(questions, np.full(questions, 1.0 / questions), size=resamples).astype(np.float64)


def resampled(drawn: Draws, differences: Differences) -> Differences:
    """The mean difference of each resample: a row per resample, a column per column of `differences`."""
    means: Differences = drawn @ differences / drawn.shape[1]
    return means


def intervals(differences: Differences, means: Differences) -> list[Difference]:
    """One per column, from the differences by question and the means of the resamples."""
    low, high = np.percentile(means, TAILS, axis=0)
    return [
        Difference(float(mean), float(least), float(most))
        for mean, least, most in zip(differences.mean(axis=0), low, high, strict=True)
    ]
