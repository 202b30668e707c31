"""Means and medians: of all rows, of columns, of blocks, and of the rows nearest to a median."""

import numpy as np
from scipy.stats import trim_mean

from inlier._internal.arrays import column_medians
from inlier._internal.typing import Array, Seed
from inlier.data import as_table
from inlier.linalg.centers import geometric_median
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


class GeometricMedian(Baseline):
    """Minimise the sum of the distances to the rows. About 12 passes.

    Weiszfeld's iteration with the correction of Vardi and Zhang for iterates at a row, two passes
    each. Because convergence can be slow near a row, nearby rows are tested for optimality, and
    steps are extrapolated or lengthened where that helps.

    The breakdown point is 1/2; for Gaussian rows with a fraction alpha of outliers the error grows
    as sigma alpha sqrt(d). All rows have weight 1 and are scored by their distance from the median.

    References
    ----------
    Weiszfeld (1937), Sur le point pour lequel la somme des distances de n points donnés est
    minimum. Vardi and Zhang (2000), The multivariate L1-median and associated data depth, section
    2. The acceleration is that of Anderson (1965).
    """

    name = "geometric-median"
    paper = "Weiszfeld (1937), Vardi and Zhang (2000)"
    sets_aside = False
    judges_rows = False

    tol = 1e-8  # bound on the smallest subgradient of the mean distance, which is at most 1
    max_iter = 1000  # steps

    def _estimate(self, run: Run) -> Answer:
        found = geometric_median(run.table, self.tol, self.max_iter)
        message = ""
        if not found.converged:
            message = (
                f"After {found.n_iter} iterations the subgradient of the mean distance is "
                f"{found.residual:.2g} long, above {self.tol:g}."
            )
        weights = np.ones(run.n)
        return Answer(
            weights, found.distances, found.location, found.n_iter, found.converged, message
        )


class TrimmedMean(Baseline):
    """Average each column without its alpha n smallest and alpha n largest values. Two passes.

    It tolerates a fraction alpha of bad rows; as for the coordinate-wise median, the error grows as
    sqrt(d). A row may be trimmed in some columns only, so all rows have weight 1 and are scored by
    their distance from the estimate. A dense copy of the rows is made.

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
        distances = np.sqrt(run.table.sq_distances(run.table.median()))
        return Answer.of_lowest(distances, run.n - run.n_bad)


# Minsker (2015), Corollary 4.1: the largest fraction of bad blocks.
BAD_BLOCKS = 7.0 / 18.0


class MedianOfMeans(Baseline):
    """Take the median of the means of random blocks of rows. Two passes.

    The rows are split at random into blocks, of which less than 7/18 can hold a bad row (without
    bad rows a single one). The estimate is the geometric median of the block means. It is designed
    for heavy tails: its deviation is sub-Gaussian if only the variance exists. It tolerates alpha n
    bad rows, but with small blocks the error is sigma sqrt(alpha d), no better than that of a
    median of rows. All rows have weight 1 and are scored by their distance. A dense copy of the
    rows is made.

    References
    ----------
    Minsker (2015), Geometric median and robust estimation in Banach spaces, section 4.1 and
    Corollary 4.1. Nemirovsky and Yudin (1983) have the idea, for numbers.
    """

    name = "median-of-means"
    paper = "Minsker (2015)"
    rotates = False
    sets_aside = False
    judges_rows = False

    alpha: float | None = None
    random_state: Seed = 0

    def _estimate(self, run: Run) -> Answer:
        means = block_means(run, min(int(run.n_bad / BAD_BLOCKS) + 1, run.n))
        found = geometric_median(as_table(means))
        message = f"{len(means)} blocks."
        if not found.converged:
            message += " Their geometric median was not reached."
        return run.location_only(
            run.center + found.location, found.n_iter, found.converged, message
        )


def block_means(run: Run, n_blocks: int) -> Array:
    """Return the means of random blocks of rows relative to the center."""
    rows = run.dense()
    blocks = np.array_split(run.random.permutation(run.n), n_blocks)
    return np.array([rows[block].mean(axis=0) for block in blocks])


# As Anderson and Phillips (2025) choose them.
BLOCKS = 10


class LeeValiant(Baseline):
    """Average the (1 - alpha) n rows nearest to a median of means. Three passes.

    Designed for heavy tails in very many columns, where the deviation is sub-Gaussian with the best
    constant; on embeddings of language models it is among the best methods that are given a
    fraction. This is the form in which Anderson and Phillips (2025) compare it: the center is the
    coordinate-wise median of the means of ten blocks of all rows. The original takes it from a part
    of the rows of its own, and chooses by the failure probability how many leave. Rows are scored
    by their distance from the center.

    References
    ----------
    Lee and Valiant (2022), Optimal sub-Gaussian mean estimation in very high dimensions. Anderson
    and Phillips (2025), Robust high-dimensional mean estimation with low data size, an empirical
    study.
    """

    name = "lee-valiant"
    paper = "Lee and Valiant (2022)"
    rotates = False

    alpha: float | None = None
    random_state: Seed = 0

    def _estimate(self, run: Run) -> Answer:
        center = run.center + column_medians(block_means(run, min(BLOCKS, run.n)))
        distances = np.sqrt(run.table.sq_distances(center))
        return Answer.of_lowest(distances, run.n - run.n_bad)
