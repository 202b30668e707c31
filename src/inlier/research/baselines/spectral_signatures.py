"""Spectral signatures: remove the rows farthest out along the direction of largest variance."""

import numpy as np

from inlier._internal.typing import Seed
from inlier.research.baselines.base import Answer, Baseline, Run


class SpectralSignatures(Baseline):
    """Remove the 1.5 alpha n rows farthest out along the direction of largest variance. Two passes.

    A defence against poisoned training data: rows are representations of one class, and are scored
    by the square of their projection. One direction is looked at once, so outliers along another
    stay, and the same number of rows is removed if none is bad. More than 256 columns take up to
    nine passes.

    References
    ----------
    Tran, Li and Madry (2018), Spectral signatures in backdoor attacks, NeurIPS, arXiv:1811.00636,
    Algorithm 1.
    """

    name = "spectral-signatures"
    paper = "Tran, Li and Madry (2018)"

    alpha: float | None = None
    random_state: Seed = 0

    def _estimate(self, run: Run) -> Answer:
        scores = run.spread(np.ones(run.n)).projected ** 2
        weights = np.ones(run.n)
        kept = max(1, run.n - int(1.5 * run.n_bad))
        weights[np.argsort(scores, kind="stable")[kept:]] = 0.0
        return Answer(weights, scores)
