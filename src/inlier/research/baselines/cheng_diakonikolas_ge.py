"""The smallest spectral norm over the capped simplex (CDG), by a search over the budget."""

from dataclasses import KW_ONLY

import numpy as np

from inlier._internal.typing import Seed
from inlier._internal.validation import check_number, check_whole
from inlier.l0.problem import Subspace, scores
from inlier.l0.subspace import SubspaceSolver, cutting_planes
from inlier.l0.surrogates import L1
from inlier.research.baselines.base import Answer, Baseline, Run, parameter

# Smoothed: nearly optimal, with weights as equal as possible. The exact optimum uses the slack of
# the norm bound to keep outliers.
OBJECTIVE = L1(tau=0.3)
# Relative duality gap, and excess over the budget, of the inner problems.
GAP = 1e-3
SLACK = 0.02
# Largest factor between successive budgets.
MAX_FACTOR = 4.0
# Converged if the center moves by less, in standard deviations.
CENTER_TOL = 0.01


class ChengDiakonikolasGe(Baseline):
    """Minimise the largest variance of the weighted rows over the capped simplex.

    That is ::

        min_w  lambda_max( sum_i w_i (y_i - x)(y_i - x)^T )
        over  sum_i w_i = 1,  0 <= w_i <= 1 / ((1 - alpha) n),   with x = sum_i w_i y_i

    For fixed x this is the l1 problem of this library with constraint and objective exchanged: the
    least budget B that admits weights of mass (1 - alpha) n. B is found by Newton's method, with
    the multiplier as derivative, and x moves to the weighted mean in each step. Any w whose norm is
    O(sigma^2) has an error of O(sigma sqrt(alpha)). About 20 passes.

    The paper solves a packing and covering SDP approximately and stops once the norm is below a
    multiple of sigma^2. Here the norm is minimised, so sigma is not needed. The location is the
    mean of the rows that keep more than half of their weight.

    Parameters
    ----------
    alpha : float
        The fraction of rows that may be bad, 0 <= alpha < 1/2.
    tol : float, default=0.002
        Tolerance of the mass, as a fraction of the rows.
    max_iter : int, default=50
        Maximum number of Newton steps in the budget.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the eigensolver's starting vectors.

    References
    ----------
    Cheng, Diakonikolas and Ge (2019), High-dimensional robust mean estimation in nearly-linear
    time, SODA, arXiv:1811.09380, section 2.
    """

    name = "cdg"
    paper = "Cheng, Diakonikolas and Ge (2019)"

    alpha: float | None = None
    _: KW_ONLY
    tol: float = parameter(0.002, check_number, below=1.0)
    max_iter: int = parameter(50, check_whole)
    random_state: Seed = 0

    def _estimate(self, run: Run) -> Answer:
        n, oracle, center = run.n, run.oracle, run.center
        target = float(n - run.n_bad)
        spectrum = oracle.top_rough(center, np.ones(n))
        budget = float(spectrum.values[0]) / MAX_FACTOR
        if target == n or budget == 0.0:
            return Answer(np.ones(n), run.distances)
        subspace = Subspace.empty(run.table, center).extended(
            spectrum, spectrum.values > budget, center
        )
        n_iter, converged = 0, False
        while not converged and n_iter < self.max_iter:
            n_iter += 1
            solved = cutting_planes(
                lambda P: OBJECTIVE.minimise(SubspaceSolver(P, GAP, exactly=True)),
                oracle, center, budget, subspace,
                slack=SLACK, max_passes=3, max_rounds=6, trim=1e-4,
            )  # fmt: skip
            weights, subspace, spectrum = solved.weights, solved.subspace, solved.spectrum
            mass = max(float(weights.sum()), 1.0)
            move = spectrum.drift / mass
            run.record("budget", weights, float(spectrum.values[0]) / mass, budget / mass)
            still = float(np.linalg.norm(move)) <= CENTER_TOL * np.sqrt(budget / mass)
            converged = still and abs(mass - target) <= max(1.0, self.tol * n)
            q = scores(subspace.scaled_projections(center, budget), solved.S)
            # d mass / d ln(budget) is the trace of the multiplier.
            change = (target - mass) / max(float(np.trace(solved.S)), 1e-9)
            most = np.log(MAX_FACTOR)
            lowered = budget * float(np.exp(np.clip(change, -most, most)))
            if lowered < budget:
                subspace = subspace.extended(spectrum, spectrum.values > lowered, center)
            center, budget = center + move, lowered
        message = "" if converged else "The budget was still moving. Raise max_iter, or tol."
        kept = np.where(weights > 0.5, 1.0, 0.0)
        return Answer(kept, q, None, n_iter, converged, message)
