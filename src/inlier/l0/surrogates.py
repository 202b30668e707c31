"""The surrogates of ||h||_0: each a short sequence of convex problems over the packing set.

    l1                max sum_i w_i                the packing SDP of the paper's section 3.2
    re-weighted l1    max sum_i u_i w_i            the weighted packing SDP of its appendix
    re-weighted l2    min sum_i (u_i - u_i w_i)^2  the constrained least squares of its appendix

over w = 1 - h. The last two minimise sum_i h_i^p, 0 < p < 1, by re-weighting: the smoothed penalty
is majorised by its tangent, in h or in h^2, at the current h.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Literal, Protocol, TypeVar

import numpy as np

from inlier._internal.arrays import highest, lowest, namespace
from inlier._internal.typing import Array, Rows
from inlier.l0.problem import Subspace, packing_bound, scores
from inlier.l0.subspace import SubspaceSolver
from inlier.linalg.eigenpairs import Oracle, orthonormal_rows
from inlier.verdict import Multiplier

SurrogateName = Literal["l1", "reweighted-l1", "reweighted-l2"]

# Smoothing of |h|^p in the successive re-weightings: a few of them, as in the paper. The first
# makes all weights equal. Below the last, weak outliers are kept (benchmarks/engine.py).
SMOOTHING = (1.0, 1e-1, 1e-2, 1e-3)
# An h below this is zero up to rounding.
ZERO = 1e-6


class Weighted(Protocol):
    """A solution with the weights w = 1 - h."""

    @property
    def weights(self) -> Rows:
        """In [0, 1], one for each row."""


SolutionT = TypeVar("SolutionT", bound=Weighted, covariant=True)


class Solver(Protocol[SolutionT]):
    """A solver of the convex problems, within a subspace or in the whole space."""

    ones: Rows
    """A weight of 1 for each row."""

    def packing(self, u: Rows) -> SolutionT:
        """Solve max sum_i u_i w_i."""

    def least_squares(self, u: Rows, loosely: bool = ...) -> SolutionT:
        """Solve min sum_i (u_i - u_i w_i)^2; loosely, if another re-weighting follows."""


class Surrogate(ABC):
    """A surrogate of ||h||_0."""

    @abstractmethod
    def minimise(self, solver: Solver[SolutionT]) -> SolutionT:
        """Minimise the surrogate over the packing set."""

    def nonzero(self, h: Rows) -> Rows:
        """Return the mask of the removed rows."""
        return h > ZERO


@dataclass(frozen=True)
class L1(Surrogate):
    """||h||_1, convex."""

    def minimise(self, solver: Solver[SolutionT]) -> SolutionT:
        """See `Surrogate.minimise`."""
        return solver.packing(solver.ones)


@dataclass(frozen=True)
class ReweightedL1(Surrogate):
    """sum_i (h_i + eps)^p, by packing SDPs with u_i = (h_i + eps)^(p - 1)."""

    p: float

    def minimise(self, solver: Solver[SolutionT]) -> SolutionT:
        """See `Surrogate.minimise`."""
        h = solver.ones
        for eps in SMOOTHING:
            u = (h + eps) ** (self.p - 1.0)
            solution = solver.packing(u / highest(u))
            h = 1.0 - solution.weights
        return solution


@dataclass(frozen=True)
class ReweightedL2(Surrogate):
    """sum_i (h_i^2 + eps)^(p/2), by least squares with u_i^2 = (h_i^2 + eps)^(p/2 - 1)."""

    p: float

    def minimise(self, solver: Solver[SolutionT]) -> SolutionT:
        """See `Surrogate.minimise`."""
        weights = 0.0 * solver.ones
        for eps in SMOOTHING:
            u = ((1.0 - weights) ** 2 + eps) ** (self.p / 4.0 - 0.5)
            solution = solver.least_squares(u, loosely=eps != SMOOTHING[-1])
            weights = solution.weights
        return solution

    def nonzero(self, h: Rows) -> Rows:
        """Return the mask of the rows in the concave part of the penalty.

        (h^2 + eps)^(p/2) has its inflection at h = sqrt(eps / (1 - p)); in the convex part h
        vanishes with eps.
        """
        return h > float(np.sqrt(SMOOTHING[-1] / (1.0 - self.p)))


def removed_rows(surrogate: Surrogate, h: Rows, q: Rows) -> Rows:
    """Return the mask of the rows with h != 0, and of those that score as high as one of them.

    At an optimum a row is removed if its score is high enough. Re-weighting may stop with a few
    rows on the wrong side; a threshold on the score applies to new rows too.
    """
    removed = surrogate.nonzero(h)
    least = lowest(namespace(q).where(removed, q, np.inf))
    return removed | (q >= least) if 0.0 < least < np.inf else removed


def surrogate(name: SurrogateName, p: float) -> Surrogate:
    """Return the surrogate of that name; at p = 1 re-weighting is the l1 problem itself."""
    if name == "l1" or p == 1.0:
        return L1()
    return ReweightedL1(p) if name == "reweighted-l1" else ReweightedL2(p)


def dual_in(
    oracle: Oracle, directions: Array, mean: Array, budget: float
) -> tuple[Multiplier, float]:
    """Return the multiplier of the l1 problem about a mean within the span of directions (k x d).

    And the bound that it proves: no w in [0, 1]^n within the budget has a larger sum. One pass.
    """
    basis = orthonormal_rows(directions, np.empty((0, len(mean))))
    subspace = Subspace(basis, oracle.table.project(mean, basis), mean)
    P = subspace.scaled_projections(mean, budget)
    # Near the optimum will do.
    solved = SubspaceSolver(P, 1e-2, draw=oracle.draw).l1(tau=10.0)
    prices, mixing = np.linalg.eigh(solved.S) if P.shape[0] else (np.zeros(0), np.zeros((0, 0)))
    prices = np.maximum(prices, 0.0)
    axes = mixing.T @ basis if len(prices) else None
    q = scores(P, solved.S)
    most_kept = packing_bound(0.0 * q + 1.0, q, float(prices.sum()))
    return Multiplier.about(mean, axes, prices, budget), most_kept
