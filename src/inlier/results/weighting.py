"""Mean and standard error of the kept rows: over the cells that are there, weighted if asked."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from inlier._internal.arrays import any_true, double, namespace, on_host, total
from inlier._internal.numbers import TINY
from inlier._internal.typing import Array, Rows
from inlier.data import Gaps, Table
from inlier.verdict import Suspect

# Squares of smaller numbers underflow, or nearly so, by the square of this.
TINY_COLUMN = 1e-150


@dataclass(frozen=True)
class KeptMean:
    """The mean of the kept rows, in double precision."""

    location: Array
    once: Array
    """Of the table with imputed cells, each row counted once: the subject of the certificate."""
    unweighted: Array | None
    """Each row counted once, if the location is weighted."""
    weights: Array | None
    """In units of the largest, if the location is weighted."""
    gaps: Gaps | None

    @property
    def weighted(self) -> bool:
        """Whether rows have different weights."""
        return self.weights is not None


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
    unweighted, weights = None, None
    if sample_weight is not None and some_kept:
        weights = on_host(support) * sample_weight
        if not weights.any():
            raise ValueError(
                "sample_weight is zero in every kept row, so that there is no weighted mean of "
                "them. Give some of them a weight, or leave sample_weight out."
            )
        weights = weights / weights.max()
        unweighted = location
        location, mass = table.observed_mean(weights, once)
    if gaps is not None:
        gaps = replace(gaps, all_missing=np.flatnonzero(mass == 0.0))
    return KeptMean(location, once, unweighted, weights, gaps)


def _in_double(table: Table, weights: Rows, near: Array) -> Array:
    """Compute a weighted mean in double precision about a row that has weight, if one has."""
    heaviest = int(namespace(weights).argmax(weights))
    if float(weights[heaviest]) <= 0.0:
        return near
    origin = table.row(heaviest)
    return np.asarray(origin + table.squares(origin, weights)[1] / total(weights))


def mean_and_error(
    table: Table, weights: Rows, n_kept: int, center: Array
) -> tuple[Array, Array, Array]:
    """Compute the weighted mean of each column, its standard error and its effective size.

    In one pass about a point near the mean; infinite where fewer than two cells count.
    """
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
    return center + drift / own, error * unit, m


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


def shifted(suspect: Suspect, table: Table, mean: KeptMean) -> Suspect:
    """Return a suspect with how far the weighted mean moves without it; two passes."""
    weights, location = mean.weights, mean.location
    assert weights is not None
    others = weights.copy()
    others[on_host(suspect.rows)] = 0.0
    if not others.any():
        return replace(suspect, shift=np.nan)
    offset = table.observed_mean(others, location)[0] - location
    length = float(np.linalg.norm(offset))
    if length == 0.0:
        return replace(suspect, shift=0.0)
    along = on_host(table.project(location, offset[None] / length))[0].astype(np.float64)
    inside = weights > 0.0
    variance = float(weights[inside] @ along[inside] ** 2) / float(weights.sum())
    error = float(np.sqrt(variance / effective_size(weights)))
    return replace(suspect, shift=length / max(error, TINY))
