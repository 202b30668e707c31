"""Fit with a given sigma: continuation and Algorithm 1, or Algorithm 1 as published."""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

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
from inlier._internal.typing import Array, Rows
from inlier._internal.validation import check_choice, check_number, check_whole
from inlier.data import Frame, Metric, Place, Table
from inlier.data.checks import check_range, largest_distance
from inlier.l0.algorithm import ExactStep, Fit, StepSolution, SubspaceStep, alternate
from inlier.l0.continuation import (
    ContinuationResult,
    continuation,
    good_rows_exceed,
    lie_near,
    with_directions,
)
from inlier.l0.problem import budget_tolerance, scores
from inlier.l0.rounding import rounded
from inlier.l0.subspace import SKETCH_ROWS
from inlier.l0.surrogates import ZERO, Surrogate, SurrogateName, surrogate
from inlier.linalg.centers import central_point
from inlier.linalg.eigenpairs import Oracle, Spectrum, spectrum_before_rotation
from inlier.verdict import Finding, Kind, Multiplier, Outcome, Step, Verdict

# Part of the room up to which the count of the continuation decides without another solve.
CLEAR = 0.5


@dataclass(frozen=True, eq=False)
class Options:
    """Options of the l0 problem and of its algorithms, the parameter `l0` of `robust_mean`.

    Without sigma they are refused, except for `start`, unless ``algorithm="paper"``, which is run
    with the sigma that was found.

    Parameters
    ----------
    p : float
        The power of h in the surrogate sum_i h_i^p, 0 < p <= 1. At 1 it is the convex l1 problem.
    c1 : float
        The paper's factor on sigma; its theorems require sqrt(3/2) or more.
    algorithm : {"continuation", "paper"}
        "continuation" lowers the budget in steps from one that all rows satisfy and finishes with
        Algorithm 1; it succeeds from starts that are far off. "paper" is Algorithm 1 as published.
    surrogate : {"reweighted-l2", "reweighted-l1", "l1"}
        How sum_i h_i^p is minimised. "l1" ignores p.
    start : {"auto", "coordinate-median", "geometric-median"} or array of shape (d,)
        The first center. "auto" is the coordinate-wise median, for the continuation of at most 501
        randomly chosen rows or, of at most 512 rows with more columns, their geometric median.
    prune : float, optional
        Before the fit, remove the rows farther than sigma sqrt(40 d / prune) from the start, which
        keeps at least a fraction 1 - prune of the good rows (docs/mathematics.md).
    max_iter : int
        Maximum number of iterations of Algorithm 1.
    tol : float
        Relative duality gap of the convex problems in ``algorithm="paper"``.
    """

    p: float = 0.5
    c1: float = 1.0
    algorithm: Literal["continuation", "paper"] = "continuation"
    surrogate: SurrogateName = "reweighted-l2"
    start: Literal["auto", "coordinate-median", "geometric-median"] | Any = "auto"
    prune: float | None = None
    max_iter: int = 100
    tol: float = 1e-6

    def __post_init__(self) -> None:
        """Validate the options."""
        check_number(self.p, "p", at_most=1.0)
        check_number(self.c1, "c1", below=np.inf)
        check_choice(self.algorithm, "algorithm", ("continuation", "paper"))
        check_choice(self.surrogate, "surrogate", ("reweighted-l2", "reweighted-l1", "l1"))
        if isinstance(self.start, str):
            check_choice(self.start, "start", ("auto", "coordinate-median", "geometric-median"))
        if self.prune is not None:
            check_number(self.prune, "prune", below=1.0)
        check_whole(self.max_iter, "max_iter")
        check_number(self.tol, "tol", below=1.0)

    @property
    def published(self) -> bool:
        """Whether Algorithm 1 is run as published."""
        return self.algorithm == "paper"

    @cached_property
    def minimiser(self) -> Surrogate:
        """The algorithm that minimises the surrogate."""
        return surrogate(self.surrogate, self.p)

    def refuse_without_sigma(self) -> None:
        """Raise if options were given that need sigma."""
        names = [
            option.name
            for option in fields(self)
            if option.name != "start" and getattr(self, option.name) != option.default
        ]
        if names and not self.published:
            verb, them = ("is", "it") if len(names) == 1 else ("are", "them")
            raise ValueError(
                f"{' and '.join(names)} {verb} of the problem with a known bound: give sigma=... "
                f"too, or omit {them}."
            )


