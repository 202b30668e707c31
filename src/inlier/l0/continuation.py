"""Continuation in the budget, from one that all rows satisfy down to the target.

The published start, the coordinate-wise median, has an error of about sqrt(d); about it every good
row may violate the target budget. So the budget is lowered in steps. Each is a loose l1 problem,
after which the center moves to the weighted mean. For fixed weights that mean minimises the second
moment, so a feasible point stays feasible and sum(h) never increases at a fixed budget: Theorem 2
carries over.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from inlier._internal.arrays import count, double, lowest, namespace, total
from inlier._internal.numbers import TINY
from inlier._internal.typing import Array, Rows
from inlier.data import Table
from inlier.l0.problem import Packing, Subspace, scores
from inlier.l0.subspace import FEW_DIRECTIONS, SubspaceSolver, cutting_planes
from inlier.l0.surrogates import L1, Surrogate, removed_rows
from inlier.linalg.eigenpairs import Oracle
from inlier.verdict import Step

# Relative gap of each step. This number and those below are the loosest that lost no exact set in
# `make bench`.
GAP = 1e-3
# Scores above this are at the edge, where rows begin to leave, or beyond. Copies of an outlier are
# all at the edge.
EDGE = 0.9


@dataclass(frozen=True)
class ContinuationResult:
    """Center, weights and subspace at the target budget, or at one that half of the rows exceed."""

    center: Array
    weights: Rows
    subspace: Subspace
    S: Array
    """Multiplier of the last step in the subspace; diagonal."""
    budget: float
    """That of the last step."""
    n_removed: int
    """Number of rows with less than half of their weight after the last step."""
    needed: float
    """About the center, half of the rows need at least this budget."""

    @property
    def fits_half(self) -> bool:
        """Whether half of the rows may satisfy the budget of the last step."""
        return self.needed <= self.budget


def continuation(
    oracle: Oracle,
    center: Array,
    distances: Rows,
    target: float,
    robust: bool = False,
    notify: Callable[[Step], None] = lambda step: None,
) -> ContinuationResult:
    """Lower the budget from lambda_max to the target, one loose l1 problem at a time.

    It ends early at a budget that half of the rows exceed: a smaller one would take a multiplier of
    high rank only to remove even more of them. From a `robust` center, such as the coordinate-wise
    median of a sample, it does not even begin if half of the rows exceed twice the target by their
    distances alone. These are the squared ones of the rows from the center.
    """
    table = oracle.table
    n = table.shape[0]
    # Twice: a robust center may be a deviation off in each column.
    if robust and (needed := _mean_eigenvalue_of_half(table, distances)) > 2.0 * target:
        return _not_begun(table, center, distances, target, needed)
    # The nearest half satisfies the sum of its squares. Larger budgets are not needed, and under
    # this one no row can have more than these weights: only very distant rows have less than 1.
    enough = max(total(namespace(distances).sort(distances)[: n // 2 + 1]), TINY)
    weights = enough / namespace(distances).clip(distances, enough, None)
    spectrum = oracle(center, weights, lambda v, r, bound: r[0] <= 0.1 * v[0], max_passes=4)
    budget = float(spectrum.values[0])
    subspace = Subspace.empty(table, center)
    origin = center
    n_removed, S, needed = count(weights < 0.5), np.zeros((0, 0)), 0.0
    exceeded = False
    while budget > target or exceeded:
        # After a step the squared error of the center is about B / n times the fraction of
        # outliers, so the next budget may be that much smaller.
        if not exceeded:
            budget = max(target, 0.25 * budget)
            subspace = subspace.extended(spectrum, spectrum.values > budget, origin)
        solved = cutting_planes(
            lambda P: SubspaceSolver(P, GAP, draw=oracle.draw, roughly=True).l1(tau=3.0),
            oracle,
            center,
            budget,
            subspace,
            slack=0.05,
            max_passes=2,
            max_rounds=1 if exceeded else 3,
            hopeless=lambda P, w, S: _needed_by_half(P, w, S, 1.0) > 1.0,
            trim=GAP,
        )
        weights, subspace, spectrum, S = solved.weights, solved.subspace, solved.spectrum, solved.S
        kept, n_removed = total(weights), count(weights < 0.5)
        removed, rank, top = float(n_removed), len(solved.S), float(spectrum.values[0])
        notify(Step("continuation", budget, removed, n - kept, rank, top, table.n_passes))
        if kept >= 1.0:
            origin, center = center, center + spectrum.drift / kept
        P = subspace.scaled_projections(center, budget)
        needed = _needed_by_half(P, weights, S, budget)
        # Once more, if the center has moved: that may have been wrong, and not the budget.
        if needed > budget and (exceeded or kept < 1.0):
            # The largest eigenvalue is at least the mean one: closer, where the spectrum is flat.
            needed = max(needed, _mean_eigenvalue_of_half(table, table.sq_distances(center)))
            break
        exceeded = needed > budget
    return ContinuationResult(center, weights, subspace, S, budget, n_removed, needed)


def with_directions(
    oracle: Oracle, reached: ContinuationResult, subspace: Subspace, budget: float
) -> ContinuationResult:
    """Solve the l1 problem at the last center without the slack of the continuation.

    Where all rows exceed the budget by less than that slack, it has ended without a direction. It
    begins with the subspace of what was tried since.
    """
    solved = cutting_planes(
        lambda P: L1().minimise(SubspaceSolver(P, GAP, draw=oracle.draw)),
        oracle,
        reached.center,
        budget,
        subspace,
        slack=0.0,
        max_passes=20,
        max_rounds=3,
    )
    weights, subspace, S = solved.weights, solved.subspace, solved.S
    return replace(reached, weights=weights, subspace=subspace, S=S, budget=budget)


def _needed_by_half(P: Rows, weights: Rows, S: Array, budget: float) -> float:
    """Return a lower bound on the budget of any half of the rows, by a multiplier.

    It is 0 if the weights, which satisfy the budget, are those of half of the rows or more.
    """
    price = float(np.trace(S))
    if price <= 0.0 or 2.0 * total(weights) >= weights.shape[0]:
        return 0.0
    return _sum_of_smaller_half(scores(P, S)) / price * budget


def _mean_eigenvalue_of_half(table: Table, distances: Rows) -> float:
    """Return the least mean eigenvalue of half of the rows, of those that may be above 0."""
    n, d = table.shape
    return _sum_of_smaller_half(distances) / min((n + 1) // 2, d)


def _not_begun(
    table: Table, center: Array, distances: Rows, target: float, needed: float
) -> ContinuationResult:
    """Return the nearest half of the rows, with equal weights that satisfy the target."""
    xp, n = namespace(distances), distances.shape[0]
    near = double(distances <= xp.sort(distances)[(n - 1) // 2])
    weights = near * min(1.0, target / float(near @ distances))
    subspace, S = Subspace.empty(table, center), np.zeros((0, 0))
    return ContinuationResult(center, weights, subspace, S, target, n, needed)


def _sum_of_smaller_half(sizes: Rows) -> float:
    return total(namespace(sizes).sort(sizes)[: (sizes.shape[0] + 1) // 2])


def lie_near(n_removed: float, decrease: float, variance: float) -> bool:
    """Return whether rows are too near to be outliers, by what the second moment lost with them."""
    return n_removed * 3.0 * variance > decrease


def lose_near_rows(
    w: Rows, removed: Rows, q: Rows, prices: Array, budget: float, variance: float
) -> bool:
    """Return whether removed rows are good rows: near, or the end of a tail.

    Near, by what the weight that they lose spends along the directions of the scores q. Outliers
    lie beyond a gap. Where the good rows end in a tail, more rows come near to the score from which
    on rows are removed than exceed it. In one direction alone these may be other outliers.
    """
    lost, price = w * double(removed), float(prices.sum()) / budget
    if lie_near(total(lost), float(lost @ q) / max(price, TINY), variance):
        return True
    least = lowest(namespace(q).where(removed, q, np.inf))
    return len(prices) > 1 and count(q >= least / 2.0) > 2 * count(removed)


def good_rows_exceed(
    surrogate: Surrogate,
    oracle: Oracle,
    reached: ContinuationResult,
    target: float,
    variance: float,
) -> bool:
    """Return whether the good rows exceed the budget, and not outliers alone."""
    if 2.0 * total(reached.weights) < reached.weights.shape[0]:  # the majority is good
        return True
    P = reached.subspace.scaled_projections(reached.center, target)
    q, prices = scores(P, reached.S), np.diag(reached.S)
    multiple = Packing(0.0 * q + 1.0).best_multiple(q, float(prices.sum()))
    if multiple <= 0.0:  # by this multiplier, all rows may satisfy the budget about the last center
        return False
    beyond = multiple * q > EDGE
    if lose_near_rows(double(beyond), beyond, q, prices, target, 4.0 / 3.0 * variance):
        return True
    if len(prices) <= FEW_DIRECTIONS:
        return False
    # Along many directions, by what the surrogate would remove: its exact solution costs more than
    # all else.
    solved = surrogate.minimise(SubspaceSolver(P, GAP, draw=oracle.draw, roughly=True))
    q = scores(P, solved.S)
    removed = removed_rows(surrogate, 1.0 - solved.weights, q)
    return lose_near_rows(solved.weights, removed, q, np.diag(solved.S), target, variance)
