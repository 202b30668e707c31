"""The median of each column."""

from inlier.research.baselines.base import Answer, Baseline, Run


class CoordinateMedian(Baseline):
    """Take the median of each column separately. Two passes.

    The breakdown point is 1/2, but bad rows on one side move each column by the order of
    sigma alpha, and the whole point by sqrt(d) times as much. All rows have weight 1 and are
    scored by their distance from the median.

    References
    ----------
    Yin, Chen, Ramchandran and Bartlett (2018), Byzantine-robust distributed learning, Definition 1,
    use it to aggregate gradients; Theorem 1 bounds its error.
    """

    name = "coordinate-median"
    paper = "folklore"
    rotates = False
    # A median does not depend on how distant the other rows are.
    sets_aside = False
    judges_rows = False

    def _estimate(self, run: Run) -> Answer:
        return run.location_only(run.table.median())
