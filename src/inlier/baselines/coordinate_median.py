"""The median of each column."""

from __future__ import annotations

from inlier.baselines.base import Answer, Baseline, Run


class CoordinateMedian(Baseline):
    """The median of each column on its own. Two passes.

    Breaks down at half of the rows, but bad rows on one side move each column by up to some
    sigma alpha, and with d columns the whole point by sqrt(d) as much. Rows are scored by their
    distance from it and all have weight 1: a median says nothing about rows.

    References
    ----------
    Yin, Chen, Ramchandran and Bartlett (2018), Byzantine-robust distributed learning, Definition 1,
    use it to aggregate gradients; Theorem 1 bounds its error.
    """

    name = "coordinate-median"
    paper = "folklore"
    rotates = False
    # A column's median does not see how far away the others are.
    sets_aside = False
    judges_rows = False

    def _estimate(self, run: Run) -> Answer:
        return run.located(run.table.median())
