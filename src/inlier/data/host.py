"""A table on a device whose results are numpy arrays."""

from typing import Any, Self

import numpy as np

from inlier._internal.arrays import on_host
from inlier._internal.typing import Array, Rows
from inlier.data.base import Metric, Moment, Table, Weights
from inlier.data.measures import Measure


class HostTable(Table):
    """The passes of a table, with numpy arrays for everything that has an entry for each row.

    For solvers with many small operations on few rows, which a device would slow down.
    """

    def __init__(self, table: Table) -> None:
        super().__init__(table.shape)
        self._table, self._send = table, table.to_device
        self.dtype, self.sparse = table.dtype, table.sparse
        table.counting_for(self)

    def with_new_counter(self) -> Self:
        return type(self)(self._table.with_new_counter())

    def project(self, center: Array, basis: Array) -> Array:
        return on_host(self._table.project(center, basis))

    def moment(self, center: Array, weights: Weights, basis: Array, drift: bool = True) -> Moment:
        def sent(rows: slice, projected: Rows) -> Any:
            return self._send(weights(rows, on_host(projected)))

        given = sent if callable(weights) else self._send(weights)
        moment = self._table.moment(center, given, basis, drift)
        return moment._replace(projection=on_host(moment.projection))

    def scatter(self, center: Array, weights: Array) -> tuple[Array, Array]:
        return self._table.scatter(center, self._send(weights))

    def squares(self, center: Array, weights: Array) -> tuple[Array, Array]:
        return self._table.squares(center, self._send(weights))

    def combine(self, center: Array, coefficients: Array) -> Array:
        return self._table.combine(center, self._send(coefficients))

    def median(self, sample: np.random.Generator | None = None) -> Array:
        return self._table.median(sample)

    def sq_distances(self, center: Array) -> Array:
        return on_host(self._table.sq_distances(center))

    def measured(self, measure: Measure) -> Array:
        return on_host(self._table.measured(measure))

    def take(self, rows: Array) -> Table:
        return HostTable(self._table.take(self._send(rows)))

    def in_metric(self, metric: Metric) -> Table:
        return HostTable(self._table.in_metric(metric))

    def gram(self, center: Array) -> Array:
        return self._table.gram(center)

    def sampled_rows(self, random: np.random.Generator) -> Array:
        return self._table.sampled_rows(random)

    def fetch(self, rows: Array) -> Array:
        return self._table.fetch(rows)
