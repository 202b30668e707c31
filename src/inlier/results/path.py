"""The path of budgets: the l1 problem at each state of the search, and one below the last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from inlier._internal.arrays import among, any_true, count, double, mask_of, namespace, on_host
from inlier._internal.numbers import TINY
from inlier._internal.typing import Array, Rows
from inlier._internal.validation import fit_generator
from inlier.data import Frame, Table
from inlier.l0.problem import Subspace
from inlier.l0.surrogates import dual_in
from inlier.linalg.eigenpairs import Oracle, Spectrum
from inlier.results.certificate import Certificate, certify_rows, certify_verdict
from inlier.verdict import Group, Multiplier, Outcome, Verdict

if TYPE_CHECKING:
    from inlier.results.result import RobustMeanResult

# How far the path continues below the budget of the kept rows, to show that the price jumps.
BELOW = 0.7


@dataclass(frozen=True, eq=False)
class PathPoint:
    """One point of the path of budgets.

    Attributes
    ----------
    budget : float
        B = n sigma^2.
    sigma : float
        Upper bound on the standard deviation of the rows that are kept, in any direction.
    price : float
        kappa = B tr(Lambda) / n: the fraction of the rows that has to be removed for each e-fold
        of the budget. Small while groups are removed; it jumps where good rows would have to pay.
    rank : float
        Effective rank of Lambda, tr(Lambda)^2 / tr(Lambda^2).
    share : float
        p / h for the rows that were removed last; 1 where there is no evidence against them.
    removed : int array
        Indices of the rows that have been removed.
    location : array of shape (d,)
        The mean of the others, each counted once, in which a cell that is missing or set aside
        counts as the median of its column.
    certificate : Certificate
    """

    budget: float
    sigma: float
    price: float
    rank: float
    share: float
    removed: Rows = field(repr=False)
    location: Array = field(repr=False)
    certificate: Certificate = field(repr=False)


def path_of(result: RobustMeanResult) -> tuple[PathPoint, ...]:
    """Compute the path of a fit without sigma, in some five passes for each point."""
    table = result._known_data()
    n, near_point = table.shape[0], on_host(result._location).astype(np.float64)
    n_early = len(result._verdict.early)
    points: list[PathPoint] = []
    near = table.constant(1.0) > 0.0
    for group in result.groups[:n_early]:
        points.append(_point_before(result, table, near, near_point, 0.0 if points else 1.0))
        near = near & ~mask_of(group.rows, n)
    frame = _frame(result, table, near, near_point)
    oracle = Oracle(frame.table, fit_generator(0))
    later = result.groups[n_early:]
    kept = oracle.table.constant(1.0) > 0.0
    mean = oracle.table.mean(double(kept), frame.center)
    subspace = Subspace.spanned(oracle.table, mean, _directions(frame, later))
    share = 0.0 if points else 1.0
    for k in range(len(later) + 1):
        if k:
            share = later[k - 1].share
            kept = kept & ~frame.of_near_rows(mask_of(later[k - 1].rows, n))
            mean = oracle.table.mean(double(kept), mean)
        spectrum = oracle.bound_top(mean, double(kept))
        budget = max(spectrum.bound * kept.shape[0] / count(kept), TINY)
        first = Subspace(subspace.basis[:k], subspace.projections[:k, :], subspace.origin)
        dual = dual_in(first, mean, budget, oracle.draw)
        state = _State(kept, mean, spectrum, dual.multiplier, dual.most_kept)
        points.append(_point(frame, table, near_point, state, share))
    below = _below(oracle, subspace, state)
    if below is not None:
        points.append(_point(frame, table, near_point, *below))
    weighted = result.certificate.weighted
    return tuple(
        replace(point, certificate=replace(point.certificate, weighted=weighted))
        for point in points
    )


class _State(NamedTuple):
    """The kept rows of the frame, their mean and spectrum, and a bound on how many can be kept."""

    kept: Rows
    mean: Array
    spectrum: Spectrum
    dual: Multiplier
    most_kept: float | None


def _frame(result: RobustMeanResult, table: Table, near: Rows, center: Array) -> Frame:
    metric = result._rule.metric
    whole = table if metric is None else table.in_metric(metric)
    origin = center if metric is None else metric.transform(center[None])[0]
    return Frame.of(whole, near, origin, metric=metric)


def _directions(frame: Frame, groups: Sequence[Group]) -> Array:
    """Return the directions of some groups in working coordinates, k x r."""
    if not groups:
        return np.empty((0, frame.table.shape[1]))
    directions = np.stack([group.direction for group in groups])
    if frame.metric is not None:
        directions = directions @ frame.metric.matrix
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    return frame.directions(directions)


def _below(oracle: Oracle, subspace: Subspace, last: _State) -> tuple[_State, float] | None:
    """Compute a state below the budget of the kept rows, where good rows have to pay.

    Only the directions of largest variance and those of the groups are searched. None if the kept
    rows do not vary, or none fits on its own.
    """
    spectrum = last.spectrum
    everything = np.arange(len(spectrum.values))
    subspace = subspace.extended(spectrum, everything, last.mean)
    budget = BELOW * float(spectrum.values[0])
    if budget <= 0.0:
        return None
    dual = dual_in(subspace, last.mean, budget, oracle.draw)
    kept = last.kept & (dual.weights >= 0.5)
    if not any_true(kept):
        return None
    leaving = among(subspace.scaled_projections(last.mean, budget), last.kept & ~kept)
    xp = namespace(leaving)
    along = xp.sum(leaving * (xp.sum(leaving, axis=1, keepdims=True) - leaving), axis=0)
    n_leaving = along.shape[0]
    share = min(1.0, 2.0 * count(along <= 0.0) / n_leaving) if n_leaving else 1.0
    mean = oracle.table.mean(double(kept), last.mean)
    spectrum = oracle.bound_top(mean, double(kept))
    needed = max(spectrum.bound * kept.shape[0] / count(kept), TINY)
    known = dual.multiplier
    multiplier = Multiplier.about(mean, known.directions, known.prices, needed)
    return _State(kept, mean, spectrum, multiplier, None), share


def _point(frame: Frame, table: Table, near_point: Array, state: _State, share: float) -> PathPoint:
    n, m = table.shape[0], count(state.kept)
    spectrum, dual = state.spectrum, state.dual
    support = table.to_device(on_host(frame.of_all_rows(state.kept, False)))
    location = table.mean(double(support), near_point)
    verdict = Verdict(
        kept=state.kept,
        mean=state.mean,
        lambda_max=max(0.0, float(spectrum.values[0])),
        bound=spectrum.bound,
        failure=spectrum.failure,
        sigma=float(np.sqrt(spectrum.bound / m)),
        budget=max(spectrum.bound * n / m, TINY),
        dual=dual,
        most_kept=state.most_kept,
        outcome=Outcome(),
        steps=(),
        n_iter=0,
    )
    certificate = certify_verdict(verdict, frame, table, location, weighted=False)
    price = float(dual.prices.sum())
    rank = 1.0 / float(np.sum((dual.prices / price) ** 2)) if price > 0.0 else 0.0
    return PathPoint(
        budget=verdict.budget,
        sigma=verdict.sigma,
        price=price / state.kept.shape[0],
        rank=rank,
        share=share,
        removed=certificate.removed,
        location=location,
        certificate=certificate,
    )


def _point_before(
    result: RobustMeanResult, table: Table, kept: Rows, near_point: Array, share: float
) -> PathPoint:
    """Return the point at which some rows are still there that were removed before the search."""
    with np.errstate(over="ignore", invalid="ignore"):
        weights = double(kept) / count(kept)
        offset = np.asarray(table.combine(near_point, weights[None, :])[0], np.float64)
        mean = near_point + np.nan_to_num(offset)
    certificate = certify_rows(table, kept, mean, result._rule.metric)
    certificate = replace(certificate, budget=max(certificate.budget, TINY))
    return PathPoint(
        budget=certificate.budget,
        sigma=certificate.sigma_kept,
        price=0.0,
        rank=0.0,
        share=share,
        removed=certificate.removed,
        location=mean,
        certificate=certificate,
    )
