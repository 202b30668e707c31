"""The working frame: the rows and coordinates of a fit, and the transformation back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from inlier._internal.arrays import any_true, every, scattered
from inlier._internal.typing import Array, Rows
from inlier.data.base import Table
from inlier.data.gram import Rotation


@dataclass(frozen=True)
class WorkingFrame:
    """A table without its distant rows and, with few rows and many columns, rotated.

    A very distant row would cost the others their precision, so it is set aside before the fit.
    With n << d a fit computes in the span of the rows, see `Rotation`.
    """

    whole: Table
    near: Rows
    """Mask of the rows of the fit."""
    near_rows: Table
    """These rows in the coordinates of the data."""
    origin: Array
    """The first center, in the coordinates of the data."""
    rotation: Rotation | None

    @classmethod
    def of(cls, whole: Table, near: Rows, origin: Array, rotates: bool = True) -> WorkingFrame:
        """Set rows that are not near aside; rotate the others about a center if that is cheaper."""
        rows = whole if every(near) else whole.take(near)
        rotation = Rotation.of(rows, origin) if rotates and Rotation.pays(rows) else None
        return cls(whole, near, rows, origin, rotation)

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
        """Return a mean that was `found` in working coordinates in those of the data."""
        if self.rotation is None:
            return found
        if any_true(weights > 0.0):  # from the data, which the rotation has rounded
            return self.near_rows.mean(weights, self.rotation.center)
        return self.point(found)

    def point(self, found: Array) -> Array:
        """Transform a point to the coordinates of the data."""
        if self.rotation is None:
            return found
        return np.asarray(self.rotation.center + self.rotation.restored(found))

    def directions(self, given: Array) -> Array:
        """Transform directions of the data (k x d) to working coordinates."""
        if self.rotation is None:
            return given
        return self.rotation.projected(given)
