"""Tables held in a numpy array or a memory-mapped file, read in blocks of rows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from inlier._typing import Array, Mask
from inlier.data.base import Metric, Moment, Table, Weights, sampled_rows, working_dtype

# A block has to stay in a core's own cache between the two products of a fused pass. OpenBLAS
# multiplies small matrices, up to 1e6 multiplications, without packing them, twice as fast: blocks
# are kept that small while the basis is, and are larger otherwise.
BLOCK_ELEMENTS = 1 << 16
UNPACKED = 1_000_000
LARGE_BLOCK_ELEMENTS = 1 << 18
MIN_BLOCK_ROWS = 16
# A Gram matrix is compute-bound: its blocks are wide enough for the multiplication to be fast.
GRAM_ELEMENTS = 1 << 20


class DenseTable(Table):
    """Rows of a two-dimensional array of any real dtype and memory order.

    No copy of the data is made. Rows in double precision are used where they lie and the centre is
    taken off the products; other dtypes are centred block by block, in a buffer, because a product
    of uncentred single-precision rows has already lost what distinguishes them.

    Parameters
    ----------
    Y : ndarray of shape (n, d)
    """

    def __init__(self, Y: Array) -> None:
        super().__init__((Y.shape[0], Y.shape[1]))
        self._Y = Y
        self.dtype = working_dtype(Y.dtype)

    def _block_rows(self, k: int) -> int:
        """Rows in a block that is multiplied with k directions."""
        small = k * BLOCK_ELEMENTS <= UNPACKED
        elements = BLOCK_ELEMENTS if small else LARGE_BLOCK_ELEMENTS
        return min(self.shape[0], max(MIN_BLOCK_ROWS, elements // self.shape[1]))

    def _split(self, center: Array) -> tuple[Array | None, Array]:
        """The part of the centre that is taken off the rows, and that left for their products."""
        if self._Y.dtype == np.float64:
            return None, center
        taken = center.astype(self.dtype)
        return taken, center - taken

    def _blocks(self, taken: Array | None, k: int = 1) -> Iterator[tuple[slice, Array]]:
        self.n_passes += 1
        n, d = self.shape
        height = self._block_rows(k)
        buffer = np.empty((0 if taken is None else height, d), self.dtype)
        for start in range(0, n, height):
            rows = slice(start, min(n, start + height))
            block = self._Y[rows]
            if taken is not None:
                out = buffer[: rows.stop - start]
                block = np.subtract(block, taken, out=out, dtype=self.dtype)
            yield rows, block

    def project(self, center: Array, basis: Array) -> Array:
        """See `Table.project`."""
        taken, left = self._split(center)
        basis = basis.astype(self.dtype, copy=False)
        out = np.empty((len(basis), self.shape[0]))
        for rows, block in self._blocks(taken, len(basis)):
            out[:, rows] = basis @ block.T
        out -= (basis @ left)[:, None]
        return out

    def moment(self, center: Array, weights: Weights, basis: Array) -> Moment:
        """See `Table.moment`."""
        n, d = self.shape
        k = len(basis)
        taken, left = self._split(center)
        basis = basis.astype(self.dtype, copy=False)
        shift = (basis @ left)[:, None].astype(self.dtype)
        projection = np.empty((k, n))
        image = np.zeros((k + 1, d))
        total = np.zeros(k + 1)
        weighted = np.empty((k + 1, self._block_rows(k + 1)), self.dtype)
        for rows, block in self._blocks(taken, k + 1):
            seen = basis @ block.T
            seen -= shift
            w = weights(rows, seen) if callable(weights) else weights[rows]
            part = weighted[:, : seen.shape[1]]
            np.multiply(seen, w, out=part[:k], casting="same_kind")
            part[k] = w
            projection[:, rows] = seen
            image += part @ block
            total += part.sum(axis=1)
        image -= total[:, None] * left
        return Moment(projection, image[:k], image[k])

    def combine(self, center: Array, coefficients: Array) -> Array:
        """See `Table.combine`."""
        taken, left = self._split(center)
        coefficients = coefficients.astype(self.dtype, copy=False)
        out = np.zeros((len(coefficients), self.shape[1]))
        for rows, block in self._blocks(taken, len(coefficients)):
            out += coefficients[:, rows] @ block
        out -= coefficients.sum(axis=1)[:, None] * left
        return out

    def median(self, sample: np.random.Generator | None = None) -> Array:
        """See `Table.median`."""
        rows = sampled_rows(self.shape[0], sample)
        self.n_passes += isinstance(rows, slice)
        return np.median(self._Y[rows], axis=0).astype(np.float64, copy=False)

    def sq_distances(self, center: Array) -> Array:
        """See `Table.sq_distances`."""
        taken, left = self._split(center)
        out = np.empty(self.shape[0])
        with np.errstate(over="ignore"):  # a row too far away to square is infinitely far
            for rows, block in self._blocks(taken):
                far = block - left
                out[rows] = np.einsum("ij,ij->i", far, far)
        return out

    def take(self, rows: Mask) -> Table:
        """See `Table.take`."""
        return DenseTable(self._Y[rows])

    def in_metric(self, metric: Metric) -> Table:
        """See `Table.in_metric`."""
        seen = np.empty(self.shape, self.dtype)
        for rows, block in self._blocks(None):
            seen[rows] = metric.seen(block)
        return DenseTable(seen)

    def gram(self, center: Array) -> Array:
        """See `Table.gram`."""
        self.n_passes += 1
        n, d = self.shape
        out = np.zeros((n, n))
        width = max(1, GRAM_ELEMENTS // n)
        for start in range(0, d, width):
            columns = slice(start, start + width)
            block = np.subtract(self._Y[:, columns], center[columns], dtype=self.dtype)
            out += block @ block.T
        return out
