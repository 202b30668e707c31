"""Extreme cells: typos, swapped columns and signs."""

import numpy as np
import pytest

from cases import cases
from inlier import robust_mean
from inlier.datasets import SettingA
from inlier.search.extremes import find_extremes
from ordinary_tables import fitted, iris_with_typos

# Rows, columns, the bad cells, and what happens to them.
SMALL = {
    "one far row": (20, 3, ([3],), lambda x: x + 100.0),
    "two cells times ten": (20, 4, ([2, 7], 1), lambda x: 10.0 * (x + 10.0)),
    "a cell in another unit": (50, 4, ([11], 2), lambda x: 100.0 * (x + 20.0)),
    "three far rows": (40, 2, ([1, 5, 9],), lambda x: x + 30.0),
}


@cases("seed", range(5))
@cases("kind", SMALL)
def test_extreme_rows_of_small_tables_are_removed(kind, seed):
    n, d, bad, change = SMALL[kind]
    X = np.random.default_rng(seed).standard_normal((n, d))
    X[bad] = change(X[bad])
    np.testing.assert_array_equal(fitted(X).outliers, bad[0])


def test_typos_are_removed_and_described():
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


@pytest.mark.parametrize("value", [1e3, 1e7, 1e10, 1e20, 1e150, 1e300])
def test_an_extreme_cell_of_any_size_is_reported(value):
    """The scale of a column is that of its middle, for any distance of a cell."""
    X = np.random.default_rng(1).standard_normal((300, 4))
    X[7, 2] = value
    result = robust_mean(X)
    assert [(cell.row, cell.column) for cell in result.cells] == [(7, 2)]
    assert [group.kind for group in result.groups] == ["cells"]


@cases("seed", [2, 4])
def test_many_extreme_rows_are_cut_at_the_least_likely_gap(seed):
    """In these draws a good row lies nearer to the extreme ones than to the others."""
    sample = SettingA(2000, 100, 0.2).sample(seed)
    np.testing.assert_array_equal(robust_mean(sample.X).support, ~sample.is_outlier)


def test_a_good_cell_beside_many_extreme_ones_is_kept():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 1))
    X[:30] = 40.0 + rng.standard_normal((30, 1))
    X[30] = 1.6 * np.abs(X[31:]).max()  # beyond the others, by what one good value can reach
    np.testing.assert_array_equal(np.flatnonzero(~find_extremes(X, 400)[1]), np.arange(30))


def test_a_gap_that_the_tail_can_reach_is_none():
    X = np.random.default_rng(0).standard_normal((200, 1))
    X[0] = 1.2 * np.abs(X[1:]).max()
    assert find_extremes(X, 200)[0] == []
    X[0] = 40.0
    (rule,), kept = find_extremes(X, 200)
    np.testing.assert_array_equal(np.flatnonzero(~kept), [0])
    np.testing.assert_array_equal(rule.measure(X) > rule.cut, ~kept)
    assert 1.0 < X[0, 0] / (rule.measure.center[0] + rule.measure.above[0]) < 40.0
