"""Tables held in a scipy sparse matrix: the same passes, centred implicitly, never densified."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.sparsefuncs import csc_median_axis_0

from inlier._arrays import working_precision
from inlier._typing import Array, Mask
from inlier.data.base import Metric, Moment, Table, Weights


class SparseTable(Table):
    """Rows of a scipy sparse matrix or array.

    Parameters
    ----------
    Y : sparse matrix of shape (n, d)
        Turned into compressed rows if it is not in that format already.
    """

    sparse = True

    def __init__(self, Y: Any) -> None:
        super().__init__((Y.shape[0], Y.shape[1]))
        self.dtype = working_precision(Y.dtype.name)
        self._Y = Y.tocsr().astype(self.dtype, copy=False)
        if not self._Y.has_canonical_format:  # an entry given twice is a sum
            self._Y = self._Y.copy()
            self._Y.sum_duplicates()

    def project(self, center: Array, basis: Array) -> Array:
        """See `Table.project`."""
        self.n_passes += 1
        return self._seen(center, basis)

    def moment(self, center: Array, weights: Weights, basis: Array, drift: bool = True) -> Moment:
        """See `Table.moment`."""
        self.n_passes += 1
        seen = self._seen(center, basis)
        w = weights(slice(None), seen) if callable(weights) else weights
        weighted = np.concatenate([seen * w, w[None]])
        image = self._combined(center, weighted)
        return Moment(seen, image[:-1], image[-1])

    def scatter(self, center: Array, weights: Array) -> tuple[Array, Array]:
        """See `Table.scatter`."""
        moment = self.moment(center, weights, np.eye(self.shape[1]))
        return (moment.image + moment.image.T) / 2.0, moment.drift

    def combine(self, center: Array, coefficients: Array) -> Array:
        """See `Table.combine`."""
        self.n_passes += 1
        return self._combined(center, coefficients)

    def median(self, sample: np.random.Generator | None = None) -> Array:
        """See `Table.median`."""
        if sample is None:
            self.n_passes += 1
        rows = self._Y if sample is None else self._Y[self.sampled_rows(sample)]
        median: Array = csc_median_axis_0(rows.tocsc())
        return median

    def sq_distances(self, center: Array) -> Array:
        """See `Table.sq_distances`."""
        self.n_passes += 1
        # In double precision, because what remains after the centre is taken off is small.
        Y = self._Y.astype(np.float64, copy=False)
        along = Y.dot(center)
        with np.errstate(over="ignore"):  # a row too far away to square is infinitely far
            own = np.asarray(Y.power(2).sum(axis=1)).ravel()
        squared: Array = np.maximum(own - 2.0 * along + center @ center, 0.0)
        return squared

    def some(self, rows: Array) -> Array:
        """See `Table.some`."""
        few: Array = self._Y[rows].toarray()
        return few

    def take(self, rows: Mask) -> Table:
        """See `Table.take`."""
        return SparseTable(self._Y[rows])

    def in_metric(self, metric: Metric) -> Table:
        """See `Table.in_metric`. Zeros stay zeros, so the scatter has to be diagonal."""
        self.n_passes += 1
        return SparseTable(self._Y.multiply(1.0 / metric.factor).tocsr())

    def gram(self, center: Array) -> Array:
        """See `Table.gram`."""
        self.n_passes += 1
        Y = self._Y.astype(np.float64, copy=False)
        along = Y.dot(center)
        products = (Y @ Y.T).toarray()
        gram: Array = products - along[:, None] - along + center @ center
        return gram

    def _seen(self, center: Array, basis: Array) -> Array:
        seen: Array = self._Y.dot(basis.T).T - (basis @ center)[:, None]
        return np.ascontiguousarray(seen, dtype=np.float64)

    def _combined(self, center: Array, coefficients: Array) -> Array:
        uncentred = self._Y.T.dot(coefficients.T).T
        combined: Array = uncentred - coefficients.sum(axis=1)[:, None] * center
        return combined
