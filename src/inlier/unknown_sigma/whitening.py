"""The rows in coordinates in which those that are kept vary alike in all directions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from inlier._internal.arrays import among, count, double, like, namespace, on_host, total
from inlier._internal.numbers import TINY
from inlier._internal.typing import Array, Rows
from inlier.linalg.eigenpairs import Oracle

# Directions below this fraction of the largest variance hold rounding, or nothing.
RELATIVE = 1e-10


class White(NamedTuple):
    """All rows in coordinates in which some of them vary alike in all directions."""

    rows: Rows
    """k x n, in the order of the variance that was divided out."""
    whitener: Array
    """k x d: the rows are these directions times the data, less the mean."""
    shrinkage: Array
    """By how much a variance should be larger than it was measured, as the inverse."""


def whitened(oracle: Oracle, mean: Array, kept: Rows, least_variance: float) -> White:
    """Whiten the kept rows, in two passes."""
    m, d = count(kept), oracle.table.shape[1]
    scatter, _ = oracle.table.scatter(mean, double(kept))
    values, vectors = np.linalg.eigh(scatter / m)
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    held = values > max(RELATIVE * values[0], least_variance)
    held[0] = True
    values = np.maximum(values, TINY)
    values, vectors = values[held], vectors[:, held]
    rows = oracle.table.project(mean, vectors.T)
    # The sign of an eigenvector is an accident; the random signs of a pursuit see it.
    cubes = namespace(rows).sum((rows / like(np.sqrt(values)[:, None], rows)) ** 3, axis=1)
    signs = np.where(on_host(cubes) < 0.0, -1.0, 1.0)
    rows, vectors = rows * like(signs[:, None], rows), vectors * signs
    shrinkage = values / _shrunk(values, among(rows, kept), d)
    roots = np.sqrt(values)[:, None]
    return White(rows / like(roots, rows), vectors.T / roots, shrinkage)


def _shrunk(values: Array, rows: Rows, d: int) -> Array:
    """Shrink the eigenvalues of a covariance to their mean (Ledoit and Wolf 2004)."""
    unit = float(values[0])
    values, m = values / unit, rows.shape[1]
    lengths = namespace(rows).sum((rows / float(np.sqrt(unit))) ** 2, axis=0)
    mean = float(values.sum()) / d
    squared = float(np.sum(values**2))
    noise = (total(lengths**2) / m - squared) / m
    weight = float(np.clip(noise / max(squared - d * mean**2, TINY), 1e-6, 1.0))
    return unit * ((1.0 - weight) * values + weight * mean)