def fit_with_sigma(
    whole: Table,
    metric: Metric | None,
    sigma: float,
    center: Array,
    central: bool,
    options: Options,
    random: np.random.Generator,
    callback: Callable[[Step], object] | None,
) -> tuple[Frame, Verdict]:
    """Fit with the budget c1^2 n sigma^2; return the frame of the fit and the verdict in it.

    The table is in the metric already. With `central` the geometric median may replace the first
    center in the coordinates of the rows' span.
    """
    n, d = whole.shape
    reach = options.c1 * sigma
    variance = reach * reach
    budget = n * variance
    distances = whole.sq_distances(center)
    typical = check_range(whole, center, distances, reach * float(np.sqrt(n)))
    # Rows beyond both are set aside before the fit: they would only cost precision.
    far = float(np.sqrt(max(1e6 * budget, 100.0 * typical**2)))
    if options.prune is not None:
        # The radius of the paper's G, outside of which a good row counts as far away.
        far = min(far, sigma * float(np.sqrt(40.0 * d / options.prune)))
    near = _near(whole, distances, far, sigma, options.prune)
    steps: list[Step] = []

    def notify(step: Step) -> None:
        steps.append(step)
        if callback is not None:
            callback(step)

    frame = Frame.of(whole, near, center, metric=metric)
    table, first, distances = frame.table, frame.center, frame.of_near_rows(distances)
    if frame.rotation is not None and central:
        first, distances = central_point(table)
    oracle = Oracle(table, random)
    del near
    tolerance, needed = budget_tolerance(whole.dtype), 0.0
    if options.published:
        exactly = ExactStep(oracle, options.minimiser, options.tol)
        fit = alternate(exactly, oracle, first, _constant(budget), options.max_iter, notify)
        spectrum = oracle.bound_top(fit.best.mean, fit.best.weights, budget)
    else:
        robust = isinstance(options.start, str)
        reached = continuation(oracle, first, distances, budget, robust, notify)
        del distances  # as large as a column
        if reached.fits_half:
            fit, spectrum = _refined(oracle, options, reached, budget, variance, tolerance, notify)
        else:
            fit = Fit(_none_kept(table, reached), n_iter=0, converged=False)
            spectrum = oracle.bound_top(fit.best.mean, fit.best.weights, budget)
            needed = reached.needed
    best, room = fit.best, max(budget, spectrum.bound)
    kept = ~best.removed
    again = None
    if any_true(kept):
        again = spectrum_before_rotation(frame, best.weights, best.mean, spectrum, tolerance)
    spectrum = again or spectrum
    xp = namespace(kept)
    lambda_max = max(0.0, float(spectrum.values[0]))
    return frame, Verdict(
        kept=kept,
        mean=best.mean,
        lambda_max=lambda_max,
        bound=spectrum.bound,
        failure=spectrum.failure,
        sigma=sigma,
        budget=budget,
        dual=_multiplier(best, first, np.inf if frame.complete else far, room),
        outcome=_outcome(fit, lambda_max, spectrum.bound, budget, tolerance, n, options, needed),
        steps=tuple(steps),
        n_iter=fit.n_iter,
        converged=fit.converged and lambda_max <= budget * (1.0 + tolerance),
        given=True,
        rounded=again is not None,
        indicator=xp.where(kept, 0.0, xp.clip(best.h, ZERO, None)),
        scores=None if every(kept) else best.scores,
    )


def _near(whole: Table, distances: Rows, far: float, sigma: float, prune: float | None) -> Rows:
    """Return the mask of the rows of the fit."""
    largest = largest_distance(whole.dtype)
    if far > largest and any_true((distances > largest**2) & (distances <= far**2)):
        raise ValueError(
            f"sigma={sigma:g} is out of range: it allows for rows so far away that the squares of "
            "their distances overflow. Measure X and sigma in other units."
        )
    near = distances <= far**2
    if (n_near := count(near)) < 2:
        raise ValueError(
            f"prune={prune} keeps {n_near} of {whole.shape[0]} rows within {far:.3g} of the "
            "start. Raise sigma, or omit prune."
        )
    return near


