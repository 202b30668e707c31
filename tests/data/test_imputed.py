"""Missing cells count as the median of their column, and are known to be missing."""

import numpy as np
import pytest

from inlier.data.checks import find_missing
from inlier.data.imputed import Gaps, ImputedTable


def table():
    X = np.random.default_rng(0).standard_normal((30, 4))
    X[:20, 2] = np.nan
    X[3, 0] = np.nan
    missing = find_missing(X, "X")
    fill = np.nanmedian(X, axis=0)
    return X, missing, ImputedTable(np.where(missing, fill, X), missing, Gaps(fill))


def test_missing_cells_are_found():
    X, missing, _ = table()
    np.testing.assert_array_equal(missing, np.isnan(X))
    assert find_missing(np.ones((3, 2)), "X") is None
    X[5, 1] = np.inf
    with pytest.raises(ValueError, match=r"^X contains .*infinity.* row 5, column 1"):
        find_missing(X, "X")


def test_passes_are_over_the_filled_cells():
    X, missing, filled = table()
    Y = np.where(missing, np.nanmedian(X, axis=0), X)
    center = np.zeros(4)
    np.testing.assert_allclose(filled.sq_distances(center), np.square(Y).sum(axis=1))
    np.testing.assert_allclose(filled.mean(np.ones(30), center), Y.mean(axis=0))


def test_sums_are_weighted_over_the_cells_that_are_there():
    X, missing, filled = table()
    weights = np.random.default_rng(1).uniform(0.0, 3.0, 30) * (np.arange(30) % 4 > 0)
    means, mass = filled.observed_mean(weights, filled.fill)
    seen = np.ma.array(np.nan_to_num(X), mask=missing)
    np.testing.assert_allclose(means, np.ma.average(seen, axis=0, weights=weights))
    np.testing.assert_allclose(mass, weights @ ~missing)
    _, squares, _, _, mass_squared = filled.observed_sums(weights, filled.fill)
    offset = np.where(missing, 0.0, X - filled.fill)
    np.testing.assert_allclose(squares, weights @ offset**2)
    np.testing.assert_allclose(mass_squared, weights**2 @ ~missing)


def test_gaps_say_what_is_missing():
    gaps = table()[2].gaps
    assert gaps.counts.tolist() == [1, 0, 20, 0] and gaps.mostly_missing.tolist() == [2]
    note = gaps.note(("a", "b", "c", "d"))
    assert "21 missing cells (in 2 columns)" in note
    assert "More than half is missing in" in note and "c" in note.split("missing in")[1]
