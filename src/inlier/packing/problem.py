"""The packing set of the paper and the duals of its problems. Evaluates, never iterates.

At a centre x and a budget B, with a_i = y_i - x and w = 1 - h, the feasible set is

    W(x, B) = { w : 0 <= w <= 1,  lambda_max( sum_i w_i a_i a_i^T ) <= B }

A multiplier of the matrix constraint is kept as Lambda = V^T S V / B with orthonormal rows V
(k x d) and S >= 0 (k x k): at the optimum it has low rank. In units of the budget, P = V A^T /
sqrt(B), everything below lives in k dimensions: the constraint reads P diag(w) P^T <= I, a row's
score is q_i = a_i^T Lambda a_i = p_i^T S p_i, and B tr(Lambda) = tr(S). A score evaluated on P is
exact, so a lower bound that is found in a subspace holds in the whole space.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from inlier._internal.arrays import count, like, mixed, namespace, on_host, some, total
from inlier._internal.typing import Array, Mask, Rows
from inlier.data import Table
from inlier.linalg.eigenpairs import Spectrum

# A direction joins a subspace if the square of its part outside is above this; below, the rows seen
# along that part would be mostly rounding, in single precision at least.
NEW = 1e-6
# No row is taken to lie farther out than this, in units of the budget, lest its square overflow.
ABSURD = 1e100
# Less than this part of the rows is no row.
ROWS_TOL = 1e-7
# A score this low stands for none, lest its inverse overflow.
NOTHING = 1e-300


def scores(P: Rows, S: Array) -> Rows:
    """q_i = p_i^T S p_i: what the budget would gain, at its price, if row i went."""
    return namespace(P).sum(P * mixed(S, P), axis=0)


def second_moment(P: Rows, w: Rows) -> Array:
    """P diag(w) P^T, the constrained matrix within the subspace."""
    return on_host((P * w) @ P.T)


@dataclass(frozen=True)
class Packing:
    """The weighted packing SDP, min sum_i u_i h_i = sum(u) - max sum_i u_i w_i; u = 1 is l1."""

    u: Rows

    @property
    def unit(self) -> float:
        """The size of the coefficients."""
        return total(self.u) / len(self.u)

    def measured_in(self, unit: float) -> Packing:
        """The same problem with its objective divided by a unit."""
        return Packing(self.u / unit)

    @property
    def scale(self) -> float:
        """The objective at w = 0, to which gaps are related."""
        return total(self.u)

    def objective(self, w: Rows) -> float:
        """sum_i u_i h_i."""
        return float(self.u @ (1.0 - w))

    def dual_objective(self, q: Rows, price: float) -> float:
        """No w in W has a smaller objective; q are the scores under S, price is tr(S)."""
        return self.scale - price - total(namespace(q).clip(self.u - q, 0.0, None))

    def best_multiple(self, q: Rows, price: float) -> float:
        """The multiple of S with the largest dual objective, found exactly.

        a tr(S) + sum_i (u_i - a q_i)_+ is convex and piecewise linear in a; kinks at u_i / q_i.
        """
        xp = namespace(q)
        scored = (q > NOTHING) & xp.isfinite(q)
        if price <= 0.0 or not some(scored):
            return 0.0
        q = q[scored]
        kinks = self.u[scored] / q
        order = xp.argsort(kinks)
        # The slope just below a kink is the price less the scores of the rows that still pay there.
        paying = xp.flip(xp.cumulative_sum(xp.flip(xp.take(q, order))))
        last = count(paying > price) - 1  # beyond it the slope is positive
        return 0.0 if last < 0 else float(kinks[int(order[last])])


@dataclass(frozen=True)
class Projection:
    """The weighted projection, min 1/2 sum_i s_i (w_i - t_i)^2."""

    t: Rows
    s: Rows

    @classmethod
    def least_squares(cls, u: Rows) -> Projection:
        """min sum_i (u_i - u_i w_i)^2, the step of re-weighted l2."""
        return cls(namespace(u).ones_like(u), 2.0 * u * u)

    @classmethod
    def proximal(cls, u: Rows, w: Rows, tau: float) -> Projection:
        """The proximal step from w of length tau for the packing SDP with weights u."""
        return cls(w + tau * u, namespace(u).full_like(u, 1.0 / tau))

    @property
    def unit(self) -> float:
        """The size of the coefficients."""
        return total(self.s) / len(self.s)

    def measured_in(self, unit: float) -> Projection:
        """The same problem with its objective divided by a unit."""
        return Projection(self.t, self.s / unit)

    @property
    def scale(self) -> float:
        """The objective at w = 0, to which gaps are related."""
        return self.objective(0.0 * self.t)

    def objective(self, w: Rows) -> float:
        """1/2 sum_i s_i (w_i - t_i)^2."""
        return float(self.s @ (w - self.t) ** 2) / 2.0

    def weights(self, q: Rows) -> Rows:
        """The w that minimises the Lagrangian: what the scores q leave of each row."""
        return namespace(q).clip(self.t - q / self.s, 0.0, 1.0)

    def dual_objective(self, q: Rows, price: float) -> float:
        """sum_i min_{0<=w<=1} [ s_i (w - t_i)^2 / 2 + w q_i ] - tr(S)."""
        w = self.weights(q)
        return self.objective(w) + float(w @ q) - price

    def gap(self, w: Rows, q: Rows, S: Array, G: Array) -> float:
        """Objective minus dual objective at (w, S), with G = I - P diag(w) P^T.

        A sum of terms that vanish at the optimum: the difference of the two would cancel.
        """
        away = w - self.weights(q)
        slope = self.s * (w - self.t) + q
        return float(away @ (slope - 0.5 * self.s * away)) + float(np.sum(S * G))


def packing_bound(u: Rows, q: Rows, price: float) -> float:
    """No w in W has sum_i u_i w_i above this: the dual of the packing SDP at the best multiple."""
    problem = Packing(u)
    a = problem.best_multiple(q, price)
    return problem.scale - problem.dual_objective(a * q, a * price) if a > 0.0 else problem.scale


def fewest_removed(n: int, bound: float) -> int:
    """The l0 bound: at this centre no feasible h has fewer non-zeros, if sum(w) <= bound."""
    return max(0, int(np.ceil(n - bound - ROWS_TOL * n)))


@dataclass(frozen=True)
class Subspace:
    """Some orthonormal directions and the rows seen along them, from a fixed origin.

    Moving the centre moves every projected row by the same k-vector, so a change of centre or of
    budget never costs a pass.
    """

    basis: Array
    """V, k x d."""
    projections: Rows
    """V (Y - 1 origin^T)^T, k x n."""
    origin: Array

    @classmethod
    def empty(cls, table: Table, origin: Array) -> Subspace:
        """No direction yet."""
        basis = np.empty((0, len(origin)))
        return cls(basis, table.rows(0.0)[None, :][:0, :], origin)

    def seen_from(self, center: Array, budget: float) -> Rows:
        """P: the rows about a centre, in units of the budget."""
        rows = self.projections
        shift = self.basis @ (center - self.origin)
        P = (rows - like(shift[:, None], rows)) / float(np.sqrt(budget))
        return namespace(P).clip(P, -ABSURD, ABSURD)

    def extended(self, spectrum: Spectrum, chosen: Array | Mask, center: Array) -> Subspace:
        """With the chosen Ritz vectors, which were computed about `center`, added."""
        new = spectrum.vectors[chosen]
        picking = np.eye(len(spectrum.vectors))[chosen]
        within = new @ self.basis.T
        shift = new @ (center - self.origin)
        new = new - within @ self.basis
        lengths, mixing = np.linalg.eigh(new @ new.T)
        kept = lengths > NEW
        mixing = (mixing[:, kept] / np.sqrt(lengths[kept])).T
        projected, own = spectrum.projections, self.projections
        rows = mixed(mixing @ picking, projected) + like((mixing @ shift)[:, None], projected)
        rows = rows - mixed(mixing @ within, own)
        return Subspace(
            np.concatenate([self.basis, mixing @ new]),
            namespace(own).concat([own, rows], axis=0),
            self.origin,
        )

    def trimmed(self, S: Array, P: Rows, relative: float) -> tuple[Subspace, Array]:
        """Only the directions that matter to the score of a row; the multiplier gets diagonal."""
        values, vectors = np.linalg.eigh(S)
        matters = values
        if len(values):
            matters = values * on_host(namespace(P).max(mixed(vectors.T, P) ** 2, axis=1))
        kept = matters > relative * np.max(matters, initial=0.0)
        mixing = vectors[:, kept].T
        return (
            Subspace(mixing @ self.basis, mixed(mixing, self.projections), self.origin),
            np.diag(values[kept]),
        )
