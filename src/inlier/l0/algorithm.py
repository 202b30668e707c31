"""Algorithm 1 of the paper: alternate between the outlier indicator and the mean.

    Step 1   at the center x, minimise a surrogate of ||h||_0 over the packing set
    Step 2   x = mean of the rows with h = 0

while ||h||_0 decreases. Step 1 is solved exactly, as published, or to the
precision that Theorem 1 requires.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from inlier._internal.arrays import any_true, count, double, every, namespace, total
from inlier._internal.numbers import TINY
from inlier._internal.typing import Array, Rows
from inlier.l0.continuation import lose_near_rows
from inlier.l0.full_space import FullSpaceSolver
from inlier.l0.problem import Subspace, scores
from inlier.l0.subspace import SubspaceSolution, SubspaceSolver, cutting_planes
from inlier.l0.surrogates import Surrogate, removed_rows
from inlier.linalg.eigenpairs import Oracle
from inlier.verdict import Step


@dataclass(frozen=True)
class StepSolution:
    """Solution of step 1 at one center, and the mean of step 2."""

    center: Array
    budget: float
    h: Rows
    scores: Rows
    removed: Rows
    directions: Array | None
    """k x d, with their prices: Lambda = directions^T diag(prices) directions / budget.

    None stands for all directions alike; then there is one price, their sum."""
    prices: Array
    lambda_max: float
    mean: Array
    """Mean of the kept rows, or of the weighted rows if none is kept."""
    solved: bool = True
    """Whether the surrogate was minimised to the tolerance."""

    @property
    def n_removed(self) -> int:
        """||h||_0."""
        return count(self.removed)

    @property
    def weights(self) -> Rows:
        """Weights of the location."""
        return kept_weights(self.removed, 1.0 - self.h)


# A solver of step 1 at a center and a budget; None if at least `fewer_than` rows would be removed.
Step1 = Callable[[Array, float, float], StepSolution | None]


def kept_weights(removed: Rows, weights: Rows) -> Rows:
    """Return a weight of 1 for each kept row, or the given weights if no row is kept."""
    return weights if every(removed) else double(~removed)


class ExactStep:
    """Step 1 as published: minimise the surrogate in the whole space, to a relative duality gap."""

    def __init__(self, oracle: Oracle, surrogate: Surrogate, tol: float) -> None:
        self.oracle, self.surrogate, self.tol = oracle, surrogate, tol

    def __call__(self, center: Array, budget: float, fewer_than: float) -> StepSolution:
        """See `Step1`."""
        whole = FullSpaceSolver(self.oracle, center, budget, self.tol)
        solution = self.surrogate.minimise(whole)
        h = solution.indicator
        # Undo a slight shrinkage of all weights, so that rows of full weight count as kept.
        slight = solution.shrunk > 1.0 - max(1e-3, 2.0 * self.tol)
        unshrunk = 1.0 - solution.weights / solution.shrunk if slight else h
        removed = self.surrogate.nonzero(unshrunk)
        mean = self.oracle.table.mean(kept_weights(removed, solution.weights), center)
        q, V, prices = solution.scores, solution.directions, solution.multiplier
        top, solved = solution.lambda_max, solution.converged
        return StepSolution(center, budget, h, q, removed, V, prices, top, mean, solved)


class SubspaceStep:
    """Step 1 in few passes: the surrogate in a subspace, the budget for the kept rows alone.

    By Theorem 1 any large enough set of rows that satisfies the budget will do. So the oracle
    checks the rows with h = 0 instead of the weights; its pass also returns their mean.
    """

    def __init__(
        self, oracle: Oracle, surrogate: Surrogate, subspace: Subspace, variance: float
    ) -> None:
        self.oracle, self.surrogate, self.subspace = oracle, surrogate, subspace
        self.variance = variance
        self.first: SubspaceSolution | None = None

    def begin(self, center: Array, budget: float) -> int:
        """Solve the first problem, within the subspace; return how many rows that removes."""
        P = self.subspace.scaled_projections(center, budget)
        self.first = self.first or self._reduced(P)
        return count(self._removed(P, self.first))

    def removes_good_rows(self, found: StepSolution) -> bool:
        """Return whether a step removes rows that do not lie apart."""
        w, q, prices = 1.0 - found.h, found.scores, found.prices
        return lose_near_rows(w, found.removed, q, prices, found.budget, self.variance)

    def __call__(self, center: Array, budget: float, fewer_than: float) -> StepSolution | None:
        """See `Step1`."""
        P = self.subspace.scaled_projections(center, budget)
        first, self.first = self.first or self._reduced(P), None
        if count(self._removed(P, first)) >= fewer_than:
            return None  # a subspace relaxes the problem: the whole space keeps no more rows
        solved = cutting_planes(
            self._reduced,
            self.oracle,
            center,
            budget,
            self.subspace,
            first=first,
            checked=self._kept,
            slack=0.02,
            max_passes=4,
            max_rounds=20,
            hopeless=lambda P, w, S: self._is_hopeless(P, SubspaceSolution(w, S), budget),
        )
        self.subspace = solved.subspace
        h = 1.0 - solved.weights
        q = scores(self.subspace.scaled_projections(center, budget), solved.S)
        removed = removed_rows(self.surrogate, h, q)
        weights = kept_weights(removed, solved.weights)
        if every(weights == solved.checked):  # the oracle has returned their mean
            mean = center + solved.spectrum.drift / max(total(weights), TINY)
        else:
            mean = self.oracle.table.mean(weights, center)
        prices, top = np.diag(solved.S), float(solved.spectrum.values[0])
        return StepSolution(center, budget, h, q, removed, self.subspace.basis, prices, top, mean)

    def _reduced(self, P: Rows) -> SubspaceSolution:
        if not P.shape[0]:  # no direction in which the budget is contested
            return SubspaceSolution(namespace(P).sum(P, axis=0) + 1.0, np.zeros((0, 0)))
        # To a duality gap on which the set of removed rows does not depend.
        return self.surrogate.minimise(SubspaceSolver(P, 1e-4, draw=self.oracle.draw))

    def _is_hopeless(self, P: Rows, solution: SubspaceSolution, budget: float) -> bool:
        removed, q, w = self._removed(P, solution), scores(P, solution.S), solution.weights
        near = lose_near_rows(w, removed, q, np.diag(solution.S), budget, self.variance)
        return near or every(removed)

    def _removed(self, P: Rows, solution: SubspaceSolution) -> Rows:
        return removed_rows(self.surrogate, 1.0 - solution.weights, scores(P, solution.S))

    def _kept(self, P: Rows, solution: SubspaceSolution) -> Rows:
        return kept_weights(self._removed(P, solution), solution.weights)


@dataclass(frozen=True)
class Fit:
    """Last state of Algorithm 1."""

    best: StepSolution
    n_iter: int
    converged: bool


def alternate(
    step1: Step1,
    oracle: Oracle,
    center: Array,
    budget: Callable[[int | None], float],
    max_iter: int,
    notify: Callable[[Step], None] = lambda step: None,
    hopeless: Callable[[StepSolution], bool] = lambda found: False,
) -> Fit:
    """Run Algorithm 1 from a center; return the iteration with the fewest removed rows.

    `budget` maps the number of rows that the last iteration kept (None at first) to the budget. The
    objective of the paper never increases; a surrogate may, which also stops the algorithm.
    """
    best: StepSolution | None = None
    for n_iter in range(1, max_iter + 1):
        allowed = budget(None if best is None else best.h.shape[0] - best.n_removed)
        found = step1(center, allowed, np.inf if best is None else best.n_removed)
        if found is None:
            assert best is not None
            return Fit(best, n_iter, converged=best.solved)
        n_removed, rank, n_passes = float(found.n_removed), len(found.prices), oracle.table.n_passes
        h, top = total(found.h), found.lambda_max
        notify(Step("algorithm 1", allowed, n_removed, h, rank, top, n_passes))
        if best is not None and found.n_removed >= best.n_removed:
            return Fit(best, n_iter, converged=best.solved)
        best, center = found, found.mean
        if every(found.removed) or hopeless(found):
            return Fit(found, n_iter, converged=False)
        if not any_true(found.removed):
            return Fit(found, n_iter, converged=found.solved)
    assert best is not None
    return Fit(best, max_iter, converged=False)
