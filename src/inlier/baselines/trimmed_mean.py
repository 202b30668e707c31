"""The trimmed mean of each column."""

import numpy as np
from scipy.stats import trim_mean

from inlier.baselines.base import Answer, Baseline, Run


class TrimmedMean(Baseline):
    """Average each column without its alpha n smallest and alpha n largest values. Two passes.

    It tolerates a fraction alpha of bad rows; as for the coordinate-wise median, the error grows as
    sqrt(d). A row may be trimmed in some columns only, so all rows have weight 1 and are scored by
    their distance from the estimate. A dense copy of the rows is made.

    Parameters
    ----------
    alpha : float
        The fraction that is cut from each end, 0 <= alpha < 1/2.

    References
    ----------
    Yin, Chen, Ramchandran and Bartlett (2018), Byzantine-robust distributed learning, Definition 2;
    Theorem 4 bounds its error.
    """

    name = "trimmed-mean"
    needs = ("alpha",)
    paper = "Yin, Chen, Ramchandran and Bartlett (2018)"
    rotates = False
    sets_aside = False
    judges_rows = False

    alpha: float | None = None

    def _estimate(self, run: Run) -> Answer:
        rows = run.dense()
        # With few rows alpha n may round up to n / 2, which would trim everything.
        cut = min(run.n_bad, (run.n - 1) // 2)
        # scipy rounds the fraction times n down; the half guards against rounding error.
        inner = np.asarray(trim_mean(rows, (cut + 0.5) / run.n if cut else 0.0, axis=0))
        return run.location_only(run.center + inner)
