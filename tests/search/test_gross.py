"""Gross cells: typos, swapped columns and signs."""

import numpy as np
import pytest

from cases import cases
from inlier import robust_mean
from inlier.datasets import SettingA
from inlier.search.gross import gross_rules
from ordinary_tables import fitted, iris_with_typos

# -- what is found --------------------------------------------------------------------------------


def one_far_row(rng):
    X = rng.standard_normal((20, 3))
    X[3] += 100.0
    return X, [3]


def two_times_ten(rng):
    X = rng.standard_normal((20, 4)) + 10.0
    X[[2, 7], 1] *= 10.0
    return X, [2, 7]


def unit_error(rng):
    X = rng.standard_normal((50, 4)) + 20.0
    X[11, 2] *= 100.0
    return X, [11]


def three_far_rows(rng):
    X = rng.standard_normal((40, 2))
    X[[1, 5, 9]] += 30.0
    return X, [1, 5, 9]


@cases("seed", range(5))
@cases("table", [one_far_row, two_times_ten, unit_error, three_far_rows])
def test_gross_rows_of_small_tables_leave(table, seed):
    X, bad = table(np.random.default_rng(seed))
    np.testing.assert_array_equal(fitted(X).outliers, bad)


def test_typos_leave_and_say_what_they_look_like():
    result = fitted(iris_with_typos())
    np.testing.assert_array_equal(result.outliers, [3, 60, 100, 101, 102, 120, 140])
    said = {(cell.row, cell.column): str(cell) for cell in result.cells}
    assert said[3, 0].endswith("it looks 10 times too large")
    assert said[60, 2].endswith("it looks 100 times too large")
    assert "occurs 3 times, like a code" in said[100, 1]
    assert "x2 = 350, about 290 times the column's usual distance from its median" in said[60, 2]
    assert result.explain(60).cells == (said[60, 2],)
    assert said[60, 2] in str(result.explain(60))


def test_swapped_columns_and_signs_are_recognised():
    rng = np.random.default_rng(0)
    X = np.c_[100.0 + rng.standard_normal(80), 5.0 + 0.1 * rng.standard_normal(80)]
    X[7] = X[7, ::-1]
    X[9, 0] *= -1.0
    said = {(cell.row, cell.column): cell.slip for cell in fitted(X).cells}
    assert "swapped" in said[7, 0] and "swapped" in said[7, 1]
    assert said[9, 0] == "with the other sign it would be usual"


# -- the parts ------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [1e3, 1e7, 1e10, 1e20, 1e150, 1e300])
def test_a_gross_cell_of_any_size_is_named(value):
    """The scale of a column is that of its middle, however far out a cell lies."""
    X = np.random.default_rng(1).standard_normal((300, 4))
    X[7, 2] = value
    result = robust_mean(X)
    assert [(cell.row, cell.column) for cell in result.cells] == [(7, 2)]
    assert [group.kind for group in result.groups] == ["cells"]


@cases("seed", [2, 4])
def test_many_gross_rows_leave_at_the_widest_gap(seed):
    """A good row lies next to it in these draws, nearer to the gross ones than to the others."""
    sample = SettingA(2000, 100, 0.2).sample(seed)
    np.testing.assert_array_equal(robust_mean(sample.X).support, ~sample.is_outlier)


def test_a_good_cell_beside_many_gross_ones_stays():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 1))
    X[:30] = 40.0 + rng.standard_normal((30, 1))
    X[30] = 1.6 * np.abs(X[31:]).max()  # beyond the others, by what one good value can reach
    kept = gross_rules(X, 400)[1]
    np.testing.assert_array_equal(np.flatnonzero(~kept), np.arange(30))
