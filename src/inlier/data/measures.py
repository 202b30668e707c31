"""Measures: the size of a row, in one pass, and its decomposition by column.

Each side of each column may have its own unit. A measure holds only small arrays, so that it can be
sent to the rows.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import ndtri

from inlier._internal.arrays import double, like, namespace
from inlier._internal.typing import Array, Rows

# Median of the absolute value of a standard Gaussian.
MEDIAN_SIZE = float(ndtri(0.75))
# Sizes of cells, in units of their column, are clipped to this, so that sums do not overflow.
FARTHEST = 1e15


class Measure(Protocol):
    """Assigns a size to each row."""

    @property
    def center(self) -> Array:
        """Origin of the sizes."""

    def __call__(self, rows: Rows) -> Rows:
        """Compute the sizes of rows, n x d in double precision."""

    def parts(self, row: Array) -> Array:
        """Decompose the squared size of a row by column."""


@dataclass(frozen=True)
class Fences:
    """Largest ratio of a cell to the fence of its column."""

    center: Array
    """The medians of the columns."""
    unit: Array
    """Their median absolute deviations."""
    above: Array
    below: Array
    """Fences: distances from the median; infinite where there is none."""
    log_p: float = 0.0
    """Logarithm of the chance that good cells lie beyond any; 0 if it cannot be stated."""

    def __call__(self, rows: Rows) -> Rows:
        """Compute sizes, which exceed 1 beyond a fence."""
        xp = namespace(rows)
        with np.errstate(over="ignore"):
            off = rows - like(self.center, rows)
            far = xp.maximum(off / like(self.above, rows), -off / like(self.below, rows))
        return xp.clip(xp.max(far, axis=1), 0.0, None)

    def parts(self, row: Array) -> Array:
        """Attribute the squared size to the cell that attains it."""
        off = row - self.center
        far = np.maximum(np.maximum(off / self.above, -off / self.below), 0.0)
        parts = np.zeros_like(far)
        worst = int(np.argmax(far))
        parts[worst] = far[worst] ** 2
        return parts


@dataclass(frozen=True)
class ManyCells(Fences):
    """Number of cells beyond the fences of their columns."""

    least: float = 2.0
    """From which on there are many: these sizes exceed 1."""

    def __call__(self, rows: Rows) -> Rows:
        """Compute sizes."""
        xp = namespace(rows)
        off = rows - like(self.center, rows)
        beyond = (off > like(self.above, rows)) | (-off > like(self.below, rows))
        return xp.sum(xp.astype(beyond, xp.float64), axis=1) / (self.least - 0.5)

    def parts(self, row: Array) -> Array:
        """Attribute the squared size to the cells beyond, in equal parts."""
        off = row - self.center
        beyond = (off > self.above) | (-off > self.below)
        return np.asarray(beyond * (beyond.sum() / (self.least - 0.5) ** 2))


@dataclass(frozen=True)
class TailLength:
    """Norm of a row whose cells are transformed by the unit and the tail of their column.

    A cell at distance a from the median has the size .67 (a / m)^h. Here m is the median distance
    on its side, and h <= 1 transforms a heavier tail to a Gaussian one.
    """

    center: Array
    unit: Array
    power: Array
    """m and h, above and below the center, 2 x d."""
    whitener: Array | None = None
    """k x d: transforms sizes to uncorrelated ones of the same variance."""

    def __call__(self, rows: Rows) -> Rows:
        """Compute sizes."""
        return self.lengths(self.cells(rows))

    def lengths(self, cells: Rows) -> Rows:
        """Compute sizes of rows from those of their cells."""
        xp = namespace(cells)
        if self.whitener is not None:
            cells = cells @ like(self.whitener.T, cells, cells.dtype)
        with np.errstate(over="ignore"):  # a square that overflows is infinite
            return double(xp.linalg.vector_norm(cells, axis=1))

    def cells(self, rows: Rows) -> Rows:
        """Compute signed sizes of all cells; in single precision, because cuts lie in gaps."""
        xp = namespace(rows)
        off = rows - like(self.center, rows)
        # Arithmetic with 0 and 1: numpy.where is slow on values of mixed signs.
        above = xp.astype(off > 0.0, xp.float32)
        with np.errstate(divide="ignore", over="ignore", under="ignore"):
            ratio = xp.maximum(off / like(self.unit[0], rows), off / like(-self.unit[1], rows))
            ratio = xp.astype(xp.clip(ratio, 0.0, FARTHEST), xp.float32)
            power = like(self.power.astype(np.float32), ratio)
            power = power[1, :] + above * (power[0, :] - power[1, :])
            size = xp.exp(power * xp.log(ratio)) * MEDIAN_SIZE
        return size * (2.0 * above - 1.0)

    def parts(self, row: Array) -> Array:
        """Decompose the squared size; with a whitener, parts may be negative."""
        T = self.cells(row[None])[0].astype(np.float64)
        if self.whitener is None:
            return np.asarray(T * T)
        return np.asarray(T * (self.whitener.T @ (self.whitener @ T)))


@dataclass(frozen=True)
class Ellipsoid:
    """Distance from a center in a metric: orthonormal directions, each with its precision."""

    center: Array
    unit: Array
    """Units of the columns; infinite for a column that does not count."""
    directions: Array
    """k x d, of rows in these units."""
    precisions: Array
    """k: inverse variances along the directions."""
    residual: float = 0.0
    """Inverse variance along all directions that are orthogonal to these."""

    def __call__(self, rows: Rows) -> Rows:
        """Compute distances."""
        xp = namespace(rows)
        with np.errstate(over="ignore", invalid="ignore"):
            cells = (rows - like(self.center, rows)) / like(self.unit, rows)
        cells = xp.clip(xp.where(xp.isnan(cells), FARTHEST, cells), -FARTHEST, FARTHEST)
        squared = (cells @ like(self.directions.T, rows)) ** 2
        distances = squared @ like(self.precisions, rows)
        if self.residual:
            outside = xp.sum(cells * cells, axis=1) - xp.sum(squared, axis=1)
            distances = distances + self.residual * xp.clip(outside, 0.0, None)
        return distances**0.5

    def parts(self, row: Array) -> Array:
        """Decompose the squared distance; parts may be negative."""
        cells = np.clip((row - self.center) / self.unit, -FARTHEST, FARTHEST)
        along = self.directions @ cells
        outside = cells - along @ self.directions
        return np.asarray(
            cells * ((self.precisions * along) @ self.directions + self.residual * outside)
        )
