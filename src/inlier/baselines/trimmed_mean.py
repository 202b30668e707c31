"""The mean of the middle of each column."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import trim_mean

from inlier.baselines.base import Answer, Baseline, Run


@dataclass(eq=False, repr=False)
class TrimmedMean(Baseline):
    """The mean of each column without its alpha n smallest and alpha n largest values. Two passes.

    Sound while at most a fraction alpha of the rows is bad; as with the median of each column, the
    error of d columns is that of one times sqrt(d). A row may lose some of its values and not
    others, so all have weight 1, and they are scored by their distance from it. A dense copy of
    the rows is made.

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
        # Rounded up, alpha n can be half of few rows, and nothing would be left.
        cut = min(run.n_bad, (run.n - 1) // 2)
        # scipy rounds the fraction times n down: the half keeps that from losing a row.
        inner = np.asarray(trim_mean(rows, (cut + 0.5) / run.n if cut else 0.0, axis=0))
        return run.located(run.center + inner)
