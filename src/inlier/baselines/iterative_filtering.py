"""Iterative filtering, for good rows of bounded covariance."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Literal

import numpy as np

from inlier._internal.typing import Seed
from inlier._internal.validation import check_choice, check_number
from inlier.baselines.base import Answer, Baseline, Run, gave_up, gone, variance_limit


@dataclass(eq=False, repr=False)
class IterativeFiltering(Baseline):
    """While rows vary by more than sigma in some direction, those far out along it lose weight.

    With the direction v of largest variance and tau_i = (v^T y_i - median_j v^T y_j)^2, weights are
    multiplied by 1 - tau_i / max_j tau_j until no variance of the weighted rows exceeds sigma^2.
    More bad weight leaves than good, and the error is O(sigma sqrt(alpha)). Two passes for a
    filter, with more than 256 columns up to nine.

    Algorithm 3 of the paper removes rows at random, with a chance in proportion to tau_i, as
    `removal="random"` does; the weights are the expectation of that, and repeatable. The paper's
    random threshold is one for all rows; here each row has its own.
    Other deviations: sigma^2 replaces the 9 sigma^2 of the proof, tau is taken from the median and
    not from the mean, which bad rows have moved, and an eigenvector is not left to one power
    iteration.

    Parameters
    ----------
    sigma : float
        Bound on the standard deviation of the good rows in any direction.
    factor : float, default=1.0
        The filter stops when no variance exceeds `factor` sigma^2.
    removal : {"soft", "random"}, default="soft"
        Whether weights are lowered, or rows removed at random.
    random_state : int, Generator, RandomState or None, default=0
        Of the random removal and of the eigenvectors' start.

    References
    ----------
    Diakonikolas, Kamath, Kane, Li, Moitra and Stewart (2017), Being robust (in high dimensions) can
    be practical, ICML, arXiv:1703.00893, section 3.2 (bounded second moments).
    """

    name = "iterative-filtering"
    needs = ("sigma",)
    paper = "Diakonikolas et al. (2017)"

    sigma: float | None = None
    _: KW_ONLY
    factor: float = 1.0
    removal: Literal["soft", "random"] = "soft"
    random_state: Seed = 0

    def _check(self, n: int, d: int) -> None:
        check_number(self.factor, "factor")
        check_choice(self.removal, "removal", ("soft", "random"))

    def _estimate(self, run: Run) -> Answer:
        limit = self.factor * variance_limit(run.sigma)
        weights, scores = np.ones(run.n), np.zeros(run.n)
        for n_iter in range(run.n):
            spread = run.spread(weights)
            run.record("filter", weights, spread.variance, limit)
            tau = (
                spread.projected - np.median(spread.projected[weights >= weights.max() / 2.0])
            ) ** 2
            scores = np.maximum(scores, tau / limit)
            if spread.variance <= limit:
                return Answer(weights, scores, spread.mean, n_iter)
            share = tau / tau[weights > 0.0].max()
            if self.removal == "soft":
                left = weights * np.maximum(1.0 - share, 0.0)
            else:
                left = np.where(run.random.random(run.n) < share, 0.0, weights)
            if gone(left, run.n):
                break
            weights = left
        return gave_up(weights, scores, n_iter)
