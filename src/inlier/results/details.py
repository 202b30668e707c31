"""Numbers behind a result that few readers need."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from inlier._internal.typing import Array, Rows
from inlier._internal.validation import check_number
from inlier.verdict import GroupRule, Multiplier, Step

if TYPE_CHECKING:
    from inlier.given.trusted import Tested


@dataclass(frozen=True, eq=False)
class Details:
    """Numbers behind a result.

    Attributes
    ----------
    weights : array of shape (n,)
        Weights of the rows in the location: 1 for the kept rows and 0 for the others; 1 - h, if
        none is kept; with `sample_weight` times these, in units of the largest.
    indicator : array of shape (n,)
        h: zero for the kept rows, in (0, 1] for the removed ones.
    budget : float
        c1^2 n sigma^2.
    rule : Multiplier or GroupRule
        What is behind the scores: the directions and prices of the fit or, without sigma, the
        groups. It decides about other rows too.
    history : tuple of Step
    n_iter : int
        Iterations of Algorithm 1; without sigma, rounds of the search.
    n_passes : int
        Passes over the data in the fit.
    effective_size : float
        Number of rows of one weight whose mean has the same variance, (sum w)^2 / sum w^2.
    n_missing : int array of shape (d,)
        Missing cells of each column.
    n_set_aside : int array of shape (d,)
        Extreme cells of each column that were set aside.
    """

    weights: Rows = field(repr=False)
    indicator: Rows = field(repr=False)
    budget: float
    rule: Multiplier | GroupRule = field(repr=False)
    history: tuple[Step, ...] = field(repr=False)
    n_iter: int
    n_passes: int
    effective_size: float
    n_missing: Array = field(repr=False)
    n_set_aside: Array = field(repr=False)
    _tested: Tested | None = field(repr=False)

    @property
    def p_values(self) -> Array | None:
        """If rows are trusted, the conformal p-value of each row, (n,).

        1 for trusted ones: the chance that a good row is at least as far out, where trusted rows
        are good rows drawn at random. Not below 1 / (m + 1) with m trusted rows. Some passes, once.
        """
        return None if self._tested is None else self._tested.p_values

    def discoveries(self, level: float = 0.05) -> Array:
        """Return rows of which at most a share `level` is good, in expectation.

        Where trusted rows are good rows drawn at random: the false discovery rate is controlled by
        the procedure of Benjamini and Hochberg for `p_values`. They need not be the rows that were
        removed: for the mean, rows may leave that are bad with less certainty. With m trusted rows
        none are found unless they are at least a share 1 / (level (m + 1)) of all rows.

        Parameters
        ----------
        level : float
            The largest share, between 0 and 1.

        Returns
        -------
        int array
            Their indices.
        """
        from scipy.stats import false_discovery_control

        level = check_number(level, "level", below=1.0)
        if self.p_values is None:
            raise ValueError("p-values compare with trusted rows: fit with trusted=...")
        return np.flatnonzero(false_discovery_control(self.p_values) <= level)
