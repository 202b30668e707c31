"""RandEigen: remove rows at random along the direction of largest variance until it settles."""

import numpy as np

from inlier._internal.typing import Seed
from inlier.research.baselines.base import Answer, Baseline, Run


class RandEigen(Baseline):
    """Remove rows at random along the direction of largest variance until the variance settles.

    With tau_i the distance of row i from the mean of the kept rows along that direction v, row i is
    removed with the probability tau_i / max_j tau_j. Rounds end when the largest variance changes
    by less than `tol`, relative to itself, or after max(10, alpha n) of them: no bound on the
    variance has to be known. Two passes for each round, up to nine with more than 256 columns.

    Rounds also end when 2 alpha n rows are removed, where the guarantee of such filters ends: the
    authors aggregate few updates, and of a table with thousands of rows hardly any would be left.
    Their projection to log(d) random directions, which saves time, is left out, and v comes from a
    Krylov space instead of power iterations.

    References
    ----------
    Lee, Kolluri, Saxena and Chang (2025), A practical and secure Byzantine robust aggregator, CCS,
    arXiv:2506.23183, and its code.
    """

    name = "rand-eigen"
    paper = "Lee, Kolluri, Saxena and Chang (2025)"

    alpha: float | None = None
    tol = 1e-5  # relative; the authors' is absolute
    random_state: Seed = 0

    def _estimate(self, run: Run) -> Answer:
        weights, scores = np.ones(run.n), np.zeros(run.n)
        last, n_iter = np.inf, 0
        while n_iter < max(10, run.n_bad) and run.n - weights.sum() < 2 * run.n_bad:
            spread = run.spread(weights)
            tau = np.abs(spread.projected)
            scores = np.maximum(scores, tau)
            farthest = tau[weights > 0.0].max()
            if farthest == 0.0 or abs(last - spread.variance) < self.tol * spread.variance:
                break
            # At least the farthest row is removed.
            weights = np.where(run.random.random(run.n) * farthest < tau, 0.0, weights)
            last, n_iter = spread.variance, n_iter + 1
        return Answer(weights, scores, n_iter=n_iter)
