"""Extreme cells and the slips that would explain them, by hand."""

import numpy as np
import pandas as pd
import pytest

import inlier
from cases import cases
from counting import counting_calls
from inlier.data import Fences
from inlier.results.cells import CODE, Cell, Slip, _cells, cells_of, reasons

FENCES = Fences(
    center=np.array([10.0, 200.0]),
    unit=np.array([1.0, 5.0]),
    above=np.array([20.0, 100.0]),
    below=np.array([20.0, 100.0]),
)


def slips(*cells, names=("a", "b"), fences=FENCES):
    """The slips of cells (row, column, value)."""
    places = np.array([cell[:2] for cell in cells])
    values = np.array([cell[2] for cell in cells], float)
    return [cell.slip for cell in _cells(places, values, {}, set(), fences, names)]


@cases(
    ("cells", "names", "said", "repair"),
    [
        ([(0, 0, 200.0), (0, 1, 10.0)], "ab", "a usual value of b, like swapped cells", 10.0),
        ([(0, 0, -12.0)], "ab", "the usual with the other sign, like a wrong sign", None),
        ([(0, 0, 100.0)], "ab", "about 10 times the usual, like a misplaced decimal point", 10.0),
        ([(0, 1, 2.0)], "ab", "about 1/100 of the usual, like a misplaced decimal point", 200.0),
        ([(0, 1, 2e5)], "ab", "about 1,000 times the usual, like a misplaced decimal point", 200.0),
        # Several units would explain one value, and none is more likely than the others.
        ([(0, 0, 39.0)], "ab", "", None),
        # Nor is a unit, of a column whose name says nothing; three are another matter.
        ([(0, 1, 441.0)], "ab", "", None),
        (
            [(0, 1, 441.0), (1, 1, 439.0), (2, 1, 444.0)],
            "ab",
            "about 2.2046 times the usual, like pounds",
            200.035,
        ),
        ([(0, 1, 441.0)], ("a", "weight_kg"), "about 2.2046 times the usual, like pounds", 200.035),
        ([(0, 1, 78.74)], ("a", "heightCm"), "about 1/2.54 of the usual, like inches", 200.0),
        ([(0, 0, 50.0)], ("temp_c", "b"), "about 1.8 times the usual + 32, like Fahrenheit", 10.0),
        ([(0, 0, 1.333)], ("bp_mmHg", "b"), "about 1/7.5006 of the usual, like kilopascals", None),
    ],
)
def test_the_simplest_slip(cells, names, said, repair):
    slip = slips(*cells, names=tuple(names))[0]
    assert str(slip) == said
    assert slip.repair is None if repair is None else abs(slip.repair - repair) < 1e-3 * repair


@cases("value", [-999.0, 9999.0, -1.0, -99.0, 99999.0])
def test_usual_codes_are_seen_once(value):
    (slip,) = slips((0, 0, value))
    assert slip.like == CODE and np.isnan(slip.repair)


@cases("value", [7.0, 99.0, 998.0, -1.5])
def test_other_values_are_no_codes(value):
    assert slips((0, 1, value))[0].like != CODE


def test_a_value_that_occurs_often_is_a_code_unless_others_share_its_slip():
    assert [slip.like for slip in slips(*((i, 0, 333.0) for i in range(3)))] == [CODE] * 3
    assert {slip.like for slip in slips(*((i, 0, 333.0) for i in range(2)))} == {""}
    metres = [*((i, 1, 2.0) for i in range(3)), (3, 1, 2.1)]
    assert {slip.like for slip in slips(*metres)} == {"a misplaced decimal point"}
    assert {slip.like for slip in slips(*metres[:3])} == {CODE}


def test_where_zero_is_usual_nothing_has_a_scale():
    fences = Fences(np.zeros(1), np.ones(1), np.full(1, 20.0), np.full(1, 20.0))
    assert slips((0, 0, 40.0), fences=fences) == [Slip()]


def test_a_slip_of_a_whole_row_is_named_once():
    X = np.random.default_rng(0).normal([50.0, 65.0, 172.0, 37.0, 140.0], 3.0, (300, 5))
    X[0] *= 100.0
    (reason,) = reasons(inlier.robust_mean(X).cells)
    assert str(reason).startswith("5 x about 100 times the usual in 5 columns")


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
    slip = Slip("about 10 times the usual", "a misplaced decimal point")
    cell = Cell(3, 0, "height", 1800.0, 175.0, 232.14, slip)
    assert str(cell) == (
        "row 3: height = 1800, about 230 times the column's usual distance from its median 175; "
        "about 10 times the usual, like a misplaced decimal point"
    )
    constant = Cell(3, 0, "flag", 7.0, 0.0, np.inf)
    assert constant.about == "∞" and "most values are the median 0" in str(constant)


def test_cells_of_a_row_the_farthest_first():
    cells = [
        Cell(i, j, "", 0.0, 0.0, times) for i, j, times in [(1, 0, 3.0), (2, 0, 9.0), (1, 1, 5.0)]
    ]
    assert [cell.times for cell in cells_of(cells, 1)] == [5.0, 3.0]
    assert cells_of(cells, 7) == ()


def test_one_slip_in_most_far_cells_of_removed_rows():
    """Weights as measured and as reported, in pounds in four rows: half of the columns are far."""
    rng = np.random.default_rng(0)
    height = rng.normal(172.0, 8.0, 300)
    weight = 0.9 * height - 85.0 + rng.normal(0.0, 4.0, 300)
    truth = np.stack([weight, weight + rng.normal(0.0, 1.0, 300), height], axis=1)
    truth = np.column_stack([truth, rng.normal(120.0, 9.0, 300)])
    X = truth.copy()
    X[:4, :2] *= 2.20462
    names = ["weight_kg", "reported_kg", "height_cm", "sbp_mmhg"]
    result = inlier.robust_mean(pd.DataFrame(X, columns=names))
    assert result.outliers.tolist() == [0, 1, 2, 3]
    assert {(c.row, c.column) for c in result.cells} == {(i, j) for i in range(4) for j in (0, 1)}
    for cell in result.cells:
        assert cell.slip.like == "pounds"
        assert cell.slip.repair == pytest.approx(truth[cell.row, cell.column], rel=1e-4)
    # Rows of another kind, far out in as many columns, have no cells of their own.
    X = truth.copy()
    X[:4, :2] += [85.0, 300.0]
    other = inlier.robust_mean(pd.DataFrame(X, columns=names))
    assert other.outliers.tolist() == [0, 1, 2, 3] and not other.cells
