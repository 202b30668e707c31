"""How far out a row lies, judged by its own cells: each side of each column has its own unit.

A measure gives each row a size, in one pass, and splits the square of a size by column. It holds
nothing but small arrays, so it can be sent to where the rows are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import ndtri

from inlier._internal.arrays import double, like, namespace
from inlier._internal.typing import Array, Rows

# The median of the absolute value of a standard Gaussian.
MEDIAN_SIZE = float(ndtri(0.75))
# No cell lies farther out, in units of its column, lest sizes overflow.
FARTHEST = 1e15


class Measure(Protocol):
    """Gives rows a size."""

    @property
    def center(self) -> Array:
        """Where sizes are measured from."""

    def __call__(self, rows: Rows) -> Rows:
        """Sizes of some rows, n x d in double precision."""

    def parts(self, row: Array) -> Array:
        """What each column adds to the square of a row's size."""


@dataclass(frozen=True)
class Along:
    """How far a row lies along a direction, in double precision whatever the rows are in."""

    center: Array
    direction: Array

    def __call__(self, rows: Rows) -> Rows:
        """Sizes, with a sign."""
        with np.errstate(over="ignore", invalid="ignore"):
            return (rows - like(self.center, rows)) @ like(self.direction, rows)

    def parts(self, row: Array) -> Array:
        """Of the size itself, not of its square."""
        return np.asarray((row - self.center) * self.direction)


@dataclass(frozen=True)
class Fences:
    """The cell that lies farthest beyond the fence of its column, in units of the fence.

    Attributes
    ----------
    center : array of shape (d,)
        The medians of the columns.
    unit : array of shape (d,)
        Their median absolute deviations.
    above, below : array of shape (d,)
        How far from the median a cell may lie; infinite where there is no fence.
    """

    center: Array
    unit: Array
    above: Array
    below: Array

    def __call__(self, rows: Rows) -> Rows:
        """Sizes: above 1 beyond a fence."""
        xp = namespace(rows)
        with np.errstate(over="ignore"):
            off = rows - like(self.center, rows)
            far = xp.maximum(off / like(self.above, rows), -off / like(self.below, rows))
        return xp.clip(xp.max(far, axis=1), 0.0, None)

    def parts(self, row: Array) -> Array:
        """The cell that decides has all of it."""
        off = row - self.center
        far = np.maximum(np.maximum(off / self.above, -off / self.below), 0.0)
        parts = np.zeros_like(far)
        worst = int(np.argmax(far))
        parts[worst] = far[worst] ** 2
        return parts


@dataclass(frozen=True)
class TailLength:
    """The length of a row whose cells are measured by the unit and the tail of their column.

    A cell that lies a from the median has the size .67 (a / m)^h: with m the median of the
    distances on its side, and h <= 1 such that the size of a heavier tail is that of a Gaussian's.

    Attributes
    ----------
    center : array of shape (d,)
    unit, power : array of shape (2, d)
        m and h, above and below the centre.
    whitener : array of shape (k, d), optional
        Turns sizes into uncorrelated ones of the same variance.
    """

    center: Array
    unit: Array
    power: Array
    whitener: Array | None = None

    def __call__(self, rows: Rows) -> Rows:
        """Sizes."""
        return self.lengths(self.cells(rows))

    def lengths(self, cells: Rows) -> Rows:
        """Sizes of rows, given those of their cells."""
        xp = namespace(cells)
        if self.whitener is not None:
            cells = cells @ like(self.whitener.T, cells, cells.dtype)
        with np.errstate(over="ignore"):  # what is too far away to square is infinitely far
            return double(xp.linalg.vector_norm(cells, axis=1))

    def cells(self, rows: Rows) -> Rows:
        """Signed sizes of all cells, in single precision: cuts lie in gaps."""
        xp = namespace(rows)
        off = rows - like(self.center, rows)
        above = off > 0.0
        with np.errstate(divide="ignore", over="ignore", under="ignore"):
            ratio = xp.where(above, off / like(self.unit[0], rows), -off / like(self.unit[1], rows))
            ratio = xp.astype(xp.clip(ratio, 0.0, FARTHEST), xp.float32)
            power = like(self.power.astype(np.float32), ratio)
            size = xp.exp(xp.where(above, power[0, :], power[1, :]) * xp.log(ratio)) * MEDIAN_SIZE
        return xp.where(above, size, -size)

    def parts(self, row: Array) -> Array:
        """They may be below 0: a cell may speak for a row."""
        T = self.cells(row[None])[0].astype(np.float64)
        if self.whitener is None:
            return np.asarray(T * T)
        return np.asarray(T * (self.whitener.T @ (self.whitener @ T)))
