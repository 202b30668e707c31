"""The mean of the minimum covariance determinant, by scikit-learn."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.covariance import MinCovDet

from inlier._internal.typing import Array, Seed
from inlier._internal.validation import check_number
from inlier.baselines.base import Answer, Baseline, Run


@dataclass(eq=False, repr=False)
class MinimumCovarianceDeterminant(Baseline):
    """The mean of the rows whose covariance has the smallest determinant, re-weighted once.

    An adapter of `sklearn.covariance.MinCovDet` (FastMCD): rows within the 97.5% quantile of the
    Mahalanobis distance of the half that was found are averaged. Affinely equivariant, and breaks
    down near (n - d) / 2 rows, but it finds the half from random starts, which fails with many bad
    rows in many columns, and it needs n > 2 d. One pass for a dense copy; time grows as n d^2 for
    each of its some 500 starts. Scores are the distances. Unlike there, rows are measured in
    units of their median distance, so that the answer does not depend on units, and its warnings
    (of a determinant that grows, or rows in a plane) become one of this library.

    Parameters
    ----------
    support_fraction : float, optional
        Of the rows that the fit looks for, above 1/2. If not given, (n + d + 1) / 2 rows, which
        bears most.
    random_state : int, Generator, RandomState or None, default=0
        Of the starts.

    References
    ----------
    Rousseeuw (1984), Least median of squares regression. Rousseeuw and Van Driessen (1999), A fast
    algorithm for the minimum covariance determinant estimator.
    """

    name = "min-cov-det"
    paper = "Rousseeuw and Van Driessen (1999)"
    rotates = False

    support_fraction: float | None = None
    random_state: Seed = 0

    def _check(self, n: int, d: int) -> None:
        if self.support_fraction is not None:
            check_number(self.support_fraction, "support_fraction", above=0.5, at_most=1.0)
        if n <= 2 * d:
            raise ValueError(
                f"MinimumCovarianceDeterminant needs more than 2 d = {2 * d} rows for d = {d} "
                f"columns, but X has {n}: otherwise half of the rows fit into a plane. Take fewer "
                "columns, or a method without covariances, such as GeometricMedian."
            )

    def _estimate(self, run: Run) -> Answer:
        rows = run.dense()
        distances = np.linalg.norm(rows, axis=1)
        unit = float(np.median(distances))
        if unit == 0.0:  # their covariance is zero, where scikit-learn gives up
            here = distances == 0.0
            return Answer(here * 1.0, distances, message="At least half of the rows coincide.")
        # A number and not the generator: scikit-learn knows the older random states only.
        seed = int(run.random.integers(np.iinfo(np.int32).max))
        estimator = MinCovDet(support_fraction=self.support_fraction, random_state=seed)
        fit, warning = _fitted(estimator, rows / unit)
        message = (
            f"scikit-learn warns: {warning} Likely causes are too few rows, and columns that follow"
            " from others: drop these."
        )
        return Answer(
            fit.support_.astype(np.float64),
            np.sqrt(np.maximum(fit.dist_, 0.0)),
            run.center + unit * fit.location_,
            converged=not warning,
            message=message if warning else "",
        )


def _fitted(estimator: Any, rows: Array) -> tuple[Any, str]:
    """The fit, and the first thing scikit-learn warned of."""
    with warnings.catch_warnings(record=True) as caught:
        for category in (RuntimeWarning, UserWarning):
            warnings.simplefilter("always", category)
        estimator.fit(rows)
    about_rows = [w for w in caught if issubclass(w.category, RuntimeWarning | UserWarning)]
    for other in caught:
        if other not in about_rows:
            warnings.warn_explicit(other.message, other.category, other.filename, other.lineno)
    first = str(about_rows[0].message).split(". ")[0] if about_rows else ""
    return estimator, f"{first.rstrip('.')}." if first else ""
