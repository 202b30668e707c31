"""`robust_mean`: validates, chooses the way through the data, and assembles the result."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from inlier import theory
from inlier._typing import Array
from inlier._validation import (
    check_choice,
    check_number,
    check_random_state,
    check_table,
    check_vector,
    check_whole,
)
from inlier.algorithm import Exactly, Fit, Minimum, Rounded, alternate
from inlier.centers import geometric_median
from inlier.data import Rotation, Table, as_table
from inlier.path import Arrival, continuation, tightening_was_right
from inlier.result import Certificate, Multiplier, RobustMeanResult, Step
from inlier.spectral import DENSE, Oracle, Spectrum
from inlier.surrogates import ZERO, Surrogate, SurrogateName
from inlier.surrogates import surrogate as named_surrogate

Algorithm = Literal["continuation", "paper"]
StartName = Literal["auto", "coordinate-median", "geometric-median"]

# Rows at such multiples (in square) of the budget and of the median distance leave before the fit.
ABSURD_BUDGETS = 1e6
ABSURD_MEDIANS = 100.0
# Of the certificate's eigenvalue, where the whole spectrum would be too dear.
CERTIFICATE_PASSES = 8
CERTIFICATE_RESIDUAL = 1e-3
# Where the kept rows exceed the budget a little, it is lowered by a little more, and again.
MOST_REPAIRS = 5
REPAIR_MARGIN = 0.01
# The rows that are kept must satisfy the budget to this relative precision.
BUDGET_TOL = 1e-9


def robust_mean(
    X: Any,
    *,
    sigma: float | None = None,
    p: float = 0.5,
    c1: float = 1.0,
    algorithm: Algorithm = "continuation",
    surrogate: SurrogateName = "reweighted-l2",
    start: StartName | Any = "auto",
    prune: float | None = None,
    max_iter: int = 100,
    tol: float = 1e-6,
    random_state: int | np.random.Generator | None = 0,
    callback: Callable[[Step], object] | None = None,
) -> RobustMeanResult:
    """The mean of the good rows of a contaminated table, and the rows that are bad.

    Minimises a surrogate of the number of removed rows, ||h||_0, subject to

        lambda_max( sum_i (1 - h_i) (y_i - x)(y_i - x)^T ) <= B,     B = c1^2 n sigma^2

    over h in [0, 1]^n and x, where the y_i are the rows of X. Takes up to some 20 passes over X.

    Parameters
    ----------
    X : array, memory map, sparse matrix or data frame of shape (n, d)
        Any real dtype and memory order. Never changed or made dense, and not copied unless rows are
        left out before the fit: those that `prune` names, and absurdly distant ones.
    sigma : float
        A bound on the standard deviation of the good rows in every direction.
    p : float, default=0.5
        The power of h in the surrogate sum_i h_i^p, 0 < p <= 1. At 1 it is the convex l1 problem.
    c1 : float, default=1.0
        The paper's factor on sigma; its theorems want sqrt(3/2) or more.
    algorithm : {"continuation", "paper"}
        "continuation" lowers the budget in steps from one that all rows satisfy and finishes with
        Algorithm 1; it succeeds from starts that are far off. "paper" is Algorithm 1 as published.
    surrogate : {"reweighted-l2", "reweighted-l1", "l1"}
        How sum_i h_i^p is minimised. "l1" ignores p.
    start : {"auto", "coordinate-median", "geometric-median"} or array of shape (d,)
        The first centre. "auto" is the coordinate-wise median, for the continuation of at most 501
        randomly chosen rows.
    prune : float, optional
        Before the fit, remove the rows farther than sigma sqrt(40 d / prune) from the start, which
        keeps at least a fraction 1 - prune of the good rows (see `inlier.theory.far_radius`).
    max_iter : int
        Most iterations of Algorithm 1.
    tol : float
        Relative duality gap of the convex problems in `algorithm="paper"`.
    random_state : int, Generator or None
        Of the random directions with which eigenvectors are looked for and of the sampled rows.
    callback : callable, optional
        Called with each `Step` as it is done, for a progress display.

    Returns
    -------
    RobustMeanResult

    Warns
    -----
    sklearn.exceptions.ConvergenceWarning
        If the result is not what was asked for; its message says why and what to try.
    """
    X = check_table(X)
    n, d = X.shape
    if sigma is None:
        raise ValueError(
            "sigma was not given, and choosing it from the data is not implemented yet. Pass a "
            "bound on the standard deviation of the good rows in any direction, for instance the "
            "square root of the largest eigenvalue of the covariance of rows known to be good."
        )
    sigma = check_number(sigma, "sigma", below=np.inf)
    p = check_number(p, "p", at_most=1.0)
    c1 = check_number(c1, "c1", below=np.inf)
    check_choice(algorithm, "algorithm", ("continuation", "paper"))
    check_choice(surrogate, "surrogate", ("reweighted-l2", "reweighted-l1", "l1"))
    max_iter = check_whole(max_iter, "max_iter")
    tol = check_number(tol, "tol", below=1.0)
    random = check_random_state(random_state)
    if prune is not None:
        prune = check_number(prune, "prune", below=1.0)

    variance = (c1 * sigma) * (c1 * sigma)
    budget = n * variance
    if not 1e-290 < budget < 1e290:
        raise ValueError(
            f"sigma={sigma:g} (times c1={c1:g}) is out of range: its square times the number of "
            "rows must be a number. Measure X and sigma in other units."
        )
    table = as_table(X)
    center = _start(table, start, algorithm, random)
    distances = table.sq_distances(center)
    # A row that the budget cannot keep and that is far from where rows are only costs precision.
    far = np.sqrt(max(ABSURD_BUDGETS * budget, ABSURD_MEDIANS * float(np.median(distances))))
    if prune is not None:
        far = min(far, theory.far_radius(sigma, d, prune))
    near = distances <= far**2
    if near.sum() < 2:
        raise ValueError(
            f"prune={prune} leaves {near.sum()} of {n} rows within {far:.3g} of the start. Raise "
            "sigma, or leave prune out."
        )
    whole, radius = table, np.inf
    if not near.all():
        table, radius, distances = as_table(X[near]), far, distances[near]

    steps: list[Step] = []

    def notify(step: Step) -> None:
        steps.append(step)
        if callback is not None:
            callback(step)

    rotation = Rotation.of(table, center) if Rotation.pays(table) else None
    seen = table if rotation is None else rotation.rotated
    first = center if rotation is None else np.zeros(seen.shape[1])
    oracle = Oracle(seen, random)
    chosen = named_surrogate(surrogate, p)
    if algorithm == "paper":
        exactly = Exactly(oracle, chosen, tol)
        fit = alternate(exactly, oracle, first, _constant(budget), max_iter, notify)
        spectrum = oracle.accurately(fit.best.mean, _weights(fit.best), tol * budget)
    else:
        arrival = continuation(oracle, first, distances, budget, notify)
        fit, spectrum = _finished(oracle, chosen, arrival, budget, variance, max_iter, notify)

    best = fit.best
    kept = ~best.removed
    location = best.mean
    if rotation is not None:
        weights = _weights(best)
        if weights.any():
            location = table.mean(weights, rotation.center)
        else:
            location = rotation.center + rotation.restore(location[None])[0]
    multiplier = _multiplier(best, rotation, center, radius)
    certificate = Certificate(
        budget=budget,
        lambda_max=float(spectrum.values[0]),
        residual=float(spectrum.residuals[0]),
        n=n,
        n_removed=n - int(kept.sum()),
        most_kept=multiplier.most_kept(whole, location, budget),
    )
    support, indicator = near.copy(), np.ones(n)
    support[near] = kept
    indicator[near] = np.where(kept, 0.0, np.maximum(best.h, ZERO))
    if near.all() and multiplier.directions is not None:
        scores = best.scores
    else:
        scores = multiplier.scores(whole)
    converged = fit.converged and certificate.feasible
    message = _message(fit, certificate, algorithm, max_iter)
    if not converged:
        from sklearn.exceptions import ConvergenceWarning

        warnings.warn(message, ConvergenceWarning, stacklevel=2)
    return RobustMeanResult(
        location=location.astype(table.dtype, copy=False),
        support=support,
        indicator=indicator,
        scores=scores,
        sigma=sigma,
        budget=budget,
        certificate=certificate,
        multiplier=multiplier,
        history=tuple(steps),
        n_iter=fit.n_iter,
        n_passes=whole.n_passes + (table.n_passes if table is not whole else 0),
        converged=converged,
        message=message,
    )


def _start(table: Table, start: Any, algorithm: str, random: np.random.Generator) -> Array:
    if not isinstance(start, str):
        return check_vector(start, "start", table.shape[1], "column")
    check_choice(start, "start", ("auto", "coordinate-median", "geometric-median"))
    if start == "geometric-median":
        return geometric_median(table)
    return table.median(random if start == "auto" and algorithm == "continuation" else None)


def _finished(
    oracle: Oracle,
    surrogate: Surrogate,
    arrival: Arrival,
    budget: float,
    variance: float,
    max_iter: int,
    notify: Callable[[Step], None],
) -> tuple[Fit, Spectrum]:
    """Algorithm 1 where the continuation arrived, and the spectrum of what is kept."""
    m = max(1.0, float(arrival.weights.sum()))

    def tight(n_kept: int | None) -> float:
        return variance * (m if n_kept is None else n_kept)

    step1 = Rounded(oracle, surrogate, arrival.subspace)
    fit = alternate(step1, oracle, arrival.center, tight, max_iter, notify)
    n_kept = len(fit.best.h) - fit.best.n_removed
    if not tightening_was_right(surrogate, arrival, budget, n_kept, variance):
        step1 = Rounded(oracle, surrogate, arrival.subspace)
        fit = alternate(step1, oracle, arrival.center, _constant(budget), max_iter, notify)
    spectrum = _kept_spectrum(oracle, fit.best)
    lowered = budget
    for _ in range(MOST_REPAIRS):
        top = float(spectrum.values[0])
        if top <= budget * (1.0 + BUDGET_TOL):
            break
        # The slack of the search has been spent. Search below the budget by what was exceeded.
        lowered *= (1.0 - REPAIR_MARGIN) * budget / top
        subspace = step1.subspace.extended(spectrum, spectrum.values > lowered, fit.best.mean)
        step1 = Rounded(oracle, surrogate, subspace)
        fit = alternate(step1, oracle, fit.best.mean, _constant(lowered), max_iter, notify)
        spectrum = _kept_spectrum(oracle, fit.best)
    return fit, spectrum


def _constant(budget: float) -> Callable[[int | None], float]:
    return lambda n_kept: budget


def _weights(best: Minimum) -> Array:
    """Those whose mean is the location: of the kept rows, or 1 - h where none is kept."""
    return 1.0 - best.h if best.removed.all() else np.where(best.removed, 0.0, 1.0)


def _kept_spectrum(oracle: Oracle, best: Minimum) -> Spectrum:
    weights = _weights(best)
    if oracle.table.shape[1] <= DENSE:
        return oracle.accurately(best.mean, weights, 0.0)
    return oracle(
        best.mean,
        weights,
        lambda values, residuals: bool(residuals[0] <= CERTIFICATE_RESIDUAL * values[0]),
        CERTIFICATE_PASSES,
    )


def _multiplier(
    best: Minimum, rotation: Rotation | None, start: Array, radius: float
) -> Multiplier:
    kept = ~best.removed
    center, directions = best.center, best.directions
    if kept.all():
        center, directions = best.mean, directions[:0]
    if rotation is not None:
        restored = rotation.restore(np.concatenate([center[None], directions]))
        center, directions = rotation.center + restored[0], restored[1:]
    if kept.all():
        return Multiplier(center, None, np.empty(0), best.budget, 1.0, start, radius)
    lowest = float(best.scores[~kept].min())
    # Half way between the kept and the removed; below every score, if none is kept.
    threshold = (float(best.scores[kept].max()) + lowest) / 2.0 if kept.any() else -1.0
    return Multiplier(center, directions, best.prices, best.budget, threshold, start, radius)


def _message(fit: Fit, certificate: Certificate, algorithm: str, max_iter: int) -> str:
    n, removed = certificate.n, certificate.n_removed
    if fit.best.removed.all():
        hint = "" if algorithm == "continuation" else ', or use algorithm="continuation"'
        return (
            "No row can be kept within the budget about the centre that was reached; the location "
            "is the mean weighted by 1 - h. The bound is too small for these data: pass a larger "
            f"sigma{hint}."
        )
    if not certificate.feasible:
        over = certificate.lambda_max / certificate.budget - 1.0
        return (
            f"The kept rows exceed the budget by {over:.1e} of it. The bound is too small for "
            "these data: pass a larger sigma."
        )
    if not fit.best.solved:
        return (
            "A convex problem of Algorithm 1 was not solved to the tolerance. Raise tol, or use "
            'algorithm="continuation", which needs no such precision.'
        )
    if not fit.converged:
        return (
            f"Stopped after max_iter={max_iter} iterations while the number of removed rows was "
            "still falling. Raise max_iter."
        )
    verdict = f"Kept {n - removed} of {n} rows; at least {certificate.l0_lower_bound} had to go."
    if 2 * removed >= n:
        verdict += (
            " Half of the rows or more were removed: either sigma is too small, or the data cannot "
            "be trusted."
        )
    return verdict
