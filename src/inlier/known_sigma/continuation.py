"""Continuation in the budget: from one that every row satisfies down to the target.

The published start, the coordinate-wise median, is off by about sqrt(d); about it every good row
may break the target budget. So the budget is lowered in steps, each a loose l1 problem after which
the centre moves to the weighted mean. For fixed weights that mean makes the second moment smallest,
so a feasible point stays feasible and sum(h) never rises at a fixed budget: Theorem 2 carries over.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from inlier._internal.arrays import count, namespace, total
from inlier._internal.typing import Array, Rows
from inlier.linalg.eigenpairs import Oracle
from inlier.packing.problem import Subspace
from inlier.packing.subspace import SKETCH_ROWS, SubspaceSolver, cutting_planes
from inlier.packing.surrogates import L1, Surrogate
from inlier.results.records import Step

# A step may lower the budget as far as the centre it starts from is good: to about the fraction of
# outliers, because after a step the squared error of the centre is about that part of B / n.
FACTOR = 0.25
# The steps only have to lead somewhere near; these were the loosest that lost nothing.
LOOSE = L1(tau=3.0)
LOOSE_GAP = 1e-3
LOOSE_SLACK = 0.05
# Rows that go only because the budget is tightened must lie this many sigma out, on average.
FAR = 3.0
# Where half of the room would do, the rows need not be counted again.
CLEARLY = 0.5


@dataclass(frozen=True)
class ContinuationResult:
    """Where the continuation ends: at the target budget, with a good centre."""

    center: Array
    weights: Rows
    subspace: Subspace
    n_removed: int | None = None
    """How many rows the last step left with less than half of their weight, if there was one."""


def nearest_half(distances: Rows) -> float:
    """A budget that the nearest half of the rows satisfies: the sum of their squared distances."""
    half = distances.shape[0] // 2
    return total(namespace(distances).sort(distances)[: half + 1])


def continuation(
    oracle: Oracle,
    center: Array,
    distances: Rows,
    target: float,
    notify: Callable[[Step], None] = lambda step: None,
) -> ContinuationResult:
    """Lower the budget from lambda_max to the target, one loose l1 problem at a time.

    Parameters
    ----------
    oracle : Oracle
    center : array of shape (d,)
        Any robust centre; the coordinate-wise median of a sample will do.
    distances : array of shape (n,)
        Squared distances of the rows from it.
    target : float
    notify : callable
        Called after each step.
    """
    table = oracle.table
    n = table.shape[0]
    # No budget above this one is worth looking at, and under it no row can have more than these
    # weights: only very distant rows have less than 1.
    enough = max(nearest_half(distances), float(np.finfo(np.float64).tiny))
    weights = enough / namespace(distances).clip(distances, enough, None)
    spectrum = oracle(center, weights, lambda v, r, bound: r[0] <= 0.1 * v[0], 4)
    budget = float(spectrum.values[0])
    subspace = Subspace.empty(table, center)
    seen_from = center
    n_removed = count(weights < 0.5)
    while budget > target:
        budget = max(target, FACTOR * budget)
        subspace = subspace.extended(spectrum, spectrum.values > budget, seen_from)
        solved = cutting_planes(
            lambda P: LOOSE.minimise(SubspaceSolver(P, LOOSE_GAP, draw=oracle.draw)),
            oracle,
            center,
            budget,
            subspace,
            slack=LOOSE_SLACK,
            max_passes=2,
            max_rounds=3,
            trim=LOOSE_GAP,
        )
        weights, subspace, spectrum = solved.weights, solved.subspace, solved.spectrum
        kept, n_removed = total(weights), count(weights < 0.5)
        notify(
            Step(
                "continuation",
                budget,
                float(n_removed),
                n - kept,
                len(solved.S),
                float(spectrum.values[0]),
                table.n_passes,
            )
        )
        if kept < 1.0:  # less than one row fits: the target cannot be satisfied
            break
        seen_from, center = center, center + spectrum.drift / kept
    return ContinuationResult(center, weights, subspace, n_removed)


def tightening_was_right(
    surrogate: Surrogate,
    oracle: Oracle,
    arrival: ContinuationResult,
    target: float,
    n_kept: int,
    variance: float,
) -> bool:
    """Whether a fit may use the budget of the rows it keeps, rather than of all rows.

    The target c1^2 n sigma^2 has room for n rows, and the room of the outliers is spent on keeping
    the weakest of them. Counting the kept rows only takes that room away. Where sigma was guessed
    too small it takes away good rows as well. They show by lying not far out: per row that goes in
    addition, the second moment falls by less than FAR^2 variances.
    """
    n, room = arrival.weights.shape[0], target - variance * n_kept

    def right(n_removed: int, room: float) -> bool:
        return bool((n - n_kept - n_removed) * FAR**2 * variance <= room)

    # The continuation has removed about as many as the surrogate would. Of many rows that is often
    # clear enough; of a few, each one counts.
    known = arrival.n_removed if n > SKETCH_ROWS else None
    if known is not None and right(known, CLEARLY * room):
        return True
    P = arrival.subspace.seen_from(arrival.center, target)
    h = 1.0 - surrogate.minimise(SubspaceSolver(P, LOOSE_GAP, draw=oracle.draw)).weights
    return right(count(surrogate.nonzero(h)), room)
