"""Agnostic estimation of a mean by halving the dimension (LRV)."""

from abc import abstractmethod
from dataclasses import KW_ONLY

import numpy as np
from scipy.stats import norm

from inlier._internal.typing import Array
from inlier.research.baselines.base import Answer, Baseline, Run

# Quantiles that give a Gaussian standard deviation; near the median, where outliers matter least.
LOW, HIGH = 0.4, 0.6


class _Halving(Baseline):
    """Estimate in the half of the directions with least variance, and recurse into the others."""

    judges_rows = False

    def _estimate(self, run: Run) -> Answer:
        rows = run.dense().T
        location, axes = run.center.copy(), None  # None: all columns
        while len(rows) > 1:
            weights = self._weights(rows, run)
            mean = rows @ weights / weights.sum()
            half = (rows - mean[:, None]) * np.sqrt(weights)
            _, vectors = np.linalg.eigh(half @ half.T)
            low, high = np.split(vectors.T, [len(rows) // 2])
            part = (low @ mean) @ low
            location += part if axes is None else part @ axes
            rows, axes = high @ rows, high if axes is None else high @ axes
        location += self._last_mean(rows[0], run) * (1.0 if axes is None else axes[0])
        return run.location_only(location)

    @abstractmethod
    def _weights(self, rows: Array, run: Run) -> Array:
        """Return the weights of rows (k x n) in the k directions left."""

    @abstractmethod
    def _last_mean(self, values: Array, run: Run) -> float:
        """Return the mean in the last direction."""


def _sq_distances(rows: Array) -> Array:
    """Return squared distances from the coordinate-wise median."""
    away = rows - np.median(rows, axis=1)[:, None]
    return np.asarray(np.einsum("ij,ij->j", away, away))


class LaiRaoVempala(_Halving):
    """Trim and average in the directions of least variance, and recurse into the other half.

    Each round keeps the (1 - alpha) n rows nearest to the coordinate-wise median. Their mean is
    used along the half of the principal directions with least variance, where outliers cannot have
    moved it far. The other half is a problem of half the dimension. In the last direction it is the
    mean of the shortest interval with (1 - alpha)^2 n rows. This is AgnosticMean for bounded fourth
    moments, with an error of O(sqrt(alpha log d)). Two passes, and a copy of the data; d x d
    matrices are formed. The authors keep (1 - alpha)^2 n rows in each round, which costs good rows.

    References
    ----------
    Lai, Rao and Vempala (2016), Agnostic estimation of mean and covariance, FOCS, arXiv:1604.06968,
    Algorithm 3 with OutlierTruncation.
    """

    name = "lrv"
    paper = "Lai, Rao and Vempala (2016)"

    alpha: float | None = None

    def _weights(self, rows: Array, run: Run) -> Array:
        distances = _sq_distances(rows)
        return np.where(distances <= np.quantile(distances, 1.0 - run.n_bad / run.n), 1.0, 0.0)

    def _last_mean(self, values: Array, run: Run) -> float:
        values = np.sort(values)
        # At least a majority, or an interval could hold bad rows only.
        width = max(len(values) // 2 + 1, int((1.0 - run.n_bad / run.n) ** 2 * run.n))
        start = int(np.argmin(values[width - 1 :] - values[: len(values) - width + 1]))
        return float(values[start : start + width].mean())


class LaiRaoVempalaGaussian(_Halving):
    """Damp and average in the directions of least variance, and recurse into the other half.

    As `LaiRaoVempala`, for Gaussian rows: a row at distance r from the coordinate-wise median has
    the weight exp(-r^2 / (damping s^2)), with s^2 the sum of the columns' variances, each estimated
    from its quantiles .4 and .6; the last direction gets the median. The error is O(alpha
    sqrt(log d)). Neither alpha nor sigma is needed. Two passes, and a copy of the data; d x d
    matrices are formed.

    The paper leaves the constant `damping` open; the authors' code has 1. Their code divides the
    weighted sum by n, which is not shift-equivariant; here it is a weighted mean.

    References
    ----------
    Lai, Rao and Vempala (2016), Agnostic estimation of mean and covariance, FOCS, arXiv:1604.06968,
    Algorithm 3 with OutlierDamping.
    """

    name = "lrv-gaussian"
    paper = "Lai, Rao and Vempala (2016)"

    _: KW_ONLY
    damping = 2.0  # how fast weights fall with the distance

    def _weights(self, rows: Array, run: Run) -> Array:
        low, high = np.quantile(rows, [LOW, HIGH], axis=1)
        deviations = (high - low) / (norm.ppf(HIGH) - norm.ppf(LOW))
        scale = self.damping * float(deviations @ deviations)
        distances = _sq_distances(rows)
        # Where the quantiles coincide there is no scale: keep the rows at the median.
        if scale == 0.0:
            return np.where(distances <= np.median(distances), 1.0, 0.0)
        # Relative to the nearest row, so that not all weights underflow.
        return np.asarray(np.exp(-(distances - distances.min()) / scale))

    def _last_mean(self, values: Array, run: Run) -> float:
        return float(np.median(values))