def _refined(
    oracle: Oracle,
    options: Options,
    reached: ContinuationResult,
    budget: float,
    variance: float,
    tolerance: float,
    notify: Callable[[Step], None],
) -> tuple[Fit, Spectrum]:
    """Run Algorithm 1 from the end of the continuation; return it with the kept rows' spectrum."""
    surrogate, n = options.minimiser, reached.weights.shape[0]
    if good_rows_exceed(surrogate, oracle, reached, budget, variance):
        return rounded(oracle, reached, budget, notify)
    m = max(1.0, total(reached.weights))

    def tight(n_kept: int | None) -> float:
        return variance * (m if n_kept is None else n_kept)

    def is_consistent(n_kept: int) -> bool:
        return kept_budget_is_consistent(reached, in_full, budget, n_kept, variance)

    def run(
        step1: SubspaceStep, center: Array, allowed: Callable[[int | None], float]
    ) -> Fit | None:
        near = step1.removes_good_rows
        fit = alternate(step1, oracle, center, allowed, options.max_iter, notify, near)
        return None if near(fit.best) else fit

    step1 = SubspaceStep(oracle, surrogate, reached.subspace, variance)
    in_full = SubspaceStep(oracle, surrogate, reached.subspace, variance)
    fit = None
    if is_consistent(n - step1.begin(reached.center, tight(None))):
        fit = run(step1, reached.center, tight)
    if fit is None or not is_consistent(n - fit.best.n_removed):
        step1 = in_full
        fit = run(step1, reached.center, _constant(budget))
    lowered = budget
    for attempt in range(3):
        if fit is None:
            break
        spectrum = oracle.bound_top(fit.best.mean, fit.best.weights, budget)
        top = float(spectrum.values[0])
        if top <= budget * (1.0 + tolerance) or every(fit.best.removed):
            return fit, spectrum
        none_seen = not len(reached.S)  # of rows that coincide, random directions may show nothing
        # More than the slack of the search: good rows come near to the budget in many directions.
        if attempt == 2 or (top > budget * 1.1 and not none_seen):
            break
        if top <= budget * 1.1:  # lower the budget by the excess and a margin
            lowered *= (1.0 - 0.01) * budget / top
        subspace = step1.subspace.extended(spectrum, spectrum.values > lowered, fit.best.mean)
        step1 = SubspaceStep(oracle, surrogate, subspace, variance)
        fit = run(step1, fit.best.mean, _constant(lowered))
    if not len(reached.S):  # nothing to order the rows by
        reached = with_directions(oracle, reached, step1.subspace, budget)
    return rounded(oracle, reached, budget, notify)


def kept_budget_is_consistent(
    reached: ContinuationResult,
    in_full: SubspaceStep,
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
        return not lie_near(n - n_kept - n_removed, room, 3.0 * variance)

    # The continuation has removed about as many as the surrogate would: close enough, often, if
    # there are many rows.
    if n > SKETCH_ROWS and lie_far_out(reached.n_removed, CLEAR * room):
        return True
    return lie_far_out(in_full.begin(reached.center, target), room)


def _none_kept(table: Table, reached: ContinuationResult) -> StepSolution:
    """Return the last step of a continuation whose budget half of the rows exceed."""
    directions: Array | None = reached.subspace.basis
    prices, h = np.diag(reached.S), 1.0 - reached.weights
    if len(prices):
        q = scores(reached.subspace.scaled_projections(reached.center, reached.budget), reached.S)
    else:  # all directions alike, as far as there are any
        directions, prices = None, np.array([float(min(table.shape))])
        q = table.sq_distances(reached.center) / reached.budget
    return StepSolution(
        reached.center,
        reached.budget,
        h=h,
        scores=q,
        removed=h >= 0.0,
        directions=directions,
        prices=prices,
        lambda_max=np.nan,
        mean=table.mean(reached.weights, reached.center),
    )


def _constant(budget: float) -> Callable[[int | None], float]:
    return lambda n_kept: budget


def _multiplier(best: StepSolution, start: Array, radius: float, room: float) -> Multiplier:
    """Return the multiplier of the last step, which decides about rows."""
    kept = ~best.removed
    if every(kept):
        rule = Multiplier.of_budget(best.mean, room)
        return replace(rule, place=Place(np.stack([best.mean, start]), None), radius=radius)
    place = Place(np.stack([best.center, start]), best.directions)
    threshold = _threshold(best.scores, kept) if any_true(kept) else -1.0  # below all scores
    return Multiplier(place, best.prices, best.budget, threshold, radius)


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


def _outcome(
    fit: Fit,
    lambda_max: float,
    bound: float,
    budget: float,
    tolerance: float,
    n: int,
    options: Options,
    needed: float,
) -> Outcome:
    """Return how a fit ended; `needed` is the budget of half of its rows, if they exceed it."""
    allowed = budget * (1.0 + tolerance)
    n_kept = count(~fit.best.removed)
    findings = []
    if needed > 0.0:
        deviation = float(np.sqrt(needed / ((fit.best.h.shape[0] + 1) // 2)))
        findings.append(Finding(Kind.SIGMA_TOO_SMALL, value=deviation))
    elif n_kept == 0:
        findings.append(Finding(Kind.NO_ROW_FITS, count=int(options.published)))
    elif lambda_max > allowed:
        findings.append(Finding(Kind.BUDGET_EXCEEDED, value=lambda_max / budget - 1.0))
    elif not fit.best.solved:
        findings.append(Finding(Kind.NOT_SOLVED))
    elif not fit.converged:
        findings.append(Finding(Kind.NOT_CONVERGED, count=options.max_iter))
    else:
        if bound > allowed:
            findings.append(Finding(Kind.UNDECIDED_BUDGET, value=bound / budget - 1.0))
        if 2 * n_kept <= n:
            findings.append(Finding(Kind.HALF_REMOVED))
    return Outcome(findings=tuple(findings))
