"""The path of the search: at each step, the l1 problem with the budget of the kept rows."""

from __future__ import annotations

import numpy as np

from inlier._typing import Array, Mask
from inlier.problem import Subspace, packing_bound, scores
from inlier.projection import Reduced, Within
from inlier.result import Certificate, PathPoint
from inlier.selection.state import TINY, Selection, spectrum_of
from inlier.spectral import Oracle, Spectrum
from inlier.surrogates import L1

# How far the path goes on below what the kept rows need, to show that the price jumps.
BELOW = 0.7
# The l1 problems are there for their prices: near the optimum will do.
NEARLY_L1 = L1(tau=10.0)
GAP = 1e-2


def point_at(
    kept: Mask, mean: Array, spectrum: Spectrum, subspace: Subspace, budget: float, share: float
) -> tuple[PathPoint, Array]:
    """A point of the path, and the weights of its l1 problem, nearly solved.

    Parameters
    ----------
    kept : boolean array of shape (n,)
    mean : array of shape (d,)
        Of the kept rows, with their spectrum about it.
    spectrum : Spectrum
    subspace : Subspace
        The directions in which groups have left.
    budget : float
    share : float
        p / h of the rows that left last.
    """
    solved = _nearly_solved(subspace, mean, budget)
    return _point(kept, mean, spectrum, subspace, budget, share, solved.S), solved.weights


def below_the_edge(oracle: Oracle, found: Selection) -> PathPoint | None:
    """The path goes on below what the kept rows need: there is no group any more to pay for it.

    Only the directions of largest variance and those of the groups are looked at.
    """
    everything = np.arange(len(found.spectrum.values))
    subspace = found.subspace.extended(found.spectrum, everything, found.mean)
    budget = BELOW * float(found.spectrum.values[0])
    if budget <= 0.0:  # the kept rows do not vary
        return None
    solved = _nearly_solved(subspace, found.mean, budget)
    kept = found.kept & (solved.weights >= 0.5)
    if not kept.any():
        return None  # no row fits on its own
    leaving = subspace.seen_from(found.mean, budget)[:, found.kept & ~kept]
    along = np.einsum("ij,ij->j", leaving, leaving.sum(axis=1, keepdims=True) - leaving)
    share = min(1.0, 2.0 * float(np.mean(along <= 0.0))) if len(along) else 1.0
    mean = oracle.table.mean(kept.astype(np.float64), found.mean)
    spectrum = spectrum_of(oracle, mean, kept)
    budget = max(largest_of(spectrum) * len(kept) / float(kept.sum()), TINY)
    return _point(kept, mean, spectrum, subspace, budget, share, solved.S)


def largest_of(spectrum: Spectrum) -> float:
    """The largest eigenvalue, with what may be missing from it."""
    return max(0.0, float(spectrum.values[0] + spectrum.residuals[0]))


def _nearly_solved(subspace: Subspace, mean: Array, budget: float) -> Reduced:
    return NEARLY_L1.minimise(Within(subspace.seen_from(mean, budget), GAP))


def _point(
    kept: Mask,
    mean: Array,
    spectrum: Spectrum,
    subspace: Subspace,
    budget: float,
    share: float,
    S: Array,
) -> PathPoint:
    n, m = len(kept), int(kept.sum())
    prices = np.linalg.eigvalsh(S) if len(S) else np.zeros(0)
    total = float(prices.sum())
    q = scores(subspace.seen_from(mean, budget), S)
    return PathPoint(
        budget=budget,
        sigma=float(np.sqrt(largest_of(spectrum) / m)),
        price=total / n,
        rank=1.0 / float(np.sum((prices / total) ** 2)) if total > 0.0 else 0.0,
        share=share,
        removed=np.flatnonzero(~kept),
        location=mean,
        certificate=Certificate(
            budget=budget,
            lambda_max=max(0.0, float(spectrum.values[0])),
            residual=float(spectrum.residuals[0]),
            n=n,
            n_removed=n - m,
            most_kept=packing_bound(np.ones(n), q, total),
        ),
    )
