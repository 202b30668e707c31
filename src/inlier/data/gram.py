"""Few rows and many columns: the same problem in at most n coordinates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from inlier._typing import Array
from inlier.data.arrays import DenseTable
from inlier.data.base import Table

# Above this many rows the eigenvectors of an n x n matrix cost more than the passes they save.
MOST_ROWS = 512


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
        n, d = table.shape
        return n < d and n <= MOST_ROWS

    @classmethod
    def of(cls, table: Table, center: Array) -> Rotation:
        """The coordinates with this centre as origin, in the precision of the data."""
        center = center.astype(table.dtype).astype(np.float64)
        values, vectors = np.linalg.eigh(table.gram(center))
        # A direction below the rounding of the Gram matrix holds nothing.
        held = values > len(values) * np.finfo(np.float64).eps * values[-1]
        held[-1] = True
        lengths = np.sqrt(np.maximum(values[held], np.finfo(np.float64).tiny))
        vectors = vectors[:, held]
        return cls(
            table, center, DenseTable(table.beside(vectors * lengths)), (vectors / lengths).T
        )

    def restore(self, vectors: Array) -> Array:
        """Vectors (k x r) in the original coordinates (k x d), in one pass."""
        return self.original.combine(self.center, self.original.beside(vectors @ self.mixing))
