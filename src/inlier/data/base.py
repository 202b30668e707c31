"""The interface between algorithms and data: a few passes over the rows.

Every algorithm of the package accesses the n x d table Y through `Table`. Arrays in memory or on a
device, files, sparse matrices and Dask collections implement it; the layers above do not know which
one they have. A pass is one read of Y. The number of passes is the machine-independent cost, so
each table counts its own.

The verbs are the abstract methods; they are all that a new kind of table implements.

Arrays with an entry for each row (`Rows`: weights, distances, projections) belong to the library
that holds the data, on the same device. Arrays with an entry for each column are numpy arrays.

Directions are stored as rows: a basis V is k x d, and the projections V A^T are k x n, because
skinny matrix products run about twice as fast in that layout.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar

import numpy as np
from scipy.linalg import solve_triangular

from inlier._internal.arrays import double, evenly_spaced, like, namespace, total
from inlier._internal.typing import Array, Mask, Rows

if TYPE_CHECKING:
    from inlier.data.imputed import Gaps


class Moment(NamedTuple):
    """One fused pass of the weighted second moment; A = Y - 1 c^T, W = diag(w)."""

    projection: Rows
    """V A^T, k x n: the rows projected onto the basis, in the precision of the data."""
    image: Array
    """V A^T W A, k x d: the second moment applied to the basis."""
    drift: Array
    """A^T w, d: the offset of the weighted mean from the center, times sum(w); or empty."""


class ColumnSums(NamedTuple):
    """Weighted sums over the observed cells of each column, about an origin."""

    origin: Array
    squares: Array
    drift: Array
    """Of the offsets from the origin."""
    mass: Array
    mass_squared: Array
    """Of the weights, and of their squares."""


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
        """Transform points (k x d, of any library) to the new coordinates."""
        inverse = like(self._inverse, points)
        with np.errstate(over="ignore", invalid="ignore"):
            offset = points - like(self.origin, points)
            return offset * inverse if inverse.ndim == 1 else offset @ inverse.T

    def reach(self, point: Array) -> float:
        """Return the largest distance of a point from both origins: rounding scales with it."""
        transformed = self.transform(np.stack([point, point + self.origin]))
        return float(np.linalg.norm(transformed, axis=1).max())

    def transform_rows(self, block: Rows, dtype: np.dtype[Any]) -> Rows:
        """Transform rows of a table, clipped to the range of the dtype.

        An infinity would turn sums into NaN even where the row has no weight.
        """
        xp, largest = namespace(block), float(np.finfo(dtype).max)
        transformed = self.transform(double(block))
        transformed = xp.clip(
            xp.where(xp.isnan(transformed), largest, transformed), -largest, largest
        )
        return xp.astype(transformed, getattr(xp, dtype.name))

    def restored(self, points: Array) -> Array:
        """Transform points (k x d) back to the coordinates of the data."""
        if self.factor.ndim == 1:
            return np.asarray(self.origin + points * self.factor)
        return np.asarray(self.origin + points @ self.factor.T)

    def directions(self, vectors: Array) -> Array:
        """Return the directions of the data whose projections equal those of `vectors`."""
        return np.asarray(
            vectors * self._inverse if self.factor.ndim == 1 else vectors @ self._inverse
        )


class RowNumbers(Sequence[str]):
    """Names such as "row 7", counted from 1, and made when used: text takes far more memory."""

    def __init__(self, numbers: Array) -> None:
        self.numbers = numbers

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, i: Any) -> Any:
        """Return a name or, for an array of indices, names."""
        found = self.numbers[i]
        return RowNumbers(found) if np.ndim(found) else f"row {found + 1}"


TableT = TypeVar("TableT", bound="Table")


class PassCounter:
    """Counts passes over the data."""

    count = 0


class Table(ABC):
    """An n x d table: the verbs, and conveniences that are expressed in them.

    The center c is subtracted on the way; the centered table A = Y - 1 c^T is never stored. Results
    are in double precision, except for those as large as a part of the data: the projections of a
    moment, and combinations of few very long rows.
    """

    dtype: np.dtype[Any]
    """In which the data are read: single precision stays single precision."""
    sparse = False
    """Whether zeros are not stored."""
    in_memory = False
    """Whether a pass reads the memory of this process or of its device, which is fast."""
    array: Rows | None = None
    """The rows, if they are all in one array."""
    missing: Mask | None = None
    """n x d: the cells that are missing, and imputed; None if there are none."""
    gaps: Gaps | None = None
    """More about them."""
    screened = False
    """Whether extreme cells have been looked for, and set aside but in rows that have many."""
    many: Any = None
    """The measure of rows with many such cells, if there are any."""
    ascending: Array | None = None
    """The sorted columns, d x n on the host, between the search for cells and the one for rows."""
    columns: tuple[str, ...] | None = None
    """Names of the columns, if they have any."""
    index: Any = None
    """Names of the rows, in any sequence, if they have any."""
    sample_rows = 501
    """Odd, so that the median is one of the values. With 45% outliers a random sample this large
    has a majority of good rows 99 times in 100."""

    def __init__(self, shape: tuple[int, int]) -> None:
        self.shape = shape
        self._passes = PassCounter()
        self._order: Rows | None = None

    @abstractmethod
    def project(self, center: Array, basis: Array) -> Rows:
        """Project the rows onto a basis: V A^T, k x n."""

    @abstractmethod
    def moment(self, center: Array, weights: Rows, basis: Array, drift: bool = True) -> Moment:
        """Apply the weighted second moment to a basis, in one read of Y.

        The drift, if wanted, is one more product.
        """

    @abstractmethod
    def combine(self, center: Array, coefficients: Rows) -> Array:
        """Compute combinations of the rows, C A, k x d: the adjoint of `project`."""

    @abstractmethod
    def squares(self, center: Array, weights: Rows) -> tuple[Array, Array]:
        """Compute the diagonal of A^T W A, and A^T w.

        A row without weight may be too far away to square.
        """

    @abstractmethod
    def sq_distances(self, center: Array) -> Rows:
        """Compute ||y_i - c||^2 for each row."""

    @abstractmethod
    def measured(self, measure: Callable[[Rows], Rows]) -> Rows:
        """Apply a measure, or any function of rows in double precision, to each row."""

    @abstractmethod
    def median(self, sample: np.random.Generator | None = None) -> Array:
        """Compute the coordinate-wise median; of a sample, if a generator is given."""

    @abstractmethod
    def gram(self, center: Array) -> Array:
        """Compute A A^T, n x n, of a table with few rows."""

    @abstractmethod
    def fetch(self, rows: Array) -> Array:
        """Return a few rows, by their indices, on the host."""

    @abstractmethod
    def take(self, rows: Rows) -> Table:
        """Return the table of the masked rows."""

    @abstractmethod
    def in_metric(self, metric: Metric) -> Table:
        """Return the table in other coordinates."""

    @property
    def n_passes(self) -> int:
        """Number of passes over the data, by this table and all that were derived from it."""
        return self._passes.count

    @n_passes.setter
    def n_passes(self, value: int) -> None:
        self._passes.count = value

    @property
    def names(self) -> Array | RowNumbers | None:
        """Names of the rows, as text."""
        if self.index is None or isinstance(self.index, RowNumbers):
            return self.index
        return np.array([str(name) for name in self.index], dtype=object)

    def named(self, columns: Any, index: Any) -> Self:
        """Return the same table with names for its columns and rows, or None."""
        table = copy(self)
        table.columns = None if columns is None else tuple(str(name) for name in columns)
        table.index = index
        n, d = self.shape
        for argument, given, length, what in (
            ("columns", columns, d, "columns"),
            ("names", index, n, "rows"),
        ):
            if given is not None and len(given) != length:
                raise ValueError(
                    f"{argument} must have a name for each of the {length} {what} of X, but has "
                    f"{len(given)}."
                )
        return table

    def counting_for(self, table: TableT) -> TableT:
        """Return a derived table that shares the pass counter of this one."""
        table._passes = self._passes
        return table

    def fingerprint(self) -> int | None:
        """Return a number that changes if the data are changed in place; None if they cannot be."""
        return None

    def on_host(self) -> Table:
        """Return the table in the memory of the host, if it is on a device.

        For solvers with many small operations on few rows, which a device would slow down.
        """
        return self

    def to_device(self, x: Array) -> Any:
        """Convert an array of the host to the library that holds the data."""
        return x

    def to_gpu(self, x: Array) -> Any:
        """Convert an array of the host if the data are on a GPU, which takes less time with it."""
        return x

    def constant(self, value: float) -> Rows:
        """Return a constant vector with an entry for each row."""
        return self.to_device(np.full(self.shape[0], value))

    def mean(self, weights: Rows, center: Array) -> Array:
        """Compute the weighted mean about a center near the data; without weight, the center."""
        summed = total(weights)
        if summed == 0.0:
            return center
        mean: Array = center + self.combine(center, weights[None, :])[0] / summed
        return mean

    def ignoring(self, columns: Array) -> Table:
        """Return the table with more ignored columns; only where cells are missing."""
        raise NotImplementedError

    def of_columns(self, function: Callable[[Rows], Array]) -> Array:
        """Apply a function to all rows in groups of columns; join the arrays that it returns."""
        raise NotImplementedError

    def row(self, i: int) -> Array:
        """Return a row in double precision."""
        values: Array = self.fetch(np.array([i]))[0].astype(np.float64)
        return values

    def observed_row(self, i: int) -> Array:
        """Return a row with the original cells of columns that are ignored."""
        return self.row(i)

    def observed_scales(self, scales: Array) -> Array:
        """Return the scales of the columns, for columns with missing cells from the others."""
        return scales

    def observed_mean(self, weights: Array, center: Array) -> tuple[Array, Array]:
        """Compute the weighted mean of the observed cells of each column, and their weight.

        About a center near the data; weights are on the host.
        """
        return self.mean(self.to_device(weights), center), np.full(len(center), weights.sum())

    def plain_mean(self, weights: Array, center: Array) -> Array:
        """Compute the weighted mean of all cells, also of those set aside, but missing ones."""
        return self.observed_mean(weights, center)[0]

    def observed_sums(self, weights: Rows, center: Array) -> ColumnSums:
        """Compute weighted sums over the observed cells of each column, in one pass."""
        masses = (np.full(len(center), total(w)) for w in (weights, weights**2))
        return ColumnSums(center, *self.squares(center, weights), *masses)

    def scatter(self, center: Array, weights: Rows) -> tuple[Array, Array]:
        """Compute the whole second moment A^T W A, d x d, and A^T w."""
        moment = self.moment(center, weights, np.eye(self.shape[1]))
        return (moment.image + moment.image.T) / 2.0, moment.drift

    def order(self, random: np.random.Generator) -> Rows:
        """Return the row indices sorted along a random direction; one pass, the first time.

        A choice by position in this order does not depend on the order of the input.
        """
        if self._order is not None:
            return self._order
        direction, origin = random.standard_normal(self.shape[1]), self.row(0)

        def along(rows: Rows) -> Rows:
            with np.errstate(over="ignore", invalid="ignore"):
                return (rows - like(origin, rows)) @ like(direction, rows)

        # In double precision the order does not depend on how a library rounds. With more rows no
        # single one matters, and the cost would.
        if self.shape[0] * self.shape[1] <= 1 << 22:
            projected = self.measured(along)
        else:
            with np.errstate(over="ignore", invalid="ignore"):
                projected = self.project(origin, direction[None])[0, :]
        xp = namespace(projected)
        order = xp.argsort(projected)
        del projected  # as large as a column, as the order is
        small = xp is np and len(order) < 1 << 31
        self._order = order.astype(np.int32) if small else order
        return self._order

    def sampled_rows(self, random: np.random.Generator) -> Array:
        """Return the indices of at most `sample_rows` rows, evenly spaced in `order`; one pass."""
        n = self.shape[0]
        if n <= self.sample_rows:
            self.n_passes += 1
            return np.arange(n)
        return np.sort(evenly_spaced(self.order(random), self.sample_rows))

    def sampled(self, random: np.random.Generator) -> Array:
        """Return a sample of the rows, on the host."""
        return self.fetch(self.sampled_rows(random))
