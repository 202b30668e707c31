"""Weights in the capped simplex { w : sum_i w_i = 1, 0 <= w_i <= cap } of least variance."""

from dataclasses import KW_ONLY, replace

import numpy as np

from inlier._internal.typing import Array, Seed
from inlier._internal.validation import check_number, check_whole
from inlier.baselines.base import Answer, Baseline, Run
from inlier.datasets.base import parameter


def nearest_point(w: Array, cap: float) -> Array:
    """Return the Euclidean projection of w onto the capped simplex.

    It is clip(w - t, 0, cap). The sum is piecewise linear and decreasing in t, with kinks where an
    entry reaches a bound: bisect over the kinks, then interpolate exactly.
    """
    kinks = np.sort(np.concatenate([w, w - cap]))
    low, high = 0, len(kinks) - 1
    while high - low > 1:
        middle = (low + high) // 2
        if np.clip(w - kinks[middle], 0.0, cap).sum() >= 1.0:
            low = middle
        else:
            high = middle
    above, below = (float(np.clip(w - kinks[i], 0.0, cap).sum()) for i in (low, high))
    part = (above - 1.0) / (above - below) if above > below else 0.0
    t = kinks[low] + part * (kinks[high] - kinks[low])
    return np.asarray(np.clip(w - t, 0.0, cap))


def nearest_distribution(w: Array, cap: float) -> Array:
    """Return the projection of w onto the capped simplex in relative entropy.

    It is min(c w, cap): the largest entries are at the cap, the others in proportion. All numbers
    of capped entries are tried, from none, on the sorted entries.
    """
    order = np.argsort(w)[::-1]
    rest = np.cumsum(w[order][::-1])[::-1]  # sums without the largest entries
    capped = np.arange(len(w))
    with np.errstate(divide="ignore", invalid="ignore"):
        scales = (1.0 - cap * capped) / rest
    fits = (scales * w[order] <= cap) & np.isfinite(scales) & (scales >= 0.0)
    first = int(np.argmax(fits)) if fits.any() else len(w)
    out = np.full(len(w), cap)
    if first < len(w):
        out[order[first:]] = scales[first] * w[order[first:]]
    return out


# A failed step is followed by one of a quarter of its length; give up after this many in a row.
MAX_FAILURES = 4
# Clip gradients at this multiple of the largest one among rows with positive weight.
GRADIENT_CLIP = 10.0


class ProjectedGradient(Baseline):
    """Minimise the largest variance of the weighted rows by gradient steps on their weights.

        min_w  lambda_max( sum_i w_i (y_i - mean_w)(y_i - mean_w)^T )
        over the capped simplex  sum_i w_i = 1,  0 <= w_i <= 1 / ((1 - alpha) n)

    The gradient is (v^T (y_i - mean_w))^2 for the top eigenvector v. Any stationary point has an
    error of O(sqrt(alpha)). Two passes for each step, up to nine with more than 256 columns.

    As in the authors' code, the gradient is normalised, and the step length is doubled after a
    success and quartered after a failure. A success lowers the variance by the fraction `tol`:
    minimising further would return weight to outliers within the bound.

    Parameters
    ----------
    alpha : float
        The fraction of rows that may be bad, 0 <= alpha < 1/2.
    tol : float, default=0.01
        Smallest relative decrease of the variance in a successful step.
    max_iter : int, default=100
    random_state : int, Generator, RandomState or None, default=0
        Seed of the eigensolver's starting vectors.

    References
    ----------
    Cheng, Diakonikolas, Ge and Soltanolkotabi (2020), High-dimensional robust mean estimation via
    gradient descent, ICML, arXiv:2005.01378, Algorithm 1.
    """

    name = "projected-gradient"
    needs = ("alpha",)
    paper = "Cheng, Diakonikolas, Ge and Soltanolkotabi (2020)"

    alpha: float | None = None
    _: KW_ONLY
    tol: float = parameter(0.01, check_number, below=1.0)
    max_iter: int = parameter(100, check_whole)
    random_state: Seed = 0

    def _estimate(self, run: Run) -> Answer:
        n, n_good = run.n, run.n - run.n_bad
        weights, step = np.full(n, 1.0 / n), 1.0 / n
        spread = run.spread(weights)
        failures, n_iter = 0, 0
        while failures < MAX_FAILURES and n_iter < self.max_iter and n_good < n:
            if spread.variance == 0.0:
                break
            n_iter += 1
            gradient = spread.projected**2 / spread.variance
            # A distant row of weight zero would shorten all steps.
            gradient = np.minimum(gradient, GRADIENT_CLIP * gradient[weights > 0.0].max())
            length = float(np.linalg.norm(gradient))
            new = nearest_point(weights - step * gradient / length, 1.0 / n_good)
            found = run.spread(new)
            if found.variance < (1.0 - self.tol) * spread.variance:
                weights, spread, step, failures = new, found, 2.0 * step, 0
                run.record("gradient step", weights, spread.variance)
            elif found.variance < spread.variance and failures == 0 and step < 1.0:
                step = 2.0 * step  # too short to gain much
            else:
                step, failures = step / 4.0, failures + 1
        converged = n_iter < self.max_iter or failures == MAX_FAILURES
        message = "" if converged else "The variance was still falling. Raise max_iter."
        return Answer(weights, spread.projected**2, spread.mean, n_iter, converged, message)


