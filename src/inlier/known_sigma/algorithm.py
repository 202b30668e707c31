"""Algorithm 1 of the paper: alternate between the outlier indicator and the mean.

    Step 1   at the centre x, minimise a surrogate of ||h||_0 over the packing set
    Step 2   x = mean of the rows with h = 0

while ||h||_0 falls. Step 1 is done exactly, as published, or as far as Theorem 1 needs it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from inlier._internal.arrays import count, double, every, lowest, namespace, some, total
from inlier._internal.typing import Array, Rows
from inlier.linalg.eigenpairs import Oracle
from inlier.packing.full_space import FullSpaceSolver, Solution
from inlier.packing.problem import Subspace, scores
from inlier.packing.subspace import SubspaceSolution, SubspaceSolver, cutting_planes
from inlier.packing.surrogates import ReweightedL2, Surrogate
from inlier.results.records import Step
from inlier.results.rules import Reweighting

# A step of a fit has to be near the optimum, not at it: the verdict on a row does not hang on it.
NEAR = 1e-4
# The relative amount by which the kept rows may exceed a budget that has been tightened.
SLACK = 0.02
# Rounding may shrink all weights by less than this, a loose tolerance by about itself.
LITTLE = 1e-3
TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True)
class StepSolution:
    """Step 1: the indicator at one centre, and what follows from it."""

    center: Array
    budget: float
    h: Rows
    scores: Rows
    removed: Rows
    directions: Array
    """k x d, with their prices: Lambda = directions^T diag(prices) directions / budget."""
    prices: Array
    lambda_max: float
    mean: Array
    """Step 2: of the rows that are kept; of the weighted rows, if none is."""
    solved: bool = True
    """Whether the surrogate was minimised to the tolerance."""
    reweighting: Reweighting | None = None
    """What the verdict on a row hangs on beside its score, if it does."""

    @property
    def n_removed(self) -> int:
        """||h||_0."""
        return count(self.removed)


class Step1(Protocol):
    """A way to do step 1."""

    def __call__(self, center: Array, budget: float, fewer_than: float) -> StepSolution | None:
        """The minimum at a centre; None, if it is clear that not fewer rows are removed."""


def removed_rows(surrogate: Surrogate, h: Rows, q: Rows) -> Rows:
    """The rows with h != 0, and those that score as high as one of them.

    At an optimum a row is removed if its score is high enough. Re-weighting may stop with a few
    rows on the wrong side; a threshold on the score is a verdict that holds for new rows too.
    """
    removed = surrogate.nonzero(h)
    least = lowest(namespace(q).where(removed, q, np.inf))
    return removed | (q >= least) if 0.0 < least < np.inf else removed


class ExactStep:
    """Step 1 as published: the surrogate minimised in the whole space, to a duality gap.

    Parameters
    ----------
    oracle : Oracle
    surrogate : Surrogate
    tol : float
        Relative duality gap of each convex problem.
    soft : bool
        Take as mean the one weighted by 1 - h. Along it the l1 objective never rises.
    """

    def __init__(
        self, oracle: Oracle, surrogate: Surrogate, tol: float, soft: bool = False
    ) -> None:
        self.oracle, self.surrogate, self.tol, self.soft = oracle, surrogate, tol, soft

    def __call__(self, center: Array, budget: float, fewer_than: float) -> StepSolution:
        """See `Step1`."""
        whole = FullSpaceSolver(self.oracle, center, budget, self.tol)
        solution = self.surrogate.minimise(whole)
        h = solution.indicator
        # A row with its full weight counts as kept, even if all weights had to shrink a little.
        little = solution.shrunk > 1.0 - max(LITTLE, 2.0 * self.tol)
        unshrunk = 1.0 - solution.weights / solution.shrunk if little else h
        removed = self.surrogate.nonzero(unshrunk)
        weights = solution.weights if self.soft or every(removed) else double(~removed)
        return StepSolution(
            center,
            budget,
            h,
            solution.scores,
            removed,
            solution.directions,
            solution.multiplier,
            solution.lambda_max,
            self.oracle.table.mean(weights, center),
            solution.converged,
            self._reweighting(whole.solved[:-1]),
        )

    def _reweighting(self, earlier: list[Solution]) -> Reweighting | None:
        if not isinstance(self.surrogate, ReweightedL2):
            return None
        return Reweighting(
            self.surrogate,
            np.concatenate([solution.directions for solution in earlier]),
            tuple(solution.multiplier for solution in earlier),
        )


class SubspaceStep:
    """Step 1 in few passes: the surrogate in a subspace, the budget for the kept rows alone.

    By Theorem 1 any set of enough rows that satisfies the budget will do, so the oracle looks at
    the rows with h = 0 and not at h; its pass also brings their mean.

    Parameters
    ----------
    oracle : Oracle
    surrogate : Surrogate
    subspace : Subspace
        The first directions.
    max_passes : int
        The most passes of the oracle for one answer.
    slack : float
        The relative amount by which a budget may be exceeded.
    """

    def __init__(
        self,
        oracle: Oracle,
        surrogate: Surrogate,
        subspace: Subspace,
        max_passes: int = 4,
        slack: float = SLACK,
    ) -> None:
        self.oracle, self.surrogate, self.subspace = oracle, surrogate, subspace
        self.max_passes, self.slack = max_passes, slack

    def __call__(self, center: Array, budget: float, fewer_than: float) -> StepSolution | None:
        """See `Step1`."""
        first = None
        if np.isfinite(fewer_than):
            P = self.subspace.seen_from(center, budget)
            first = self._reduced(P)
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
            slack=self.slack,
            max_passes=self.max_passes,
            max_rounds=20,
        )
        self.subspace = solved.subspace
        h = 1.0 - solved.weights
        q = scores(self.subspace.seen_from(center, budget), solved.S)
        removed = removed_rows(self.surrogate, h, q)
        weights = solved.weights if every(removed) else double(~removed)
        if every(weights == solved.checked):  # the oracle has seen their mean
            mean = center + solved.spectrum.drift / max(total(weights), TINY)
        else:
            mean = self.oracle.table.mean(weights, center)
        return StepSolution(
            center,
            budget,
            h,
            q,
            removed,
            self.subspace.basis,
            np.diag(solved.S),
            float(solved.spectrum.values[0]),
            mean,
        )

    def _reduced(self, P: Rows) -> SubspaceSolution:
        return self.surrogate.minimise(SubspaceSolver(P, NEAR, draw=self.oracle.draw))

    def _removed(self, P: Rows, answer: SubspaceSolution) -> Rows:
        return removed_rows(self.surrogate, 1.0 - answer.weights, scores(P, answer.S))

    def _kept(self, P: Rows, answer: SubspaceSolution) -> Rows:
        removed = self._removed(P, answer)
        return answer.weights if every(removed) else double(~removed)


@dataclass(frozen=True)
class Fit:
    """Where Algorithm 1 ended."""

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
) -> Fit:
    """Run Algorithm 1.

    Parameters
    ----------
    step1 : Step1
    oracle : Oracle
    center : array of shape (d,)
        The first centre.
    budget : callable
        The budget, given how many rows the last iteration kept (None before the first).
    max_iter : int
    notify : callable
        Called after each iteration.

    Returns
    -------
    Fit
        The iteration with the fewest removed rows. The objective of the paper never rises; that of
        a surrogate may, and then the algorithm stops as well.
    """
    best: StepSolution | None = None
    for n_iter in range(1, max_iter + 1):
        allowed = budget(None if best is None else best.h.shape[0] - best.n_removed)
        found = step1(center, allowed, np.inf if best is None else best.n_removed)
        if found is None:
            assert best is not None
            return Fit(best, n_iter, converged=best.solved)
        notify(
            Step(
                "algorithm 1",
                allowed,
                float(found.n_removed),
                total(found.h),
                len(found.prices),
                found.lambda_max,
                oracle.table.n_passes,
            )
        )
        if best is not None and found.n_removed >= best.n_removed:
            return Fit(best, n_iter, converged=best.solved)
        best, center = found, found.mean
        if every(found.removed):
            return Fit(found, n_iter, converged=False)
        if not some(found.removed):
            return Fit(found, n_iter, converged=found.solved)
    assert best is not None
    return Fit(best, max_iter, converged=False)
