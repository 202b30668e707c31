"""Solvers of the paper's convex problems at a fixed center and budget, with certificates.

All are minimised over the packing set W(x, B), with w = 1 - h:

    l1                      sum_i h_i
    weighted l1             sum_i u_i h_i
    weighted least squares  sum_i (u_i h_i)^2
    weighted projection     1/2 sum_i s_i (w_i - t_i)^2

In a few dimensions the interior point method solves them directly. In hundreds, cutting planes go
first: they take few passes where the multiplier has low rank, as it does unless the budget cuts
into the good rows. Then the factored dual is minimised. The l1 problems are not strongly convex,
so they take proximal steps, whose length grows while L-BFGS converges.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from inlier._internal.typing import Array
from inlier.l0 import factored
from inlier.l0.problem import (
    Packing,
    Projection,
    Subspace,
    fewest_removed,
    packing_bound,
    scores,
)
from inlier.l0.subspace import EXCLUDED, SubspaceSolution, SubspaceSolver
from inlier.linalg.eigenpairs import Oracle, Spectrum

# Where the solvers are switched; `make bench` measures all of them (docs/engine.md).
# Columns up to which the interior point method takes the whole space for its subspace, always or
# where the factored dual has not reached the tolerance.
INTERIOR_MOST, INTERIOR_FALLBACK = 24, 64
# Columns up to which spectra are computed densely.
DENSE_MOST = 512
# Columns up to which a solution is confirmed densely if the multiplier has more directions than a
# Krylov block: the Krylov space could miss an eigenvector.
CONFIRM_MOST = 2048


@dataclass(frozen=True)
class Solution:
    """Solution of a convex problem over the packing set, with its certificate.

    Attributes
    ----------
    weights : array of shape (n,)
        w = 1 - h.
    shrunk : float
        Factor, 1 or slightly less, by which all weights were scaled to satisfy the budget.
    objective, dual_objective : float
        Values of the minimisation, evaluated on the data. No feasible point is below the second.
    scale : float
        Objective at w = 0, to which gaps are relative.
    budget : float
    lambda_max, residual : float
        Largest eigenvalue of sum_i w_i (y_i - x)(y_i - x)^T, and the residual of its eigenpair.
    scores : array of shape (n,)
        q_i = (y_i - x)^T Lambda (y_i - x).
    l0_lower_bound : int
        No feasible h about this center has fewer non-zeros.
    directions, multiplier : array of shape (k, d) and (k,)
        Lambda = directions^T diag(multiplier) directions / budget.
    n_steps, n_passes : int
    converged : bool
    message : str
    """

    weights: Array = field(repr=False)
    shrunk: float
    objective: float
    dual_objective: float
    scale: float
    budget: float
    lambda_max: float
    residual: float
    scores: Array = field(repr=False)
    l0_lower_bound: int
    directions: Array = field(repr=False)
    multiplier: Array = field(repr=False)
    n_steps: int
    n_passes: int
    converged: bool
    message: str

    @property
    def indicator(self) -> Array:
        """Outlier indicator h = 1 - w."""
        return 1.0 - self.weights

    @property
    def gap(self) -> float:
        """Duality gap: an upper bound on the distance from the optimum."""
        return self.objective - self.dual_objective

    @property
    def relative_gap(self) -> float:
        """Duality gap, relative to the objective at w = 0."""
        return self.gap / self.scale if self.gap > 0.0 else 0.0


class FullSpaceSolver:
    """Solve problems over the packing set W(center, budget), in the whole space.

    To a duality gap of `tol`, relative to the objective at w = 0.
    """

    def __init__(
        self, oracle: Oracle, center: Array, budget: float, tol: float, max_steps: int = 100
    ) -> None:
        self.oracle, self.center, self.budget = oracle, center, budget
        self.tol, self.max_steps = tol, max_steps
        self.ones = oracle.table.constant(1.0)
        # Lowered by a part of the tolerance, so that solutions satisfy the budget itself.
        self._aim = budget / (1.0 + tol * 0.25)
        self._subspace: Subspace | None = Subspace.empty(oracle.table, center)
        self._R: Array | None = None
        self._distances = oracle.table.sq_distances(center)
        self._excluded = self._distances > EXCLUDED * budget

    def packing(self, u: Array) -> Solution:
        """Solve min sum_i u_i h_i, the weighted packing SDP."""
        return self._solve(Packing(u), self.tol)

    def least_squares(self, u: Array, loosely: bool = False) -> Solution:
        """Solve min sum_i (u_i h_i)^2, the constrained least squares."""
        tol = max(self.tol, 1e-5) if loosely else self.tol
        return self._solve(Projection.least_squares(u), tol)

    def project(self, t: Array, s: Array) -> Solution:
        """Solve min 1/2 sum_i s_i (w_i - t_i)^2, the weighted projection of t."""
        return self._solve(Projection(t, s), self.tol)

    def _solve(self, problem: Packing | Projection, tol: float) -> Solution:
        table, center = self.oracle.table, self.center
        n_passes = table.n_passes
        problem, unit = problem.in_units()
        free = self.ones if isinstance(problem, Packing) else np.clip(problem.t, 0.0, 1.0)
        free = np.where(self._excluded, 0.0, free)
        best = _Incumbent(problem, self.budget, tol)
        best.offer_multiplier(np.empty((0, len(center))), 0.0 * self.ones)
        small = len(center) <= INTERIOR_MOST or bool(self._excluded.all())
        if small:
            best.offer_weights(free, self._spectrum(free, tol))
        else:
            spectrum = self._verify(free, 0, best)
        medium = len(center) <= INTERIOR_FALLBACK
        with np.errstate(over="ignore"):
            far = self._distances / self.budget
        if medium and np.isfinite(far).all():  # I bounds problems with tiny budgets
            best.offer_multiplier(np.eye(len(center)), far)
        n_steps = 0
        if not best.solved and not small:
            if self._subspace is not None:
                n_steps = self._add_planes(self._subspace, spectrum, best)
            if not best.solved:
                n_steps += self._minimise_factored(free, best)
        if not best.solved and medium and n_steps < self.max_steps:
            n_steps += self._solve_densely(best)
        return best.solution(unit, n_steps, table.n_passes - n_passes)

    def _add_planes(self, subspace: Subspace, spectrum: Spectrum, best: _Incumbent) -> int:
        """Solve within a subspace, and add violating directions while it stays small."""
        center, aim, tol = self.center, self._aim, best.tol
        violating = spectrum.values > aim
        if not violating.any() and not len(subspace.basis):  # only excluded rows are beyond it
            spectrum = self._rough_spectrum(self._excluded.astype(np.float64))
            violating = spectrum.values > aim
        # With few columns passes cost less than the interior point method: one round for a start.
        most = 8 if len(center) > DENSE_MOST else 1
        for n_rounds in range(1, most + 1):
            subspace = subspace.extended(spectrum, violating, center)
            P = subspace.scaled_projections(center, aim)
            reduced = _solve_within(best.problem, P, 0.1 * tol if most > 1 else 1e-2)
            self._R = _factor(reduced.S) @ subspace.basis
            best.offer_multiplier(self._R * np.sqrt(self.budget / aim), scores(P, reduced.S))
            rank = np.linalg.matrix_rank(reduced.S, rtol=factored.VANISHED**2, hermitian=True)
            spectrum = self._verify(reduced.weights, int(rank), best)
            if best.solved:
                self._subspace = subspace
                return n_rounds
            violating = spectrum.values > aim * (1.0 + 0.1 * tol)
            n_planes = len(subspace.basis) + violating.sum()
            if not violating.any() or n_planes > 16:  # at high rank they are slow
                break
        self._subspace = None  # the next problem about this center would need as many
        return n_rounds

    def _minimise_factored(self, w: Array, best: _Incumbent) -> int:
        """Minimise the factored dual, with proximal steps for the packing SDP."""
        table, center, aim = self.oracle.table, self.center, self._aim
        assert self._R is not None
        R = self._R
        tau = 3.0
        lowest, promising, since = np.inf, w, 0
        for n_steps in range(1, self.max_steps + 1):
            target = best.problem
            if isinstance(target, Packing):
                target = Projection.proximal(target.u, w, tau)
            target = Projection(np.where(self._excluded, 0.0, target.t), target.s)
            found = factored.project(table, center, aim, target, R, max_iter=40)
            w = found.weights
            best.offer_multiplier(found.R * np.sqrt(self.budget / aim), found.q)
            spectrum = self._verify(w, len(R), best)
            gap = best.gap_with(w, spectrum)
            since += 1
            if gap < 0.9 * lowest:
                lowest, promising, since = gap, w, 0
            if best.solved or since == 25:  # no progress for that many steps
                break
            excess = max(best.tol, 0.3 * gap)  # a smaller violation need not matter in the end
            R = factored.adapted(found.R, spectrum, aim * (1.0 + excess))
            if n_steps >= 3:  # the first steps are short
                tau = min(3.0 * tau, 1e3) if found.converged else max(10.0, tau / 2.0)
        self._R = R
        if not best.solved:
            best.offer_weights(promising, self._spectrum(promising, best.tol))
        return n_steps

    def _solve_densely(self, best: _Incumbent) -> int:
        """Run the interior point method with the whole space for its subspace."""
        axes = np.eye(len(self.center))
        whole = Subspace(axes, self.oracle.table.project(self.center, axes), self.center)
        P = whole.scaled_projections(self.center, self._aim)
        for closer in (0.1, 1e-3, 1e-5):
            reduced = _solve_within(best.problem, P, closer * best.tol)
            best.offer_weights(reduced.weights, self._spectrum(reduced.weights, best.tol))
            R = _factor(reduced.S) * np.sqrt(self.budget / self._aim)
            best.offer_multiplier(R, scores(P, reduced.S))
            if best.solved:
                break
        return 1

    def _spectrum(self, weights: Array, tol: float, dense: int = DENSE_MOST) -> Spectrum:
        return self.oracle.top(self.center, weights, tol * self.budget, dense)

    def _rough_spectrum(self, weights: Array) -> Spectrum:
        return self.oracle(self.center, weights, lambda v, r, _: r[0] <= 0.01 * v[0], max_passes=3)

    def _verify(self, weights: Array, rank: int, best: _Incumbent) -> Spectrum:
        """Compute the spectrum under weights; accurately only where they may be good enough."""
        spectrum, tol = self._rough_spectrum(weights), best.tol
        if best.gap_with(weights, spectrum) > tol:
            return spectrum
        spectrum = self._spectrum(weights, tol)
        large = DENSE_MOST < len(self.center) <= CONFIRM_MOST
        if large and rank >= self.oracle.block and best.gap_with(weights, spectrum) <= tol:
            spectrum = self._spectrum(weights, tol, CONFIRM_MOST)
        best.offer_weights(weights, spectrum)
        return spectrum


def _solve_within(problem: Packing | Projection, P: Array, tol: float) -> SubspaceSolution:
    solver = SubspaceSolver(P, tol, exactly=True)
    if isinstance(problem, Packing):
        return solver.packing(problem.u)
    return solver.project(problem.t, problem.s)


def _factor(S: Array) -> Array:
    """Return R with R^T R = S."""
    values, vectors = np.linalg.eigh(S)
    R: Array = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    return R


class _Incumbent:
    """The best weights and the best multiplier so far; together they are the certificate."""

    def __init__(self, problem: Packing | Projection, budget: float, tol: float) -> None:
        self.problem, self.budget, self.tol = problem, budget, tol
        self.objective, self.dual_objective = np.inf, -np.inf

    @property
    def gap(self) -> float:
        """Duality gap, relative to the objective at w = 0."""
        return self._relative(self.objective)

    @property
    def solved(self) -> bool:
        """Whether the gap is within the tolerance."""
        return self.gap <= self.tol

    def gap_with(self, weights: Array, spectrum: Spectrum) -> float:
        """Return the gap with these weights, scaled to satisfy the budget."""
        return self._relative(self.problem.objective(self._shrunk(spectrum) * weights))

    def _relative(self, objective: float) -> float:
        gap = objective - self.dual_objective
        return gap / self.problem.scale if gap > 0.0 else 0.0

    def _shrunk(self, spectrum: Spectrum) -> float:
        top = float(spectrum.values[0])
        return min(1.0, self.budget / top) if top > 0.0 else 1.0

    def offer_weights(self, weights: Array, spectrum: Spectrum) -> None:
        """Keep weights, scaled to satisfy the budget, if they have the smallest objective."""
        top, shrunk = float(spectrum.values[0]), self._shrunk(spectrum)
        objective = self.problem.objective(shrunk * weights)
        if objective < self.objective:
            self.objective, self.weights, self.shrunk = objective, shrunk * weights, shrunk
            self.lambda_max = shrunk * top
            self.residual = shrunk * float(spectrum.residuals[0])

    def offer_multiplier(self, R: Array, q: Array) -> None:
        """Keep Lambda = R^T R / budget, with its scores, if it has the largest dual objective."""
        if isinstance(self.problem, Packing):
            a = self.problem.best_multiple(q, float(np.sum(R * R)))
            R, q = np.sqrt(a) * R, a * q
        dual = self.problem.dual_objective(q, float(np.sum(R * R)))
        if dual > self.dual_objective:
            self.dual_objective, self.R, self.q = dual, R, q

    def solution(self, unit: float, n_steps: int, n_passes: int) -> Solution:
        """Return the solution in the units of the original problem."""
        _, lengths, axes = np.linalg.svd(self.R, full_matrices=False)
        n = len(self.weights)
        most_kept = packing_bound(np.ones(n), self.q, float(lengths @ lengths))
        message = "Solved to the tolerance."
        if not self.solved:
            gap = f"a relative gap of {self.gap:.1e}, above tol={self.tol:.1e}"
            message = f"Stopped after {n_steps} steps at {gap}. Raise max_steps, or tol."
        return Solution(
            weights=self.weights,
            shrunk=self.shrunk,
            objective=unit * self.objective,
            dual_objective=unit * self.dual_objective,
            scale=unit * self.problem.scale,
            budget=self.budget,
            lambda_max=self.lambda_max,
            residual=self.residual,
            scores=unit * self.q,
            l0_lower_bound=fewest_removed(n, most_kept),
            directions=axes,
            multiplier=unit * lengths * lengths,
            n_steps=n_steps,
            n_passes=n_passes,
            converged=self.solved,
            message=message,
        )
