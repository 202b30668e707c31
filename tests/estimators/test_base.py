"""What estimators share, on the simplest one."""

import numpy as np
import pytest

from cases import cases
from inlier.data import as_table
from inlier.estimators.base import MeanEstimator
from inlier.research.baselines.base import MeanResult
from reference import contaminated


class Kept(MeanEstimator):
    """The mean of the rows whose first cell is not above a limit."""

    def __init__(self, limit=3.0):
        self.limit = limit

    def fit(self, X, y=None):
        rows = self._validated(X, fitting=True)
        table = as_table(rows)
        first = table.project(np.zeros(table.shape[1]), np.eye(1, table.shape[1]))[0]
        support = first <= self.limit
        weights = support.astype(float)
        mean = table.mean(weights, np.zeros(table.shape[1]))
        result = MeanResult(mean, support, weights, first, 1, 2, True, "done")
        return self._copied(result, weights, 1)


@cases("make", [as_table, lambda X: X])
def test_other_numbers_of_columns_are_refused(make):
    X = contaminated()
    estimator = Kept().fit(make(X))
    assert estimator._validated(make(X[:1])).shape == (1, 4)
    with pytest.raises(ValueError, match="minimum of 2 is required"):
        Kept().fit(X[:1])
    with pytest.raises(ValueError, match=r"X has 3 features, but Kept is expecting 4 features"):
        estimator._validated(make(X[:, :3]))


def test_missing_cells_are_refused_unless_they_are_taken():
    X = contaminated()
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="contains NaN"):
        Kept().fit(X)
    taken = type("Taken", (Kept,), {"_takes_missing": property(lambda self: True)})()
    assert np.isnan(taken._validated(X, fitting=True)[3, 1])
    assert taken.__sklearn_tags__().input_tags.allow_nan
    assert not Kept().__sklearn_tags__().input_tags.allow_nan
