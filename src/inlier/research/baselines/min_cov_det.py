"""The minimum covariance determinant (MCD) mean, by scikit-learn."""

import warnings

import numpy as np
from sklearn.covariance import MinCovDet

from inlier._internal.typing import Seed
from inlier.research.baselines.base import Answer, Baseline, Run


class MinimumCovarianceDeterminant(Baseline):
    """Average the rows whose covariance has the smallest determinant, reweighted once.

    An adapter of `sklearn.covariance.MinCovDet` (FastMCD): it averages the rows within the 97.5%
    quantile of the Mahalanobis distance of the best half. The estimate is affine equivariant with a
    breakdown point near (n - d) / 2 rows, but the half is found from random starts, which fail with
    many outliers in many columns, and n > 2 d is required. One pass for a dense copy; time grows as
    n d^2 for each of about 500 starts. Scores are the distances. Rows are scaled by their median
    distance first, and scikit-learn's warnings become one of this library.

    References
    ----------
    Rousseeuw (1984), Least median of squares regression. Rousseeuw and Van Driessen (1999), A fast
    algorithm for the minimum covariance determinant estimator.
    """

    name = "min-cov-det"
    paper = "Rousseeuw and Van Driessen (1999)"
    rotates = False

    random_state: Seed = 0

    def _check(self, n: int, d: int) -> None:
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
        if unit == 0.0:  # scikit-learn fails on a zero covariance
            here = distances == 0.0
            return Answer(here * 1.0, distances, message="At least half of the rows coincide.")
        # scikit-learn does not accept a Generator.
        seed = int(run.random.integers(np.iinfo(np.int32).max))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            fit = MinCovDet(random_state=seed).fit(rows / unit)
        first = next((str(w.message) for w in caught), "")
        message = (
            f"scikit-learn warns: {first.split('. ')[0].rstrip('.')}. Likely causes are too few "
            "rows, and columns that follow from others: drop these."
        )
        return Answer(
            fit.support_.astype(np.float64),
            np.sqrt(np.maximum(fit.dist_, 0.0)),
            run.center + unit * fit.location_,
            converged=not first,
            message=message if first else "",
        )
