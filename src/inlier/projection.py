"""The engine: the weighted projection onto the packing set, and the cutting planes around it.

    project(t, s):   min_w  1/2 sum_i s_i (w_i - t_i)^2   s.t.  w in W(x, B)

The dual optimum has low rank, so a problem is solved within a subspace of few directions, where it
costs no pass; then an oracle looks for a direction of the whole space in which the answer breaks
the budget. If there is one it joins the subspace and the problem is solved again. A subspace
relaxes the constraint: what cannot be kept there cannot be kept at all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from inlier import interior
from inlier._typing import Array, Mask
from inlier.problem import Projection, Subspace, scores
from inlier.spectral import Oracle, Spectrum

# A row this many times (in square) farther out than the budget allows for one row has no weight.
HOPELESS = 1e8
# One proximal step this long solves the packing SDP to a relative error of 1 / (2 LONG).
LONG = 1e7


@dataclass(frozen=True)
class Reduced:
    """The solution of a problem within a subspace."""

    weights: Array
    S: Array
    """k x k multiplier of the matrix constraint."""
    iterate: interior.Iterate | None = None
    """Where the solution of a similar problem may start."""


class Within:
    """Solves problems over the packing set of the rows P that are seen along k directions.

    Parameters
    ----------
    P : array of shape (k, n)
        In units of the budget.
    tol : float
        Duality gap, relative to the objective at w = 0.
    """

    def __init__(self, P: Array, tol: float) -> None:
        self.P, self.tol = P, tol
        self.n = P.shape[1]
        self.last: Reduced | None = None

    def packing(self, u: Array, tau: float = LONG) -> Reduced:
        """The packing SDP with weights u: one proximal step of length tau from w = 1."""
        problem = Projection.proximal(u, np.ones(self.n), tau)
        return self._project(problem, self.tol * float(u.sum()), None)

    def least_squares(self, u: Array, loosely: bool = False) -> Reduced:
        """The constrained least squares with weights u, from where the last one ended."""
        problem = Projection.least_squares(u)
        tol = max(self.tol, 1e-2) if loosely else self.tol
        value = problem.scale if self.last is None else problem.objective(self.last.weights)
        self.last = self._project(problem, tol * max(value, 1e-3 * self.n), self.last)
        return self.last

    def project(self, t: Array, s: Array) -> Reduced:
        """The weighted projection of t in the metric s."""
        problem = Projection(t, s)
        return self._project(problem, self.tol * problem.scale, None)

    def _project(self, problem: Projection, gap_tol: float, start: Reduced | None) -> Reduced:
        P, k = self.P, len(self.P)
        if k == 0:
            return Reduced(np.clip(problem.t, 0.0, 1.0), np.empty((0, 0)))
        size = np.einsum("ij,ij->j", P, P)
        hopeless = size > HOPELESS
        if hopeless.any():
            return self._without(hopeless, problem, gap_tol)
        if k == 1:
            first = 1.0 if start is None else float(start.S[0, 0])
            multiplier, w = _root(size, problem, gap_tol, first)
            return Reduced(w, np.array([[multiplier]]))
        iterate = interior.solve(P, problem, gap_tol, None if start is None else start.iterate)
        return Reduced(iterate.weights(), iterate.S, iterate)

    def _without(self, hopeless: Mask, problem: Projection, gap_tol: float) -> Reduced:
        """Solve for the other rows; then price the hopeless ones out, at next to no cost to those.

        A direction p p^T / |p|^4 gives the row p a score of 1 and others about |p|^-2 of that.
        """
        rest = Within(np.where(hopeless, 0.0, self.P), self.tol)
        target = Projection(np.where(hopeless, 0.0, problem.t), problem.s)
        answer = rest._project(target, gap_tol, None)
        far = self.P[:, hopeless]
        far = far / np.einsum("ij,ij->j", far, far)
        price = 2.0 * max(1.0, float(scores(rest.P, answer.S).max()))
        weights = np.where(hopeless, 0.0, answer.weights)
        return Reduced(weights, answer.S + price * (far @ far.T))


def _root(p2: Array, problem: Projection, gap_tol: float, first: float) -> tuple[float, Array]:
    """One direction: the root of the decreasing  sum_i p_i^2 clip(t_i - x p_i^2 / s_i, 0, 1) - 1.

    Newton's method inside a bracket; the function is piecewise linear.
    """
    w = problem.weights(np.zeros(len(p2)))
    if p2 @ w <= 1.0:
        return 0.0, w
    low, high = 0.0, np.inf
    x = first if first > 0.0 else 1.0
    for _ in range(200):
        w = problem.weights(x * p2)
        over = float(p2 @ w) - 1.0
        # Of the duality gap only the complementarity |over| x is not zero.
        if abs(over) * x <= gap_tol and over <= interior.FEASIBLE:
            break
        low, high = (x, high) if over > 0.0 else (low, x)
        slope = float((p2 * p2 / problem.s) @ ((w > 0.0) & (w < 1.0)))
        newton = x + over / slope if slope > 0.0 else np.inf
        if not low < newton < min(high, 10.0 * x):
            newton = 10.0 * x if high == np.inf else (low + high) / 2.0
        if newton in (low, high):
            break
        x = newton
    return x, w


@dataclass(frozen=True)
class Solved:
    """A problem solved in the whole space, as closely as the oracle was asked to look."""

    weights: Array
    S: Array
    """Multiplier in the subspace; diagonal."""
    subspace: Subspace
    checked: Array
    """The weights for which the budget was checked, and their spectrum."""
    spectrum: Spectrum


def cutting_planes(
    reduced: Callable[[Array], Reduced],
    oracle: Oracle,
    center: Array,
    budget: float,
    subspace: Subspace,
    *,
    checked: Callable[[Array, Reduced], Array] = lambda P, answer: answer.weights,
    slack: float,
    max_passes: int,
    max_rounds: int,
    trim: float = 1e-6,
) -> Solved:
    """Solve within a subspace, extend it by what breaks the budget, until nothing does.

    Parameters
    ----------
    reduced : callable
        Solves the problem for given rows P.
    oracle : Oracle
    center, budget
        The packing set W(center, budget).
    subspace : Subspace
        The first directions.
    checked : callable
        The weights for which the budget has to hold, given the rows P and the answer.
    slack : float
        The relative amount by which the budget may be exceeded.
    max_passes : int
        The most passes that the oracle may take for one answer.
    max_rounds : int
        The most times that the problem is solved.
    trim : float
        Directions whose share of the multiplier is below it leave the subspace.
    """
    limit = budget * (1.0 + slack)

    def settled(values: Array, residuals: Array) -> bool:
        theta, residual = float(values[0]), float(residuals[0])
        if theta > limit:
            return residual <= 0.5 * (theta - budget)
        # What has not been found yet lies above theta by about residual^2 / gap.
        gap = max(theta - float(values[-1]), residual)
        room = max(limit - theta, slack * budget)
        return theta + residual < limit or residual**2 <= 0.3 * room * gap

    for n_round in range(1, max_rounds + 1):
        P = subspace.seen_from(center, budget)
        answer = reduced(P)
        weights = checked(P, answer)
        spectrum = oracle(center, weights, settled, max_passes)
        trimmed, S = subspace.trimmed(answer.S, P, trim)
        if spectrum.values[0] <= limit or n_round == max_rounds:
            break
        subspace = trimmed.extended(spectrum, spectrum.values > budget, center)
    return Solved(answer.weights, S, trimmed, weights, spectrum)
