"""A filter that controls the rate of false discoveries."""

from dataclasses import KW_ONLY

import numpy as np
from scipy.stats import false_discovery_control, norm

from inlier._internal.typing import Array, Seed
from inlier._internal.validation import check_number
from inlier.research.baselines.base import Answer, Baseline, Run, is_minority, parameter

# The median absolute deviation of a standard Gaussian.
MAD = float(norm.ppf(0.75))


class FalseDiscoveryFilter(Baseline):
    """Remove rows beyond a Gaussian tail along the directions of largest variance.

    A row at T standard deviations from the median along the direction has the p-value min(1, 8
    exp(-T^2 / 2)), the tail bound of the authors. Rows that the Benjamini-Hochberg procedure
    rejects at the rate `fdr` are removed until none is rejected; then the next direction is tested.
    Two passes for each direction, up to nine with more than 256 columns.

    The authors' code assumes identity covariance: T is in units of the data, and thresholds hold
    for variance 1. Here the standard deviation along the direction is estimated from the median
    absolute deviation of the kept rows, and the filter stops when nothing is rejected, so neither
    sigma nor alpha is needed. Heavy tails cost good rows on both sides, which hardly moves the
    mean.

    Parameters
    ----------
    fdr : float, default=0.1
        False discovery rate, the authors' choice.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the eigensolver's starting vectors.

    References
    ----------
    Diakonikolas, Karmalkar, Kane, Price and Stewart (2019), Outlier-robust high-dimensional sparse
    estimation via iterative filtering, NeurIPS, arXiv:1911.08085; the dense filter (RME) of their
    code. Benjamini and Hochberg (1995), Controlling the false discovery rate.
    """

    name = "fdr-filter"
    paper = "Diakonikolas, Karmalkar et al. (2019)"

    _: KW_ONLY
    fdr: float = parameter(0.1, check_number, below=1.0)
    random_state: Seed = 0

    def _estimate(self, run: Run) -> Answer:
        weights, scores = np.ones(run.n), np.zeros(run.n)
        n_iter = 0
        while True:
            spread = run.spread(weights)
            run.record("filter", weights, spread.variance)
            left = self._filtered(spread.projected, weights, scores)
            if np.array_equal(left, weights):
                return Answer(weights, scores, spread.mean, n_iter)
            if is_minority(left):
                why = "before none is rejected: their tails are too heavy for it. Lower fdr."
                return Answer.gave_up(weights, scores, n_iter, why)
            weights, n_iter = left, n_iter + 1

    def _filtered(self, projected: Array, weights: Array, scores: Array) -> Array:
        """Return the weights after filtering along one direction, rescaled after each removal."""
        weights = weights.copy()
        while True:
            kept = np.flatnonzero(weights)
            away = np.abs(projected[kept] - np.median(projected[kept]))
            scale = float(np.median(away)) / MAD
            if scale == 0.0:  # half of the rows coincide along it: no scale
                return weights
            scores[kept] = away / scale
            p_values = np.minimum(1.0, 8.0 * np.exp(-(scores[kept] ** 2) / 2.0))
            rejected = false_discovery_control(p_values) <= self.fdr
            if not rejected.any():
                return weights
            weights[kept[rejected]] = 0.0
