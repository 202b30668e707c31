"""Trimmed means: of each column, and of the rows nearest to the median."""

import numpy as np
from scipy.stats import trim_mean

from inlier.research.baselines.base import Answer, Baseline, Run


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


class NormTrimmedMean(Baseline):
    """Average the (1 - alpha) n rows nearest to the coordinate-wise median. Three passes.

    Federated learning calls this norm trimming. Here distances are measured from the median, not
    from the origin, so that the estimate is shift-equivariant. Outliers no farther out than good
    rows, whose distance grows as sqrt(d), are not detected.

    Parameters
    ----------
    alpha : float
        The fraction of rows that is dropped, 0 <= alpha < 1/2.

    References
    ----------
    Sun, Kairouz, Suresh and McMahan (2019), Can you really backdoor federated learning?, bound
    norms by clipping.
    """

    name = "norm-trimmed-mean"
    paper = "folklore"
    rotates = False

    alpha: float | None = None

    def _estimate(self, run: Run) -> Answer:
        distances = run.table.sq_distances(run.table.median())
        weights = np.ones(run.n)
        weights[np.argsort(distances, kind="stable")[run.n - run.n_bad :]] = 0.0
        return Answer(weights, np.sqrt(distances))
