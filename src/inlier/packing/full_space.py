"""The paper's convex problems at a fixed centre and budget, each solved with its certificate.

All are minimised over the packing set W(x, B), with w = 1 - h:

    l1                      sum_i h_i
    weighted l1             sum_i u_i h_i
    weighted least squares  sum_i (u_i h_i)^2
    weighted projection     1/2 sum_i s_i (w_i - t_i)^2

In a few dimensions the interior point method solves them as they stand. In hundreds, cutting planes
go first, which take few passes where the multiplier has low rank, as it does unless the budget cuts
into the good rows. Then the factored dual is minimised; the l1 problems, which are not strongly
convex, by proximal steps, whose length grows while they are easy.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from inlier._internal.typing import Array
from inlier.linalg.eigenpairs import Oracle, Spectrum
from inlier.packing import factored
from inlier.packing.problem import (
    Packing,
    Projection,
    Subspace,
    fewest_removed,
    packing_bound,
    scores,
)
from inlier.packing.subspace import HOPELESS, LONG, SubspaceSolution, SubspaceSolver

# Up to this many columns the interior point method takes the whole space for its subspace; up to
# the second it does so where the factored dual has not reached the tolerance.
SMALL = 24
MEDIUM_SIZE = 64
# Steps without progress after which the factored dual gives up.
STALLED = 25
# Cutting planes are given up beyond so many directions, or rounds.
PLANES_MOST = 16
ROUNDS_MOST = 8
# What one round for a start is solved to.
LOOSE = 1e-2
# Iterations of L-BFGS before the proximal centre, and the rank, are updated.
INNER_ITER = 40
SHORT, MEDIUM, LONGEST = 3.0, 10.0, 1e3
SETTLE = 3
# Up to this many columns the spectrum is found by a dense pass. Otherwise, few passes have to do
# until the answer looks right; up to the second number it is then confirmed by a dense pass if the
# budget has pressed together more eigenvalues than a block holds: a Krylov space can miss one.
DENSE = 512
CONFIRM = 2048
ROUGH_PASSES = 3
# Directions that exceed the budget by less than this part of the gap do not enter the factor.
ENTER = 0.3


@dataclass(frozen=True)
class Solution:
    """The solution of a convex problem over the packing set, with its proof.

    Attributes
    ----------
    weights : array of shape (n,)
        w = 1 - h.
    shrunk : float
        The factor, 1 or a little less, by which all weights were scaled to stay in the budget.
    objective, dual_objective : float
        Of the minimisation, both evaluated on the data. No feasible point is below the second.
    scale : float
        The objective at w = 0, to which gaps are related.
    budget : float
    lambda_max, residual : float
        Largest eigenvalue of sum_i w_i (y_i - x)(y_i - x)^T, and the residual of its eigenpair.
    scores : array of shape (n,)
        q_i = (y_i - x)^T Lambda (y_i - x).
    l0_lower_bound : int
        No feasible h about this centre has fewer non-zeros.
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
        """h = 1 - w."""
        return 1.0 - self.weights

    @property
    def gap(self) -> float:
        """How far above the optimum the objective can be."""
        return self.objective - self.dual_objective

    @property
    def relative_gap(self) -> float:
        """The gap as a part of the objective at w = 0."""
        return self.gap / self.scale if self.gap > 0.0 else 0.0


