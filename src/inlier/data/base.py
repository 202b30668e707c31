"""What an algorithm may do with the data: a few passes, and nothing else.

Every algorithm of the package sees the n x d table Y through the methods of `Table`. Arrays in
memory or on a device, files, sparse matrices and Dask collections implement them; nothing above
knows which one it has. A pass is one read of Y, and the number of passes is the cost that does not
depend on the machine, so each table counts its own.

What has an entry for each row (`Rows`: weights, distances, the rows seen along some directions) is
an array of the library that holds the data, on the same device. What has an entry for each column
is a numpy array.

Directions are stored as rows: a basis V is k x d and the data seen along it, V A^T, is k x n,
because skinny matrix products run about twice as fast in that layout.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np
from scipy.linalg import solve_triangular

from inlier._internal.arrays import double, evenly_spaced, like, namespace, total
from inlier._internal.typing import Array, Rows
from inlier.data.measures import Along, Measure


class Moment(NamedTuple):
    """One fused pass of the weighted second moment; A = Y - 1 c^T, W = diag(w)."""

    projection: Rows
    """V A^T, k x n: the rows seen along the basis, in the precision of the data."""
    image: Array
    """V A^T W A, k x d: the second moment applied to the basis."""
    drift: Array
    """A^T w, d: where the weighted mean lies, seen from the centre, times sum(w); or empty."""


@dataclass(frozen=True)
class Metric:
    """Coordinates in which a scatter matrix L L^T becomes the identity: z = L^-1 (y - origin)."""

    origin: Array
    factor: Array
    """L: lower triangular, d x d, or its diagonal, d."""

    @property
    def matrix(self) -> Array:
        """L, d x d."""
        return np.diag(self.factor) if self.factor.ndim == 1 else self.factor

    @cached_property
    def _inverse(self) -> Array:
        if self.factor.ndim == 1:
            return np.asarray(1.0 / self.factor)
        return np.asarray(solve_triangular(self.factor, np.eye(len(self.factor)), lower=True))

    def transform(self, points: Rows) -> Rows:
        """Points (k x d, of any library) in the new coordinates."""
        inverse = like(self._inverse, points)
        with np.errstate(over="ignore", invalid="ignore"):
            offset = points - like(self.origin, points)
            return offset * inverse if inverse.ndim == 1 else offset @ inverse.T

    def reach(self, point: Array) -> float:
        """How far a point is from both origins, in the new units: rounding is a part of that."""
        transformed = self.transform(np.stack([point, point + self.origin]))
        return float(np.linalg.norm(transformed, axis=1).max())

    def rows(self, block: Rows, dtype: np.dtype[Any]) -> Rows:
        """Rows of a table in the new coordinates.

        One too far away for a number of this dtype is as far away as such a number can be: as an
        infinity it would turn sums into NaN in which it has no weight.
        """
        xp, largest = namespace(block), float(np.finfo(dtype).max)
        transformed = self.transform(double(block))
        transformed = xp.clip(
            xp.where(xp.isnan(transformed), largest, transformed), -largest, largest
        )
        return xp.astype(transformed, getattr(xp, dtype.name))

    def restored(self, points: Array) -> Array:
        """Points of the new coordinates (k x d) in those of the data."""
        if self.factor.ndim == 1:
            return np.asarray(self.origin + points * self.factor)
        return np.asarray(self.origin + points @ self.factor.T)

    def directions(self, vectors: Array) -> Array:
        """Directions (k x d) along which the data show what these show in the new coordinates."""
        return np.asarray(
            vectors * self._inverse if self.factor.ndim == 1 else vectors @ self._inverse
        )


Weights = Rows | Callable[[slice, Rows], Rows]
TableT = TypeVar("TableT", bound="Table")


class PassCounter:
    """Counts passes over the data."""

    count = 0


class Table(ABC):
    """An n x d table that can be passed over.

    The centre c is taken off on the way; the centred table A = Y - 1 c^T is never stored.
    Results are in double precision whatever the data are in, but for those that are as large as a
    part of the data: what a moment sees of the rows, and combinations of few very long rows.

    Attributes
    ----------
    shape : tuple of int
        (n, d).
    dtype : numpy dtype
        In which the data are read: single precision stays single precision.
    sparse : bool
        Whether most entries are zeros that are not stored.
    """

    dtype: np.dtype[Any]
    sparse = False

    def __init__(self, shape: tuple[int, int]) -> None:
        self.shape = shape
        self._passes = PassCounter()

    @property
    def n_passes(self) -> int:
        """How many times the data have been read, for this table and all that were made of it."""
        return self._passes.count

    @n_passes.setter
    def n_passes(self, value: int) -> None:
        self._passes.count = value

    def unread(self) -> Self:
        """Return the same table with a count of its own."""
        table = copy(self)
        table._passes = PassCounter()
        return table

    def counting_for(self, table: TableT) -> TableT:
        """Return a table made of this one, whose passes count for this one too."""
        table._passes = self._passes
        return table

    @abstractmethod
    def project(self, center: Array, basis: Array) -> Rows:
        """The rows seen along a basis, V A^T, k x n."""

    @abstractmethod
    def moment(self, center: Array, weights: Weights, basis: Array, drift: bool = True) -> Moment:
        """The weighted second moment applied to a basis, in one read of Y.

        A weight that depends on how its row is seen along the basis can be given as a function
        of the rows and of what is seen of them. The drift is one more product, if it is needed.
        """

    @abstractmethod
    def scatter(self, center: Array, weights: Rows) -> tuple[Array, Array]:
        """The whole second moment, A^T W A, d x d, and A^T w."""

    @abstractmethod
    def squares(self, center: Array, weights: Rows) -> tuple[Array, Array]:
        """The diagonal of `scatter`, sums of squares of the columns, d, and A^T w.

        A row without weight may be too far away to square.
        """

    @abstractmethod
    def combine(self, center: Array, coefficients: Rows) -> Array:
        """Combinations of the rows, C A, k x d: the adjoint of `project`."""

    def mean(self, weights: Rows, center: Array) -> Array:
        """The weighted mean Y^T w / sum(w), d; `center` is near the data, and the mean of none."""
        summed = total(weights)
        if summed == 0.0:
            return center
        mean: Array = center + self.combine(center, weights[None, :])[0] / summed
        return mean

    @abstractmethod
    def median(self, sample: np.random.Generator | None = None) -> Array:
        """The coordinate-wise median, d; of `SAMPLE_ROWS` rows, if a generator is given."""

    @abstractmethod
    def sq_distances(self, center: Array) -> Rows:
        """||y_i - c||^2 for each row, n."""

    @abstractmethod
    def measured(self, measure: Measure) -> Rows:
        """The size that a measure gives each row, n."""

    @abstractmethod
    def take(self, rows: Rows) -> Table:
        """Some of the rows, given by a mask."""

    @abstractmethod
    def in_metric(self, metric: Metric) -> Table:
        """The rows in other coordinates."""

    @abstractmethod
    def gram(self, center: Array) -> Array:
        """A A^T, n x n: what `rotate` needs of a table with few rows and many columns."""

    @abstractmethod
    def some(self, rows: Array) -> Array:
        """A few rows, by their numbers, on the host."""

    def sampled_rows(self, random: np.random.Generator) -> Array:
        """Which rows a sample consists of: at most `SAMPLE_ROWS`, in their order.

        Rows at even steps along a random direction, so that the order of the rows does not matter;
        in one pass.
        """
        n = self.shape[0]
        if n <= SAMPLE_ROWS:
            self.n_passes += 1
            return np.arange(n)
        return np.sort(evenly_spaced(self.order(random), SAMPLE_ROWS))

    def order(self, random: np.random.Generator) -> Rows:
        """The numbers of the rows in ascending order along a random direction; one pass.

        What is chosen by its place in this order does not depend on the order of the rows.
        """
        origin = self.some(np.array([0]))[0].astype(np.float64)
        direction = random.standard_normal(self.shape[1])
        if self.shape[0] * self.shape[1] <= ORDERED_EXACTLY:
            transformed = self.measured(Along(origin, direction))
        else:
            with np.errstate(over="ignore", invalid="ignore"):
                transformed = self.project(origin, direction[None])[0, :]
        return namespace(transformed).argsort(transformed)

    def sampled(self, random: np.random.Generator) -> Array:
        """A sample of the rows, on the host."""
        return self.some(self.sampled_rows(random))

    def to_device(self, x: Array) -> Any:
        """An array of the host as one of the library that holds the data."""
        return x

    def rows(self, value: float) -> Rows:
        """A vector with this value for each row, as the passes take it."""
        return self.to_device(np.full(self.shape[0], value))


# Odd, so that the median is one of the values; large enough that a random sample of data with 45%
# outliers has a majority of good rows 99 times in 100.
SAMPLE_ROWS = 501
# Up to so many entries rows are ordered in double precision, so that their order does not hang on
# how a library rounds its products. Of more rows no single one matters, and it would cost too much.
ORDERED_EXACTLY = 1 << 22
# Bytes for the blocks of a table that is read from somewhere, unless the user says otherwise.
MEMORY = 1 << 30
