"""The dual of the l1 problem in the directions of some groups: how many rows can be kept."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from inlier._internal.typing import Array
from inlier.l0.problem import Subspace, packing_bound, scores
from inlier.l0.subspace import SubspaceSolver
from inlier.l0.surrogates import L1
from inlier.linalg.eigenpairs import Oracle, RowSampling, Spectrum
from inlier.verdict.rules import Multiplier

# The l1 problems are solved for their prices: near the optimum will do.
NEARLY_L1 = L1(tau=10.0)
GAP = 1e-2


class Dual(NamedTuple):
    """A multiplier of the budget, and the bound that it proves."""

    multiplier: Multiplier
    most_kept: float
    """No w in [0, 1]^n within the budget has a larger sum."""
    weights: Array
    """Of the l1 problem, nearly solved."""


def subspace_of(oracle: Oracle, origin: Array, directions: Array) -> Subspace:
    """Project the rows onto some directions (k x d), one after the other; one pass."""
    subspace = Subspace.empty(oracle.table, origin)
    if not len(directions):
        return subspace
    rows = oracle.table.project(origin, directions)
    for i, direction in enumerate(directions):
        one = Spectrum(np.ones(1), direction[None], rows[i : i + 1, :], np.zeros(1), np.zeros(0))
        subspace = subspace.extended(one, np.array([0]), origin)
    return subspace


def dual_in(
    subspace: Subspace, mean: Array, budget: float, draw: Callable[[], RowSampling]
) -> Dual:
    """Solve the l1 problem about a mean within a subspace, nearly; no pass over the data."""
    P = subspace.scaled_projections(mean, budget)
    solved = NEARLY_L1.minimise(SubspaceSolver(P, GAP, draw=draw))
    prices, mixing = np.linalg.eigh(solved.S) if P.shape[0] else (np.zeros(0), np.zeros((0, 0)))
    prices = np.maximum(prices, 0.0)
    directions = mixing.T @ subspace.basis if len(prices) else None
    q = scores(P, solved.S)
    return Dual(
        Multiplier.about(mean, directions, prices, budget),
        packing_bound(0.0 * q + 1.0, q, float(prices.sum())),
        solved.weights,
    )
