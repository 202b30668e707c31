"""The weighted projection in the whole space, over a factor of its multiplier.

With Lambda = R^T R / B, R an r x d matrix, the dual of the projection is smooth and has no
constraint left (Burer and Monteiro):

    min_R  ||R||^2 - sum_i min_{0<=w<=1} [ s_i (w - t_i)^2 / 2 + w q_i ],    q_i = ||R a_i||^2 / B

One evaluation with its gradient is two passes. The rank is adapted between solves: vanishing
directions are removed, violating directions enter. Cutting planes need far fewer passes at a loose
tolerance and rank one or two; this method converges to high accuracy, also at rank 30.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from inlier._internal.typing import Array
from inlier.data import Table
from inlier.l0.problem import Projection
from inlier.linalg.eigenpairs import Spectrum

# Rows of R shorter than this, relative to the longest, are removed.
VANISHED = 1e-2
# Number of directions that enter at a time, and their length relative to the longest row of R.
ENTER_MOST = 5
ENTER_LENGTH = 3e-2


@dataclass(frozen=True)
class Factored:
    """A multiplier Lambda = R^T R / B with its scores and its weights."""

    R: Array
    q: Array
    weights: Array
    converged: bool
    """Whether L-BFGS converged before its limit."""


def project(
    table: Table, center: Array, budget: float, problem: Projection, R: Array, max_iter: int
) -> Factored:
    """Minimise the dual of the projection from the factor R, at its rank."""
    root = np.sqrt(budget)

    def dual(x: Array) -> tuple[float, Array]:
        projected = table.project(center, x.reshape(R.shape) / root)
        q = np.einsum("ij,ij->j", projected, projected)
        w = problem.weights(q)
        image = table.combine(center, w * projected)
        # Without the constant s t^2 / 2, which would round away the decrease.
        value = float(x @ x) - float(w @ (problem.s * (0.5 * w - problem.t) + q))
        return value, 2.0 * (x - image.ravel() / root)

    # Many corrections, because copies of one outlier make the problem stiff; fewer if they would
    # take more than 0.5 GB.
    most = max(5, min(50, (1 << 26) // R.size))
    found = minimize(
        dual,
        R.ravel(),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": max_iter, "maxcor": most, "ftol": 1e-14, "gtol": 1e-10},
    )
    R = found.x.reshape(R.shape)
    projected = table.project(center, R / root)
    q = np.einsum("ij,ij->j", projected, projected)
    return Factored(R, q, problem.weights(q), found.nit < max_iter)


def adapted(R: Array, spectrum: Spectrum, limit: float) -> Array:
    """Drop the vanished directions of R, and add the worst of those beyond the limit."""
    _, lengths, axes = np.linalg.svd(R, full_matrices=False)
    kept, most = lengths > VANISHED * lengths[0], ENTER_MOST
    worst = spectrum.vectors[:most][spectrum.values[:most] > limit]
    entering = ENTER_LENGTH * lengths[0] * worst
    return np.concatenate([lengths[kept, None] * axes[kept], entering])
