"""Gross cells and the slips that would explain them, by hand."""

import numpy as np

from cases import cases
from inlier.data import Fences
from inlier.results.cells import Cell, _slip, cells_of

FENCES = Fences(
    center=np.array([10.0, 200.0]),
    unit=np.array([1.0, 5.0]),
    above=np.array([20.0, 100.0]),
    below=np.array([20.0, 100.0]),
)


@cases(
    ("row", "j", "said"),
    [
        ([200.0, 10.0], 0, "usual in b: the two look swapped"),
        ([-12.0, 200.0], 0, "with the other sign"),
        ([100.0, 200.0], 0, "10 times too large"),
        ([10.0, 2.0], 1, "100 times too small"),
        ([10.0, 200_000.0], 1, "1,000 times too large"),
        ([39.0, 200.0], 0, ""),
    ],
)
def test_the_simplest_slip(row, j, said):
    values = np.array([row])
    off = values - FENCES.center
    gross = (off > FENCES.above) | (-off > FENCES.below)
    assert gross[0, j]
    found = _slip(values, gross, 0, j, FENCES, ("a", "b"))
    assert said in found and bool(said) is bool(found)


def test_a_value_that_occurs_often_is_a_code():
    values = np.array([[999.0, 200.0]] * 3)
    gross = np.array([[True, False]] * 3)
    assert _slip(values, gross, 1, 0, FENCES, None) == (
        "it occurs 3 times, like a code for a missing value"
    )
    assert "occurs" not in _slip(values[:2], gross[:2], 1, 0, FENCES, None)


def test_words():
    cell = Cell(3, 0, "height", 1800.0, 175.0, 232.14, "it looks 10 times too large")
    assert str(cell) == (
        "height = 1800, about 230 times the column's usual distance from its median 175; "
        "it looks 10 times too large"
    )
    constant = Cell(3, 0, "flag", 7.0, 0.0, np.inf)
    assert constant.about == "∞" and "most values are the median 0" in str(constant)


def test_cells_of_a_row_the_farthest_first():
    cells = [
        Cell(i, j, "", 0.0, 0.0, times) for i, j, times in [(1, 0, 3.0), (2, 0, 9.0), (1, 1, 5.0)]
    ]
    assert [cell.times for cell in cells_of(cells, 1)] == [5.0, 3.0]
    assert cells_of(cells, 7) == ()
