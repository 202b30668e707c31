"""Some of the rows in coordinates in which those that are kept vary alike in all directions."""

from typing import NamedTuple

import numpy as np

from inlier._internal.arrays import count, evenly_spaced, namespace, on_host
from inlier._internal.numbers import TINY
from inlier._internal.typing import Array, Rows
from inlier.data import Table
from inlier.unknown_sigma.settings import SEARCH

# Directions below this fraction of the largest variance hold rounding, or nothing.
RELATIVE = 1e-10


class White(NamedTuple):
    """Kept rows in coordinates in which they vary alike in all directions."""

    rows: Array
    """k x m: kept rows, as many as a pursuit uses, in the order of the variance divided out."""
    whitener: Array
    """k x d: the rows are these directions times the data, less the mean."""
    shrinkage: Array
    """By how much a variance should be larger than it was measured, as the inverse."""
    sampled: bool
    """Whether the metric is that of a sample."""

    def discriminant(self, offset: Array) -> Array:
        """Multiply an offset by the inverse covariance: Fisher's discriminant."""
        return np.asarray(self.whitener.T @ (self.shrinkage * (self.whitener @ offset)))


def whitened(
    table: Table, mean: Array, kept: Rows, least_variance: float, random: np.random.Generator
) -> White:
    """Whiten the kept rows, or as many of them as show the metric; at most one pass."""
    d = table.shape[1]
    most = max(SEARCH.whitened_cells // d, SEARCH.rows_per_column * d)
    chosen = chosen_rows(table, kept, most, random)
    sampled = len(chosen) < count(kept)
    R = table.some(chosen) - mean
    values, vectors = np.linalg.eigh(R.T @ R / len(R))
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    held = values > max(RELATIVE * values[0], least_variance)
    held[0] = True
    values = np.maximum(values, TINY)
    values, vectors = values[held], vectors[:, held]
    shrinkage = values / _shrunk(values, R)
    pursued = int(np.clip(SEARCH.pursued_cells // d, SEARCH.fewest_pursued, SEARCH.most_pursued))
    if len(R) > pursued:
        R = R[evenly_spaced(np.argsort(R @ random.standard_normal(d)), pursued)]
    roots = np.sqrt(values)[:, None]
    rows = vectors.T @ R.T / roots
    # The sign of an eigenvector is an accident; the random signs of a pursuit see it.
    signs = np.where(np.sum(rows**3, axis=1) < 0.0, -1.0, 1.0)[:, None]
    return White(signs * rows, signs * vectors.T / roots, shrinkage, sampled)


def chosen_rows(table: Table, among: Rows, most: int, random: np.random.Generator) -> Array:
    """Return the numbers of masked rows: all, or so many as spread evenly along a direction.

    Which ones does not depend on the order of the rows. One pass, unless it is all of them.
    """
    if count(among) <= most:
        return np.flatnonzero(on_host(among))
    order = table.order(random)
    return evenly_spaced(order[namespace(order).take(among, order)], most)


def _shrunk(values: Array, R: Array) -> Array:
    """Shrink the eigenvalues of the covariance of R to their mean (Ledoit and Wolf 2004)."""
    m, d = R.shape
    unit = float(values[0])
    values = values / unit
    mean = float(values.sum()) / d
    squared = float(np.sum(values**2))
    lengths = np.sum((R / np.sqrt(unit)) ** 2, axis=1)
    noise = (float(np.sum(lengths**2)) / m - squared) / m
    weight = float(np.clip(noise / max(squared - d * mean**2, TINY), 1e-6, 1.0))
    return np.asarray(unit * ((1.0 - weight) * values + weight * mean))
