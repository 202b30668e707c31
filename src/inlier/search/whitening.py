"""Some of the rows in coordinates in which those that are kept vary alike in all directions."""

from typing import NamedTuple

import numpy as np

from inlier._internal.arrays import (
    count,
    double,
    evenly_spaced,
    highest,
    like,
    namespace,
    on_host,
)
from inlier._internal.numbers import TINY
from inlier._internal.typing import Array, Rows
from inlier.data import Table
from inlier.search.settings import SEARCH

# Directions below this fraction of the largest variance hold rounding, or nothing.
RELATIVE = 1e-10


class White(NamedTuple):
    """Kept rows in coordinates in which they vary alike in all directions.

    What multiplies many rows is on the GPU if the table is.
    """

    rows: Rows
    """k x m: kept rows, as many as a pursuit uses, in the order of the variance divided out."""
    whitener: Rows
    """k x d: the rows are these directions times the data, less the mean."""
    shrinkage: Array
    """By how much a variance should be larger than it was measured, as the inverse."""
    sampled: bool
    """Whether the metric is that of a sample."""

    def directions(self, mixing: Array) -> Array:
        """Return directions of the data, j x d, of directions in these coordinates."""
        return on_host(like(mixing, self.whitener) @ self.whitener)

    def discriminant(self, offset: Array) -> Array:
        """Multiply an offset by the inverse covariance: Fisher's discriminant."""
        along = self.whitener @ like(offset, self.whitener)
        return on_host(self.whitener.T @ (like(self.shrinkage, along) * along))

    def shrunk(self, R: Rows) -> Rows:
        """Return other centered rows in these coordinates, m x k, with the shrunk variances.

        In single precision: it is enough to see how wide they lie.
        """
        xp = namespace(R)
        unit = max(highest(abs(R)), TINY)  # of any size, the numbers fit
        whitener = self.whitener * like(np.sqrt(self.shrinkage)[:, None] * unit, R)
        return xp.astype(R / unit, xp.float32) @ xp.astype(whitener, xp.float32).T


def whitened(
    table: Table, mean: Array, kept: Rows, least_variance: float, random: np.random.Generator
) -> White:
    """Whiten the kept rows, or as many of them as show the metric."""
    d = table.shape[1]
    most = max(SEARCH.whitened_cells // d, SEARCH.rows_per_column * d)
    chosen = chosen_rows(table, kept, most, random)
    sampled = len(chosen) < count(kept)
    R = centered_rows(table, chosen, mean)
    xp = namespace(R)
    variances, vectors = xp.linalg.eigh(R.T @ R / R.shape[0])
    values = np.maximum(on_host(variances), 0.0)
    held = values > max(RELATIVE * values[-1], least_variance)
    held[-1] = True
    places = np.flatnonzero(held)[::-1]
    values = np.maximum(values, TINY)[places]
    shrinkage = values / _shrunk(values, R)
    pursued = int(np.clip(SEARCH.pursued_cells // d, SEARCH.fewest_pursued, SEARCH.most_pursued))
    if R.shape[0] > pursued:
        order = xp.argsort(R @ like(random.standard_normal(d), R))
        R = xp.take(R, like(evenly_spaced(order, pursued), R), axis=0)
    basis = xp.take(vectors, like(places, R), axis=1).T / like(np.sqrt(values)[:, None], R)
    if sampled:  # of many: single precision is enough for directions above `RELATIVE`
        rows = double(xp.astype(basis, xp.float32) @ xp.astype(R, xp.float32).T)
    else:
        rows = basis @ R.T
    # The sign of an eigenvector is an accident; the random signs of a pursuit see it.
    signs = 1.0 - 2.0 * double(xp.sum(rows * rows * rows, axis=1, keepdims=True) < 0.0)
    rows *= signs
    basis *= signs
    return White(rows, basis, shrinkage, sampled)


def centered_rows(table: Table, rows: Array, mean: Array) -> Rows:
    """Return a few rows less the mean, in double precision, on the host or a GPU."""
    R = double(table.to_gpu(table.fetch(rows)))  # a copy
    R -= like(mean, R)
    return R


def chosen_rows(table: Table, among: Rows, most: int, random: np.random.Generator) -> Array:
    """Return the numbers of masked rows: all, or so many as spread evenly along a direction.

    Which ones does not depend on the order of the rows.
    """
    if count(among) <= most:
        return np.flatnonzero(on_host(among))
    order = table.order(random)
    return evenly_spaced(order[namespace(order).take(among, order)], most)


def _shrunk(values: Array, R: Rows) -> Array:
    """Shrink the eigenvalues of the covariance of R to their mean (Ledoit and Wolf 2004)."""
    m, d = R.shape
    unit = float(values[0])
    values = values / unit
    mean = float(values.sum()) / d
    squared = float(np.sum(values**2))
    lengths = on_host(namespace(R).linalg.vecdot(R, R)) / unit
    noise = (float(np.sum(lengths**2)) / m - squared) / m
    weight = float(np.clip(noise / max(squared - d * mean**2, TINY), 1e-6, 1.0))
    return np.asarray(unit * ((1.0 - weight) * values + weight * mean))