class FullSpaceSolver:
    """Solves problems over the packing set W(center, budget), in the whole space.

    Parameters
    ----------
    oracle : Oracle
    center : array of shape (d,)
    budget : float
    tol : float
        Duality gap, relative to the objective at w = 0.
    max_steps : int
        Of at most `INNER_ITER` passes each.

    Attributes
    ----------
    solved : list of Solution
        All answers so far.
    """

    def __init__(
        self, oracle: Oracle, center: Array, budget: float, tol: float, max_steps: int = 100
    ) -> None:
        self.oracle, self.center, self.budget = oracle, center, budget
        self.tol, self.max_steps = tol, max_steps
        self.ones = oracle.table.rows(1.0)
        self.solved: list[Solution] = []
        # Aimed a little inside, so that the answer itself stays within the budget.
        self._aim = budget / (1.0 + tol / 4.0)
        self._subspace: Subspace | None = Subspace.empty(oracle.table, center)
        self._R: Array | None = None
        self._distances = oracle.table.sq_distances(center)
        self._hopeless = self._distances > HOPELESS * budget

    def packing(self, u: Array, tau: float = LONG) -> Solution:
        """min sum_i u_i h_i, the weighted packing SDP."""
        return self._solve(Packing(u), self.tol)

    def least_squares(self, u: Array, loosely: bool = False) -> Solution:
        """min sum_i (u_i h_i)^2, the constrained least squares."""
        tol = max(self.tol, 1e-5) if loosely else self.tol
        return self._solve(Projection.least_squares(u), tol)

    def project(self, t: Array, s: Array) -> Solution:
        """min 1/2 sum_i s_i (w_i - t_i)^2, the weighted projection of t."""
        return self._solve(Projection(t, s), self.tol)

    def _solve(self, problem: Packing | Projection, tol: float) -> Solution:
        table, center = self.oracle.table, self.center
        n_passes = table.n_passes
        unit = problem.unit
        problem = problem.measured_in(unit)
        free = self.ones if isinstance(problem, Packing) else np.clip(problem.t, 0.0, 1.0)
        free = np.where(self._hopeless, 0.0, free)
        best = _Best(problem, self.budget)
        best.offer_multiplier(np.empty((0, len(center))), 0.0 * self.ones)
        easy = len(center) <= SMALL or bool(self._hopeless.all())
        if easy:
            best.offer_weights(free, self._spectrum(free, tol))
        else:
            spectrum = self._look(free, 0, best, tol)
        if len(center) <= MEDIUM_SIZE:  # all directions alike: a bound for hopeless budgets
            best.offer_multiplier(np.eye(len(center)), self._distances / self.budget)
        n_steps = 0
        if best.gap > tol and not easy:
            if self._subspace is not None:
                n_steps = self._add_planes(problem, self._subspace, spectrum, best, tol)
            if best.gap > tol:
                n_steps += self._minimise_factored(problem, free, best, tol)
        if best.gap > tol and len(center) <= MEDIUM_SIZE and n_steps < self.max_steps:
            n_steps += self._solve_densely(problem, best, tol)
        self.solved.append(best.solution(unit, n_steps, table.n_passes - n_passes, tol))
        return self.solved[-1]

    def _add_planes(
        self,
        problem: Packing | Projection,
        subspace: Subspace,
        spectrum: Spectrum,
        best: _Best,
        tol: float,
    ) -> int:
        """Solve within a subspace, and add to it what breaks the budget, while it stays small."""
        center, aim = self.center, self._aim
        breaking = spectrum.values > aim
        if not breaking.any() and not len(subspace.basis):  # only hopeless rows are beyond it
            spectrum = self.oracle(
                center, self._hopeless.astype(np.float64), _roughly, ROUGH_PASSES
            )
            breaking = spectrum.values > aim
        # With few columns passes cost less than the interior point method: one round for a start.
        most = ROUNDS_MOST if len(center) > DENSE else 1
        for n_rounds in range(1, most + 1):
            subspace = subspace.extended(spectrum, breaking, center)
            P = subspace.seen_from(center, aim)
            reduced = _within(problem, P, 0.1 * tol if most > 1 else LOOSE)
            self._R = _factor(reduced.S) @ subspace.basis
            best.offer_multiplier(self._R * np.sqrt(self.budget / aim), scores(P, reduced.S))
            spectrum = self._look(reduced.weights, _rank(reduced.S), best, tol)
            if best.gap <= tol:
                self._subspace = subspace
                return n_rounds
            breaking = spectrum.values > aim * (1.0 + 0.1 * tol)
            if not breaking.any() or len(subspace.basis) + breaking.sum() > PLANES_MOST:
                break
        self._subspace = None  # nor would they do for the next problem about this centre
        return n_rounds

    def _minimise_factored(
        self, problem: Packing | Projection, w: Array, best: _Best, tol: float
    ) -> int:
        table, center, aim = self.oracle.table, self.center, self._aim
        assert self._R is not None
        R = self._R
        tau = SHORT
        lowest, promising, since = np.inf, w, 0
        for n_steps in range(1, self.max_steps + 1):
            target = self._target(problem, w, tau)
            found = factored.project(table, center, aim, target, R, INNER_ITER)
            w = found.weights
            best.offer_multiplier(found.R * np.sqrt(self.budget / aim), found.q)
            spectrum = self._look(w, len(R), best, tol)
            gap = best.gap_with(w, spectrum)
            since += 1
            if gap < 0.9 * lowest:
                lowest, promising, since = gap, w, 0
            if best.gap <= tol or since == STALLED:
                break
            R = factored.adapted(found.R, spectrum, aim * (1.0 + max(tol, ENTER * gap)))
            if n_steps >= SETTLE:
                tau = min(3.0 * tau, LONGEST) if found.easy else max(MEDIUM, tau / 2.0)
        self._R = R
        if best.gap > tol:
            best.offer_weights(promising, self._spectrum(promising, tol))
        return n_steps

    def _solve_densely(self, problem: Packing | Projection, best: _Best, tol: float) -> int:
        """The interior point method with the whole space for its subspace."""
        d = len(self.center)
        P = self.oracle.table.project(self.center, np.eye(d)) / np.sqrt(self._aim)
        for closer in (0.1, 1e-3, 1e-5):
            reduced = _within(problem, P, closer * tol)
            best.offer_weights(reduced.weights, self._spectrum(reduced.weights, tol))
            R = _factor(reduced.S) * np.sqrt(self.budget / self._aim)
            best.offer_multiplier(R, scores(P, reduced.S))
            if best.gap <= tol:
                break
        return 1

    def _target(self, problem: Packing | Projection, w: Array, tau: float) -> Projection:
        """What is projected next: for the packing SDP, the proximal step from w."""
        target = Projection.proximal(problem.u, w, tau) if isinstance(problem, Packing) else problem
        return Projection(np.where(self._hopeless, 0.0, target.t), target.s)

    def _spectrum(self, weights: Array, tol: float, dense: int = DENSE) -> Spectrum:
        return self.oracle.accurately(self.center, weights, tol * self.budget, dense)

    def _look(self, weights: Array, rank: int, best: _Best, tol: float) -> Spectrum:
        """The spectrum that weights leave; roughly, unless they seem to be good enough."""
        spectrum = self.oracle(self.center, weights, _roughly, ROUGH_PASSES)
        if best.gap_with(weights, spectrum) > tol:
            return spectrum
        spectrum = self._spectrum(weights, tol)
        doubtful = DENSE < len(self.center) <= CONFIRM and rank >= self.oracle.block
        if doubtful and best.gap_with(weights, spectrum) <= tol:
            spectrum = self._spectrum(weights, tol, CONFIRM)
        best.offer_weights(weights, spectrum)
        return spectrum


