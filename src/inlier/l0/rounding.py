"""The l1 solution of the continuation, rounded: where sigma is too small for the good rows.

A surrogate of ||h||_0 removes every row with h != 0. Where the good rows themselves exceed the
budget these are most of them, each by a little. It takes far fewer to remove the outermost rows
whole, in the order of the scores of the l1 problem, and no other convex problem has to be solved.
"""

from collections.abc import Callable

import numpy as np

from inlier._internal.arrays import count, double, every, namespace, total
from inlier._internal.typing import Rows
from inlier.l0.algorithm import Fit, StepSolution, kept_weights
from inlier.l0.continuation import ContinuationResult
from inlier.l0.problem import scores, second_moment
from inlier.linalg.eigenpairs import Oracle, Spectrum
from inlier.verdict import Step

# The number of kept rows is a multiple of this fraction of all rows, so that it does not depend on
# the last digit of an eigenvalue.
STEP = 0.01


def rounded(
    oracle: Oracle,
    reached: ContinuationResult,
    budget: float,
    notify: Callable[[Step], None] = lambda step: None,
) -> tuple[Fit, Spectrum]:
    """Keep the most rows, in the order of their scores, that satisfy the budget.

    First within the subspace of the continuation, at no pass. Other directions, which its slack
    left out, cost a few rows more.
    """
    table, center, h = oracle.table, reached.center, 1.0 - reached.weights
    P = reached.subspace.scaled_projections(center, budget)
    q = scores(P, reached.S)
    ascending = namespace(q).sort(q)
    step = max(1, int(STEP * h.shape[0]))
    fits, tried = 0, _most_within(P, q) // step
    too_many, best = tried + 1, None
    for _ in range(10):
        removed = q > ascending[tried * step - 1] if tried else q >= 0.0
        weights = kept_weights(removed, reached.weights)
        mean = table.mean(weights, center)
        spectrum = oracle.top_rough(mean, weights)
        if spectrum.values[0] <= budget < spectrum.bound:
            spectrum = oracle.bound_top(mean, weights, budget)
        top = float(spectrum.values[0])
        rank, n_passes = len(reached.S), table.n_passes
        notify(Step("rounding", budget, float(count(removed)), total(h), rank, top, n_passes))
        if top <= budget:
            fits, best = tried, (removed, mean, spectrum)
        else:
            too_many = tried
        if too_many - fits <= 1:
            break
        # Rows that are far out in these directions are like any others in the rest, where even a
        # loss in proportion may not be enough.
        tried = (fits + too_many) // 2 if best else int(tried * (budget / top) ** 2)
    if best is not None:
        removed, mean, spectrum = best
    directions, prices = reached.subspace.basis, np.diag(reached.S)
    top = float(spectrum.values[0])
    found = StepSolution(center, budget, h, q, removed, directions, prices, top, mean)
    return Fit(found, n_iter=1, converged=not every(removed)), spectrum


def _most_within(P: Rows, q: Rows) -> int:
    """Return how many rows of the lowest scores satisfy the budget within the subspace."""
    ascending = namespace(q).sort(q)
    fit, too_many = 0, q.shape[0] + 1
    while too_many - fit > 1:
        tried = (fit + too_many) // 2
        moment = second_moment(P, double(q <= ascending[tried - 1]))
        within = bool((np.linalg.eigvalsh(moment) <= 1.0).all())
        fit, too_many = (tried, too_many) if within else (fit, tried)
    return fit
