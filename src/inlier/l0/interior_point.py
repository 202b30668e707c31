"""The weighted projection within a subspace, by a primal-dual interior point method.

    min_w  1/2 sum_i s_i (w_i - t_i)^2    s.t.   0 <= w <= 1,   P diag(w) P^T <= I

P (k x n) holds the rows along k directions in units of the budget; the k x k multiplier S of the
matrix constraint goes to the outer loop. A step costs one weighted Gram matrix of the
k (k + 1) / 2 products of coordinates, and no step touches the data.

The search direction is Nesterov and Todd's, with Mehrotra's predictor and corrector. The number of
steps hardly depends on the data. A semismooth Newton method takes fewer on easy data but stalls if
outliers are copies of each other, because its Hessian then loses rank.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import cho_solve, cholesky

from inlier._internal.numbers import TINY
from inlier._internal.typing import Array
from inlier.l0.problem import Projection, scores, second_moment

# Largest violation of the matrix constraint in a solution.
FEASIBLE = 1e-7


class Direction(NamedTuple):
    """A step of all variables; S and Z in scaled coordinates."""

    S: Array
    Z: Array
    q: Array
    w: Array
    a: Array
    b: Array


@dataclass(frozen=True)
class Iterate:
    """A strictly interior point; a warm start for similar problems."""

    S: Array
    """k x k multiplier of the matrix constraint."""
    Z: Array
    """k x k slack; I - P diag(w) P^T once feasible."""
    q: Array
    """Scores of the rows under S."""
    w: Array
    v: Array
    """1 - w, stored because the difference would cancel."""
    a: Array
    """Multiplier of w >= 0."""
    b: Array
    """Multiplier of w <= 1."""

    def weights(self) -> Array:
        """Return w with active bounds attained exactly."""
        # A bound is active if its slack is small, and below its multiplier.
        w = np.where(self.w < np.minimum(self.a, 1e-2), 0.0, self.w)
        return np.where(self.v < np.minimum(self.b, 1e-2), 1.0, w)


@lru_cache(maxsize=128)
def _pairs(k: int, diagonal: bool) -> tuple[Any, Any, Array]:
    """Return the indices of the upper triangle and the factors of the Frobenius product on it.

    Or those of the diagonal alone.
    """
    i, j = (np.arange(k), np.arange(k)) if diagonal else np.triu_indices(k)
    return i, j, np.where(i == j, 1.0, np.sqrt(2.0))


def _reach(x: Array, dx: Array) -> float:
    """Return the longest step for which x + step dx >= 0."""
    worst = float(np.min(dx / x))
    return np.inf if worst >= 0.0 else -1.0 / worst


def _reach_psd(diagonal: Array, D: Array) -> float:
    """Return the longest step for which diag(diagonal) + step D is positive semidefinite."""
    root = 1.0 / np.sqrt(diagonal)
    worst = float(np.linalg.eigvalsh(D * root[:, None] * root)[0])
    return np.inf if worst >= 0.0 else -1.0 / worst


class _Newton:
    """The Newton system at one iterate, factored once and used for predictor and corrector."""

    def __init__(self, P: Array, problem: Projection, z: Iterate, G: Array, diagonal: bool) -> None:
        root_S, root_Z = np.linalg.cholesky(z.S), np.linalg.cholesky(z.Z)
        _, self.sigma, rotation = np.linalg.svd(root_Z.T @ root_S)
        # Nesterov-Todd scaling: R^T Z R = R^-1 S R^-T = diag(sigma).
        self.R = (root_S @ rotation.T) / np.sqrt(self.sigma)
        self.Q = self.R.T @ P
        self.z = z
        self.slope = problem.s * (z.w - problem.t) + z.q
        self.missing = self.R.T @ (G - z.Z) @ self.R
        self.a_w, self.b_v = z.a / z.w, z.b / z.v
        self.inverse = 1.0 / (problem.s + self.a_w + self.b_v)
        self.pairs = i, j, factor = _pairs(len(P), diagonal)
        products = self.Q[i] * self.Q[j]
        products *= factor[:, None]
        products *= np.sqrt(self.inverse)
        system = products @ products.T
        system[np.diag_indices_from(system)] += 1.0
        self.factored = cholesky(system, lower=True, overwrite_a=True, check_finite=False)

    def direction(self, to_zero: Any, to_one: Any, complementarity: Array) -> Direction:
        """Solve for the step to given products a w, b v (divided by w, v) and, scaled, S Z."""
        i, j, factor = self.pairs
        rest = to_zero - to_one - self.slope
        C = 2.0 * complementarity / (self.sigma[:, None] + self.sigma)
        right = C + (self.Q * (rest * self.inverse)) @ self.Q.T - self.missing
        x = cho_solve((self.factored, True), right[i, j] * factor, check_finite=False)
        S = np.zeros_like(C)
        S[i, j] = S[j, i] = x / factor
        q = scores(self.Q, S)
        w = (rest - q) * self.inverse
        a = to_zero - self.z.a - self.a_w * w
        b = to_one - self.z.b + self.b_v * w
        return Direction(S, C - S, q, w, a, b)

    def reach(self, d: Direction) -> float:
        """Return the longest step that keeps every variable positive."""
        z = self.z
        bounded = ((z.w, d.w), (z.v, -d.w), (z.a, d.a), (z.b, d.b))
        cones = [_reach_psd(self.sigma, D) for D in (d.S, d.Z)]
        return min(*cones, *(_reach(x, dx) for x, dx in bounded))

    def predictor_corrector(self) -> Iterate:
        """Return the next iterate."""
        z, sigma = self.z, self.sigma
        k, n = self.Q.shape
        squared = np.diag(sigma * sigma)
        d = self.direction(0.0, 0.0, -squared)
        step = min(1.0, self.reach(d))
        now = float(sigma @ sigma) + float(z.a @ z.w) + float(z.b @ z.v)
        ahead = (
            float(np.sum((np.diag(sigma) + step * d.S) * (np.diag(sigma) + step * d.Z)))
            + float((z.a + step * d.a) @ (z.w + step * d.w))
            + float((z.b + step * d.b) @ (z.v - step * d.w))
        )
        mu = now / (k + 2 * n) * (max(ahead, 0.0) / now) ** 3  # Mehrotra's exponent
        crossed = (d.S @ d.Z + d.Z @ d.S) / 2.0
        d = self.direction(
            (mu - d.a * d.w) / z.w, (mu + d.b * d.w) / z.v, mu * np.eye(k) - squared - crossed
        )
        step = min(1.0, 0.99 * self.reach(d))  # stay in the interior
        inverse_R = np.linalg.inv(self.R)
        S = z.S + step * (self.R @ d.S @ self.R.T)
        Z = z.Z + step * (inverse_R.T @ d.Z @ inverse_R)
        q, w, v = z.q + step * d.q, z.w + step * d.w, z.v - step * d.w
        return Iterate(S, Z, q, w, v, z.a + step * d.a, z.b + step * d.b)


def _start(P: Array, problem: Projection) -> Iterate:
    """Return weights well within the budget, with multipliers a tenth of the gradient."""
    k, n = P.shape
    w = np.full(n, 0.5)
    top = float(np.linalg.eigvalsh(second_moment(P, w))[-1])
    w *= min(1.0, 0.9 / top) if top > 0.0 else 1.0
    size = np.einsum("ij,ij->j", P, P)
    pull = float(np.mean(problem.s * np.abs(problem.t)))
    price = 0.1 * pull / max(float(np.mean(size)), TINY)
    q = price * size
    slope = problem.s * (w - problem.t) + q
    push = 0.1 * float(np.mean(np.abs(slope)))
    a, b = np.maximum(slope, 0.0) + push / w, np.maximum(-slope, 0.0) + push / (1.0 - w)
    return Iterate(price * np.eye(k), np.eye(k) - second_moment(P, w), q, w, 1.0 - w, a, b)


def solve(
    P: Array,
    problem: Projection,
    gap_tol: float,
    start: Iterate | None = None,
    max_iter: int = 60,
    diagonal: bool = False,
) -> Iterate:
    """Solve the projection over the packing set of P, from a similar problem's solution if known.

    Until the duality gap is below `gap_tol` and the constraint holds to `FEASIBLE`. In
    finite precision it may stop short of that; the certificate of the caller shows it. With
    `diagonal` only the diagonal of the matrix constraint holds, which relaxes it: a linear
    constraint for each direction, and a step costs no more than a second moment.
    """
    eye = np.eye(len(P))
    part = eye if diagonal else 1.0
    z = _start(P, problem) if start is None else start
    if diagonal:
        z = replace(z, Z=z.Z * eye)
    for _ in range(max_iter):
        G = eye - part * second_moment(P, z.w)
        infeasible = float(np.abs(G - z.Z).max())
        if infeasible <= FEASIBLE and problem.gap(z.w, z.q, z.S, G) <= gap_tol:
            break
        if 0.0 < infeasible < 1e-6 and float(np.linalg.eigvalsh(G)[0]) > 0.0:
            z = replace(z, Z=G)  # updates of Z accumulate rounding
        try:
            z = _Newton(P, problem, z, G, diagonal).predictor_corrector()
        except np.linalg.LinAlgError:
            break  # at the limit of double precision
    return z
