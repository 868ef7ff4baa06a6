"""The last step of every embedder: rows of unit length."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from trivium.errors import EmbedderError
from trivium.models.embed import Matrix


def unit_rows(rows: npt.NDArray[np.floating], model: str) -> Matrix:
    """The rows as float32 of length 1; an all-zero row stays zero. Raises EmbedderError on NaN or infinity."""
    exact = rows.astype(np.float64)  # squares of a remote model's large values would overflow float32
    if not np.isfinite(exact).all():
        raise EmbedderError(f"{model}: gave a vector with NaN or infinity; check the model, or use another one")
    lengths = np.sqrt(np.einsum("ij,ij->i", exact, exact))
    lengths[lengths == 0.0] = 1.0
    unit: Matrix = (exact / lengths[:, None]).astype(np.float32)
    return unit
