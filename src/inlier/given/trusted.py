"""Given that somebody has checked some rows: which of the others leave, and how sure that is.

Trusted rows have a mean. It is less precise than that of all good rows, but nothing that is bad has
a part in it. If the mean of the kept rows is farther from theirs than chance would have it, other
rows are trimmed from outside in, by their distance from the trusted ones, until along the way on
which that moves the mean it is not. Trusted rows are never removed.

Whether a single row is bad is another question, which conformal p-values answer (Bates, Candès,
Lei, Romano and Sesia 2023, Testing for outliers with conformal p-values). They take sizes for which
good and trusted rows are alike: by the kept rows in the middle, found without knowing which are
trusted (Marandon, Lei, Mary and Roquain 2024, Adaptive novelty detection with false discovery rate
guarantee). Then the procedure of Benjamini and Hochberg controls the false discovery rate.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import stdtrit

from inlier._internal.arrays import on_host
from inlier._internal.numbers import TINY
from inlier._internal.typing import Array, Mask
from inlier._internal.validation import as_array, is_device_array
from inlier.data import Table, as_table
from inlier.data.checks import check_index, counts_rows
from inlier.data.sources.base import listed
from inlier.given.contamination import answer, compared, most_bad
from inlier.given.trimming import EQUAL, Trimming, ellipsoid
from inlier.linalg.whitening import shrunk_metric
from inlier.results.choosing import chosen
from inlier.results.outlyingness import measured
from inlier.verdict import Finding, Kind

if TYPE_CHECKING:
    from inlier.results.result import RobustMeanResult

# Fewer say too little about how rows vary.
FEWEST = 5
# From so many on, distances are in the metric of the trusted rows; with fewer, in that of the kept
# rows in the middle.
OWN_METRIC = 20
# The mean of the kept rows may differ from theirs by what chance leaves with this probability.
LEVEL = 0.95
# The mean of m trusted rows has n / m times the variance of that of all n, and this much is lost if
# the mean follows it by mistake: in expectation at most this part of the variance of the mean.
LOST = 0.5
# Rows that leave lie out along the way on which they move the mean, on average by this many
# standard deviations, as those of a Gaussian do that are more than one out.
OUT = 1.5
# More than so many times what chance leaves is worth a warning.
APART = 2.0
# Of the rows may be bad, if no fraction is given.
HALF = 0.5
# On the way inwards the mean is computed at so many places; between two of them, along a line.
PLACES = 64


@dataclass(frozen=True, eq=False)
class Trusted:
    """Rows that somebody has checked."""

    rows: Array
    """Their values, m x d."""
    index: Array | None
    """Which rows of the table they are; None if they are not in it."""

    @classmethod
    def of(cls, value: Any, table: Table) -> Trusted:
        """Read the argument `trusted`: indices, a mask, or a second table."""
        n, d = table.shape
        given = as_array(on_host(value) if is_device_array(value) else value, "trusted")
        if given.ndim == 2:
            return cls(_second_table(given, d), None)
        index = _rows_of(given, n, f", or a table with its {d} columns")
        _check_count(len(index))
        return cls(table.fetch(index).astype(np.float64), index)

    def in_table(self, table: Table) -> Trusted:
        """Return the same rows as they are in the table of a fit, where cells may be set aside."""
        if self.index is None:
            return self
        return replace(self, rows=table.fetch(self.index).astype(np.float64))

    def mask(self, n: int) -> Mask:
        """Return which rows of the table are trusted."""
        inside = np.zeros(n, dtype=np.bool_)
        if self.index is not None:
            inside[self.index] = True
        return inside

    def check_sigma(self, sigma: float) -> None:
        """Raise if the trusted rows vary by more than sigma in some direction, beyond chance."""
        m, d = self.rows.shape
        offsets = self.rows - self.rows.mean(axis=0)
        top = float(np.linalg.norm(offsets, 2)) / np.sqrt(m - 1)
        # In m rows of d columns the largest deviation exceeds that of all rows by chance (Vershynin
        # 2012, Introduction to the non-asymptotic analysis of random matrices, Corollary 5.35).
        chance = 1.0 + np.sqrt(d / m) + 3.0 / np.sqrt(m)
        if top > chance * sigma:
            raise ValueError(
                f"sigma={sigma:g} contradicts the trusted rows, which vary by {top:.3g} in some "
                f"direction (by chance up to {chance * sigma:.3g}). Raise sigma, or leave it out."
            )


def with_trusted(
    result: RobustMeanResult, trusted: Trusted, fraction: float | None = None
) -> RobustMeanResult:
    """Return the answer if some rows are trusted, and at most a fraction is bad; no new fit.

    Some twenty passes.
    """
    n, metric = int(result.support.shape[0]), result._rule.metric
    trusted = trusted.in_table(as_table(result._known_data()))
    rows = trusted.rows if metric is None else metric.transform(trusted.rows)
    never = trusted.mask(n)
    measure = None  # that of the kept rows in the middle
    if len(rows) >= OWN_METRIC:
        measure = ellipsoid(rows, rows.mean(axis=0), shrunk_metric)
    trimming = Trimming.of(result, measure, never)
    allowed = most_bad(HALF if fraction is None else fraction, n)
    most = max(0, min(allowed, len(trimming.found) + len(trimming.others) - 1))
    # Of the variance of their mean; trusted rows in the table have a part in its mean too.
    share = 1.0 / len(rows) + (-1.0 if never.any() else 1.0) / n
    n_found = trimming.n_found
    trimming, j, gap = _trimmed(trimming, rows, share, most)
    findings = [Finding(Kind.TRUSTED, len(rows))]
    if fraction is not None:
        # None were found for the mean if the trusted rows speak for them.
        findings += compared(fraction, n_found if trimming.n_found else 0, allowed)
    findings.extend(_distance(rows, share, gap))
    given = answer(trimming, j, findings)
    return replace(given, _tested=Tested(result, trusted), _trusted=never)


def _distance(rows: Array, share: float, gap: Array) -> list[Finding]:
    """Return what to say if the mean is farther from that of the trusted rows than by chance."""
    length = float(np.linalg.norm(gap))
    if share <= 0.0:  # all rows are trusted: the two are the same mean
        return []
    if not np.ptp(rows, axis=0).any():
        rounding = EQUAL * float(np.abs(rows).max())
        return [Finding(Kind.TRUSTED_EQUAL)] if length > rounding else []
    apart = length / max(np.sqrt(share * _chance(rows)), TINY)
    return [Finding(Kind.TRUSTED_APART, value=apart)] if apart > APART else []


def put_back(result: RobustMeanResult, trusted: Trusted) -> RobustMeanResult:
    """Return the answer for a given sigma with the trusted rows back that it has removed."""
    support = on_host(result.support) | trusted.mask(int(result.support.shape[0]))
    back = int(support.sum()) - int(on_host(result.support).sum())
    outcome = result._outcome.with_findings(Finding(Kind.TRUSTED, len(trusted.rows)))
    if back:
        outcome = outcome.with_findings(Finding(Kind.TRUSTED_BACK, back))
        result = replace(chosen(result, support, ()), sigma=result.sigma)
    return replace(result, _outcome=outcome, _trusted=trusted.mask(len(support)))


def _trimmed(
    trimming: Trimming, rows: Array, share: float, most: int
) -> tuple[Trimming, int, Array]:
    """Return the order, how many rows of it leave, and how far the mean then is from theirs."""
    target = rows.mean(axis=0) - trimming.center
    start = min(trimming.n_found, most)
    *before, gap = trimming.means(np.unique([0, start])) - target
    if before and np.linalg.norm(gap) > np.linalg.norm(before[0]):
        # The trusted rows speak for those that the fit has removed.
        trimming, start, gap = trimming.from_outside(), 0, before[0]
    level = max(LEVEL, 1.0 - LOST * len(rows) / trimming.table.shape[0])
    if float(gap @ gap) <= share * _chance(rows, level):
        return trimming, start, gap
    places = np.unique(np.linspace(start, most, PLACES).astype(np.intp))
    gaps = trimming.means(places) - target
    best = int(np.einsum("ij,ij->i", gaps, gaps).argmin())
    way = gaps[0] - gaps[best]
    if not way.any():
        return trimming, start, gap
    way /= np.linalg.norm(way)
    deviation = float((rows @ way).std(ddof=1))
    error = deviation * np.sqrt(share)
    needed = float(gaps[0] @ way) - float(stdtrit(len(rows) - 1, level)) * error
    if needed <= 0.0:
        return trimming, start, gap
    # How far the mean moves along the way after each further row.
    along, end, n = trimming.along(way[None])[0], int(places[best]), trimming.table.shape[0]
    along[trimming.rows[:start]] = 0.0
    left = along.sum() - np.cumsum(along[trimming.rows[start:end]])
    moved = along.sum() / (n - start) - left / (n - np.arange(start + 1, end + 1))
    enough = np.flatnonzero(moved >= needed)
    j = trimming.untied(start + (int(enough[0]) + 1 if len(enough) else len(moved)))
    if j == start or moved[j - start - 1] * (n - j) < OUT * deviation * (j - start):
        return trimming, start, gap
    return trimming, j, trimming.means(np.array([j]))[0] - target


def _chance(rows: Array, level: float = LEVEL) -> float:
    """Return what the squared length of a sum of good rows exceeds rarely, per row.

    The squared length of a Gaussian vector of covariance S has mean tr(S), variance 2 tr(S^2).
    """
    offsets = rows - rows.mean(axis=0)
    gram = offsets @ offsets.T / (len(rows) - 1)
    deviation = float(np.sqrt(2.0 * np.sum(gram * gram)))
    return float(np.trace(gram)) + float(stdtrit(len(rows) - 1, level)) * deviation


@dataclass(frozen=True, eq=False)
class Tested:
    """The rows of an answer of the search, compared with trusted ones when that is asked for."""

    result: RobustMeanResult
    trusted: Trusted

    @cached_property
    def p_values(self) -> Array:
        """The conformal p-value of each row, 1 for trusted ones; some passes, once.

        Rows that the search has removed are farther out than all others.
        """
        result, trusted, trimming = self.result, self.trusted, Trimming.of(self.result)
        sizes = np.where(on_host(result.support), trimming.sizes, np.inf)
        if trusted.index is not None:
            known = sizes[trusted.index]
        else:
            table = as_table(trusted.rows)
            there = table if (metric := result._rule.metric) is None else table.in_metric(metric)
            removed = on_host(result._rule.scores(table)) > result._rule.threshold
            known = np.where(removed, np.inf, on_host(measured(there, trimming.measure)))
        known = np.sort(known)
        as_far = len(known) - np.searchsorted(known, sizes, side="left")
        return np.where(trusted.mask(len(sizes)), 1.0, (1.0 + as_far) / (1.0 + len(known)))

    def __getstate__(self) -> dict[str, Array]:
        """Leave out the data."""
        return {"p_values": self.p_values}


def trusted_mask(trusted: Any, n: int) -> Mask:
    """Return which rows are trusted, given by a mask or by indices."""
    given = as_array(on_host(trusted) if is_device_array(trusted) else trusted, "trusted")
    if given.ndim == 2:
        raise ValueError(
            "trusted must be indices or a mask of rows of X if there are groups: trusted rows are "
            "of one of them. For a table of others, fit this group alone."
        )
    mask = np.zeros(n, dtype=np.bool_)
    mask[_rows_of(given, n)] = True
    return mask


def _rows_of(given: Array, n: int, other: str = "") -> Array:
    """Return the rows that are trusted, by a mask or by indices."""
    if given.dtype == np.bool_ and given.shape == (n,):
        return np.flatnonzero(given)
    if given.ndim != 1 or given.dtype.kind not in "iu":
        raise ValueError(
            f"trusted must be the indices of rows of X, counted from 0, or a mask of its {n} rows"
            f"{other}, but has shape {given.shape} and dtype {given.dtype}."
        )
    index = np.unique(given)
    if len(index) and not (-n <= index[0] and index[-1] < n):
        wrong = index[0] if index[0] < -n else index[-1]
        raise ValueError(f"trusted has the index {wrong}, but X has {n} rows, counted from 0.")
    return np.unique(index % n)


def check_names(trusted: Any, X: Any) -> None:
    """Raise if trusted rows are named otherwise than in X: rows and columns go by their order."""
    own_index = getattr(X, "index", None) if hasattr(X, "iloc") else None
    if hasattr(trusted, "get_indexer") and own_index is not None and not counts_rows(own_index):
        raise ValueError(
            "trusted is an index of labels, but rows are given by their numbers, from 0. Pass a "
            "mask: X.index.isin(trusted)."
        )
    if str(getattr(trusted, "dtype", "")) in ("bool", "boolean"):
        check_index(trusted, X, "trusted")
    theirs, own = _names(trusted), _names(X)
    if theirs is None or own is None or theirs == own:
        return
    if sorted(theirs) == sorted(own):
        raise ValueError(
            "trusted has the columns of X in another order. Give them in the order of X, as "
            "trusted[X.columns] has them."
        )
    raise ValueError(
        f"trusted, as a table, must have the columns of X, {listed(own)}, but has "
        f"{listed(theirs)}. Select those of X, or leave the names away."
    )


def _names(X: Any) -> list[str] | None:
    """Return the names of the columns; None if there are none, or only numbers."""
    names = getattr(X, "column_names", getattr(X, "columns", None))
    if names is None or callable(names):
        return None
    names = list(names)
    return names if all(isinstance(name, str) for name in names) else None


def _second_table(given: Array, d: int) -> Array:
    """Check a table of trusted rows that are not rows of X."""
    if given.shape[1] != d or given.dtype.kind not in "buif":
        raise ValueError(
            f"trusted, as a table, must have the {d} columns of X as numbers, but has shape "
            f"{given.shape} and dtype {given.dtype}."
        )
    _check_count(len(given))
    rows = given.astype(np.float64)
    if not np.isfinite(rows).all():
        raise ValueError(
            "trusted contains NaN or infinity. Leave out rows with missing cells, or give the "
            "indices of rows of X, in which cells may be missing."
        )
    return rows


def _check_count(m: int) -> None:
    if m < FEWEST:
        raise ValueError(
            f"trusted must be at least {FEWEST} rows, but there are {m}: fewer say too little "
            "about how good rows vary."
        )
