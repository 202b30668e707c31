"""What is known about an answer, computed at the answer, and how to check it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from inlier import theory
from inlier._internal.arrays import all_but, count, double, every, namespace, on_host
from inlier._internal.typing import Array, Rows
from inlier.data import Frame, Gaps, Metric, Table, as_table, is_external
from inlier.data.checks import as_rows, check_table, opened
from inlier.data.imputed import NO_CELLS
from inlier.l0.problem import BUDGET_TOL, ROWS_TOL, budget_tolerance, fewest_removed, packing_bound
from inlier.linalg.eigenpairs import (
    ROUNDINGS,
    TopBounds,
    rounding_of,
    spectrum_of_kept,
    verified_top,
)
from inlier.results.weighting import KeptMean
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
    weighted : bool
        Whether the answer is a weighted mean. All that is stated is about the mean of the kept
        rows, each counted once.
    gaps : Gaps, optional
        Which cells are missing or were set aside. All that is stated is about the table that has
        the median of the column in the place of each, and about the mean of its kept rows.
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
    weighted: bool = False
    gaps: Gaps | None = field(default=None, repr=False, compare=False)

    @property
    def cells(self) -> Array:
        """Row and column of the extreme cells that were set aside, k x 2."""
        return NO_CELLS if self.gaps is None else self.gaps.cells

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

    @property
    def subject(self) -> str:
        """Which mean all of this is about."""
        return "the mean with each row counted once" if self.weighted else "the mean"

    def statement(self, alpha: float | None = None, sigma: float | None = None) -> str:
        """State how far the mean can be off in plain words.

        By default in standard deviations of the columns, which may be in different units; if
        `sigma` is given, as `error_radius`, in the unit of sigma.

        Parameters
        ----------
        alpha, sigma : float, optional
            Assumed, as in `error_radius`; unless given, alpha is `assumed`.
        """
        if not np.isfinite(self.bound):
            return "Some of the kept rows are so far away that nothing is known about the mean."
        alphas = self.assumed if alpha is None else (alpha,)
        if sigma is None:
            # Columns may be in different units: each is compared with its own deviation.
            far = [float(self.relative_radius(a)) for a in alphas]
            mean = self.subject.replace("mean", "mean of each column", 1)
            vary = "no more than the kept ones"
            unit = " standard deviations"
        else:
            far, mean, unit = [float(self.error_radius(a, sigma)) for a in alphas], self.subject, ""
            vary = f"by at most {sigma:.3g} in any direction"
        bad = _alternatives([f"{100.0 * a:.3g}%" for a in alphas])
        assumed = f"If at most {bad} of the rows are bad and the good rows vary {vary}"
        if not np.isfinite(far).any():
            return f"{assumed}, nothing is known: all of the kept rows may be bad."
        within = _alternatives([f"{r:.3g}" if np.isfinite(r) else "any number of" for r in far])
        said = f"{assumed}, {mean} is within {within}{unit} of that of the good rows"
        if self.gaps is None:
            return f"{said}."
        kinds = {"missing": self.gaps.counts.any(), "extreme": len(self.cells) > 0}
        filled = " or ".join(kind for kind, some in kinds.items() if some)
        article = "an" if filled == "extreme" else "a"
        return f"{said}, if {article} {filled} cell counts as the median of its column."

    def verify(self, X: Any) -> Verification:
        """Recompute every number from the data, and report what does not hold.

        The largest eigenvalue comes from the whole matrix with up to 4,096 columns, or rows in
        memory; from a randomised bound in more passes otherwise.

        Parameters
        ----------
        X : array, sparse matrix, data frame, file or Dask collection of shape (n, d)
            What the fit was about; if cells are missing, with these cells missing.
        """
        multiplier = self.multiplier
        table = same_table(X, (self.n, len(multiplier.center)), self.gaps)
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
        return Verification(self, found, self._faults(found, table, removed))

    def _faults(self, found: Certificate, table: Table, removed: Array) -> tuple[str, ...]:
        """Return what does not hold, beyond what rounding may make."""
        metric, eps = self.multiplier.metric, float(np.finfo(table.dtype).eps)
        # Single precision is rounded once more for every row that is far from the origin.
        near = rounding_of(table, found.mean, metric)
        rounding = max(BUDGET_TOL, ROUNDINGS * eps)
        rounding += near / max(found.sigma_kept, float(np.finfo(float).tiny))
        # An eigenvalue below this is nothing but rounding.
        least = (self.n - found.n_removed) * near**2
        if np.isfinite(self.budget):  # what the digits of a row at the budget's distance leave
            least += self.budget * float(np.finfo(np.float64).eps) ** 2
        apart = found.mean - self.mean
        if metric is not None:
            apart = np.subtract(*metric.transform(np.stack([found.mean, self.mean])))
        # Of the digits of the spread, half may be lost.
        allowed = near + float(np.sqrt(eps)) * found.sigma_kept
        kept_agree = float(np.linalg.norm(apart)) <= allowed
        beyond = np.abs(found.mean_of_removed - self.mean_of_removed)
        beyond -= ROUNDINGS * eps * np.abs(removed).sum(axis=0)
        faults = []
        for rows, stated, true, agree, off in (
            ("kept", self.mean, found.mean, kept_agree, np.abs(apart)),
            ("removed", self.mean_of_removed, found.mean_of_removed, (beyond <= 0.0).all(), beyond),
        ):
            if not agree:
                j = int(off.argmax())
                faults.append(
                    f"The mean of the {rows} rows is stated to be {stated[j]:.9g} in column {j}, "
                    f"but is {true[j]:.9g}."
                )
        eigenvalue = "The largest eigenvalue is stated to be"
        if self.lambda_max > found.bound * (1.0 + rounding) + least:
            faults.append(
                f"{eigenvalue} at least {self.lambda_max:.10g}, but is at most {found.bound:.10g}."
            )
        if self.bound * (1.0 + rounding) + least < found.lambda_max:
            faults.append(
                f"{eigenvalue} at most {self.bound:.10g}, but is at least {found.lambda_max:.10g}."
            )
        if self.most_kept + max(rounding, ROWS_TOL) * self.n < found.most_kept:
            faults.append(
                f"At most {self.most_kept:.6g} rows are stated to fit into the budget, but the "
                f"multiplier only proves {found.most_kept:.6g}."
            )
        if self.n_removed != found.n_removed:
            faults.append(f"{self.n_removed} rows are stated as removed, not {found.n_removed}.")
        return tuple(faults)


@dataclass(frozen=True)
class Verification:
    """A certificate beside what was found in the data."""

    stated: Certificate
    found: Certificate
    faults: tuple[str, ...]
    """What does not hold, in words."""

    @property
    def holds(self) -> bool:
        """Whether everything that was stated is true of the data."""
        return not self.faults

    def __str__(self) -> str:
        return "The certificate holds." if self.holds else " ".join(self.faults)


def _alternatives(words: list[str]) -> str:
    """Return a list in a sentence: a, b or c."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def same_table(X: Any, shape: tuple[int, ...], gaps: Gaps | None, columns: Any = None) -> Table:
    """Return the data of a fit again as a table, in which the same cells do not count."""
    if is_external(X):
        X, names = opened(X)
        columns = names if columns is None else columns
    X = as_rows(X)
    # Other data cannot be filled as in the fit.
    found = shape if gaps is None else np.shape(X)
    if found == shape:
        X = as_table(check_table(X, missing="auto", columns=columns, gaps=gaps or Gaps()))
        found = X.shape
    if found != shape:
        raise ValueError(f"X has shape {found}, but the fit was about a table of shape {shape}.")
    table: Table = X
    return table if columns is None else table.named(columns, None)


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
    table: Table, kept: Rows, mean: KeptMean, metric: Metric | None, n_suspected: int
) -> Certificate:
    """Certify a choice of rows with their mean; the budget is what they need.

    Eigenvalues are those in the metric. Nothing bounds how many rows can be kept.
    """
    top, n = TopBounds(np.inf, np.inf, 0.0), kept.shape[0]
    multiplier = Multiplier.of_budget(mean.once, 1.0, metric)
    with np.errstate(over="ignore", invalid="ignore"):
        far = multiplier.scores(table)
    if every(namespace(far).isfinite(far) | ~kept):  # else some are too far away to square
        spectrum = spectrum_of_kept(table, double(kept), mean.once, metric)
        top = TopBounds(max(0.0, float(spectrum.values[0])), spectrum.bound, spectrum.failure)
    budget = top.high * n / count(kept)
    stated = _certificate(table, kept, mean, top, budget, multiplier, float(n))
    return replace(stated, n_suspected=n_suspected)


