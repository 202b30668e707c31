"""Mean and standard error of the kept rows: over the cells that are there, weighted if asked.

And how far bad rows can move the mean of each column: the proof is in docs/no-knobs.md.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from inlier._internal.arrays import any_true, double, evenly_spaced, namespace, on_host, total
from inlier._internal.typing import Array, Mask, Rows
from inlier._internal.validation import fit_generator
from inlier.data import Gaps, Table
from inlier.search.thresholds import INFLATED, INNER_SHARE, SAMPLE_CELLS, SAMPLE_ROWS

# Squares of smaller numbers underflow, or nearly so, by the square of this.
TINY_COLUMN = 1e-150


class KeptMean(NamedTuple):
    """The mean of the kept rows, in double precision."""

    location: Array
    once: Array
    """Of the table with imputed cells, each row counted once: the subject of the certificate."""
    weighted: bool
    """Whether rows have different weights in the location."""
    gaps: Gaps | None


def mean_of(
    table: Table,
    support: Rows,
    indicator: Rows | None,
    near: Array,
    sample_weight: Array | None,
    exact: bool = False,
) -> KeptMean:
    """Compute the mean of the kept rows about a point near it: one pass, none if it is `exact`.

    In single precision always a pass, because the sums of a fit round a constant column.

    If none is kept, the mean of all rows weighted by 1 - h. One pass more if cells are missing, and
    if rows have weights. Which rows are kept does not depend on the weights.
    """
    some_kept = any_true(support)
    kept = double(support) if some_kept or indicator is None else 1.0 - indicator
    if table.dtype == np.float32:
        once = _in_double(table, kept, near)
    else:
        once = near if exact else table.mean(kept, near)
    location, gaps = once, table.gaps
    if gaps is not None:
        location, mass = table.observed_mean(on_host(support), once)
    weighted = sample_weight is not None and some_kept
    if weighted:
        weights = on_host(support) * sample_weight
        if not weights.any():
            raise ValueError(
                "sample_weight is zero in every kept row, so that there is no weighted mean of "
                "them. Give some of them a weight, or leave sample_weight out."
            )
        location, mass = table.observed_mean(weights / weights.max(), once)
    if gaps is not None:
        gaps = replace(gaps, all_missing=np.flatnonzero(mass == 0.0))
    return KeptMean(location, once, weighted, gaps)


def _in_double(table: Table, weights: Rows, near: Array) -> Array:
    """Compute a weighted mean in double precision about a row that has weight, if one has."""
    heaviest = int(namespace(weights).argmax(weights))
    if float(weights[heaviest]) <= 0.0:
        return near
    origin = table.row(heaviest)
    return np.asarray(origin + table.squares(origin, weights)[1] / total(weights))


class ColumnMeans(NamedTuple):
    """The means of the columns over the kept rows, and how sure they are."""

    mean: Array
    error: Array
    """Their standard errors; infinite where fewer than two cells count."""
    size: Array
    """Their effective sizes: the numbers of the cells that count, if there are no weights."""

    @property
    def deviation(self) -> Array:
        """The standard deviations of the cells that count; 0 if they are fewer than two."""
        deviation, some = np.zeros(len(self.size)), self.size > 1.0
        deviation[some] = self.error[some] * np.sqrt(self.size[some] - 1.0)
        return deviation

    def interval(self, level: float, location: Array) -> tuple[Array, Array]:
        """Return the ends of Student's t intervals, which hold the rounded means too."""
        # From the tail: (1 + level) / 2 is rounded to 1 where the level is nearly so.
        reach, known = np.full(len(self.error), np.inf), np.isfinite(self.error)
        reach[known] = -stdtrit(self.size[known] - 1, (1.0 - level) / 2.0) * self.error[known]
        # Where rows vary by less than the rounding of the location, that is still in the interval;
        # where they do not vary, it is the interval.
        mean = np.where(self.error > 0.0, self.mean, location)
        return np.minimum(mean - reach, location), np.maximum(mean + reach, location)


