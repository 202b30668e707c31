"""A filter that controls the rate of false discoveries."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import numpy as np
from scipy.stats import false_discovery_control, norm

from inlier._internal.typing import Array, Seed
from inlier._internal.validation import check_number
from inlier.baselines.base import Answer, Baseline, Run, gave_up, gone

# The median absolute deviation of a standard Gaussian.
MAD = float(norm.ppf(0.75))


@dataclass(eq=False, repr=False)
class FalseDiscoveryFilter(Baseline):
    """Along the direction of largest variance, remove rows that a Gaussian tail does not expect.

    A row at T standard deviations from the median along the direction has the p-value min(1, 8
    exp(-T^2 / 2)), the tail bound of the authors. Those that Benjamini and Hochberg reject at the
    rate `fdr` leave, as long as there are any; then the next direction is looked at, until none is
    rejected. Two passes for a direction, with more than 256 columns up to nine.

    The authors' code, made for identity covariance, measures T in units of the data, and prunes
    and stops at thresholds for variance 1. Here the standard deviation in the direction is read off
    the median absolute deviation of the kept rows, and the filter stops when nothing is rejected:
    neither sigma nor alpha is needed. Heavy tails cost good rows on both sides, not the mean.

    Parameters
    ----------
    fdr : float, default=0.1
        Rate of false discoveries, the authors' choice.
    random_state : int, Generator, RandomState or None, default=0
        Of the eigenvectors' start.

    References
    ----------
    Diakonikolas, Karmalkar, Kane, Price and Stewart (2019), Outlier-robust high-dimensional sparse
    estimation via iterative filtering, NeurIPS, arXiv:1911.08085; the dense filter (RME) of their
    code. Benjamini and Hochberg (1995), Controlling the false discovery rate.
    """

    name = "fdr-filter"
    paper = "Diakonikolas, Karmalkar et al. (2019)"

    _: KW_ONLY
    fdr: float = 0.1
    random_state: Seed = 0

    def _check(self, n: int, d: int) -> None:
        check_number(self.fdr, "fdr", below=1.0)

    def _estimate(self, run: Run) -> Answer:
        weights, scores = np.ones(run.n), np.zeros(run.n)
        n_iter = 0
        while True:
            spread = run.spread(weights)
            run.record("filter", weights, spread.variance)
            left = self._filtered(spread.projected, weights, scores)
            if np.array_equal(left, weights):
                return Answer(weights, scores, spread.mean, n_iter)
            if gone(left, run.n):
                why = "before none is rejected: their tails are too heavy for it. Lower fdr."
                return gave_up(weights, scores, n_iter, why)
            weights, n_iter = left, n_iter + 1

    def _filtered(self, projected: Array, weights: Array, scores: Array) -> Array:
        """Rows that are left along a direction, where the scale is measured anew as others go."""
        weights = weights.copy()
        while True:
            kept = np.flatnonzero(weights)
            away = np.abs(projected[kept] - np.median(projected[kept]))
            scale = float(np.median(away)) / MAD
            if scale == 0.0:  # half of the rows coincide along it: there is no unit
                return weights
            scores[kept] = away / scale
            p_values = np.minimum(1.0, 8.0 * np.exp(-(scores[kept] ** 2) / 2.0))
            rejected = false_discovery_control(p_values) <= self.fdr
            if not rejected.any():
                return weights
            weights[kept[rejected]] = 0.0
