"""Sigma is known: continuation and Algorithm 1, or Algorithm 1 as published."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from inlier import theory
from inlier._internal.arrays import (
    among,
    count,
    double,
    every,
    highest,
    lowest,
    namespace,
    some,
    total,
)
from inlier._internal.typing import Array, Rows
from inlier.data import Rotation, Table, WorkingFrame
from inlier.data.checks import check_range, largest_distance
from inlier.known_sigma.algorithm import ExactStep, Fit, StepSolution, SubspaceStep, alternate
from inlier.known_sigma.continuation import ContinuationResult, continuation, tightening_was_right
from inlier.linalg.centers import central_point
from inlier.linalg.eigenpairs import Oracle, Spectrum, orthonormal_rows
from inlier.packing.problem import Subspace
from inlier.packing.surrogates import ZERO, Surrogate
from inlier.results.certificate import Certificate, budget_tolerance, spectrum_of_kept
from inlier.results.outcome import Finding, Kind, Outcome
from inlier.results.records import Step
from inlier.results.result import RobustMeanResult
from inlier.results.rules import Multiplier

# Rows at such multiples (in square) of the budget and of the median distance leave before the fit.
ABSURD_BUDGETS = 1e6
ABSURD_MEDIANS = 100.0
# Where the kept rows exceed the budget a little, it is lowered by a little more, and again.
MOST_REPAIRS = 5
REPAIR_MARGIN = 0.01
# By more than this part of it a budget is exceeded in a direction that the search has overlooked.
GROSS = 0.1


@dataclass(frozen=True)
class FitOptions:
    """How the problem is solved."""

    algorithm: str
    surrogate: Surrogate
    prune: float | None
    max_iter: int
    tol: float


class WarmStart(NamedTuple):
    """Where an earlier fit has ended."""

    support: Rows
    directions: Array
    """k x d; they need not be orthonormal."""


def fit_with_sigma(
    whole: Table,
    sigma: float,
    c1: float,
    center: Array,
    central: bool,
    options: FitOptions,
    random: np.random.Generator,
    callback: Callable[[Step], object] | None,
    known: WarmStart | None = None,
) -> RobustMeanResult:
    """Fit with a known bound.

    Parameters
    ----------
    whole : Table
    sigma, c1 : float
        The budget is c1^2 n sigma^2.
    center : array of shape (d,)
        Where to start.
    central : bool
        Whether a better start may be found in the coordinates of the rows.
    options : FitOptions
    random : numpy.random.Generator
    callback : callable, optional
    known : WarmStart, optional
        Go on from there, instead of lowering the budget step by step.
    """
    n, d = whole.shape
    variance = (c1 * sigma) * (c1 * sigma)
    budget = n * variance
    prune = options.prune
    distances = whole.sq_distances(center)
    typical = check_range(whole, center, distances, c1 * sigma * float(np.sqrt(n)))
    # A row that the budget cannot keep and that is far from where rows are only costs precision.
    far = float(np.sqrt(max(ABSURD_BUDGETS * budget, ABSURD_MEDIANS * typical**2)))
    if prune is not None:
        far = min(far, float(theory.far_radius(sigma, d, prune)))
    largest = largest_distance(whole.dtype)
    if far > largest and some((distances > largest**2) & (distances <= far**2)):
        raise ValueError(
            f"sigma={sigma:g} is out of range: it allows for rows so far away that the squares of "
            "their distances are no numbers any more. Measure X and sigma in other units."
        )
    near = distances <= far**2
    n_near = count(near)
    if n_near < 2:
        raise ValueError(
            f"prune={prune} leaves {n_near} of {n} rows within {far:.3g} of the start. Raise "
            "sigma, or leave prune out."
        )
    steps: list[Step] = []

    def notify(step: Step) -> None:
        steps.append(step)
        if callback is not None:
            callback(step)

    frame = WorkingFrame.of(whole, near, center)
    table, first, distances = frame.table, frame.center, frame.of_near_rows(distances)
    if frame.rotation is not None and central:
        first, distances = central_point(table)
    oracle = Oracle(table, random)
    tolerance = budget_tolerance(whole.dtype)
    if options.algorithm == "paper":
        exactly = ExactStep(oracle, options.surrogate, options.tol)
        fit = alternate(exactly, oracle, first, _constant(budget), options.max_iter, notify)
        spectrum = oracle.bounded(fit.best.mean, _weights(fit.best), budget)
    else:
        if known is None:
            arrival = continuation(oracle, first, distances, budget, notify)
        else:
            kept = among(double(known.support)[None, :], near)[0, :]
            arrival = ContinuationResult(first, kept, _subspace(known.directions, frame, first))
        fit, spectrum = _finished(oracle, options, arrival, budget, variance, tolerance, notify)
        if known is not None and every(fit.best.removed):  # too far from where that fit has ended
            arrival = continuation(oracle, first, distances, budget, notify)
            fit, spectrum = _finished(oracle, options, arrival, budget, variance, tolerance, notify)

    best = fit.best
    kept = ~best.removed
    own = _weights(best)
    location = frame.mean(own, best.mean)
    # Where no row leaves, each of the kept ones fits into what all of them need.
    radius = np.inf if frame.complete else far
    there = _multiplier(best, table, first, radius, max(budget, spectrum.bound))
    multiplier = there if frame.rotation is None else _restored(there, frame.rotation)
    # The data are needed once more in all columns where a row has left before the fit, and where
    # the kept rows are so far from the start that their distances are rounded away there.
    on_table, rule, mean = table, there, best.mean
    blurred = frame.rotation is not None and some(kept)
    blurred = blurred and _is_blurred(best.mean, spectrum, count(kept))
    if blurred:
        spectrum = spectrum_of_kept(frame.near_rows, own, location, None)
    if blurred or not frame.complete:
        on_table, rule, mean = whole, multiplier, location
    xp = namespace(kept)
    support = frame.of_all_rows(kept, False)
    certificate = Certificate(
        budget=budget,
        lambda_max=max(0.0, float(spectrum.values[0])),
        bound=spectrum.bound,
        failure=spectrum.failure,
        n=n,
        n_removed=n - count(kept),
        most_kept=rule.most_kept(on_table, mean, budget),
        removed=xp.nonzero(~support)[0],
        multiplier=multiplier,
        tolerance=tolerance,
    )
    h = xp.where(kept, 0.0, xp.clip(best.h, ZERO, None))
    if on_table is table and there.directions is not None and there.reweighting is None:
        scores = best.scores
    else:
        scores = rule.scores(on_table)
    return RobustMeanResult(
        location=whole.to_device(location.astype(whole.dtype)),
        support=support,
        weights=frame.of_all_rows(own, 0.0),
        indicator=frame.of_all_rows(h, 1.0),
        scores=scores,
        sigma=sigma,
        budget=budget,
        certificate=certificate,
        rule=multiplier,
        history=tuple(steps),
        n_iter=fit.n_iter,
        n_passes=whole.n_passes,
        converged=fit.converged and not certificate.exceeded,
        outcome=_outcome(fit, certificate, options),
    )


def _finished(
    oracle: Oracle,
    options: FitOptions,
    arrival: ContinuationResult,
    budget: float,
    variance: float,
    tolerance: float,
    notify: Callable[[Step], None],
) -> tuple[Fit, Spectrum]:
    """Algorithm 1 where the continuation arrived, and the spectrum of what is kept."""
    surrogate, max_iter = options.surrogate, options.max_iter
    m = max(1.0, total(arrival.weights))

    def tight(n_kept: int | None) -> float:
        return variance * (m if n_kept is None else n_kept)

    allowed: Callable[[int | None], float] = tight
    step1 = SubspaceStep(oracle, surrogate, arrival.subspace)
    fit = alternate(step1, oracle, arrival.center, allowed, max_iter, notify)
    n_kept = fit.best.h.shape[0] - fit.best.n_removed
    if not tightening_was_right(surrogate, oracle, arrival, budget, n_kept, variance):
        allowed = _constant(budget)
        step1 = SubspaceStep(oracle, surrogate, arrival.subspace)
        fit = alternate(step1, oracle, arrival.center, allowed, max_iter, notify)
    spectrum = oracle.bounded(fit.best.mean, _weights(fit.best), budget)
    lowered = budget
    for _ in range(MOST_REPAIRS):
        top = float(spectrum.values[0])
        if top <= budget * (1.0 + tolerance):
            break
        center = arrival.center
        if top <= budget * (1.0 + GROSS):
            # The slack of the search has been spent. Search below the budget by what was exceeded.
            lowered *= (1.0 - REPAIR_MARGIN) * budget / top
            center, allowed = fit.best.mean, _constant(lowered)
        subspace = step1.subspace.extended(spectrum, spectrum.values > lowered, fit.best.mean)
        step1 = SubspaceStep(oracle, surrogate, subspace)
        fit = alternate(step1, oracle, center, allowed, max_iter, notify)
        spectrum = oracle.bounded(fit.best.mean, _weights(fit.best), budget)
    return fit, spectrum


def _subspace(directions: Array, frame: WorkingFrame, center: Array) -> Subspace:
    """Return the directions of an earlier fit in the coordinates of this one."""
    table = frame.table
    basis = orthonormal_rows(frame.directions(directions), np.empty((0, table.shape[1])))
    return Subspace(basis, table.project(center, basis), center)


def _is_blurred(mean: Array, spectrum: Spectrum, m: int) -> bool:
    """Whether the Gram matrix about the start has lost half of the digits of the kept rows."""
    half = float(np.sqrt(np.finfo(np.float64).eps))
    return bool(np.sqrt(spectrum.bound / m) < np.sqrt(half) * np.linalg.norm(mean))


def _constant(budget: float) -> Callable[[int | None], float]:
    return lambda n_kept: budget


def _weights(best: StepSolution) -> Rows:
    """Those whose mean is the location: of the kept rows, or 1 - h where none is kept."""
    return 1.0 - best.h if every(best.removed) else double(~best.removed)


def _restored(there: Multiplier, rotation: Rotation) -> Multiplier:
    """From the coordinates of the rows' span to those of the data."""
    return there.turned(
        rotation.directions, center=rotation.points(there.center), start=rotation.center
    )


