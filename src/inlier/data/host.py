"""A table on a device whose rows are spoken of in numpy arrays."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from inlier._internal.arrays import on_host
from inlier._internal.typing import Array, Rows
from inlier.data.base import Metric, Moment, Table, Weights
from inlier.data.measures import Measure


class HostTable(Table):
    """The same passes; what has an entry for each row comes and goes as a numpy array.

    For solvers that do so much with few rows that a device would only be in the way.

    Parameters
    ----------
    table : Table
    """

    def __init__(self, table: Table) -> None:
        self._table = table
        super().__init__(table.shape)
        self.dtype, self.sparse = table.dtype, table.sparse

    @property
    def n_passes(self) -> int:
        """See `Table`."""
        return self._table.n_passes

    @n_passes.setter
    def n_passes(self, value: int) -> None:
        pass  # the table counts by itself

    def project(self, center: Array, basis: Array) -> Array:
        """See `Table.project`."""
        return on_host(self._table.project(center, basis))

    def moment(self, center: Array, weights: Weights, basis: Array, drift: bool = True) -> Moment:
        """See `Table.moment`."""
        weighed = partial(self._weighed, weights) if callable(weights) else self._sent(weights)
        moment = self._table.moment(center, weighed, basis, drift)
        return moment._replace(projection=on_host(moment.projection))

    def _weighed(self, weights: Any, rows: slice, projected: Rows) -> Rows:
        return self._sent(weights(rows, on_host(projected)))

    def _sent(self, rows: Array) -> Rows:
        return self._table.to_device(rows)

    def scatter(self, center: Array, weights: Array) -> tuple[Array, Array]:
        """See `Table.scatter`."""
        return self._table.scatter(center, self._sent(weights))

    def squares(self, center: Array, weights: Array) -> tuple[Array, Array]:
        """See `Table.squares`."""
        return self._table.squares(center, self._sent(weights))

    def combine(self, center: Array, coefficients: Array) -> Array:
        """See `Table.combine`."""
        return self._table.combine(center, self._sent(coefficients))

    def median(self, sample: np.random.Generator | None = None) -> Array:
        """See `Table.median`."""
        return self._table.median(sample)

    def sq_distances(self, center: Array) -> Array:
        """See `Table.sq_distances`."""
        return on_host(self._table.sq_distances(center))

    def measured(self, measure: Measure) -> Array:
        """See `Table.measured`."""
        return on_host(self._table.measured(measure))

    def take(self, rows: Array) -> Table:
        """See `Table.take`."""
        return HostTable(self._table.take(self._sent(rows)))

    def in_metric(self, metric: Metric) -> Table:
        """See `Table.in_metric`."""
        return HostTable(self._table.in_metric(metric))

    def gram(self, center: Array) -> Array:
        """See `Table.gram`."""
        return self._table.gram(center)

    def sampled_rows(self, random: np.random.Generator) -> Array:
        """See `Table.sampled_rows`."""
        return self._table.sampled_rows(random)

    def some(self, rows: Array) -> Array:
        """See `Table.some`."""
        return self._table.some(rows)
