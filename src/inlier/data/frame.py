"""The frame of a fit: its rows and coordinates, and the maps between them and the data."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from inlier._internal.arrays import any_true, every, on_host, scattered
from inlier._internal.numbers import EPS
from inlier._internal.typing import Array, Rows
from inlier.data.arrays import DenseTable, is_wide
from inlier.data.base import Metric, Table

# Vectors of more entries than these are mapped to the coordinates of the data on first use.
LAZY_ELEMENTS = 1 << 19


@dataclass(frozen=True)
class Rotation:
    """A table in orthonormal coordinates of the span of its centered rows.

    All of a fit but the coordinate-wise median is equivariant under rotation and stays in the
    affine span of the rows and the first center. With fewer rows than columns that span is computed
    from the Gram matrix of the centered rows, in one pass; the fit itself is then cheap.
    """

    original: Table
    center: Array
    """The origin of the coordinates."""
    rotated: Table
    mixing: Array
    """r x n: the axes of the new coordinates as combinations of the centered rows."""

    @classmethod
    def of(cls, table: Table, center: Array) -> Rotation:
        """Compute the rotation about a center, rounded to the precision of the data."""
        rounded = center.astype(table.dtype, copy=False)
        if not np.array_equal(rounded, center):
            center = rounded.astype(np.float64)
        gram = table.gram(center)
        # Products are rounded in proportion to the norms of both rows. Divided by these, a few very
        # distant rows do not cost the others their precision.
        norms = np.sqrt(np.maximum(np.diag(gram), 0.0))
        # Smaller norms are rounding, if the center is not subtracted first, or squares underflow.
        least = max(np.sqrt(EPS) * float(np.median(norms)), EPS * float(np.linalg.norm(center)))
        norms = np.maximum(norms, max(least, float(np.sqrt(np.finfo(table.dtype).tiny))))
        values, vectors = np.linalg.eigh(gram / norms / norms[:, None])
        # Eigenvalues below the rounding of the Gram matrix are null.
        rounding = 10.0 * len(values) * EPS
        if table.dtype == np.float32 and not table.sparse:  # sparse products are in double
            rounding = max(rounding, float(np.finfo(np.float32).eps))
        held = values > rounding * values[-1]
        held[-1] = True
        lengths = np.sqrt(np.maximum(values[held], 0.0))
        vectors = vectors[:, held]
        # Fix the arbitrary signs of eigenvectors, on which random directions would depend.
        largest = np.argmax(np.abs(vectors), axis=0)
        vectors = vectors * np.sign(vectors[largest, np.arange(len(largest))])
        rotated = DenseTable(table.to_device(norms[:, None] * vectors * lengths))
        lengths[lengths == 0.0] = 1.0  # all rows are at the center
        return cls(table, center, rotated, (vectors / lengths / norms[:, None]).T)

    def projected(self, directions: Array) -> Array:
        """Transform directions of the data (k x d) to rotated coordinates, in one pass."""
        along = on_host(self.original.project(self.center, directions))
        return np.asarray(along @ self.mixing.T)

    def restored(self, vectors: Array) -> Array:
        """Transform vectors (k x r, or one) to the original coordinates, in one pass."""
        return self.combined(vectors @ self.mixing)

    def combined(self, coefficients: Array) -> Array:
        """Compute combinations of the centered rows (k x n, or one), in one pass."""
        mixing = self.original.to_device(np.atleast_2d(coefficients))
        found = self.original.combine(self.center, mixing)
        combined: Array = found[0] if coefficients.ndim == 1 else found
        return combined


@dataclass(frozen=True)
class Frame:
    """A table in its metric, without its distant rows and, with few rows, rotated.

    A very distant row would cost the others their precision, so it is set aside before the fit.
    With n << d a fit computes in the span of the rows, see `Rotation`.
    """

    whole: Table
    """All rows, in the metric."""
    near: Rows
    """Mask of the rows of the fit."""
    near_rows: Table
    """These rows, in the metric."""
    origin: Array
    """The first center, in the metric."""
    rotation: Rotation | None
    metric: Metric | None = None
    """The scatter that replaces the identity, if there is one."""

    @classmethod
    def of(
        cls,
        whole: Table,
        near: Rows,
        origin: Array,
        rotates: bool = True,
        metric: Metric | None = None,
    ) -> Frame:
        """Set rows that are not near aside; rotate the others about a center if that is cheaper."""
        rows = whole if every(near) else whole.take(near)
        rotation = Rotation.of(rows, origin) if rotates and is_wide(rows.shape) else None
        return cls(whole, near, rows, origin, rotation, metric)

    @property
    def table(self) -> Table:
        """The rows in working coordinates."""
        return self.near_rows if self.rotation is None else self.rotation.rotated

    @property
    def center(self) -> Array:
        """The first center in working coordinates."""
        return self.origin if self.rotation is None else np.zeros(self.table.shape[1])

    @property
    def complete(self) -> bool:
        """Whether no row was set aside."""
        return self.near_rows is self.whole

    def of_near_rows(self, x: Rows) -> Rows:
        """Select the entries of the rows of the fit."""
        return x if self.complete else x[self.near]

    def of_all_rows(self, x: Rows, aside: float | bool) -> Rows:
        """Expand entries of the rows of the fit to all rows, with `aside` for the others."""
        return scattered(x, self.near, aside)

    def mean(self, weights: Rows, found: Array) -> Array:
        """Return a mean that was `found` in working coordinates, before the rotation."""
        if self.rotation is None:
            return found
        if any_true(weights > 0.0):  # from the data, which the rotation has rounded
            return self.near_rows.mean(weights, self.rotation.center)
        return np.asarray(self.rotation.center + self.rotation.restored(found))

    def directions(self, given: Array) -> Array:
        """Transform directions before the rotation (k x d) to working coordinates."""
        if self.rotation is None:
            return given
        return self.rotation.projected(given)

    def place(self, points: Array, directions: Array | None, members: Array | None = None) -> Place:
        """Map points and directions of the fit (k x d) to the coordinates of the data.

        If `members` are given, the first point is the mean of these rows. With a rotation it is
        computed from the rows, because the rotated coordinates of a distant row have lost digits.
        """
        if self.rotation is None:
            return Place(points, directions, self.metric)
        mixing = self.rotation.mixing
        points = points @ mixing
        if members is not None:
            points[0] = 0.0
            points[0, members] = 1.0 / len(members)
        directions = None if directions is None else directions @ mixing
        return Place(points, directions, self.metric, self.rotation)


class Place:
    """Points and directions in the coordinates of the data.

    With few rows and very many columns they are kept as combinations of the rows until they are
    used: each has as many entries as there are columns, and most are never used. The data must not
    change until then. A pickle holds them computed.
    """

    def __init__(
        self,
        points: Array,
        directions: Array | None,
        metric: Metric | None = None,
        rotation: Rotation | None = None,
    ) -> None:
        self._found = points, directions, metric, rotation
        n_vectors = len(points) + (0 if directions is None else len(directions))
        if rotation is None or n_vectors * rotation.original.shape[1] <= LAZY_ELEMENTS:
            _ = self._vectors

    @cached_property
    def _vectors(self) -> tuple[Array, Array | None]:
        points, directions, metric, rotation = self._found
        if rotation is not None:
            k = len(points)
            stacked = points if directions is None else np.concatenate([points, directions])
            vectors = rotation.combined(stacked)
            points = vectors[:k] + rotation.center
            directions = None if directions is None else vectors[k:]
        if metric is not None:
            points = metric.restored(points)
            directions = None if directions is None else metric.directions(directions)
        del self._found
        return points, directions

    @property
    def points(self) -> Array:
        """The points, k x d."""
        return self._vectors[0]

    @property
    def directions(self) -> Array | None:
        """The directions of the data whose projections are those of the fit, k x d."""
        return self._vectors[1]

    def __reduce__(self) -> tuple[Any, ...]:
        return Place, self._vectors


def central_row(table: Table) -> Array:
    """Return a central row; row 0 if it is central.

    If squares overflow about row 0, return the coordinate-wise median.
    """
    first = table.row(0)
    with np.errstate(over="ignore", invalid="ignore"):
        gram = table.gram(first)
        squared = np.diag(gram)[:, None] + np.diag(gram) - 2.0 * gram
        typical = np.median(np.where(np.isnan(squared), np.inf, squared), axis=1)
    best = int(np.argmin(typical))
    if not np.isfinite(typical[best]):
        return table.median()
    n, d = table.shape
    # Row 0 spares a pass where its median squared distance is not much larger than the smallest;
    # in a small table it must be the smallest, so that the order of the rows does not matter.
    is_central = typical[0] <= (4.0 if n * d > 1 << 20 else 1.0) * typical[best]
    return first if is_central else table.row(best)
