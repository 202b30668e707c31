"""The sample mean."""

import numpy as np

from inlier.research.baselines.base import Answer, Baseline, Run


class SampleMean(Baseline):
    """Average all rows: the reference, which one bad row can move anywhere. Two passes.

    Rows are scored by their distance from the mean.
    """

    name = "mean"
    paper = "-"
    rotates = False
    sets_aside = False

    def _estimate(self, run: Run) -> Answer:
        return run.location_only(run.mean(np.ones(run.n)))