# Relative to the cap: a smaller weight could never recover.
MIN_WEIGHT = 1e-12
# Relative to the cap: rows below it do not scale the step.
NEGLIGIBLE = 1e-9


class SpectralReweighting(Baseline):
    """Minimise the largest variance of the weighted rows by multiplicative weights.

    Each round multiplies the weights by 1 - step tau_i / max_j tau_j, with tau_i = (v^T (y_i -
    mean_w))^2 along the direction v of largest variance, and projects them, in relative entropy,
    onto the capped simplex w_i <= 1 / ((1 - alpha) n). The regret bounds the variance of the best
    round, which is returned, by that of the good rows. Two passes for each round, up to nine with
    more than 256 columns. It stops after `patience` rounds without an improvement by 1%.

    Parameters
    ----------
    alpha : float
        The fraction of rows that may be bad, 0 <= alpha < 1/2.
    step : float, default=1.0
        Between 0 and 1; the proof has 1/2.
    patience : int, default=10
        Rounds without improvement before it stops.
    max_iter : int, default=200
    random_state : int, Generator, RandomState or None, default=0
        Seed of the eigensolver's starting vectors.

    References
    ----------
    Hopkins, Li and Zhang (2020), Robust and heavy-tailed mean estimation made simple, via regret
    minimization, NeurIPS, arXiv:2007.15839, Algorithm 3.
    """

    name = "spectral-reweighting"
    needs = ("alpha",)
    paper = "Hopkins, Li and Zhang (2020)"

    alpha: float | None = None
    _: KW_ONLY
    step: float = parameter(1.0, check_number, at_most=1.0)
    patience: int = parameter(10, check_whole)
    max_iter: int = parameter(200, check_whole)
    random_state: Seed = 0

    def _estimate(self, run: Run) -> Answer:
        cap = 1.0 / (run.n - run.n_bad)
        weights = np.full(run.n, 1.0 / run.n)
        best, lowest, since, ended = None, np.inf, 0, False
        for _ in range(self.max_iter):
            spread = run.spread(weights)
            run.record("round", weights, spread.variance)
            since = 0 if spread.variance < 0.99 * lowest else since + 1
            if spread.variance < lowest:
                best, lowest = Answer(weights, spread.projected**2, spread.mean), spread.variance
            # A distant row of negligible weight would leave all others unchanged.
            top = float((spread.projected[weights > NEGLIGIBLE * cap] ** 2).max())
            ended = since >= self.patience or top == 0.0 or cap * run.n <= 1.0
            if ended:
                break
            shares = np.minimum(spread.projected**2 / top, 1.0)
            lowered = np.maximum(weights * (1.0 - self.step * shares), MIN_WEIGHT * cap)
            weights = nearest_distribution(lowered, cap)
        assert best is not None
        message = "" if ended else "The variance was still falling. Raise max_iter."
        return replace(best, n_iter=len(run.history), converged=ended, message=message)
