"""Projected gradient descent on the capped simplex."""

from dataclasses import KW_ONLY

import numpy as np

from inlier._internal.typing import Seed
from inlier._internal.validation import check_number, check_whole
from inlier.research.baselines.base import Answer, Baseline, Run, parameter
from inlier.research.baselines.capped_simplex import nearest_point

# A failed step is followed by one of a quarter of its length; give up after this many in a row.
MAX_FAILURES = 4
# Clip gradients at this multiple of the largest one among rows with positive weight.
GRADIENT_CLIP = 10.0


class ProjectedGradient(Baseline):
    """Minimise the largest variance of the weighted rows by gradient steps on their weights.

    That is ::

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
        Most steps.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the eigensolver's starting vectors.

    References
    ----------
    Cheng, Diakonikolas, Ge and Soltanolkotabi (2020), High-dimensional robust mean estimation via
    gradient descent, ICML, arXiv:2005.01378, Algorithm 1.
    """

    name = "projected-gradient"
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
