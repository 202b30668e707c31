"""Few rows and many columns: the same problem in at most n coordinates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from inlier._internal.arrays import on_host
from inlier._internal.typing import Array
from inlier.data.arrays import DenseTable, is_wide
from inlier.data.base import Table

# Vectors with more entries than these, together, are restored when they are looked at.
AT_ONCE = 1 << 22
# A row is among the others if its median squared distance from them is not this much larger.
CENTRAL = 4.0
# Of so few entries the row is the most central one, for another look at them: the order of the rows
# does not matter then.
SMALL = 1 << 20


@dataclass(frozen=True)
class Rotation:
    """A table in orthonormal coordinates of the span of its centred rows.

    Everything but the coordinate-wise median is equivariant under rotation and stays in the affine
    span of the rows and the first centre. With fewer rows than columns that span is found from the
    Gram matrix of the centred rows, in one pass; the fit then costs next to nothing.
    """

    original: Table
    center: Array
    """The origin of the coordinates."""
    rotated: Table
    mixing: Array
    """r x n: the axes of the new coordinates as combinations of the centred rows."""

    @staticmethod
    def pays(table: Table) -> bool:
        """Whether a fit is cheaper in the coordinates of the rows."""
        return is_wide(table.shape)

    @classmethod
    def of(cls, table: Table, center: Array) -> Rotation:
        """The coordinates with this centre as origin, in the precision of the data."""
        rounded = center.astype(table.dtype, copy=False)
        if not np.array_equal(rounded, center):
            center = rounded.astype(np.float64)
        gram = table.gram(center)
        # Each product is rounded in proportion to the lengths of its two rows. With these divided
        # out a few very distant rows do not cost the others their precision.
        own = np.sqrt(np.maximum(np.diag(gram), 0.0))
        # Nearer to the centre than this a row is rounding, where the centre is not taken off first,
        # or its square is no number.
        eps = float(np.finfo(np.float64).eps)
        nearest = max(np.sqrt(eps) * float(np.median(own)), eps * float(np.linalg.norm(center)))
        own = np.maximum(own, max(nearest, float(np.sqrt(np.finfo(table.dtype).tiny))))
        values, vectors = np.linalg.eigh(gram / own / own[:, None])
        # A direction below the rounding of the Gram matrix holds nothing.
        rounding = 10.0 * len(values) * eps
        if table.dtype == np.float32 and not table.sparse:  # whose products are in double precision
            rounding = max(rounding, float(np.finfo(np.float32).eps))
        held = values > rounding * values[-1]
        held[-1] = True
        lengths = np.sqrt(np.maximum(values[held], 0.0))
        vectors = vectors[:, held]
        # The sign of an eigenvector is an accident; the random directions of a fit see it.
        largest = np.argmax(np.abs(vectors), axis=0)
        vectors = vectors * np.sign(vectors[largest, np.arange(len(largest))])
        rotated = DenseTable(table.to_device(own[:, None] * vectors * lengths))
        lengths[lengths == 0.0] = 1.0  # all rows are at the centre, and so is what is made of them
        return cls(table, center, rotated, (vectors / lengths / own[:, None]).T)

    def projected(self, directions: Array) -> Array:
        """Directions of the data (k x d) in the coordinates of the rows' span, in one pass."""
        along = on_host(self.original.project(self.center, directions))
        return np.asarray(along @ self.mixing.T)

    def restored(self, vectors: Array) -> Array:
        """Vectors (k x r, or one) in the original coordinates, in one pass."""
        return self.combined(vectors @ self.mixing)

    def combined(self, coefficients: Array) -> Array:
        """Combinations of the centred rows (k x n, or one), in one pass."""
        mixing = self.original.to_device(np.atleast_2d(coefficients))
        found = self.original.combine(self.center, mixing)
        combined: Array = found[0] if coefficients.ndim == 1 else found
        return combined

    def points(self, vectors: Array) -> Any:
        """The same for points; of very many columns, as soon as they are looked at."""
        return self._now_or_later(vectors @ self.mixing, origin=True)

    def directions(self, vectors: Array) -> Any:
        """The same for directions; of very many columns, as soon as they are looked at."""
        return self._now_or_later(vectors @ self.mixing, origin=False)

    def spanned(self, coefficients: Array) -> Any:
        """The same for points that are known as combinations of the centred rows (k x n).

        The coordinates of a row that is far out have lost digits; the row itself has not.
        """
        return self._now_or_later(coefficients, origin=True)

    def _now_or_later(self, coefficients: Array, origin: bool) -> Any:
        later = LazyArray(self, coefficients, origin)
        many = np.atleast_2d(coefficients).shape[0] * self.original.shape[1] > AT_ONCE
        return later if many else later.compute()


class LazyArray:
    """Vectors in the original coordinates, worked out when they are first looked at: one pass.

    Each has as many entries as the table has columns, and most are never looked at. The data must
    not change until then.
    """

    def __init__(self, rotation: Rotation, coefficients: Array, origin: bool) -> None:
        self._rotation, self._coefficients, self._origin = rotation, coefficients, origin

    def compute(self) -> Array:
        """As an array."""
        found = self._rotation.combined(self._coefficients)
        return found + self._rotation.center if self._origin else found

    def __getitem__(self, i: int | slice) -> LazyArray:
        return LazyArray(self._rotation, self._coefficients[i], self._origin)

    def __reduce__(self) -> tuple[Any, ...]:
        return np.asarray, (self.compute(),)  # without the table


class LazyFields:
    """A dataclass some of whose arrays may be there `LazyArray`."""

    def __getattribute__(self, name: str) -> Any:
        value = super().__getattribute__(name)
        if isinstance(value, LazyArray):
            value = value.compute()
            object.__setattr__(self, name, value)
        return value


def central_row(table: Table) -> Array:
    """A row that is not far from most others, as origin: of a large table the first, if it is not.

    Where that one is so far away that squares overflow, it is the coordinate-wise median.
    """
    first = _row(table, 0)
    with np.errstate(over="ignore", invalid="ignore"):
        gram = table.gram(first)
        squared = np.diag(gram)[:, None] + np.diag(gram) - 2.0 * gram
        typical = np.median(np.where(np.isnan(squared), np.inf, squared), axis=1)
    best = int(np.argmin(typical))
    if not np.isfinite(typical[best]):
        return table.median()
    n, d = table.shape
    is_central = typical[0] <= (CENTRAL if n * d > SMALL else 1.0) * typical[best]
    return first if is_central else _row(table, best)


def _row(table: Table, i: int) -> Array:
    """In double precision: what is seen from it must not lose digits to where it lies."""
    row: Array = table.some(np.array([i]))[0].astype(np.float64)
    return row
