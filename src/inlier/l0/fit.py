"""Fit with a given sigma: continuation and Algorithm 1, or Algorithm 1 as published."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from inlier import theory
from inlier._internal.arrays import (
    any_true,
    count,
    double,
    every,
    highest,
    lowest,
    namespace,
    total,
)
from inlier._internal.numbers import EPS
from inlier._internal.typing import Array, Rows
from inlier.data import Table, WorkingFrame
from inlier.data.checks import check_range, largest_distance
from inlier.l0.algorithm import ExactStep, Fit, StepSolution, SubspaceStep, alternate
from inlier.l0.continuation import ContinuationResult, continuation, tightening_was_right
from inlier.l0.problem import Subspace
from inlier.l0.surrogates import ZERO, Surrogate
from inlier.linalg.centers import central_point
from inlier.linalg.eigenpairs import Oracle, Spectrum, orthonormal_rows
from inlier.results.certificate import Certificate, budget_tolerance, spectrum_of_kept
from inlier.results.outcome import Finding, Kind, Outcome
from inlier.results.records import Step
from inlier.results.result import RobustMeanResult
from inlier.results.rules import Multiplier


@dataclass(frozen=True)
class FitSettings:
    """Limits of a fit with a given sigma."""

    far_budgets: float = 1e6
    far_medians: float = 100.0
    """Rows beyond both multiples, of the budget and of the squared median distance, are set aside
    before the fit: they would only cost precision."""
    repairs: int = 5
    repair_margin: float = 0.01
    """Where the kept rows exceed the budget slightly, it is lowered by the excess and this margin,
    so many times."""
    missed: float = 0.1
    """A relative excess above this means that the search has missed a direction."""


SETTINGS = FitSettings()


@dataclass(frozen=True)
class FitOptions:
    """Algorithm, surrogate and stopping criteria of a fit."""

    algorithm: str
    surrogate: Surrogate
    prune: float | None
    max_iter: int
    tol: float


class WarmStart(NamedTuple):
    """Rows and directions of an earlier fit."""

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
    """Fit with the budget c1^2 n sigma^2, from `known` instead of the continuation if given.

    With `central` the geometric median may replace the first center in the coordinates of the rows'
    span.
    """
    n, d = whole.shape
    variance = (c1 * sigma) * (c1 * sigma)
    budget = n * variance
    prune = options.prune
    distances = whole.sq_distances(center)
    typical = check_range(whole, center, distances, c1 * sigma * float(np.sqrt(n)))
    far = float(np.sqrt(max(SETTINGS.far_budgets * budget, SETTINGS.far_medians * typical**2)))
    if prune is not None:
        far = min(far, float(theory.far_radius(sigma, d, prune)))
    largest = largest_distance(whole.dtype)
    if far > largest and any_true((distances > largest**2) & (distances <= far**2)):
        raise ValueError(
            f"sigma={sigma:g} is out of range: it allows for rows so far away that the squares of "
            "their distances overflow. Measure X and sigma in other units."
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
        spectrum = oracle.bound_top(fit.best.mean, _weights(fit.best), budget)
    else:
        if known is None:
            reached = continuation(oracle, first, distances, budget, notify)
        else:
            kept = frame.of_near_rows(double(known.support))
            reached = ContinuationResult(first, kept, _subspace(known.directions, frame, first))
        fit, spectrum = _refined(oracle, options, reached, budget, variance, tolerance, notify)
        if known is not None and every(fit.best.removed):  # the warm start was too far away
            reached = continuation(oracle, first, distances, budget, notify)
            fit, spectrum = _refined(oracle, options, reached, budget, variance, tolerance, notify)

    best = fit.best
    kept = ~best.removed
    weights = _weights(best)
    location = frame.mean(weights, best.mean)
    radius = np.inf if frame.complete else far
    working = _multiplier(best, table, first, radius, max(budget, spectrum.bound))
    multiplier, turn = working, frame.rotation
    if turn is not None:
        there = turn.points(working.center)
        multiplier = working.turned(turn.directions, center=there, start=turn.center)
    # The certificate needs the original data if a row was set aside, or if the kept rows are so far
    # from the first center that the rotation has rounded their distances away.
    on_table, rule, mean = table, working, best.mean
    rounded = False
    if turn is not None and any_true(
        kept
    ):  # has the Gram matrix lost half of the kept rows' digits?
        lost = float(np.sqrt(np.sqrt(EPS))) * np.linalg.norm(best.mean)
        rounded = bool(np.sqrt(spectrum.bound / count(kept)) < lost)
    if rounded:
        spectrum = spectrum_of_kept(frame.near_rows, weights, location, None)
    if rounded or not frame.complete:
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
    if on_table is table and working.directions is not None and working.reweighting is None:
        scores = best.scores
    else:
        scores = rule.scores(on_table)
    return RobustMeanResult(
        location=whole.to_device(location.astype(whole.dtype)),
        support=support,
        weights=frame.of_all_rows(weights, 0.0),
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


def _refined(
    oracle: Oracle,
    options: FitOptions,
    reached: ContinuationResult,
    budget: float,
    variance: float,
    tolerance: float,
    notify: Callable[[Step], None],
) -> tuple[Fit, Spectrum]:
    """Run Algorithm 1 from the end of the continuation; return it with the kept rows' spectrum."""
    surrogate, max_iter = options.surrogate, options.max_iter
    m = max(1.0, total(reached.weights))

    def tight(n_kept: int | None) -> float:
        return variance * (m if n_kept is None else n_kept)

    allowed: Callable[[int | None], float] = tight
    step1 = SubspaceStep(oracle, surrogate, reached.subspace)
    fit = alternate(step1, oracle, reached.center, allowed, max_iter, notify)
    n_kept = fit.best.h.shape[0] - fit.best.n_removed
    if not tightening_was_right(surrogate, oracle, reached, budget, n_kept, variance):
        allowed = _constant(budget)
        step1 = SubspaceStep(oracle, surrogate, reached.subspace)
        fit = alternate(step1, oracle, reached.center, allowed, max_iter, notify)
    spectrum = oracle.bound_top(fit.best.mean, _weights(fit.best), budget)
    lowered = budget
    for _ in range(SETTINGS.repairs):
        top = float(spectrum.values[0])
        if top <= budget * (1.0 + tolerance):
            break
        center = reached.center
        if top <= budget * (1.0 + SETTINGS.missed):
            # The slack of the search was used up: lower the budget by the excess.
            lowered *= (1.0 - SETTINGS.repair_margin) * budget / top
            center, allowed = fit.best.mean, _constant(lowered)
        subspace = step1.subspace.extended(spectrum, spectrum.values > lowered, fit.best.mean)
        step1 = SubspaceStep(oracle, surrogate, subspace)
        fit = alternate(step1, oracle, center, allowed, max_iter, notify)
        spectrum = oracle.bound_top(fit.best.mean, _weights(fit.best), budget)
    return fit, spectrum


