"""The median of the means of random blocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from inlier._internal.typing import Array, Seed
from inlier._internal.validation import check_choice, check_whole
from inlier.baselines.base import Answer, Baseline, Run
from inlier.data import as_table
from inlier.linalg.centers import geometric_median

# Largest matrix of block coefficients, in elements, that is multiplied with the rows at once.
MOST_COEFFICIENTS = 1 << 24
# Minsker's choice: at most this fraction of the blocks may be bad.
BAD_BLOCKS = 7.0 / 18.0


@dataclass(eq=False, repr=False)
class MedianOfMeans(Baseline):
    """The median of the means of random blocks of rows. Two passes.

    The rows are split into blocks, at random, so many that most hold no bad row; the answer is the
    geometric median of the means of the blocks. Made for heavy tails: its deviation from the mean
    is sub-Gaussian if only the variance exists. It withstands alpha n bad rows, but then blocks
    are small, and its error is sigma sqrt(alpha d), not better than that of a median of rows.
    All rows have weight 1, and they are scored by their distance from it.

    With many blocks (more than 2^24 entries of a matrix, blocks times rows) it takes some passes
    more.

    Parameters
    ----------
    alpha : float
        The fraction of rows that may be bad, 0 <= alpha < 1/2.
    n_blocks : int, optional
        More than 2 alpha n and at most n. If not given, so many that less than 7/18 of them are
        bad, the fraction of the reference, or as many as rows; at alpha = 0 a single one, which is
        the mean.
    median : {"geometric", "coordinate"}, default="geometric"
        Of the means; "coordinate" is the median of each column.
    random_state : int, Generator, RandomState or None, default=0
        Of the partition.

    References
    ----------
    Minsker (2015), Geometric median and robust estimation in Banach spaces, section 4.1 and
    Corollary 4.1. Nemirovsky and Yudin (1983) have the idea, for numbers.
    """

    name = "median-of-means"
    needs = ("alpha",)
    paper = "Minsker (2015)"
    rotates = False
    sets_aside = False
    judges_rows = False

    alpha: float | None = None
    n_blocks: int | None = None
    median: Literal["geometric", "coordinate"] = "geometric"
    random_state: Seed = 0

    def _check(self, n: int, d: int) -> None:
        assert self.alpha is not None
        check_choice(self.median, "median", ("geometric", "coordinate"))
        if self.n_blocks is None:
            return
        n_blocks, n_bad = check_whole(self.n_blocks, "n_blocks"), round(self.alpha * n)
        if not 2 * n_bad < n_blocks <= n:
            raise ValueError(
                f"n_blocks must be above 2 alpha n = {2 * n_bad}, so that most blocks are good, and"
                f" at most n = {n}, but is {n_blocks}. Leave it out to have it chosen."
            )

    def _estimate(self, run: Run) -> Answer:
        n_blocks = self.n_blocks or int(run.n_bad / BAD_BLOCKS) + 1
        means = self._means(run, min(n_blocks, run.n))
        message = f"{len(means)} blocks."
        if self.median == "coordinate":
            projected, n_iter, converged = np.median(means, axis=0), 1, True
        else:
            found = geometric_median(as_table(means))
            projected, n_iter, converged = found.location, found.n_iter, found.converged
        if not converged:
            message += (
                " Their geometric median was not reached: try median='coordinate' or another "
                "n_blocks."
            )
        return run.located(run.center + projected, n_iter, converged, message)

    def _means(self, run: Run, n_blocks: int) -> Array:
        """Of the blocks, seen from the centre."""
        blocks = np.array_split(run.random.permutation(run.n), n_blocks)
        at_once = max(1, MOST_COEFFICIENTS // run.n)
        means = []
        for start in range(0, n_blocks, at_once):
            part = blocks[start : start + at_once]
            coefficients = np.zeros((len(part), run.n))
            for k, rows in enumerate(part):
                coefficients[k, rows] = 1.0 / len(rows)
            means.append(run.table.combine(run.center, coefficients))
        return np.concatenate(means)
