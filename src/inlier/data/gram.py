"""Few rows and many columns: rotation to at most n coordinates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from inlier._internal.arrays import on_host
from inlier._internal.numbers import EPS
from inlier._internal.typing import Array
from inlier.data.arrays import DenseTable, is_wide
from inlier.data.base import Table
from inlier.data.settings import SETTINGS


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

    @staticmethod
    def pays(table: Table) -> bool:
        """Return whether a fit is cheaper in rotated coordinates."""
        return is_wide(table.shape)

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


def central_row(table: Table) -> Array:
    """Return a central row; row 0 if it is central.

    If squares overflow about row 0, return the coordinate-wise median.
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
    factor = SETTINGS.central if n * d > SETTINGS.central_elements else 1.0
    is_central = typical[0] <= factor * typical[best]
    return first if is_central else _row(table, best)


def _row(table: Table, i: int) -> Array:
    """Return a row in double precision, so that centering loses no digits."""
    row: Array = table.fetch(np.array([i]))[0].astype(np.float64)
    return row
