"""What a fit returns: one frozen result that can prove itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from inlier import theory
from inlier._typing import Array, Mask
from inlier.data import Table
from inlier.problem import fewest_removed, packing_bound


@dataclass(frozen=True)
class Step:
    """One step of a fit."""

    stage: str
    """"continuation" or "algorithm 1"."""
    budget: float
    n_removed: float
    """Rows removed; during the continuation, rows with less than half their weight."""
    h_sum: float
    """||h||_1."""
    rank: int
    """Rank of the multiplier: in how many directions the budget is contested."""
    lambda_max: float
    """Of the weighted rows about the centre, at the tolerance of the step."""
    n_passes: int
    """Passes over the data so far."""


@dataclass(frozen=True)
class Multiplier:
    """Lambda = V^T diag(prices) V / budget: the directions that decide about a row.

    Attributes
    ----------
    center : array of shape (d,)
        The centre about which rows are scored.
    directions : array of shape (k, d) or None
        Orthonormal rows V. None stands for all directions alike, Lambda = I / budget: nothing had
        to leave, so a row is judged by whether it would break the budget on its own.
    prices : array of shape (k,)
    budget : float
    threshold : float
        Rows with a higher score are removed.
    start : array of shape (d,)
        The first centre.
    radius : float
        Rows farther than this from the start were pruned: they score infinity.
    """

    center: Array
    directions: Array | None
    prices: Array
    budget: float
    threshold: float
    start: Array
    radius: float = np.inf

    def scores(self, table: Table) -> Array:
        """q = (y - x)^T Lambda (y - x) for each row y of a table, in one pass, two if pruned."""
        q = self._unpruned(table, self.center)
        if np.isfinite(self.radius):
            q = np.where(table.sq_distances(self.start) > self.radius**2, np.inf, q)
        return q

    def most_kept(self, table: Table, center: Array, budget: float) -> float:
        """No w in [0, 1]^n within a budget about a centre has a larger sum; in one pass.

        From the dual of the l1 problem: any multiple of Lambda is a multiplier, at any centre.
        """
        if self.directions is None:
            return float(table.shape[0])
        q = self._unpruned(table, center)
        price = float(self.prices.sum()) * budget / self.budget
        return packing_bound(np.ones(len(q)), q, price)

    def _unpruned(self, table: Table, center: Array) -> Array:
        if self.directions is None:
            return table.sq_distances(center) / self.budget
        with np.errstate(over="ignore"):  # a row too far away to square scores infinity
            q: Array = self.prices @ table.project(center, self.directions) ** 2 / self.budget
        return q


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

    def error_radius(self, alpha: Any, sigma: float) -> float | Array:
        """How far the location can be from the mean of the good rows.

        See `inlier.theory.error_radius`; it assumes that at most a fraction alpha of the rows is
        bad and that the good rows have standard deviation at most sigma in every direction.
        """
        n_kept = self.n - self.n_removed
        radius: float | Array = theory.error_radius(self.sigma_kept, n_kept, self.n, alpha, sigma)
        return radius


@dataclass(frozen=True)
class RobustMeanResult:
    """The mean of the good rows, the rows that were removed, and the proof.

    Attributes
    ----------
    location : array of shape (d,)
        The mean of the kept rows.
    support : boolean array of shape (n,)
        The kept rows.
    indicator : array of shape (n,)
        h: zero for the kept rows, in (0, 1] for the removed ones.
    scores : array of shape (n,)
        q: how much of the budget a row would take, at its price; larger is worse.
    sigma : float
        The bound on the standard deviation that was used.
    budget : float
        c1^2 n sigma^2.
    certificate : Certificate
    multiplier : Multiplier
        The directions and prices behind the scores.
    history : tuple of Step
    n_iter : int
        Iterations of Algorithm 1.
    n_passes : int
        Times that the data were read.
    converged : bool
    message : str
        How the fit ended and, if not well, what to try.
    """

    location: Array
    support: Mask = field(repr=False)
    indicator: Array = field(repr=False)
    scores: Array = field(repr=False)
    sigma: float
    budget: float
    certificate: Certificate
    multiplier: Multiplier = field(repr=False)
    history: tuple[Step, ...] = field(repr=False)
    n_iter: int
    n_passes: int
    converged: bool
    message: str

    @property
    def outliers(self) -> Array:
        """Indices of the removed rows."""
        return np.flatnonzero(~self.support)
