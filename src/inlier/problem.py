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

from inlier._typing import Array, Mask
from inlier.spectral import Spectrum

# A direction joins a subspace if the square of its part outside is above this; below, the rows seen
# along that part would be mostly rounding, in single precision at least.
NEW = 1e-6
# No row is taken to lie farther out than this, in units of the budget, lest its square overflow.
ABSURD = 1e100
# A score this low stands for none, lest its inverse overflow.
NOTHING = 1e-300


def scores(P: Array, S: Array) -> Array:
    """q_i = p_i^T S p_i: what the budget would gain, at its price, if row i went."""
    q: Array = np.einsum("ij,ij->j", P, S @ P)
    return q


def second_moment(P: Array, w: Array) -> Array:
    """P diag(w) P^T, the constrained matrix within the subspace."""
    return (P * w) @ P.T


@dataclass(frozen=True)
class Packing:
    """The weighted packing SDP, min sum_i u_i h_i = sum(u) - max sum_i u_i w_i; u = 1 is l1."""

    u: Array

    @property
    def unit(self) -> float:
        """The size of the coefficients."""
        return float(self.u.mean())

    def measured_in(self, unit: float) -> Packing:
        """The same problem with its objective divided by a unit."""
        return Packing(self.u / unit)

    @property
    def scale(self) -> float:
        """The objective at w = 0, to which gaps are related."""
        return float(self.u.sum())

    def objective(self, w: Array) -> float:
        """sum_i u_i h_i."""
        return float(self.u @ (1.0 - w))

    def dual_objective(self, q: Array, price: float) -> float:
        """No w in W has a smaller objective; q are the scores under S, price is tr(S)."""
        return self.scale - price - float(np.maximum(self.u - q, 0.0).sum())

    def best_multiple(self, q: Array, price: float) -> float:
        """The multiple of S with the largest dual objective, found exactly.

        a tr(S) + sum_i (u_i - a q_i)_+ is convex and piecewise linear in a; kinks at u_i / q_i.
        """
        scored = (q > NOTHING) & np.isfinite(q)
        if price <= 0.0 or not np.any(scored):
            return 0.0
        kinks = self.u[scored] / q[scored]
        order = np.argsort(kinks)
        # The slope just below a kink is the price less the scores of the rows that still pay there.
        paying = np.cumsum(q[scored][order][::-1])[::-1]
        last = int(np.searchsorted(-paying, -price)) - 1  # beyond it the slope is positive
        return 0.0 if last < 0 else float(kinks[order[last]])


@dataclass(frozen=True)
class Projection:
    """The weighted projection, min 1/2 sum_i s_i (w_i - t_i)^2."""

    t: Array
    s: Array

    @classmethod
    def least_squares(cls, u: Array) -> Projection:
        """min sum_i (u_i - u_i w_i)^2, the step of re-weighted l2."""
        return cls(np.ones(len(u)), 2.0 * u * u)

    @classmethod
    def proximal(cls, u: Array, w: Array, tau: float) -> Projection:
        """The proximal step from w of length tau for the packing SDP with weights u."""
        return cls(w + tau * u, np.full(len(u), 1.0 / tau))

    @property
    def unit(self) -> float:
        """The size of the coefficients."""
        return float(self.s.mean())

    def measured_in(self, unit: float) -> Projection:
        """The same problem with its objective divided by a unit."""
        return Projection(self.t, self.s / unit)

    @property
    def scale(self) -> float:
        """The objective at w = 0, to which gaps are related."""
        return self.objective(np.zeros(len(self.t)))

    def objective(self, w: Array) -> float:
        """1/2 sum_i s_i (w_i - t_i)^2."""
        return float(self.s @ (w - self.t) ** 2) / 2.0

    def weights(self, q: Array) -> Array:
        """The w that minimises the Lagrangian: what the scores q leave of each row."""
        w: Array = np.clip(self.t - q / self.s, 0.0, 1.0)
        return w

    def dual_objective(self, q: Array, price: float) -> float:
        """sum_i min_{0<=w<=1} [ s_i (w - t_i)^2 / 2 + w q_i ] - tr(S)."""
        w = self.weights(q)
        return self.objective(w) + float(w @ q) - price

    def gap(self, w: Array, q: Array, S: Array, G: Array) -> float:
        """Objective minus dual objective at (w, S), with G = I - P diag(w) P^T.

        A sum of terms that vanish at the optimum: the difference of the two would cancel.
        """
        away = w - self.weights(q)
        slope = self.s * (w - self.t) + q
        return float(away @ (slope - 0.5 * self.s * away)) + float(np.sum(S * G))


def packing_bound(u: Array, q: Array, price: float) -> float:
    """No w in W has sum_i u_i w_i above this: the dual of the packing SDP at the best multiple."""
    problem = Packing(u)
    a = problem.best_multiple(q, price)
    return problem.scale - problem.dual_objective(a * q, a * price) if a > 0.0 else problem.scale


def fewest_removed(n: int, bound: float) -> int:
    """The l0 bound: at this centre no feasible h has fewer non-zeros, if sum(w) <= bound."""
    return max(0, int(np.ceil(n - bound - 1e-7 * n)))


@dataclass(frozen=True)
class Subspace:
    """Some orthonormal directions and the rows seen along them, from a fixed origin.

    Moving the centre moves every projected row by the same k-vector, so a change of centre or of
    budget never costs a pass.
    """

    basis: Array
    """V, k x d."""
    projections: Array
    """V (Y - 1 origin^T)^T, k x n."""
    origin: Array

    @classmethod
    def empty(cls, n: int, origin: Array) -> Subspace:
        """No direction yet."""
        return cls(np.empty((0, len(origin))), np.empty((0, n)), origin)

    def seen_from(self, center: Array, budget: float) -> Array:
        """P: the rows about a centre, in units of the budget."""
        shift = self.basis @ (center - self.origin)
        P: Array = (self.projections - shift[:, None]) / np.sqrt(budget)
        return np.clip(P, -ABSURD, ABSURD, out=P)

    def extended(self, spectrum: Spectrum, chosen: Array | Mask, center: Array) -> Subspace:
        """With the chosen Ritz vectors, which were computed about `center`, added."""
        new = spectrum.vectors[chosen]
        rows = spectrum.projections[chosen] + (new @ (center - self.origin))[:, None]
        within = new @ self.basis.T
        new = new - within @ self.basis
        rows = rows - within @ self.projections
        lengths, mixing = np.linalg.eigh(new @ new.T)
        kept = lengths > NEW
        mixing = (mixing[:, kept] / np.sqrt(lengths[kept])).T
        return Subspace(
            np.concatenate([self.basis, mixing @ new]),
            np.concatenate([self.projections, mixing @ rows]),
            self.origin,
        )

    def trimmed(self, S: Array, P: Array, relative: float) -> tuple[Subspace, Array]:
        """Only the directions that matter to the score of a row; the multiplier gets diagonal."""
        values, vectors = np.linalg.eigh(S)
        matters = values * np.max((vectors.T @ P) ** 2, axis=1, initial=0.0)
        kept = matters > relative * np.max(matters, initial=0.0)
        mixing = vectors[:, kept].T
        return (
            Subspace(mixing @ self.basis, mixing @ self.projections, self.origin),
            np.diag(values[kept]),
        )
