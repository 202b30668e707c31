"""Spectral reweighting by multiplicative weights."""

from dataclasses import KW_ONLY, replace

import numpy as np

from inlier._internal.typing import Seed
from inlier._internal.validation import check_number, check_whole
from inlier.research.baselines.base import Answer, Baseline, Run, parameter
from inlier.research.baselines.capped_simplex import nearest_distribution

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
        Most rounds.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the eigensolver's starting vectors.

    References
    ----------
    Hopkins, Li and Zhang (2020), Robust and heavy-tailed mean estimation made simple, via regret
    minimization, NeurIPS, arXiv:2007.15839, Algorithm 3.
    """

    name = "spectral-reweighting"
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
