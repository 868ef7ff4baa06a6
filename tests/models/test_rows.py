from __future__ import annotations

import numpy as np
import pytest

from trivium.errors import EmbedderError
from trivium.models.rows import unit_rows


def test_rows_get_unit_length_and_zero_stays_zero() -> None:
    rows = unit_rows(np.array([[3.0, 4.0], [0.0, 0.0], [1e30, 0.0], [1e-30, 0.0]], np.float32), "m")
    assert rows.dtype == np.float32
    assert np.allclose(rows, [[0.6, 0.8], [0.0, 0.0], [1.0, 0.0], [1.0, 0.0]])


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_value_that_is_not_finite_names_the_model(value: float) -> None:
    with pytest.raises(EmbedderError, match=r"^m: "):
        unit_rows(np.array([[1.0, value]]), "m")