def column_means(table: Table, weights: Rows, n_kept: int, center: Array) -> ColumnMeans:
    """Compute the weighted means of the columns in one pass about a point near them."""
    center, squares, drift, mass, mass_squared = table.observed_sums(weights, center)
    unit = np.ones(len(center))
    if len(tiny := _underflowing(table, weights, center, squares)):
        # Once more with weights that raise them; what else becomes infinite is not used.
        unit[tiny] = TINY_COLUMN
        with np.errstate(over="ignore", invalid="ignore"):
            raised = table.observed_sums(weights / TINY_COLUMN / TINY_COLUMN, center)
        squares[tiny] = raised.squares[tiny]
    own = np.where(mass > 0.0, mass, 1.0)
    m = mass * (mass / np.where(mass_squared > 0.0, mass_squared, 1.0))
    with np.errstate(over="ignore", invalid="ignore"):
        # About the mean itself: the point may have been rounded to single precision.
        about = squares - (drift / unit) * (drift / unit / own)
        # Of a constant column that leaves rounding, in place of zero.
        about = np.where(about > 4.0 * n_kept * np.finfo(float).eps * squares, about, 0.0)
        # Rows too far away to square were kept, or put back; or one cell is all there is.
        about = np.where(np.isfinite(squares) & (m > 1.0), about, np.inf)
        error = np.sqrt(about / np.where(m > 1.0, m - 1.0, 1.0) / own)
    return ColumnMeans(center + drift / own, error * unit, m)


def _underflowing(table: Table, weights: Rows, center: Array, squares: Array) -> Array:
    """Return the columns that vary, as some rows show, by less than can be squared."""
    small = (squares < TINY_COLUMN) & (np.abs(center) < TINY_COLUMN**0.5)
    if not small.any():
        return np.flatnonzero(small)
    kept = np.flatnonzero(on_host(weights) > 0.0)
    some = table.fetch(kept[:: len(kept) // 500 + 1]).astype(np.float64)
    return np.flatnonzero(small & (some != some[0]).any(axis=0))


def effective_size(weights: Array) -> float:
    """Return the number of rows of one weight with the same variance, (sum w)^2 / sum w^2."""
    mass = float(weights.sum())
    return mass * (mass / float(weights @ weights)) if mass > 0.0 else 0.0


def bounds(table: Table, kept: Mask, fraction: float, means: ColumnMeans) -> Array:
    """Bound how far the means of the good rows are from those of the cells that count."""
    n, counted = table.shape[0], np.round(means.size)  # the effective size is rounded
    common = np.maximum(counted / n - fraction, 0.0)
    with np.errstate(divide="ignore"):
        bound = np.where(common > 0.0, means.deviation * np.sqrt(fraction / common), np.inf)
    some = np.flatnonzero((counted < n) & np.isfinite(bound))
    if len(some):
        missing = np.zeros(len(bound)) if table.gaps is None else table.gaps.counts
        present = n - missing[some]
        spread = INFLATED * _largest_units(table, kept, some, fraction * n, present)
        bound[some] += spread * np.sqrt((1.0 - counted[some] / n) / common[some])
    return bound


def _largest_units(table: Table, kept: Mask, columns: Array, bad: float, present: Array) -> Array:
    """Return the largest unit that the good values of columns can have; infinite if it may be 0.

    The unit is half of the shortest interval that holds a share of them. Up to `bad` of the values
    that are `present` are not good.
    """
    rows = on_host(table.order(fit_generator(0)))
    rows = rows[kept[rows]]
    n_kept = len(rows)
    most = max(SAMPLE_ROWS, SAMPLE_CELLS // table.shape[1])
    rows = rows if n_kept <= most else evenly_spaced(rows, most)
    values = table.fetch(rows)[:, columns].astype(np.float64)
    if table.missing is not None:  # these are filled
        values[table.missing[np.ix_(rows, columns)]] = np.nan
    # Of a sample, three standard errors more, or fewer, at least.
    part, doubt = len(rows) / n_kept, 0.0 if len(rows) == n_kept else 1.5 * np.sqrt(len(rows))
    good = INNER_SHARE * np.maximum(present - bad, 0.0)
    units = np.empty(len(columns))
    for i, (ascending, of_good) in enumerate(zip(np.sort(values, axis=0).T, good, strict=True)):
        ascending = ascending[: np.count_nonzero(~np.isnan(ascending))]
        least, largest = (
            _shortest(ascending, int(np.ceil(number - 1e-9)))
            for number in (part * of_good - doubt, part * (of_good + bad) + doubt)
        )
        units[i] = largest / 2.0 if least > 0.0 else np.inf
    return units


def _shortest(ascending: Array, k: int) -> float:
    """Return the length of the shortest interval that holds k values; infinite if none does."""
    if k > len(ascending):
        return np.inf
    k = max(k, 1)
    return float(np.min(ascending[k - 1 :] - ascending[: len(ascending) - k + 1]))
