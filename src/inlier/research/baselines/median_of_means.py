"""The median of means of random blocks."""

from typing import Literal

import numpy as np

from inlier._internal.typing import Array, Seed
from inlier._internal.validation import check_choice, check_whole
from inlier.data import as_table
from inlier.linalg.centers import geometric_median
from inlier.research.baselines.base import Answer, Baseline, Run, parameter

# Entries of the blocks x rows matrix in one pass: 128 MB.
MAX_COEFFICIENTS = 1 << 24
# Minsker (2015), Corollary 4.1: the largest fraction of bad blocks.
BAD_BLOCKS = 7.0 / 18.0


class MedianOfMeans(Baseline):
    """Take the median of the means of random blocks of rows. Two passes.

    The rows are split at random into so many blocks that most hold no bad row. The estimate is the
    geometric median of the block means. It is designed for heavy tails: its deviation is
    sub-Gaussian if only the variance exists. It tolerates alpha n bad rows, but with small blocks
    the error is sigma sqrt(alpha d), no better than that of a median of rows. All rows have weight
    1 and are scored by their distance. Above 2^24 blocks times rows it takes further passes.

    Parameters
    ----------
    alpha : float
        The fraction of rows that may be bad, 0 <= alpha < 1/2.
    n_blocks : int, optional
        More than 2 alpha n and at most n. By default so many that less than 7/18 of them are bad,
        as in the reference; at alpha = 0 a single one, which gives the mean.
    median : {"geometric", "coordinate"}, default="geometric"
        Median of the block means; "coordinate" is the median of each column.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the partition.

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
    n_blocks: int | None = parameter(None, check_whole)
    median: Literal["geometric", "coordinate"] = parameter(
        "geometric", check_choice, choices=("geometric", "coordinate")
    )
    random_state: Seed = 0

    def _check(self, n: int, d: int) -> None:
        assert self.alpha is not None
        n_bad = round(self.alpha * n)
        if self.n_blocks is not None and not 2 * n_bad < self.n_blocks <= n:
            raise ValueError(
                f"n_blocks must be above 2 alpha n = {2 * n_bad}, so that most blocks are good, and"
                f" at most n = {n}, but is {self.n_blocks}. Leave it out to have it chosen."
            )

    def _estimate(self, run: Run) -> Answer:
        n_blocks = self.n_blocks or int(run.n_bad / BAD_BLOCKS) + 1
        means = self._means(run, min(n_blocks, run.n))
        message = f"{len(means)} blocks."
        if self.median == "coordinate":
            offset, n_iter, converged = np.median(means, axis=0), 1, True
        else:
            found = geometric_median(as_table(means))
            offset, n_iter, converged = found.location, found.n_iter, found.converged
        if not converged:
            message += (
                " Their geometric median was not reached: try median='coordinate' or another "
                "n_blocks."
            )
        return run.location_only(run.center + offset, n_iter, converged, message)

    def _means(self, run: Run, n_blocks: int) -> Array:
        """Return the block means relative to the center."""
        blocks = np.array_split(run.random.permutation(run.n), n_blocks)
        at_once = max(1, MAX_COEFFICIENTS // run.n)
        means = []
        for start in range(0, n_blocks, at_once):
            part = blocks[start : start + at_once]
            coefficients = np.zeros((len(part), run.n))
            for k, rows in enumerate(part):
                coefficients[k, rows] = 1.0 / len(rows)
            means.append(run.table.combine(run.center, coefficients))
        return np.concatenate(means)
