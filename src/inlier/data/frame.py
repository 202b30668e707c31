"""The frame of a fit: its rows and coordinates, and the maps between them and the data."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from inlier._internal.arrays import any_true, every, scattered
from inlier._internal.typing import Array, Rows
from inlier.data.base import Metric, Table
from inlier.data.gram import Rotation

# Vectors of more entries than these are mapped to the coordinates of the data on first use.
LAZY_ELEMENTS = 1 << 19


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
        rotation = Rotation.of(rows, origin) if rotates and Rotation.pays(rows) else None
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
