"""Iterative filtering for good rows of bounded covariance."""

from dataclasses import KW_ONLY
from typing import Literal

import numpy as np

from inlier._internal.typing import Seed
from inlier._internal.validation import check_choice, check_number
from inlier.research.baselines.base import Answer, Baseline, Run, is_minority, parameter


class IterativeFiltering(Baseline):
    """Downweight rows far out in the direction of largest variance until it is below sigma^2.

    With the direction v of largest variance and tau_i = (v^T y_i - median_j v^T y_j)^2, weights are
    multiplied by 1 - tau_i / max_j tau_j until no variance of the weighted rows exceeds sigma^2.
    More bad weight is removed than good, and the error is O(sigma sqrt(alpha)). Two passes for each
    filter step, up to nine with more than 256 columns.

    Algorithm 3 of the paper removes rows at random, with probability proportional to tau_i, as
    `removal="random"` does, but with one threshold for all rows; here each row has its own. Soft
    weights are the expectation of that. Other deviations: the threshold is sigma^2 instead of
    9 sigma^2, tau is centered at the median instead of the mean, which outliers move, and the
    eigenvector comes from a Krylov space instead of one power iteration.

    Parameters
    ----------
    sigma : float
        Bound on the standard deviation of the good rows in any direction.
    factor : float, default=1.0
        The filter stops when no variance exceeds `factor` sigma^2.
    removal : {"soft", "random"}, default="soft"
        Whether weights are lowered, or rows removed at random.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the random removal and of the eigensolver's starting vectors.

    References
    ----------
    Diakonikolas, Kamath, Kane, Li, Moitra and Stewart (2017), Being robust (in high dimensions) can
    be practical, ICML, arXiv:1703.00893, section 3.2 (bounded second moments).
    """

    name = "iterative-filtering"
    paper = "Diakonikolas et al. (2017)"

    sigma: float | None = None
    _: KW_ONLY
    factor: float = parameter(1.0, check_number)
    removal: Literal["soft", "random"] = parameter("soft", check_choice, choices=("soft", "random"))
    random_state: Seed = 0

    def _estimate(self, run: Run) -> Answer:
        limit = self.factor * run.limit_of(run.sigma)
        weights, scores = np.ones(run.n), np.zeros(run.n)
        for n_iter in range(run.n):
            spread = run.spread(weights)
            run.record("filter", weights, spread.variance, limit)
            middle = np.median(spread.projected[weights >= weights.max() / 2.0])
            tau = (spread.projected - middle) ** 2
            scores = np.maximum(scores, tau / limit)
            if spread.variance <= limit:
                return Answer(weights, scores, spread.mean, n_iter)
            share = tau / tau[weights > 0.0].max()
            if self.removal == "soft":
                left = weights * np.maximum(1.0 - share, 0.0)
            else:
                left = np.where(run.random.random(run.n) < share, 0.0, weights)
            if is_minority(left):
                break
            weights = left
        return Answer.gave_up(weights, scores, n_iter)
