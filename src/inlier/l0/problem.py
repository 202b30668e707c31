"""The packing set of the paper and the duals of its problems: evaluation only, no iteration.

At a center x and a budget B, with a_i = y_i - x and w = 1 - h, the feasible set is

    W(x, B) = { w : 0 <= w <= 1,  lambda_max( sum_i w_i a_i a_i^T ) <= B }

A multiplier of the matrix constraint is kept as Lambda = V^T S V / B with orthonormal rows V
(k x d) and S >= 0 (k x k): at the optimum it has low rank. With P = V A^T / sqrt(B), the rows in
units of the budget, the problem has k dimensions: the constraint is P diag(w) P^T <= I, a score is
q_i = a_i^T Lambda a_i = p_i^T S p_i, and B tr(Lambda) = tr(S). Scores computed from P are
exact, so a lower bound from a subspace holds in the whole space.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from inlier._internal.arrays import (
    any_true,
    constant_like,
    count,
    every,
    like,
    mixed,
    namespace,
    on_host,
    pieces,
    total,
)
from inlier._internal.numbers import NEGLIGIBLE
from inlier._internal.typing import Array, Mask, Rows
from inlier.data import Table
from inlier.linalg.eigenpairs import Spectrum

# Counts of rows are rounded up from this fraction of all rows.
ROWS_TOL = 1e-7
# The budget counts as satisfied to this relative precision.
BUDGET_TOL = 1e-9


def parts(rows: Rows) -> list[slice]:
    """Divide rows, along the last axis, into parts that stay in the cache; none on a device."""
    n = rows.shape[-1]
    return list(pieces(n, 1 << 14)) if isinstance(rows, np.ndarray) and n else [slice(0, n)]


def scores(P: Rows, S: Array) -> Rows:
    """Compute q_i = p_i^T S p_i: the dual value of the budget that row i uses."""
    xp = namespace(P)
    found = [xp.sum(P[:, part] * mixed(S, P[:, part]), axis=0) for part in parts(P)]
    return found[0] if len(found) == 1 else xp.concat(found)


def second_moment(P: Rows, w: Rows) -> Array:
    """Compute P diag(w) P^T, the constrained matrix within the subspace."""
    return on_host((P * w) @ P.T)


@dataclass(frozen=True)
class Packing:
    """The weighted packing SDP, min sum_i u_i h_i = sum(u) - max sum_i u_i w_i; u = 1 is l1."""

    u: Rows

    def in_units(self) -> tuple[Packing, float]:
        """Return the problem with its objective divided by the mean coefficient, and that."""
        unit = total(self.u) / len(self.u)
        return Packing(self.u / unit), unit

    @property
    def scale(self) -> float:
        """Objective at w = 0, to which gaps are relative."""
        return total(self.u)

    def objective(self, w: Rows) -> float:
        """Evaluate sum_i u_i h_i."""
        return float(self.u @ (1.0 - w))

    def dual_objective(self, q: Rows, price: float) -> float:
        """Return a lower bound on the objective over W, from scores q under S and price tr(S)."""
        return self.scale - price - total(namespace(q).clip(self.u - q, 0.0, None))

    def best_multiple(self, q: Rows, price: float) -> float:
        """Return the multiple of S with the largest dual objective, exactly.

        a tr(S) + sum_i (u_i - a q_i)_+ is convex and piecewise linear in a, with kinks u_i / q_i.
        """
        xp = namespace(q)
        scored = (q > NEGLIGIBLE) & xp.isfinite(q)
        if price <= 0.0 or not any_true(scored):
            return 0.0
        u = self.u
        if not every(scored):
            q, u = q[scored], u[scored]
        order = xp.argsort(u / q)
        # The slope just below a kink is the price less the scores of the rows with larger kinks.
        remaining = xp.cumulative_sum(xp.take(q, xp.flip(order)))
        last = count(remaining > price) - 1  # beyond it the slope is positive
        at = int(order[last]) if last >= 0 else 0
        return float(u[at] / q[at]) if last >= 0 else 0.0


@dataclass(frozen=True)
class Projection:
    """The weighted projection, min 1/2 sum_i s_i (w_i - t_i)^2."""

    t: Rows
    s: Rows

    @classmethod
    def least_squares(cls, u: Rows) -> Projection:
        """Return min sum_i (u_i - u_i w_i)^2, the step of re-weighted l2."""
        return cls(constant_like(u, 1.0), 2.0 * u * u)

    @classmethod
    def proximal(cls, u: Rows, w: Rows, tau: float) -> Projection:
        """Return the proximal step of length tau from w for the packing SDP with weights u."""
        return cls(w + tau * u, constant_like(u, 1.0 / tau))

    def of(self, rows: slice | Rows) -> Projection:
        """Return the problem of some rows."""
        return Projection(self.t[rows], self.s[rows])

    def in_units(self) -> tuple[Projection, float]:
        """Return the problem with its objective divided by the mean coefficient, and that."""
        unit = total(self.s) / len(self.s)
        return Projection(self.t, self.s / unit), unit

    @property
    def scale(self) -> float:
        """Objective at w = 0, to which gaps are relative."""
        return self.objective(0.0 * self.t)

    def objective(self, w: Rows) -> float:
        """Evaluate 1/2 sum_i s_i (w_i - t_i)^2."""
        return float(self.s @ (w - self.t) ** 2) / 2.0

    def weights(self, q: Rows) -> Rows:
        """Return the minimiser w of the Lagrangian at scores q."""
        return namespace(q).clip(self.t - q / self.s, 0.0, 1.0)

    def dual_objective(self, q: Rows, price: float) -> float:
        """Evaluate sum_i min_{0<=w<=1} [ s_i (w - t_i)^2 / 2 + w q_i ] - tr(S)."""
        w = self.weights(q)
        return self.objective(w) + float(w @ q) - price

    def gap(self, w: Rows, q: Rows, S: Array, G: Array) -> float:
        """Return the duality gap at (w, S), with G = I - P diag(w) P^T.

        Summed from terms that vanish at the optimum, because the difference would cancel.
        """
        away = w - self.weights(q)
        slope = self.s * (w - self.t) + q
        return float(away @ (slope - 0.5 * self.s * away)) + float(np.sum(S * G))


def packing_bound(u: Rows, q: Rows, price: float) -> float:
    """Return an upper bound on sum_i u_i w_i over W: the dual at the best multiple of S."""
    problem = Packing(u)
    a = problem.best_multiple(q, price)
    return problem.scale - problem.dual_objective(a * q, a * price) if a > 0.0 else problem.scale


def budget_tolerance(dtype: np.dtype[Any]) -> float:
    """Return the relative precision to which data of a dtype can satisfy a budget."""
    return max(BUDGET_TOL, 16.0 * float(np.finfo(dtype).eps))


def fewest_removed(n: int, bound: float) -> int:
    """Return the fewest non-zeros of a feasible h at this center, given sum(w) <= bound."""
    return max(0, int(np.ceil(n - bound - ROWS_TOL * n)))


@dataclass(frozen=True)
class Subspace:
    """Orthonormal directions and the projections of the rows onto them, about a fixed origin.

    A change of center shifts every projected row by the same k-vector, so a change of center or of
    budget costs no pass.
    """

    basis: Array
    """V, k x d."""
    projections: Rows
    """V (Y - 1 origin^T)^T, k x n."""
    origin: Array

    @classmethod
    def empty(cls, table: Table, origin: Array) -> Subspace:
        """Return the subspace without directions."""
        return cls(np.empty((0, len(origin))), table.constant(0.0)[None, :][:0, :], origin)

    def scaled_projections(self, center: Array, budget: float) -> Rows:
        """Return P: the projections about a center, in units of the budget."""
        rows = self.projections
        shift = self.basis @ (center - self.origin)
        P = (rows - like(shift[:, None], rows)) / float(np.sqrt(budget))
        return namespace(P).clip(P, -1e100, 1e100)  # squares do not overflow

    def extended(self, spectrum: Spectrum, chosen: Mask, center: Array) -> Subspace:
        """Add the chosen Ritz vectors, which were computed about `center`."""
        new = spectrum.vectors[chosen]
        within = new @ self.basis.T
        shift = new @ (center - self.origin)
        new = new - within @ self.basis
        lengths, mixing = np.linalg.eigh(new @ new.T)
        # Smaller components of the rows are mostly rounding in single precision.
        kept = lengths > 1e-6
        mixing = (mixing[:, kept] / np.sqrt(lengths[kept])).T
        projected, present = spectrum.along(np.flatnonzero(chosen)), self.projections
        rows = mixed(mixing, projected) + like((mixing @ shift)[:, None], projected)
        rows = rows - mixed(mixing @ within, present)
        return Subspace(
            np.concatenate([self.basis, mixing @ new]),
            namespace(present).concat([present, rows], axis=0),
            self.origin,
        )

    def trimmed(self, S: Array, P: Rows, relative: float) -> tuple[Subspace, Array]:
        """Keep the directions that contribute to scores; return the diagonal multiplier too."""
        values, vectors = np.linalg.eigh(S)
        shares = values
        if len(values):
            shares = values * on_host(namespace(P).max(mixed(vectors.T, P) ** 2, axis=1))
        kept = shares > relative * np.max(shares, initial=0.0)
        mixing = vectors[:, kept].T
        return (
            Subspace(mixing @ self.basis, mixed(mixing, self.projections), self.origin),
            np.diag(values[kept]),
        )
