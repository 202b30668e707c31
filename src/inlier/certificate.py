"""What is known about an answer, computed at the answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from inlier import theory
from inlier._typing import Array
from inlier.problem import fewest_removed


@dataclass(frozen=True)
class Certificate:
    """What is known about an answer, computed at the answer.

    Attributes
    ----------
    budget : float
        B = c1^2 n sigma^2.
    lambda_max : float
        Largest eigenvalue of the scatter of the kept rows about their mean.
    residual : float
        Of that eigenpair: an eigenvalue of the scatter lies within it of `lambda_max`.
    n, n_removed : int
    most_kept : float
        From the dual of the l1 problem: about this mean no w in [0, 1]^n within the budget has
        a larger sum.
    """

    budget: float
    lambda_max: float
    residual: float
    n: int
    n_removed: int
    most_kept: float

    @property
    def feasible(self) -> bool:
        """Whether the kept rows stay within the budget."""
        return self.lambda_max <= self.budget * (1.0 + 1e-9)

    @property
    def l0_lower_bound(self) -> int:
        """About this mean, at least so many rows have to go."""
        return fewest_removed(self.n, self.most_kept)

    @property
    def gap(self) -> float:
        """Duality gap of the l1 problem at the kept rows, in rows."""
        return self.most_kept - (self.n - self.n_removed)

    @property
    def relative_gap(self) -> float:
        """The gap as a fraction of all rows."""
        return self.gap / self.n

    @property
    def sigma_kept(self) -> float:
        """Largest standard deviation of the kept rows in any direction; 0 if there are none."""
        return float(np.sqrt(self.lambda_max / max(1, self.n - self.n_removed)))

    def error_radius(self, alpha: Any, sigma: float | None = None) -> float | Array:
        """How far the location can be from the mean of the good rows.

        See `inlier.theory.error_radius`; it assumes that at most a fraction alpha of the rows is
        bad and that the good rows have standard deviation at most sigma in every direction. An
        array of fractions gives the curve over alpha; without sigma, that of the kept rows is used.
        """
        n_kept = self.n - self.n_removed
        sigma = self.sigma_kept if sigma is None else sigma
        if not np.isfinite(self.lambda_max):  # rows too far away to square
            return np.full(np.shape(alpha), np.inf)[()]
        radius: float | Array = theory.error_radius(self.sigma_kept, n_kept, self.n, alpha, sigma)
        return radius

    def assumed(self) -> float:
        """As many bad rows as were removed, and at least one, or one in a hundred."""
        share = np.ceil(100.0 * self.n_removed / self.n) / 100.0
        return max(0.01, 1.0 / self.n, float(share))

    def statement(self, alpha: float | None = None, sigma: float | None = None) -> str:
        """The error radius in plain words.

        Parameters
        ----------
        alpha : float, optional
            The fraction of bad rows that is assumed; as many as were removed, if not given, and at
            least one row, or one in a hundred.
        sigma : float, optional
            The assumed bound on the good rows; that of the kept rows, if not given.
        """
        if alpha is None:
            alpha = self.assumed()
        if not np.isfinite(self.lambda_max):
            return "Some of the kept rows are so far away that nothing is known about the mean."
        sigma = self.sigma_kept if sigma is None else sigma
        radius = float(self.error_radius(alpha, sigma))
        assumed = (
            f"If at most {100.0 * alpha:.3g}% of the rows are bad and the good rows vary by at "
            f"most {sigma:.3g} in any direction"
        )
        if not np.isfinite(radius):
            return f"{assumed}, nothing is known: all of the kept rows may be bad."
        return f"{assumed}, the mean is within {radius:.3g} of that of the good rows."
