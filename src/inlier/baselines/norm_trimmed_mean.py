"""The mean of the rows nearest to the median."""

import numpy as np

from inlier.baselines.base import Answer, Baseline, Run


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
    needs = ("alpha",)
    paper = "folklore"
    rotates = False

    alpha: float | None = None

    def _estimate(self, run: Run) -> Answer:
        distances = run.table.sq_distances(run.table.median())
        weights = np.ones(run.n)
        weights[np.argsort(distances, kind="stable")[run.n - run.n_bad :]] = 0.0
        return Answer(weights, np.sqrt(distances))