def _within(problem: Packing | Projection, P: Array, tol: float) -> SubspaceSolution:
    solver = SubspaceSolver(P, tol, exactly=True)
    if isinstance(problem, Packing):
        return solver.packing(problem.u)
    return solver.project(problem.t, problem.s)


def _factor(S: Array) -> Array:
    """R with R^T R = S."""
    values, vectors = np.linalg.eigh(S)
    R: Array = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    return R


def _rank(S: Array) -> int:
    """In how many directions the budget is contested."""
    values = np.linalg.eigvalsh(S)
    return int((values > factored.VANISHED**2 * values.max(initial=0.0)).sum())


def _roughly(values: Array, residuals: Array, bound: float) -> bool:
    return bool(residuals[0] <= 0.01 * values[0])


class _Best:
    """The best weights and the best multiplier so far; together they are the certificate."""

    def __init__(self, problem: Packing | Projection, budget: float) -> None:
        self.problem, self.budget = problem, budget
        self.objective, self.dual_objective = np.inf, -np.inf

    @property
    def gap(self) -> float:
        """Relative to the objective at w = 0."""
        return self._relative(self.objective)

    def gap_with(self, weights: Array, spectrum: Spectrum) -> float:
        """The gap that these weights would leave."""
        return self._relative(self.problem.objective(self._shrunk(spectrum) * weights))

    def _relative(self, objective: float) -> float:
        gap = objective - self.dual_objective
        return gap / self.problem.scale if gap > 0.0 else 0.0

    def _shrunk(self, spectrum: Spectrum) -> float:
        top = float(spectrum.values[0])
        return min(1.0, self.budget / top) if top > 0.0 else 1.0

    def offer_weights(self, weights: Array, spectrum: Spectrum) -> None:
        """Weights that break the budget are scaled down to it."""
        top, shrunk = float(spectrum.values[0]), self._shrunk(spectrum)
        objective = self.problem.objective(shrunk * weights)
        if objective < self.objective:
            self.objective, self.weights, self.shrunk = objective, shrunk * weights, shrunk
            self.lambda_max = shrunk * top
            self.residual = shrunk * float(spectrum.residuals[0])

    def offer_multiplier(self, R: Array, q: Array) -> None:
        """Lambda = R^T R / budget, with the scores of the rows under it."""
        if isinstance(self.problem, Packing):
            a = self.problem.best_multiple(q, float(np.sum(R * R)))
            R, q = np.sqrt(a) * R, a * q
        dual = self.problem.dual_objective(q, float(np.sum(R * R)))
        if dual > self.dual_objective:
            self.dual_objective, self.R, self.q = dual, R, q

    def solution(self, unit: float, n_steps: int, n_passes: int, tol: float) -> Solution:
        """What a user gets, in the units of the problem that was asked for."""
        _, lengths, axes = np.linalg.svd(self.R, full_matrices=False)
        n = len(self.weights)
        most_kept = packing_bound(np.ones(n), self.q, float(lengths @ lengths))
        converged = self.gap <= tol
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
            converged=converged,
            message="Solved to the tolerance."
            if converged
            else f"Stopped after {n_steps} steps at a relative gap of {self.gap:.1e}, above "
            f"tol={tol:.1e}. Raise max_steps, or tol.",
        )
