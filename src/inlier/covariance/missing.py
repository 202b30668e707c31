"""Mean and covariance of rows with missing cells: maximum likelihood for Gaussian rows, by EM.

A missing cell counts as its regression on the cells that its row has, and the covariance gets the
variance that is left (Little and Rubin, 2019, section 11.2). Unlike a matrix of covariances of
pairs of columns, over the rows that have both, it has no negative eigenvalue. With fewer than five
rows for each column, correlations are shrunk in the regressions, which would fit any row.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from inlier._internal.typing import Array, Mask
from inlier.data.imputed import listed_columns

ROWS_PER_COLUMN = 5
MOST_STEPS = 200
# Largest change of a mean or covariance in the last step, in deviations of the columns.
TOLERANCE = 1e-5
# Of the variance of a column, which is added so that columns may depend on each other.
RIDGE = 1e-9


class Moments(NamedTuple):
    """The mean and the covariance of rows, with their number in the denominator."""

    mean: Array
    covariance: Array

    def filled(self, X: Array, missing: Mask) -> Array:
        """Return rows with each missing cell replaced by its regression on the others."""
        X, offsets = np.where(missing, self.mean, X), np.where(missing, 0.0, X - self.mean)
        for rows, gone, inverse, precision in self._patterns(missing):
            X[np.ix_(rows, gone)] -= offsets[rows] @ precision[:, gone] @ inverse
        return X

    def _patterns(self, missing: Mask) -> Iterator[tuple[Array, Array, Array, Array]]:
        """Yield rows that miss the same columns, these, and with what they are regressed.

        That is the covariance of these columns given the others, and the precision matrix.
        """
        unit = np.sqrt(np.diag(self.covariance))
        unit = np.where(unit > 0.0, unit, 1.0)
        C = self.covariance / np.outer(unit, unit)
        C.flat[:: len(C) + 1] += RIDGE
        precision = np.linalg.inv(C) / np.outer(unit, unit)
        patterns, which = np.unique(missing, axis=0, return_inverse=True)
        order = np.argsort(which.ravel(), kind="stable")
        ends = np.cumsum(np.bincount(which.ravel(), minlength=len(patterns)))
        for pattern, rows in zip(patterns, np.split(order, ends[:-1]), strict=True):
            gone = np.flatnonzero(pattern)
            if len(gone):
                yield rows, gone, np.linalg.inv(precision[np.ix_(gone, gone)]), precision


def moments_of(X: Array, missing: Mask) -> Moments:
    """Return the moments of rows; warn if EM does not converge."""
    n, d = X.shape
    empty = np.flatnonzero(missing.all(axis=0))
    if len(empty):
        raise ValueError(
            f"No row that was kept has a value in {listed_columns(empty, None)} of X (from 0). "
            "Drop such columns: there is no covariance to estimate."
        )
    cells = [x[~gone].astype(np.float64) for x, gone in zip(X.T, missing.T, strict=True)]
    origin, unit = np.array([x.mean() for x in cells]), np.array([x.std() for x in cells])
    unit[unit == 0.0] = 1.0
    Z = np.where(missing, 0.0, (X - origin) / unit)
    mean, covariance = np.zeros(d), np.cov(Z.T, bias=True).reshape(d, d)
    shrunk = min(1.0, n / (ROWS_PER_COLUMN * d))
    steps = MOST_STEPS if missing.any() else 0
    for _ in range(steps):
        C = np.where(np.eye(d, dtype=np.bool_), covariance, shrunk * covariance)
        known, left = Moments(mean, C), np.zeros((d, d))
        filled = known.filled(Z, missing)
        for rows, gone, inverse, _ in known._patterns(missing):
            left[np.ix_(gone, gone)] += len(rows) * inverse
        last, mean = (mean, covariance), filled.mean(axis=0)
        covariance = np.cov(filled.T, bias=True).reshape(d, d) + left / n
        change = max(np.abs(mean - last[0]).max(), np.abs(covariance - last[1]).max())
        if change < TOLERANCE:
            break
    else:
        if steps:
            warnings.warn(
                f"The covariance of rows with missing cells still changed by {change:.1g} in units "
                f"of the columns after {steps} steps of EM: so much is missing that it is hardly "
                "determined. Leave out the columns with the most missing cells.",
                ConvergenceWarning,
                stacklevel=4,
            )
    return Moments(origin + unit * mean, covariance * np.outer(unit, unit))
