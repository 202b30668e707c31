"""Agnostic estimation of a mean by halving the dimension (LRV)."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass

import numpy as np
from scipy.stats import norm

from inlier._internal.typing import Array
from inlier._internal.validation import check_number
from inlier.baselines.base import Answer, Baseline, Run

# A standard deviation of Gaussian rows is read off these quantiles, where outliers disturb little.
LOW, HIGH = 0.4, 0.6


class _Halving(Baseline):
    """Mean of the quieter half of the directions by trimming, of the louder half by recursion."""

    judges_rows = False

    def _estimate(self, run: Run) -> Answer:
        rows = run.dense().T
        location, axes = run.center.copy(), None  # all of them
        while len(rows) > 1:
            weights = self._weights(rows, run)
            mean = rows @ weights / weights.sum()
            half = (rows - mean[:, None]) * np.sqrt(weights)
            _, vectors = np.linalg.eigh(half @ half.T)  # of which numpy computes one triangle
            quiet, loud = np.split(vectors.T, [len(rows) // 2])
            there = (quiet @ mean) @ quiet
            location += there if axes is None else there @ axes
            rows, axes = loud @ rows, loud if axes is None else loud @ axes
        location += self._middle(rows[0], run) * (1.0 if axes is None else axes[0])
        return run.located(location)

    @abstractmethod
    def _weights(self, rows: Array, run: Run) -> Array:
        """Of rows in the directions that are left (k x n)."""

    @abstractmethod
    def _middle(self, values: Array, run: Run) -> float:
        """The mean in the last direction."""


def _sq_distances(rows: Array) -> Array:
    """From the coordinate-wise median."""
    away = rows - np.median(rows, axis=1)[:, None]
    return np.asarray(np.einsum("ij,ij->j", away, away))


@dataclass(eq=False, repr=False)
class LaiRaoVempala(_Halving):
    """Split directions by variance: trim and average in the quieter half, recurse into the louder.

    In each round the (1 - alpha) n rows nearest to the coordinate-wise median are kept. Along the
    half of the principal directions in which these vary least their mean is taken: outliers that
    are left cannot have moved it far. The other half is a problem of half the dimension. The last
    direction gets the mean of the shortest interval with (1 - alpha)^2 n rows. This is AgnosticMean
    for distributions of bounded fourth moments, with an error of O(sqrt(alpha log d)). Two passes,
    and a copy of the data; d x d matrices are formed.

    The authors keep (1 - alpha)^2 n rows in each round, which costs good rows.

    Parameters
    ----------
    alpha : float
        The fraction of rows that may be bad, 0 <= alpha < 1/2.

    References
    ----------
    Lai, Rao and Vempala (2016), Agnostic estimation of mean and covariance, FOCS, arXiv:1604.06968,
    Algorithm 3 with OutlierTruncation.
    """

    name = "lrv"
    needs = ("alpha",)
    paper = "Lai, Rao and Vempala (2016)"

    alpha: float | None = None

    def _weights(self, rows: Array, run: Run) -> Array:
        distances = _sq_distances(rows)
        return np.where(distances <= np.quantile(distances, 1.0 - run.n_bad / run.n), 1.0, 0.0)

    def _middle(self, values: Array, run: Run) -> float:
        values = np.sort(values)
        # A majority at least, or an interval may hold bad rows only.
        width = max(len(values) // 2 + 1, int((1.0 - run.n_bad / run.n) ** 2 * run.n))
        start = int(np.argmin(values[width - 1 :] - values[: len(values) - width + 1]))
        return float(values[start : start + width].mean())


@dataclass(eq=False, repr=False)
class LaiRaoVempalaGaussian(_Halving):
    """Split directions by variance: damp and average in the quieter half, recurse into the louder.

    As `LaiRaoVempala`, for Gaussian rows: a row at distance r from the coordinate-wise median has
    the weight exp(-r^2 / (damping s^2)), with s^2 the sum of the variances of the coordinates, each
    read off its quantiles .4 and .6; the last direction gets the median. The error is O(alpha
    sqrt(log d)). Neither alpha nor sigma is needed. Two passes, and a copy of the data; d x d
    matrices are formed.

    The paper leaves the constant `damping` open; the authors' code has 1. It divides the weighted
    sum by n, which is not shift-equivariant; here it is a mean.

    Parameters
    ----------
    damping : float, default=2.0

    References
    ----------
    Lai, Rao and Vempala (2016), Agnostic estimation of mean and covariance, FOCS, arXiv:1604.06968,
    Algorithm 3 with OutlierDamping.
    """

    name = "lrv-gaussian"
    paper = "Lai, Rao and Vempala (2016)"

    _: KW_ONLY
    damping: float = 2.0

    def _check(self, n: int, d: int) -> None:
        check_number(self.damping, "damping")

    def _weights(self, rows: Array, run: Run) -> Array:
        low, high = np.quantile(rows, [LOW, HIGH], axis=1)
        deviations = (high - low) / (norm.ppf(HIGH) - norm.ppf(LOW))
        scale = self.damping * float(deviations @ deviations)
        distances = _sq_distances(rows)
        # Where the quantiles coincide there is no unit, and the rows at the median are all that is.
        if scale == 0.0:
            return np.where(distances <= np.median(distances), 1.0, 0.0)
        # From the nearest row, so that not all weights vanish.
        return np.asarray(np.exp(-(distances - distances.min()) / scale))

    def _middle(self, values: Array, run: Run) -> float:
        return float(np.median(values))
