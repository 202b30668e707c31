"""What an algorithm may do with the data: five passes, and nothing else.

Every algorithm of the package sees the n x d table Y through the methods of `Table`. Numpy
arrays, memory-mapped files and sparse matrices implement them; nothing above knows which one
it has. A pass is one read of Y, and the number of passes is the cost that does not depend on
the machine, so each table counts its own.

Directions are stored as rows: a basis V is k x d and the data seen along it, V A^T, is k x n,
because skinny matrix products run about twice as fast in that layout.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from inlier._typing import Array, Mask


class Moment(NamedTuple):
    """One fused pass of the weighted second moment; A = Y - 1 c^T, W = diag(w)."""

    projection: Array
    """V A^T, k x n: the rows seen along the basis."""
    image: Array
    """V A^T W A, k x d: the second moment applied to the basis."""
    drift: Array
    """A^T w, d: where the weighted mean lies, seen from the centre, times sum(w)."""


@dataclass(frozen=True)
class Metric:
    """Coordinates in which a scatter matrix L L^T becomes the identity: z = L^-1 (y - origin)."""

    origin: Array
    factor: Array
    """L: lower triangular, d x d, or its diagonal, d."""

    def seen(self, points: Array) -> Array:
        """Points (k x d) in the new coordinates."""
        if self.factor.ndim == 1:
            return np.asarray((points - self.origin) / self.factor)
        return np.asarray(solve_triangular(self.factor, (points - self.origin).T, lower=True).T)

    def restored(self, points: Array) -> Array:
        """Points of the new coordinates (k x d) in those of the data."""
        if self.factor.ndim == 1:
            return np.asarray(self.origin + points * self.factor)
        return np.asarray(self.origin + points @ self.factor.T)

    def directions(self, vectors: Array) -> Array:
        """Directions (k x d) along which the data show what these show in the new coordinates."""
        if self.factor.ndim == 1:
            return np.asarray(vectors / self.factor)
        return np.asarray(solve_triangular(self.factor, vectors.T, lower=True, trans="T").T)


Weights = Array | Callable[[slice, Array], Array]


class Table(ABC):
    """An n x d table that can be passed over.

    The centre c is taken off on the way; the centred table A = Y - 1 c^T is never stored.
    Results are in double precision whatever the data are in.

    Attributes
    ----------
    shape : tuple of int
        (n, d).
    dtype : dtype
        In which the data are read: single precision stays single precision.
    n_passes : int
        How many times the data have been read.
    """

    dtype: np.dtype[Any]

    def __init__(self, shape: tuple[int, int]) -> None:
        self.shape = shape
        self.n_passes = 0

    @abstractmethod
    def project(self, center: Array, basis: Array) -> Array:
        """The rows seen along a basis, V A^T, k x n."""

    @abstractmethod
    def moment(self, center: Array, weights: Weights, basis: Array) -> Moment:
        """The weighted second moment applied to a basis, in one read of Y.

        A weight that depends on how its row is seen along the basis can be given as a function
        of the rows and of what is seen of them.
        """

    @abstractmethod
    def combine(self, center: Array, coefficients: Array) -> Array:
        """Combinations of the rows, C A, k x d: the adjoint of `project`."""

    def mean(self, weights: Array, center: Array) -> Array:
        """The weighted mean Y^T w / sum(w), d; `center` is near the data, and the mean of none."""
        total = float(weights.sum())
        if total == 0.0:
            return center
        mean: Array = center + self.combine(center, weights[None])[0] / total
        return mean

    @abstractmethod
    def median(self, sample: np.random.Generator | None = None) -> Array:
        """The coordinate-wise median, d; of `SAMPLE_ROWS` rows, if a generator is given."""

    @abstractmethod
    def sq_distances(self, center: Array) -> Array:
        """||y_i - c||^2 for each row, n."""

    @abstractmethod
    def take(self, rows: Mask) -> Table:
        """A copy of some of the rows."""

    @abstractmethod
    def in_metric(self, metric: Metric) -> Table:
        """A copy of the rows in other coordinates."""

    @abstractmethod
    def gram(self, center: Array) -> Array:
        """A A^T, n x n: what `rotate` needs of a table with few rows and many columns."""


# Odd, so that the median is one of the values; large enough that a random sample of data with 45%
# outliers has a majority of good rows 99 times in 100.
SAMPLE_ROWS = 501


def sampled_rows(n: int, sample: np.random.Generator | None) -> Array | slice:
    """Which rows a median looks at: all, or a random few in their order."""
    if sample is None or n <= SAMPLE_ROWS:
        return slice(None)
    return np.sort(sample.choice(n, SAMPLE_ROWS, replace=False))


def working_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Single precision for what fits into it, double for everything else."""
    return np.dtype(np.float32 if np.can_cast(dtype, np.float32) else np.float64)
