"""NaN and infinity are found wherever they are, and large numbers are not taken for them."""

import numpy as np
import pytest

from cases import cases
from inlier.data.finite import check_finite


@cases("dtype", [np.float16, np.float32, np.float64])
@cases(("value", "kind"), [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")])
def test_the_first_bad_entry_is_named(value, kind, dtype):
    block = np.ones((4, 3), dtype)
    block[2, 1] = block[3, 0] = value
    with pytest.raises(
        ValueError, match=rf"^X contains NaN or infinity \({kind}, .* row 12, column 1"
    ):
        check_finite(block, "X", 10)
    with pytest.raises(ValueError, match=rf"^X contains NaN or infinity \({kind}\)"):
        check_finite(block, "X", None)


def test_infinities_that_cancel_are_found():
    with pytest.raises(ValueError, match=r"row 0, column 0"):
        check_finite(np.array([[np.inf, -np.inf]]), "X", 0)


def test_numbers_pass():
    check_finite(np.full((2, 2), np.finfo(np.float64).max), "X", 0)  # their sum overflows
    check_finite(np.zeros((2, 2), np.int64), "X", 0)


def test_in_every_library(library):
    check_finite(library(np.ones((2, 2))), "X", 0)
    with pytest.raises(ValueError, match=r"row 1, column 0"):
        check_finite(library(np.array([[1.0, 2.0], [np.nan, 3.0]])), "X", 0)
