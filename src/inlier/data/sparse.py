"""Tables in a scipy sparse matrix, never densified as a whole.

The center is subtracted from products, not entries: ||y - c||^2 = ||y||^2 - 2 c.y + ||c||^2. In a
column that few rows store this is accurate, because most rows are as far from a center as the
center is from zero. In a column that most rows store it may cancel: rows may be near each other and
far from the origin. There the center is subtracted from the entries, the missing ones stored as
zeros first.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array
from sklearn.utils.sparsefuncs import csc_median_axis_0

from inlier._internal.arrays import blocks_of, working_precision
from inlier._internal.typing import Array, Mask, Rows
from inlier.data.base import Metric, Moment, Table


class SparseTable(Table):
    """Rows of a scipy sparse matrix or array, compressed.

    Columns that more than half of the rows store are stored in full: at most twice as many entries.
    """

    sparse = True
    in_memory = True

    def __init__(self, Y: Any) -> None:
        super().__init__((Y.shape[0], Y.shape[1]))
        self.dtype = working_precision(Y.dtype.name)
        self._Y = Y.tocsr().astype(self.dtype, copy=False)
        if not self._Y.has_canonical_format:  # duplicate entries add up
            self._Y = self._Y.copy()
            self._Y.sum_duplicates()
        stored = np.bincount(self._Y.indices, minlength=self.shape[1])
        self._common: Mask = 2 * stored > self.shape[0]
        if (stored[self._common] < self.shape[0]).any():
            self._Y = _filled(self._Y, self._common)

    def project(self, center: Array, basis: Array) -> Array:
        self.n_passes += 1
        return self._projected(center, basis)

    def moment(self, center: Array, weights: Array, basis: Array, drift: bool = True) -> Moment:
        self.n_passes += 1
        projected = self._projected(center, basis)
        weighted = np.concatenate([projected * weights, weights[None]])
        image = self._combined(center, weighted)
        return Moment(projected, image[:-1], image[-1])

    def squares(self, center: Array, weights: Array) -> tuple[Array, Array]:
        """Sum entry by entry: the weighted rows may all store a column that few others store."""
        self.n_passes += 1
        indices, d = self._Y.indices, self.shape[1]

        def by_column(entries: Array) -> Array:
            return np.bincount(indices, weights=entries, minlength=d)

        w = np.repeat(weights, np.diff(self._Y.indptr))
        # Total weight of the rows that do not store a column; exactly 0 where there are none.
        missing = np.count_nonzero(weights) - by_column(w != 0.0)
        rest = np.where(missing > 0.0, weights.sum() - by_column(w), 0.0)
        # A row too far away to square makes an infinite sum, unless it has no weight.
        with np.errstate(over="ignore", invalid="ignore"):
            far = self._Y.data.astype(np.float64, copy=False) - center[indices]
            weighted = w * far
            squares = by_column(weighted * far) + rest * center * center
        return squares, by_column(weighted) - rest * center

    def combine(self, center: Array, coefficients: Array) -> Array:
        self.n_passes += 1
        return self._combined(center, coefficients)

    def median(self, sample: np.random.Generator | None = None) -> Array:
        if sample is None:
            self.n_passes += 1
        rows = self._Y if sample is None else self._Y[self.sampled_rows(sample)]
        with np.errstate(over="ignore"):
            median: Array = csc_median_axis_0(rows.tocsc())
        return median

    def sq_distances(self, center: Array) -> Array:
        self.n_passes += 1
        # A row too far away to square is infinitely far.
        with np.errstate(over="ignore", invalid="ignore"):
            A, left = self._about(center)
            entries = A.data.astype(np.float64, copy=False)
            squares = entries * (entries - 2.0 * left[A.indices])
            summed = _with_entries(A, squares).dot(np.ones(self.shape[1]))
            squared: Array = np.maximum(summed + left @ left, 0.0)
        return np.where(np.isnan(squared), np.inf, squared)

    def measured(self, measure: Callable[[Rows], Rows]) -> Array:
        """Apply a measure to densified blocks of rows."""
        self.n_passes += 1
        blocks = (self._Y[part].toarray() for part in blocks_of(*self.shape))
        return np.concatenate([measure(block.astype(np.float64)) for block in blocks])

    def fetch(self, rows: Array) -> Array:
        few: Array = self._Y[rows].toarray()
        return few

    def take(self, rows: Mask) -> Table:
        return self.counting_for(SparseTable(self._Y[rows]))

    def in_metric(self, metric: Metric) -> Table:
        """Scale the columns; the metric has to be diagonal, so that zeros stay zeros."""
        self.n_passes += 1
        largest = float(np.finfo(self.dtype).max)
        with np.errstate(over="ignore"):
            entries = self._Y.data / metric.factor[self._Y.indices]
        scaled = _with_entries(self._Y, np.clip(entries, -largest, largest))
        return self.counting_for(SparseTable(scaled))

    def gram(self, center: Array) -> Array:
        self.n_passes += 1
        with np.errstate(over="ignore", invalid="ignore"):
            A, left = self._about(center)
            A = A.astype(np.float64, copy=False)
            along = A.dot(left)
            gram: Array = (A @ A.T).toarray() - along[:, None] - along + left @ left
        return gram

    def _about(self, center: Array) -> tuple[Any, Array]:
        """Split the centered table into a sparse matrix and a vector to subtract from each row."""
        taken = np.where(self._common, center, 0.0)
        if not taken.any():
            return self._Y, center
        return _with_entries(self._Y, self._Y.data - taken[self._Y.indices]), center - taken

    def _projected(self, center: Array, basis: Array) -> Array:
        A, left = self._about(center)
        projected: Array = A.dot(basis.T).T - (basis @ left)[:, None]
        return np.ascontiguousarray(projected, dtype=np.float64)

    def _combined(self, center: Array, coefficients: Array) -> Array:
        A, left = self._about(center)
        uncentered = A.T.dot(coefficients.T).T
        combined: Array = uncentered - coefficients.sum(axis=1)[:, None] * left
        return combined


def _with_entries(Y: Any, entries: Array) -> Any:
    """Return a matrix with the same sparsity pattern and other entries."""
    return csr_array((entries, Y.indices, Y.indptr), shape=Y.shape)


def _filled(Y: Any, columns: Mask) -> Any:
    """Store an entry for every row in some columns: zeros are added to those that are stored."""
    stored, places, n = Y.tocoo(), np.flatnonzero(columns), Y.shape[0]
    zeros = np.zeros(n * len(places), Y.dtype)
    rows, columns = np.repeat(np.arange(n), len(places)), np.tile(places, n)
    where = np.concatenate([stored.row, rows]), np.concatenate([stored.col, columns])
    return coo_array((np.concatenate([stored.data, zeros]), where), shape=Y.shape).tocsr()
