"""Principal axes, and the metric of the rows in the middle by concentration steps.

The half of the rows that lies nearest to the center has a mean and a covariance, in whose metric
another half lies nearest, and so on until the half repeats: the concentration steps of the minimum
covariance determinant (Rousseeuw and Van Driessen 1999), from one start without random numbers.
Three quarters of the rows give the final metric, which is more precise than with half of them.

A small multiple of the identity is added to covariances, so that there may be fewer rows than
columns; or they are shrunk towards one as far as Ledoit and Wolf (2004) estimate to be best. Up to
a quarter of the rows may be bad.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from inlier._internal.arrays import blocks_in_cache, like, namespace, on_host, smallest
from inlier._internal.typing import Array, Mask, Rows

# `benchmarks/ranking.py` varies both. Share of the rows that give the final metric:
FINAL_SHARE = 0.75
# Added to all variances, as a part of their mean: few rows may not vary in some directions, and the
# precision would be infinite there.
ADDED_VARIANCE = 1e-3


class PrincipalAxes(NamedTuple):
    """Eigenvectors of a covariance, the largest eigenvalue first."""

    variances: Array
    """k, not negative."""
    directions: Rows
    """k x d, orthonormal, where the covariance is."""

    @classmethod
    def of(cls, covariance: Rows) -> PrincipalAxes:
        """Compute all axes of a covariance, or of other second moments."""
        xp = namespace(covariance)
        values, vectors = xp.linalg.eigh(covariance)
        descending = like(np.arange(values.shape[0])[::-1], vectors)
        return cls(np.maximum(on_host(values)[::-1], 0.0), xp.take(vectors.T, descending, axis=0))

    def first(self, k: int) -> PrincipalAxes:
        """Return the k axes with the largest variances."""
        return PrincipalAxes(self.variances[:k], self.directions[:k, :])

    @property
    def whitener(self) -> Rows:
        """The k x d matrix that maps centered rows to uncorrelated ones of variance 1."""
        return self.directions / like(np.sqrt(self.variances)[:, None], self.directions)


class Concentrated(NamedTuple):
    """A center, and the precision (inverse variance) along orthonormal directions."""

    center: Array
    directions: Array
    """k x d."""
    precisions: Array
    """k."""
    residual: float
    """Precision along all other directions; 0 if there are none."""


def concentrated(rows: Array, shrunk: bool = False) -> Concentrated:
    """Find the metric of the rows in the middle of m x d rows about the origin.

    `shrunk` is about covariances, see above. Costs O(m d min(m, d)) for each of at most ten steps,
    and a few copies of the rows.
    """
    m, d = rows.shape
    span = None if d <= m else _span(rows)
    coordinates = rows if span is None else rows @ span.T
    nearest = smallest(np.einsum("ij,ij->i", coordinates, coordinates), (m + 1) // 2)
    for _ in range(8):
        before, distances = nearest, _sq_distances(coordinates, nearest, d, shrunk)
        nearest = smallest(distances, (m + 1) // 2)
        if np.array_equal(nearest, before):
            break
    nearest = smallest(distances, int(np.ceil(FINAL_SHARE * m)))
    return _metric(coordinates[nearest], d, span, shrunk)


def shrunk_metric(rows: Array) -> Concentrated:
    """Return the mean of m x d rows and the metric of their covariance, shrunk as above."""
    d = rows.shape[1]
    span = None if d <= len(rows) else _span(rows)
    return _metric(rows if span is None else rows @ span.T, d, span, shrunk=True)


def _metric(coordinates: Array, d: int, span: Array | None, shrunk: bool) -> Concentrated:
    """Return the metric of rows that are given by their coordinates in a span."""
    mean, covariance, outside = _moments(coordinates, d, shrunk)
    variances, directions = PrincipalAxes.of(covariance)
    if span is None:
        return Concentrated(mean, directions, 1.0 / variances, 0.0)
    return Concentrated(mean @ span, directions @ span, 1.0 / variances, 1.0 / outside)


def _span(rows: Array) -> Array:
    """Return orthonormal directions, k x d, that span few rows."""
    axes = PrincipalAxes.of(rows @ rows.T)
    n_spanning = int((axes.variances > 1e-12 * axes.variances[0]).sum())
    if not n_spanning:
        return np.eye(1, rows.shape[1])
    directions = axes.first(n_spanning).whitener @ rows
    # Once more, because the eigenvectors of products have lost half of the digits.
    return np.ascontiguousarray(np.linalg.qr(directions.T)[0].T)


def _sq_distances(rows: Array, among: Mask, d: int, shrunk: bool) -> Array:
    """Return the squared distances of all rows in the metric of some of them."""
    mean, covariance, _ = _moments(rows[among], d, shrunk)
    factor = np.linalg.cholesky(covariance)
    # A product with the inverse is faster than a solution, and copies stay in cache.
    whitener = solve_triangular(factor, np.eye(len(factor)), lower=True).T
    distances = np.empty(len(rows))
    for part in blocks_in_cache(*rows.shape):
        whitened = (rows[part] - mean) @ whitener
        distances[part] = np.vecdot(whitened, whitened)
    return distances


def _moments(rows: Array, d: int, shrunk: bool) -> tuple[Array, Array, float]:
    """Return the mean and the covariance of rows, and the variance outside of their span.

    The rows are given by their k <= d coordinates in it.
    """
    m, k = rows.shape
    mean = rows.mean(axis=0)
    offsets = rows - mean
    covariance = offsets.T @ offsets / m
    added = ADDED_VARIANCE * float(np.trace(covariance)) / d
    if added <= 0.0:
        return mean, np.eye(k), 1.0
    if shrunk:
        part, typical = _shrinkage(offsets, covariance, d), float(np.trace(covariance)) / d
        # Of as many rows as columns or fewer, some is always shrunk.
        added, covariance = max(part * typical, added), (1.0 - part) * covariance
    return mean, covariance + added * np.eye(k), added


def _shrinkage(offsets: Array, covariance: Array, d: int) -> float:
    """Return the share of the identity that minimises the estimated error of a d x d covariance.

    Offsets and covariance are given in coordinates of their span.

    Ledoit and Wolf (2004), A well-conditioned estimator for large-dimensional covariance matrices,
    section 3.2.
    """
    m = len(offsets)
    squared = float(np.sum(covariance * covariance))
    spread = squared - float(np.trace(covariance)) ** 2 / d
    lengths = np.einsum("ij,ij->i", offsets, offsets)
    noise = (float(lengths @ lengths) / m - squared) / m
    return 1.0 if spread <= noise else max(noise, 0.0) / spread
