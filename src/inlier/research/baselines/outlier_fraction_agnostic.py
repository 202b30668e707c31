"""The outlier-fraction agnostic filter, with sigma given and without."""

from dataclasses import KW_ONLY, replace

import numpy as np

from inlier._internal.typing import Seed
from inlier._internal.validation import check_number
from inlier.research.baselines.base import (
    MIN_SIGMA,
    Answer,
    Baseline,
    Run,
    Spread,
    is_minority,
    parameter,
)

# Smallest sigma of the grid, relative to that of all rows.
MIN_RATIO = 1e-8


def _trim(run: Run, sigma: float, first: Spread) -> Answer:
    """Trim along the direction of largest variance until the kept rows are within the budget."""
    n, limit = run.n, run.limit_of(sigma)
    weights, spread, n_iter = np.ones(n), first, 0
    scores = (first.projected - np.median(first.projected)) ** 2 / limit
    while spread.variance * float(weights.sum()) > n * limit:
        deviations = (spread.projected - np.median(spread.projected)) ** 2
        ordered = np.sort(deviations)
        fits = int(np.searchsorted(np.cumsum(ordered), n * limit, side="right"))
        # Remove ties together, whatever their order in the table.
        cut = ordered[fits] * (1.0 - 1e-9) if fits < n else np.inf
        left = np.where(deviations >= cut, 0.0, weights)
        scores = np.maximum(scores, deviations / limit)
        if is_minority(left) or not (left < weights).any():
            return Answer(weights, scores, spread.mean, n_iter, converged=False)
        n_iter += 1
        weights, spread = left, run.spread(left)
        run.record("trim", weights, spread.variance, limit)
    return Answer(weights, scores, spread.mean, n_iter)


class OutlierFractionAgnostic(Baseline):
    """Trim along the direction of largest variance until the kept rows are within n sigma^2.

    With v that direction, rows are sorted by (v^T y_i - median)^2 and kept while the sum is within
    n sigma^2; removed rows do not return. This repeats, a few times, until no direction exceeds
    n sigma^2. The error is O(sigma sqrt(alpha)) without knowing alpha. Two passes for each round,
    up to nine with more than 256 columns. The authors draw the first direction at random.

    Parameters
    ----------
    sigma : float
        Bound on the standard deviation of the good rows in any direction.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the eigensolver's starting vectors.

    References
    ----------
    Deshmukh, Liu and Veeravalli (2023), Robust mean estimation in high dimensions: an
    outlier-fraction agnostic and efficient algorithm, IEEE Transactions on Information Theory
    69(7), arXiv:2102.08573; with binary weights, as in Algorithm 2 of Deshmukh's thesis (2024).
    """

    name = "fraction-agnostic"
    paper = "Deshmukh, Liu and Veeravalli (2023)"

    sigma: float | None = None
    _: KW_ONLY
    random_state: Seed = 0

    def _estimate(self, run: Run) -> Answer:
        found = _trim(run, run.sigma, run.spread(np.ones(run.n)))
        if found.converged:
            return found
        return Answer.gave_up(found.weights, found.scores, found.n_iter)


class CorruptionLevelAgnostic(Baseline):
    """Apply the filter for a grid of sigma, and choose the smallest that larger ones confirm.

    On a grid from the sigma of all rows downwards, with factor `ratio`, the outlier-fraction
    agnostic filter gives x(sigma). The smallest sigma with ||x(s) - x(sigma)|| <= `constant`
    (s + sigma) for all larger s is chosen: the meta-algorithm of the paper's section 3. It needs
    neither alpha nor sigma, and a hundred passes or more.

    The authors of the filter start at sigma = 1, for data of unit variance. Here the grid ends at
    the median distance from the center divided by sqrt(d), or where half of the rows would be
    removed, so that it does not depend on units.

    Parameters
    ----------
    ratio : float, default=1.1
        Ratio of successive values of sigma.
    constant : float, default=4.0
        Constant of the error bound; the theory has O(sqrt(alpha) / (1 - 2 alpha)).
    random_state : int, Generator, RandomState or None, default=0
        Seed of the eigensolver's starting vectors.

    References
    ----------
    Jain, Orlitsky and Ravindrakumar (2022), Robust estimation algorithms don't need to know the
    corruption level, arXiv:2202.05453, section 3 and Lemma 3.
    """

    name = "corruption-agnostic"
    paper = "Jain, Orlitsky and Ravindrakumar (2022)"

    _: KW_ONLY
    ratio: float = parameter(1.1, check_number, above=1.0)
    constant: float = parameter(4.0, check_number)
    random_state: Seed = 0

    def _estimate(self, run: Run) -> Answer:
        first = run.spread(np.ones(run.n))
        top = float(np.sqrt(first.variance))
        if top < MIN_SIGMA:  # the rows coincide
            return Answer(np.ones(run.n), np.zeros(run.n), first.mean)
        # The standard deviation of good rows in an average direction; zero if half coincide.
        least = float(np.sqrt(np.median(run.distances) / run.d))
        least = min(top, max(least, MIN_RATIO * top))
        n_sigmas = 1 + int(np.log(top / least) / np.log(self.ratio))
        sigmas = top / self.ratio ** np.arange(n_sigmas)
        tried = []
        for sigma in sigmas.tolist():
            found = _trim(run, sigma, first)
            if not found.converged:
                break
            tried.append(found)
        means = np.array([found.location for found in tried])
        for i in reversed(range(len(tried))):  # the smallest sigma first
            apart = np.linalg.norm(means[: i + 1] - means[i], axis=1)
            if (apart <= self.constant * (sigmas[: i + 1] + sigmas[i])).all():
                break
        message = f"Sigma {sigmas[i]:.3g} was chosen."
        return replace(tried[i], n_iter=len(tried), message=message)
