"""What is known about an answer, computed at the answer, and how to check it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from inlier import theory
from inlier._internal.arrays import all_but, count, double, every, namespace, on_host
from inlier._internal.typing import Array, Rows
from inlier.data import Frame, Gaps, Metric, Table, as_table
from inlier.data.checks import as_rows, check_table
from inlier.data.imputed import NO_CELLS, NONE
from inlier.l0.problem import BUDGET_TOL, ROWS_TOL, budget_tolerance, fewest_removed, packing_bound
from inlier.linalg.eigenpairs import (
    ROUNDINGS,
    TopBounds,
    rounding_of,
    spectrum_of_kept,
    verified_top,
)
from inlier.results import wording
from inlier.verdict import Multiplier, Verdict

# Fractions of bad rows for which the error radius is stated where nothing was removed, so that the
# data give no hint how many there are.
FRACTIONS = (0.01, 0.05, 0.1, 0.2)
# Removed rows, evenly spaced, of which the mean is noted.
NOTED_ROWS = 501


@dataclass(frozen=True)
class Certificate:
    """What is known about an answer, computed at the answer.

    Attributes
    ----------
    budget : float
        B = c1^2 n sigma^2.
    lambda_max : float
        Largest eigenvalue of the scatter of the kept rows about their mean: exactly with up to 256
        columns, with more columns a lower bound (a Ritz value).
    bound : float
        Upper bound on that eigenvalue, which everything below is derived from.
    failure : float
        The chance that the upper bound does not hold, over the random directions from which it was
        computed; 0 if it is exact. See `inlier.linalg.eigenpairs.upper_bound`.
    n, n_removed : int
    most_kept : float
        From the dual of the l1 problem: about this mean no w in [0, 1]^n within the budget has
        a larger sum.
    removed : int array
        Indices of the removed rows.
    multiplier : Multiplier
        The directions and prices behind `most_kept`.
    mean : array of shape (d,)
        The mean of the kept rows, each counted once.
    mean_of_removed : array of shape (d,)
        Of the removed rows; of 501 of them, if they are more.
    n_suspected : int
        Rows that a fit had removed before some of them were put back.
    tolerance : float
        The budget counts as satisfied to this relative precision, that of the data.
    n_missing : int
        Cells that are missing. All that is stated is about the table that has the median of the
        column in the place of each, and about the mean of its kept rows.
    weighted : bool
        Whether the answer is a weighted mean. All that is stated is about the mean of the kept
        rows, each counted once.
    aside : int array
        Columns of which so little is there that no row is judged by them: in that table they are
        medians only.
    cells : int array of shape (k, 2)
        Row and column of the extreme cells that were set aside: medians in that table too.
    fill : array of shape (d,), optional
        These medians.
    """

    budget: float
    lambda_max: float
    bound: float
    failure: float
    n: int
    n_removed: int
    most_kept: float
    removed: Rows = field(repr=False, compare=False)
    multiplier: Multiplier = field(repr=False, compare=False)
    mean: Array = field(repr=False, compare=False)
    mean_of_removed: Array = field(repr=False, compare=False)
    n_suspected: int = 0
    tolerance: float = BUDGET_TOL
    n_missing: int = 0
    weighted: bool = False
    aside: Array = field(default_factory=lambda: NONE, repr=False, compare=False)
    cells: Array = field(default_factory=lambda: NO_CELLS, repr=False, compare=False)
    fill: Array | None = field(default=None, repr=False, compare=False)

    @property
    def feasible(self) -> bool:
        """Whether the kept rows are known to stay within the budget."""
        return self.bound <= self.budget * (1.0 + self.tolerance)

    @property
    def exceeded(self) -> bool:
        """Whether the kept rows are known to exceed the budget."""
        return self.lambda_max > self.budget * (1.0 + self.tolerance)

    @property
    def l0_lower_bound(self) -> int:
        """Least number of rows that have to be removed, about this mean."""
        return fewest_removed(self.n, self.most_kept)

    @property
    def gap(self) -> float:
        """Duality gap of the l1 problem at the kept rows, in rows."""
        return self.most_kept - (self.n - self.n_removed)

    @property
    def relative_gap(self) -> float:
        """The gap as a fraction of all rows."""
        return self.gap / self.n

    @property
    def sigma_kept(self) -> float:
        """Upper bound on the standard deviation of the kept rows in any direction."""
        return float(np.sqrt(self.bound / max(1, self.n - self.n_removed)))

    @property
    def assumed(self) -> tuple[float, ...]:
        """The fractions of bad rows for which the error radius is stated.

        As many as were removed; where none was, several, because nothing suggests one. A fraction
        of less than a row says nothing.
        """
        bad = max(self.n_removed, self.n_suspected)
        if bad:
            return (max(1.0 / self.n, float(np.ceil(100.0 * bad / self.n)) / 100.0),)
        of_rows = tuple(alpha for alpha in FRACTIONS if alpha * self.n >= 1.0)
        return of_rows or (1.0 / self.n,)

    def error_radius(self, alpha: Any, sigma: float | None = None) -> float | Array:
        """Return how far the mean of the kept rows can be from the mean of the good ones.

        Both are means with each row counted once, also where the answer is weighted. See
        `inlier.theory.error_radius`.

        Parameters
        ----------
        alpha : float or array
            Assumed: at most this fraction of the rows is bad. An array gives the curve.
        sigma : float, optional
            Assumed: good rows have at most this standard deviation in every direction; that of the
            kept rows, if not given.
        """
        n_kept = self.n - self.n_removed
        sigma = self.sigma_kept if sigma is None else sigma
        if not np.isfinite(self.bound):  # rows too far away to square
            return np.full(np.shape(alpha), np.inf)[()]
        radius: float | Array = theory.error_radius(self.sigma_kept, n_kept, self.n, alpha, sigma)
        return radius

    def relative_radius(self, alpha: Any) -> float | Array:
        """Return `error_radius` in standard deviations of the kept rows, in each column.

        It holds for any column, and any direction, in which good rows vary no more than kept ones,
        whatever the units of the columns are: `inlier.theory.error_radius` in one dimension.

        Parameters
        ----------
        alpha : float or array
            Assumed: at most this fraction of the rows is bad. An array gives the curve.
        """
        radius: float | Array = theory.error_radius(
            1.0, self.n - self.n_removed, self.n, alpha, 1.0
        )
        return radius

    def statement(self, alpha: float | None = None, sigma: float | None = None) -> str:
        """State how far the mean can be off in plain words.

        By default in standard deviations of the columns, which may be in different units; if
        `sigma` is given, as `error_radius`, in the unit of sigma.

        Parameters
        ----------
        alpha, sigma : float, optional
            Assumed, as in `error_radius`; unless given, alpha is `assumed`.
        """
        return wording.statement(self, alpha, sigma)

    def verify(self, X: Any) -> Verification:
        """Recompute every number from the data, and report what does not hold.

        The largest eigenvalue comes from the whole matrix with up to 4,096 columns, or rows in
        memory; from a randomised bound in more passes otherwise.

        Parameters
        ----------
        X : array, sparse matrix, data frame, file or Dask collection of shape (n, d)
            What the fit was about; if cells are missing, with these cells missing.
        """
        multiplier, X = self.multiplier, as_rows(X)
        expected = (self.n, len(multiplier.center))
        gaps = Gaps(self.fill, self.cells, ignored=self.aside)
        if self.fill is None or np.shape(X) == expected:  # or cells cannot be filled
            X = as_table(check_table(X, missing="auto", gaps=gaps))
        if X.shape != expected:
            raise ValueError(
                f"X has shape {X.shape}, but the certificate is about a table of shape {expected}."
            )
        table = X
        if self.n_removed == self.n or not np.isfinite(self.bound):
            raise ValueError(
                "There is nothing to verify: no row is kept, or some are too far away to square."
            )
        support = all_but(self.n, self.removed)
        kept = double(table.to_device(support))
        mean = table.mean(kept, self.mean)
        low, high, failure = verified_top(table, kept, mean, multiplier.metric)
        removed = _some_rows(table, self.removed)
        found = replace(
            self,
            lambda_max=max(0.0, low),
            bound=high,
            failure=failure,
            n_removed=self.n - int(support.sum()),
            most_kept=most_rows(multiplier, table, mean, self.budget),
            mean=mean,
            mean_of_removed=removed.sum(axis=0),
        )
        # Single precision is rounded once more for every row that is far from the origin.
        near = rounding_of(table, mean, multiplier.metric)
        eps = float(np.finfo(table.dtype).eps)
        rounding = max(BUDGET_TOL, ROUNDINGS * eps)
        rounding += near / max(found.sigma_kept, float(np.finfo(float).tiny))
        least = (self.n - found.n_removed) * near**2
        if np.isfinite(self.budget):  # what the digits of a row at the budget's distance leave
            least += self.budget * float(np.finfo(np.float64).eps) ** 2
        # Of the digits of the spread, half may be lost.
        off = near + float(np.sqrt(eps)) * found.sigma_kept
        removed_off = ROUNDINGS * eps * np.abs(removed).sum(axis=0)
        return Verification(self, found, rounding, least, off, removed_off)


@dataclass(frozen=True)
class Verification:
    """A certificate beside what was found in the data."""

    stated: Certificate
    found: Certificate
    rounding: float
    """Relative difference that rounding may make."""
    least: float = 0.0
    """An eigenvalue below this is nothing but rounding."""
    off: float = 0.0
    """Distance between means that rounding may make, in the metric."""
    removed_off: Array | float = 0.0
    """The same for the mean of the removed rows, by column."""

    @property
    def faults(self) -> tuple[str, ...]:
        """What does not hold, in words."""
        stated, found, room = self.stated, self.found, 1.0 + self.rounding
        faults = []
        metric = stated.multiplier.metric
        apart = found.mean - stated.mean
        if metric is not None:
            apart = np.subtract(*metric.transform(np.stack([found.mean, stated.mean])))
        if not np.linalg.norm(apart) <= self.off:
            j = int(np.abs(apart).argmax())
            faults.append(
                f"The mean of the kept rows is stated to be {stated.mean[j]:.9g} in column {j}, "
                f"but is {found.mean[j]:.9g}."
            )
        other = np.abs(found.mean_of_removed - stated.mean_of_removed)
        if not (other <= self.removed_off).all():
            j = int((other - self.removed_off).argmax())
            faults.append(
                f"The mean of the removed rows is stated to be {stated.mean_of_removed[j]:.9g} in "
                f"column {j}, but is {found.mean_of_removed[j]:.9g}."
            )
        if stated.lambda_max > found.bound * room + self.least:
            faults.append(
                f"The largest eigenvalue is stated to be at least {stated.lambda_max:.6g}, but is "
                f"at most {found.bound:.6g}."
            )
        if stated.bound * room + self.least < found.lambda_max:
            faults.append(
                f"The largest eigenvalue is stated to be at most {stated.bound:.6g}, but is at "
                f"least {found.lambda_max:.6g}."
            )
        if stated.most_kept + max(self.rounding, ROWS_TOL) * stated.n < found.most_kept:
            faults.append(
                f"At most {stated.most_kept:.6g} rows are stated to fit into the budget, but the "
                f"multiplier only proves {found.most_kept:.6g}."
            )
        if stated.n_removed != found.n_removed:
            faults.append(f"{stated.n_removed} rows are stated as removed, not {found.n_removed}.")
        return tuple(faults)

    @property
    def holds(self) -> bool:
        """Whether everything that was stated is true of the data."""
        return not self.faults

    def __str__(self) -> str:
        return "The certificate holds." if self.holds else " ".join(self.faults)


def _some_rows(table: Table, rows: Rows) -> Array:
    """Return at most `NOTED_ROWS` of some rows, divided by their number: their sum is the mean."""
    rows = on_host(rows)
    some = rows[np.linspace(0, len(rows) - 1, min(len(rows), NOTED_ROWS)).astype(np.intp)]
    if not len(some):
        return np.zeros((1, table.shape[1]))
    return np.asarray(table.fetch(some).astype(np.float64) / len(some))


def most_rows(dual: Multiplier, table: Table, center: Array, budget: float) -> float:
    """Bound sum(w) over all w in [0, 1]^n within a budget about a center; one pass.

    From the dual of the l1 problem: any multiple of Lambda is a multiplier, at any center.
    """
    if not len(dual.prices):
        return float(table.shape[0])
    price = float(dual.prices.sum()) * budget / dual.budget
    return packing_bound(table.constant(1.0), dual.scores_about(center, table), price)


def certify_rows(
    table: Table,
    kept: Rows,
    mean: Array,
    metric: Metric | None = None,
    **notes: Any,
) -> Certificate:
    """Certify a choice of rows with their mean; the budget is what they need.

    Eigenvalues are those in the metric. Nothing bounds how many rows can be kept.
    """
    top, most_kept = TopBounds(np.inf, np.inf, 0.0), float(kept.shape[0])
    multiplier = Multiplier.of_budget(mean, 1.0, metric)
    with np.errstate(over="ignore", invalid="ignore"):
        far = multiplier.scores(table)
    if every(namespace(far).isfinite(far) | ~kept):  # else some are too far away to square
        spectrum = spectrum_of_kept(table, double(kept), mean, metric)
        top = TopBounds(max(0.0, float(spectrum.values[0])), spectrum.bound, spectrum.failure)
    budget = top.high * kept.shape[0] / count(kept)
    return _certificate(table, kept, mean, top, budget, multiplier, most_kept, **notes)


def certify_verdict(
    verdict: Verdict, frame: Frame, table: Table, location: Array, weighted: bool
) -> Certificate:
    """Certify the verdict of a fit in its frame, in at most one pass.

    The location is the mean of the kept rows of the table, each counted once.
    """
    multiplier = verdict.dual.in_data(frame)
    most_kept = verdict.most_kept
    if verdict.rounded or not frame.complete:
        most_kept = most_rows(multiplier, table, location, verdict.budget)
    elif most_kept is None:
        most_kept = most_rows(verdict.dual, frame.table, verdict.mean, verdict.budget)
    top = TopBounds(verdict.lambda_max, verdict.bound, verdict.failure)
    tolerance = budget_tolerance(table.dtype) if verdict.given else BUDGET_TOL
    support = frame.of_all_rows(verdict.kept, False)
    return _certificate(
        table, support, location, top, verdict.budget, multiplier, most_kept,
        weighted=weighted, tolerance=tolerance,
    )  # fmt: skip


def _certificate(
    table: Table,
    kept: Rows,
    mean: Array,
    top: TopBounds,
    budget: float,
    multiplier: Multiplier,
    most_kept: float,
    **notes: Any,
) -> Certificate:
    """Put together what is known about the kept rows, with what is to be noted of their cells."""
    gaps, removed = table.gaps, namespace(kept).nonzero(~kept)[0]
    if gaps is not None:
        notes |= {"n_missing": int(gaps.counts.sum()), "aside": gaps.ignored, "cells": gaps.cells}
        notes["fill"] = gaps.fill if len(gaps.cells) else None
    return Certificate(
        budget=budget,
        lambda_max=top.low,
        bound=top.high,
        failure=top.failure,
        n=kept.shape[0],
        n_removed=removed.shape[0],
        most_kept=most_kept,
        removed=removed,
        multiplier=multiplier,
        mean=mean,
        mean_of_removed=_some_rows(table, removed).sum(axis=0),
        **notes,
    )