def _subspace(directions: Array, frame: WorkingFrame, center: Array) -> Subspace:
    """Return the directions of an earlier fit in the coordinates of this one."""
    table = frame.table
    basis = orthonormal_rows(frame.directions(directions), np.empty((0, table.shape[1])))
    return Subspace(basis, table.project(center, basis), center)


def _constant(budget: float) -> Callable[[int | None], float]:
    return lambda n_kept: budget


def _weights(best: StepSolution) -> Rows:
    """Return the weights of the location: of the kept rows, or 1 - h if none is kept."""
    return 1.0 - best.h if every(best.removed) else double(~best.removed)


def _multiplier(
    best: StepSolution, table: Table, start: Array, radius: float, room: float
) -> Multiplier:
    kept = ~best.removed
    if every(kept):
        return Multiplier(best.mean, None, np.empty(0), room, 1.0, start, radius)
    V, prices, below_all = best.directions, best.prices, -1.0
    rule = Multiplier(best.center, V, prices, best.budget, below_all, start)
    rule = replace(rule, reweighting=best.reweighting)
    if any_true(kept):
        q = best.scores if rule.reweighting is None else rule.scores(table)
        rule = replace(rule, threshold=_threshold(q, kept))
    return replace(rule, radius=radius)


def _threshold(q: Rows, kept: Rows) -> float:
    """Return the midpoint between the scores of the kept and of the removed rows.

    Where they overlap, as after re-weighted l1, minimise the number of misclassified rows.
    """
    xp = namespace(q)
    highest_kept = highest(xp.where(kept, q, -np.inf))
    beyond = lowest(xp.where(kept, np.inf, q))
    if highest_kept >= beyond:
        order = xp.argsort(q)
        ascending, signs = xp.take(q, order), xp.take(double(kept), order)
        wrong = xp.cumulative_sum(1.0 - signs) + xp.sum(signs) - xp.cumulative_sum(signs)
        # Cut between two different scores, or beyond the last.
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