def certify_verdict(verdict: Verdict, frame: Frame, table: Table, mean: KeptMean) -> Certificate:
    """Certify the verdict of a fit in its frame, in at most one pass."""
    multiplier = verdict.dual.in_data(frame)
    most_kept = verdict.most_kept
    if verdict.rounded or not frame.complete:
        most_kept = most_rows(multiplier, table, mean.once, verdict.budget)
    elif most_kept is None:
        most_kept = most_rows(verdict.dual, frame.table, verdict.mean, verdict.budget)
    top = TopBounds(verdict.lambda_max, verdict.bound, verdict.failure)
    support = frame.of_all_rows(verdict.kept, False)
    stated = _certificate(table, support, mean, top, verdict.budget, multiplier, most_kept)
    tolerance = budget_tolerance(table.dtype) if verdict.given else BUDGET_TOL
    return replace(stated, tolerance=tolerance)


def _certificate(
    table: Table,
    kept: Rows,
    mean: KeptMean,
    top: TopBounds,
    budget: float,
    multiplier: Multiplier,
    most_kept: float,
) -> Certificate:
    """Put together what is known about the kept rows."""
    removed = namespace(kept).nonzero(~kept)[0]
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
        mean=mean.once,
        mean_of_removed=_some_rows(table, removed).sum(axis=0),
        weighted=mean.weighted,
        gaps=mean.gaps,
    )