def _multiplier(
    best: StepSolution, table: Table, start: Array, radius: float, room: float
) -> Multiplier:
    kept = ~best.removed
    if every(kept):
        return Multiplier(best.mean, None, np.empty(0), room, 1.0, start, radius)
    rule = Multiplier(
        best.center,
        best.directions,
        best.prices,
        best.budget,
        -1.0,  # below every score, if no row is kept
        start,
        reweighting=best.reweighting,
    )
    if some(kept):
        q = best.scores if rule.reweighting is None else rule.scores(table)
        rule = replace(rule, threshold=_threshold(q, kept))
    return replace(rule, radius=radius)


def _threshold(q: Rows, kept: Rows) -> float:
    """Half way between the scores of the kept and of the removed.

    Where they overlap, as after re-weighted l1, it is where the fewest are on the wrong side.
    """
    xp = namespace(q)
    highest_kept = highest(xp.where(kept, q, -np.inf))
    beyond = lowest(xp.where(kept, np.inf, q))
    if highest_kept >= beyond:
        order = xp.argsort(q)
        ascending, signs = xp.take(q, order), xp.take(double(kept), order)
        wrong = xp.cumulative_sum(1.0 - signs) + xp.sum(signs) - xp.cumulative_sum(signs)
        # A cut is between two different scores, or beyond the last.
        apart = xp.concat([ascending[1:] > ascending[:-1], ascending[:1] > -np.inf])
        at = int(xp.argmin(xp.where(apart, wrong, np.inf)))
        highest_kept = float(ascending[at])
        last = at + 1 == q.shape[0]
        beyond = 2.0 * highest_kept if last else float(ascending[at + 1])
    return (highest_kept + beyond) / 2.0


def _outcome(fit: Fit, certificate: Certificate, options: FitOptions) -> Outcome:
    """Return how a fit ended."""
    paper, n, removed = options.algorithm == "paper", certificate.n, certificate.n_removed
    findings = []
    if every(fit.best.removed):
        findings.append(Finding(Kind.NO_ROW_FITS, count=int(paper)))
    elif certificate.exceeded:
        over = certificate.lambda_max / certificate.budget - 1.0
        findings.append(Finding(Kind.BUDGET_EXCEEDED, value=over))
    elif not fit.best.solved:
        findings.append(Finding(Kind.NOT_SOLVED))
    elif not fit.converged:
        findings.append(Finding(Kind.NOT_CONVERGED, count=options.max_iter))
    else:
        if not certificate.feasible:
            over = certificate.bound / certificate.budget - 1.0
            findings.append(Finding(Kind.UNDECIDED_BUDGET, value=over))
        if 2 * removed >= n:
            findings.append(Finding(Kind.HALF_REMOVED))
    return Outcome(paper=paper, findings=tuple(findings))
