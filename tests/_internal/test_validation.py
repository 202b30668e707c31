"""Argument checks, and the name of what is not installed."""

import sys
from datetime import date
from fractions import Fraction

import numpy as np
import pytest

from cases import cases
from inlier._internal.optional import optional
from inlier._internal.validation import (
    SMALLEST_BUDGET,
    as_array,
    check_budget,
    check_choice,
    check_finite,
    check_number,
    check_random_state,
    check_sample_weight,
    check_vector,
    check_whole,
    fit_generator,
)

TAKEN = [
    (5e-324, {}), (0.0, {"at_least": 0.0}), (1.0, {"at_most": 1.0}),
    (np.nextafter(1.0, 0.0), {"below": 1.0}), (np.float32(2.0), {}), (Fraction(1, 3), {}),
]  # fmt: skip
REFUSED = [
    (0.0, {}), (-1e-9, {"at_least": 0.0}), (1.0, {"below": 1.0}), (1.0, {"above": 1.0}),
    *((value, {}) for value in (10**400, np.inf, np.nan, True, np.True_, "1", None, 1j)),
]  # fmt: skip


def test_numbers():
    for value, limits in TAKEN:
        assert check_number(value, "x", **limits) == float(value)
    for value, limits in REFUSED:
        with pytest.raises(ValueError, match=r"^x must be a finite number (above|of at) .*but is"):
            check_number(value, "x", **limits)
    with pytest.raises(ValueError, match=r"above 0 and at most 1, but is 2\. Think\.$"):
        check_number(2, "x", at_most=1.0, hint=" Think.")


def test_whole_numbers():
    for value, least in ((1, 1), (0, 0), (np.int8(3), 3)):
        assert type(check_whole(value, "k", least)) is int
    for value, least in ((0, 1), (2.0, 1), (True, 0), ("2", 1)):
        with pytest.raises(ValueError, match=f"^k must be a whole number >= {least}, but is"):
            check_whole(value, "k", least)


def test_choices():
    assert check_choice("a", "way", ("a", "b")) == "a"
    for wrong in ("c", "A", None, 1):
        with pytest.raises(ValueError, match=r"^way must be one of 'a', 'b', but is"):
            check_choice(wrong, "way", ("a", "b"))


def test_vectors():
    found = check_vector([1, 2, 3], "v", 3, "row")
    assert found.dtype == np.float64 and found.tolist() == [1.0, 2.0, 3.0]
    for wrong, said in (
        ([1.0, 2.0], "vector of 3 numbers, one for each row"),
        ([[1.0, 2.0, 3.0]], r"shape \(1, 3\)"),
        ([1.0, np.nan, 2.0], "contains NaN or infinity"),
        ([1j, 0, 0], "dtype complex"),
        (["a", "b", "c"], "v must be a"),
    ):
        with pytest.raises(ValueError, match=said):
            check_vector(wrong, "v", 3, "row")


def test_sample_weights():
    assert check_sample_weight([0, 2, 1], 3).tolist() == [0.0, 2.0, 1.0]
    for wrong, said in (
        ([1.0, 2.0], "^sample_weight must be a vector of 3 numbers, one for each row"),
        ([1.0, np.inf, 2.0], "^sample_weight contains NaN or infinity"),
        ([1.0, 2.0, -0.5], r"^sample_weight has a negative entry \(-0.5, the first in row 2"),
        ([0.0, 0.0, 0.0], "^sample_weight is zero in every row"),
    ):
        with pytest.raises(ValueError, match=said):
            check_sample_weight(wrong, 3)


def test_arrays_of_objects_are_read_or_named():
    np.testing.assert_array_equal(as_array([[1, Fraction(1, 2)]], "X"), [[1.0, 0.5]])
    for wrong, said in (
        ([[10**400, 1]], "too many digits"),
        ([[1.0, "x"], [2.0, object()]], "has text in it"),
        ([[1.0, "2"]], "has text in it"),
        ([[1.0, object()]], "could not be read"),
        ([[1.0, date(2020, 1, 1)]], "could not be read|dates or times in column 1"),
    ):
        with pytest.raises(ValueError, match=said):
            as_array(np.array(wrong, dtype=object), "X")


def test_generators():
    rng = np.random.default_rng(3)
    assert check_random_state(rng) is fit_generator(rng) is rng
    assert check_random_state(5).random() == np.random.default_rng(5).random()
    older = [check_random_state(np.random.RandomState(1)).random() for _ in range(2)]
    assert older[0] == older[1]
    assert check_random_state(None).random() != check_random_state(None).random()
    # A fit draws from a stream of its own.
    assert fit_generator(5).random() == fit_generator(5).random()
    assert fit_generator(5).random() != np.random.default_rng(5).random()


def test_the_range_of_budgets():
    for budget in (2 * SMALLEST_BUDGET, 1.0, 0.5 / SMALLEST_BUDGET):
        check_budget(budget, "sigma")
    for budget in (SMALLEST_BUDGET, 0.0, 1.0 / SMALLEST_BUDGET, np.inf, np.nan):
        with pytest.raises(ValueError, match=r"^sigma is out of range"):
            check_budget(budget, "sigma")


# -- NaN and infinity -----------------------------------------------------------------------------


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


def test_sums_that_mislead():
    with pytest.raises(ValueError, match=r"row 0, column 0"):
        check_finite(np.array([[np.inf, -np.inf]]), "X", 0)
    check_finite(np.full((2, 2), np.finfo(np.float64).max), "X", 0)  # their sum overflows
    check_finite(np.zeros((2, 2), np.int64), "X", 0)


def test_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "h5py", None)
    said = r'^To read x, h5py is needed: pip install "inlier\[files\]" \(.*h5py'
    with pytest.raises(ImportError, match=said):
        optional("h5py", "To read x", "files")
