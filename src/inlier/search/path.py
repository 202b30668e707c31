"""The path of the search: at each step, the l1 problem with the budget of the kept rows."""

from collections.abc import Callable

import numpy as np

from inlier._internal.arrays import among, count, double, namespace, some
from inlier._internal.numbers import TINY
from inlier._internal.typing import Array, Rows
from inlier.l0.problem import Subspace, packing_bound, scores
from inlier.l0.subspace import SubspaceSolution, SubspaceSolver
from inlier.l0.surrogates import L1
from inlier.linalg.eigenpairs import Oracle, RowSampling, Spectrum
from inlier.results.certificate import Certificate
from inlier.results.records import PathPoint
from inlier.results.rules import Multiplier
from inlier.search import thresholds
from inlier.search.state import SearchState, spectrum_of

# The l1 problems are there for their prices: near the optimum will do.
NEARLY_L1 = L1(tau=10.0)


def point_at(
    kept: Rows,
    mean: Array,
    spectrum: Spectrum,
    subspace: Subspace,
    budget: float,
    share: float,
    draw: Callable[[], RowSampling],
) -> tuple[PathPoint, Rows]:
    """Compute a point of the path, and the weights of its l1 problem, nearly solved.

    The kept rows have this mean, and the spectrum about it. Groups have left in the directions of
    the subspace; p / h of the last one is `share`.
    """
    solved = _nearly_solved(subspace.scaled_projections(mean, budget), draw)
    return _point(kept, mean, spectrum, subspace, budget, share, solved.S), solved.weights


def below_the_edge(oracle: Oracle, found: SearchState) -> PathPoint | None:
    """Compute a point below the budget of the kept rows, where good rows have to pay.

    Only the directions of largest variance and those of the groups are looked at.
    """
    everything = np.arange(len(found.spectrum.values))
    subspace = found.subspace.extended(found.spectrum, everything, found.mean)
    budget = thresholds.BELOW * float(found.spectrum.values[0])
    if budget <= 0.0:  # the kept rows do not vary
        return None
    P = subspace.scaled_projections(found.mean, budget)
    solved = _nearly_solved(P, oracle.draw)
    kept = found.kept & (solved.weights >= 0.5)
    if not some(kept):
        return None  # no row fits on its own
    leaving = among(P, found.kept & ~kept)
    xp = namespace(leaving)
    along = xp.sum(leaving * (xp.sum(leaving, axis=1, keepdims=True) - leaving), axis=0)
    n_leaving = along.shape[0]
    share = min(1.0, 2.0 * count(along <= 0.0) / n_leaving) if n_leaving else 1.0
    mean = oracle.table.mean(double(kept), found.mean)
    spectrum = spectrum_of(oracle, mean, kept)
    budget = max(spectrum.bound * kept.shape[0] / count(kept), TINY)
    return _point(kept, mean, spectrum, subspace, budget, share, solved.S)


def _nearly_solved(P: Rows, draw: Callable[[], RowSampling]) -> SubspaceSolution:
    return NEARLY_L1.minimise(SubspaceSolver(P, thresholds.PATH_GAP, draw=draw))


def _point(
    kept: Rows,
    mean: Array,
    spectrum: Spectrum,
    subspace: Subspace,
    budget: float,
    share: float,
    S: Array,
) -> PathPoint:
    n, m = kept.shape[0], count(kept)
    prices, mixing = np.linalg.eigh(S) if len(S) else (np.zeros(0), np.zeros((0, 0)))
    prices = np.maximum(prices, 0.0)
    price = float(prices.sum())
    directions = mixing.T @ subspace.basis if len(prices) else None
    removed = namespace(kept).nonzero(~kept)[0]
    q = scores(subspace.scaled_projections(mean, budget), S)
    return PathPoint(
        budget=budget,
        sigma=float(np.sqrt(spectrum.bound / m)),
        price=price / n,
        rank=1.0 / float(np.sum((prices / price) ** 2)) if price > 0.0 else 0.0,
        share=share,
        removed=removed,
        location=mean,
        certificate=Certificate(
            budget=budget,
            lambda_max=max(0.0, float(spectrum.values[0])),
            bound=spectrum.bound,
            failure=spectrum.failure,
            n=n,
            n_removed=n - m,
            most_kept=packing_bound(0.0 * q + 1.0, q, price),
            removed=removed,
            multiplier=Multiplier(mean, directions, prices, budget, 1.0, mean),
        ),
    )
