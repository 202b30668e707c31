"""The sample mean."""

from __future__ import annotations

import numpy as np

from inlier.baselines.base import Answer, Baseline, Run


class SampleMean(Baseline):
    """The mean of all rows, which a single bad row can move anywhere. Two passes.

    Rows are scored by their distance from it. It is the yardstick, not a robust method.
    """

    name = "mean"
    paper = "-"
    rotates = False
    sets_aside = False

    def _estimate(self, run: Run) -> Answer:
        return run.located(run.mean(np.ones(run.n)))
