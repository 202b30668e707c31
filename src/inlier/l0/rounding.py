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
    tried = _most_within(P, q, ascending, step)
    low: tuple[int, float] | None = None
    high, best = (tried + 1, np.inf), None
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
            low, best = (tried, top), (removed, mean, spectrum)
        else:
            high = tried, top
        if high[0] - (low[0] if low else 0) <= 1:
            break
        tried = _between(low, high, budget)
    if best is not None:
        removed, mean, spectrum = best
    directions, prices = reached.subspace.basis, np.diag(reached.S)
    top = float(spectrum.values[0])
    found = StepSolution(center, budget, h, q, removed, directions, prices, top, mean)
    return Fit(found, n_iter=1, converged=not every(removed)), spectrum


def _between(low: tuple[int, float] | None, high: tuple[int, float], budget: float) -> int:
    """Return a number of steps to try next, given some within the budget and some beyond it.

    Both come with their largest eigenvalues.
    """
    if low is None:
        # Rows that are far out in these directions are like any others in the rest, where even a
        # loss in proportion may not be enough.
        return int(high[0] * (budget / high[1]) ** 2)
    if np.isinf(high[1]) or low[1] <= 0.0:
        return (low[0] + high[0]) // 2
    # No closer to an end than a third: near the budget the eigenvalue hardly changes.
    part = np.clip(np.log(budget / low[1]) / np.log(high[1] / low[1]), 1 / 3, 2 / 3)
    return int(np.clip(round(low[0] + part * (high[0] - low[0])), low[0] + 1, high[0] - 1))


def _most_within(P: Rows, q: Rows, ascending: Rows, step: int) -> int:
    """Return how many steps of rows of the lowest scores satisfy the budget within the subspace."""
    fit, too_many = 0, q.shape[0] // step + 1
    while too_many - fit > 1:
        tried = (fit + too_many) // 2
        moment = second_moment(P, double(q <= ascending[tried * step - 1]))
        within = bool((np.linalg.eigvalsh(moment) <= 1.0).all())
        fit, too_many = (tried, too_many) if within else (fit, tried)
    return fit
