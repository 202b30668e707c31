"""The weighted projection in the whole space, over a factor of its multiplier.

With Lambda = R^T R / B, R an r x d matrix, the dual of the projection is smooth and has no
constraint left (Burer and Monteiro):

    min_R  ||R||^2 - sum_i min_{0<=w<=1} [ s_i (w - t_i)^2 / 2 + w q_i ],    q_i = ||R a_i||^2 / B

One evaluation with its gradient is one pass. The rank is adapted between solves: directions that
vanish leave, directions that break the budget enter. Cutting planes need far fewer passes where a
loose answer will do and the rank is one or two; this converges to high accuracy, and at rank 30.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from inlier._internal.typing import Array
from inlier.data import Table
from inlier.linalg.eigenpairs import Spectrum
from inlier.packing.problem import Projection

# Directions shorter than this part of the longest one have vanished.
VANISHED = 1e-2
# At most this many directions enter at a time, this long relative to the longest one.
ENTER_MOST = 5
ENTER_LENGTH = 3e-2
# Corrections that L-BFGS remembers: many copies of one outlier make the problem stiff.
MEMORY = 50
MEMORY_ELEMENTS = 1 << 26


@dataclass(frozen=True)
class Factored:
    """A multiplier Lambda = R^T R / B, the scores under it and the weights they leave."""

    R: Array
    q: Array
    weights: Array
    easy: bool
    """Whether the solver converged before it was stopped."""


def project(
    table: Table, center: Array, budget: float, problem: Projection, R: Array, max_iter: int
) -> Factored:
    """Minimise the dual of the projection from the factor R, at its rank."""
    root = np.sqrt(budget)
    q = np.empty(table.shape[0])
    w = np.empty(table.shape[0])

    def weigh(rows: slice, projected: Array) -> Array:
        q[rows] = np.einsum("ij,ij->j", projected, projected)
        w[rows] = np.clip(problem.t[rows] - q[rows] / problem.s[rows], 0.0, 1.0)
        return w[rows]

    def dual(x: Array) -> tuple[float, Array]:
        image = table.moment(center, weigh, x.reshape(R.shape) / root, drift=False).image
        # Without the constant s t^2 / 2, beside which the solver could not see its progress.
        value = float(x @ x) - float(w @ (problem.s * (0.5 * w - problem.t) + q))
        return value, 2.0 * (x - image.ravel() / root)

    answer = minimize(
        dual,
        R.ravel(),
        jac=True,
        method="L-BFGS-B",
        options={
            "maxiter": max_iter,
            "maxcor": max(5, min(MEMORY, MEMORY_ELEMENTS // R.size)),
            "ftol": 1e-14,
            "gtol": 1e-10,
        },
    )
    R = answer.x.reshape(R.shape)
    projected = table.project(center, R / root)
    q = np.einsum("ij,ij->j", projected, projected)
    return Factored(R, q, problem.weights(q), answer.nit < max_iter)


def adapted(R: Array, spectrum: Spectrum, limit: float) -> Array:
    """R without the directions that vanished, with the worst of those beyond the limit."""
    _, lengths, axes = np.linalg.svd(R, full_matrices=False)
    kept = lengths > VANISHED * lengths[0]
    worst = spectrum.vectors[:ENTER_MOST][spectrum.values[:ENTER_MOST] > limit]
    return np.concatenate([lengths[kept, None] * axes[kept], ENTER_LENGTH * lengths[0] * worst])
