"""Gross cells and the slips that would explain them, by hand."""

import numpy as np

import inlier
from cases import cases
from counting import counting_calls
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
    off = np.array(row) - FENCES.center
    gross = (off > FENCES.above) | (-off > FENCES.below)
    assert gross[j]
    found = _slip(np.array(row), j, 1, np.flatnonzero(gross).tolist(), FENCES, ("a", "b"))
    assert said in found and bool(said) is bool(found)


def test_a_value_that_occurs_often_is_a_code():
    X = np.random.default_rng(0).standard_normal((200, 2))
    X[:3, 0] = 999.0
    assert {cell.slip for cell in inlier.robust_mean(X).cells} == {
        "it occurs 3 times, like a code for a missing value"
    }
    X[2, 0] = 0.0
    assert not any("occurs" in cell.slip for cell in inlier.robust_mean(X).cells)


def test_work_is_proportional_to_the_number_of_cells():
    calls = []
    for d in (100, 400):
        X = np.random.default_rng(0).standard_normal((60, d))
        X[0] = 1e6 * (1.0 + np.arange(d))
        result = inlier.robust_mean(X)
        with counting_calls() as counted:
            assert len(result.cells) == d
        calls.append(counted[0])
    assert calls[1] < 5.0 * calls[0]


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
