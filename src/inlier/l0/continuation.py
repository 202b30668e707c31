"""Continuation in the budget, from one that all rows satisfy down to the target.

The published start, the coordinate-wise median, has an error of about sqrt(d); about it every good
row may violate the target budget. So the budget is lowered in steps. Each is a loose l1 problem,
after which the center moves to the weighted mean. For fixed weights that mean minimises the second
moment, so a feasible point stays feasible and sum(h) never increases at a fixed budget: Theorem 2
carries over.
"""

from collections.abc import Callable
from dataclasses import dataclass

from inlier._internal.arrays import count, namespace, total
from inlier._internal.numbers import TINY
from inlier._internal.typing import Array, Rows
from inlier.l0.problem import Subspace
from inlier.l0.subspace import SKETCH_ROWS, SubspaceSolver, cutting_planes
from inlier.l0.surrogates import L1, Surrogate
from inlier.linalg.eigenpairs import Oracle
from inlier.verdict.verdict import Step

# Relative gap of each step. This number and those below are the loosest that lost no exact set in
# `make bench`.
GAP = 1e-3
# Part of the room up to which the count of the continuation decides without another solve.
CLEAR = 0.5


@dataclass(frozen=True)
class ContinuationResult:
    """Center, weights and subspace at the target budget."""

    center: Array
    weights: Rows
    subspace: Subspace
    n_removed: int
    """Number of rows with less than half of their weight after the last step."""


def continuation(
    oracle: Oracle,
    center: Array,
    distances: Rows,
    target: float,
    notify: Callable[[Step], None] = lambda step: None,
) -> ContinuationResult:
    """Lower the budget from lambda_max to the target, one loose l1 problem at a time.

    `center` is any robust one, such as the coordinate-wise median of a sample, and `distances` are
    the squared ones of the rows from it.
    """
    table = oracle.table
    n = table.shape[0]
    # The nearest half satisfies the sum of its squares. Larger budgets are not needed, and under
    # this one no row can have more than these weights: only very distant rows have less than 1.
    enough = max(total(namespace(distances).sort(distances)[: n // 2 + 1]), TINY)
    weights = enough / namespace(distances).clip(distances, enough, None)
    spectrum = oracle(center, weights, lambda v, r, bound: r[0] <= 0.1 * v[0], max_passes=4)
    budget = float(spectrum.values[0])
    subspace = Subspace.empty(table, center)
    origin = center
    n_removed = count(weights < 0.5)
    while budget > target:
        # After a step the squared error of the center is about B / n times the fraction of
        # outliers, so the next budget may be that much smaller.
        budget = max(target, 0.25 * budget)
        subspace = subspace.extended(spectrum, spectrum.values > budget, origin)
        solved = cutting_planes(
            lambda P: L1(tau=3.0).minimise(SubspaceSolver(P, GAP, draw=oracle.draw)),
            oracle,
            center,
            budget,
            subspace,
            slack=0.05,
            max_passes=2,
            max_rounds=3,
            trim=GAP,
        )
        weights, subspace, spectrum = solved.weights, solved.subspace, solved.spectrum
        kept, n_removed = total(weights), count(weights < 0.5)
        removed, rank, top = float(n_removed), len(solved.S), float(spectrum.values[0])
        notify(Step("continuation", budget, removed, n - kept, rank, top, table.n_passes))
        if kept < 1.0:  # less than one row fits: the target cannot be satisfied
            break
        origin, center = center, center + spectrum.drift / kept
    return ContinuationResult(center, weights, subspace, n_removed)


def kept_budget_is_consistent(
    surrogate: Surrogate,
    oracle: Oracle,
    reached: ContinuationResult,
    target: float,
    n_kept: int,
    variance: float,
) -> bool:
    """Return whether a fit may use the budget of the rows it keeps, rather than of all rows.

    The target c1^2 n sigma^2 has room for n rows, and the room of the outliers is spent on keeping
    the weakest of them. The budget of the kept rows has no such room. If sigma is too small it
    removes good rows as well. These do not lie far out: for each additional row, the second moment
    decreases by less than 3^2 variances.
    """
    n, room = reached.weights.shape[0], target - variance * n_kept

    def lie_far_out(n_removed: int, room: float) -> bool:
        return bool((n - n_kept - n_removed) * 3.0**2 * variance <= room)

    # The continuation has removed about as many as the surrogate would: close enough, often, if
    # there are many rows.
    if n > SKETCH_ROWS and lie_far_out(reached.n_removed, CLEAR * room):
        return True
    P = reached.subspace.scaled_projections(reached.center, target)
    h = 1.0 - surrogate.minimise(SubspaceSolver(P, GAP, draw=oracle.draw)).weights
    return lie_far_out(count(surrogate.nonzero(h)), room)
