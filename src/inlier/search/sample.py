"""Some rows of a table on the host, on which the search works."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from inlier._internal.arrays import evenly_spaced, like, median, namespace, on_host
from inlier._internal.typing import Array, Mask, Rows
from inlier._internal.validation import fit_generator
from inlier.data import Table
from inlier.search import thresholds


def size_of_sample(shape: tuple[int, int]) -> int:
    """Return how many rows of a table are sampled; 0 if they are too few to know the columns."""
    n, d = shape
    m = min(n, max(thresholds.SAMPLE_ROWS, thresholds.SAMPLE_CELLS // d))
    if n * d <= thresholds.WHOLE_CELLS:
        m = n
    return 0 if n < thresholds.FEWEST_ROWS or m * d > thresholds.MOST_SAMPLE_CELLS else m


class RowSample(NamedTuple):
    """Some rows of a table on the host, in an order that does not depend on the table's."""

    rows: Array
    """Their indices."""
    values: Array
    """m x d, in double precision."""
    missing: Mask | None = None
    """m x d: which cells are filled, if some are."""

    @classmethod
    def of(cls, table: Table) -> RowSample | None:
        """Sample all rows, or as many as fit; None if these are too few to know the columns."""
        n, m = table.shape[0], size_of_sample(table.shape)
        if m == 0:
            return None
        # In the order in which the fit samples rows, if it has one already.
        order = table.order(fit_generator(0))
        rows = on_host(order) if m == n else evenly_spaced(order, m)
        missing = None if table.missing is None else table.missing[rows]
        return cls(rows, table.fetch(rows).astype(np.float64, copy=False), missing)

    def among(self, kept: Rows, most: int) -> RowSample:
        """Return the kept rows of the sample, or `most` of them."""
        inside = np.flatnonzero(on_host(namespace(kept).take(kept, like(self.rows, kept))))
        if len(inside) == len(self.rows) <= most:
            return self
        if len(inside) > most:
            inside = inside[np.linspace(0, len(inside) - 1, most).astype(np.intp)]
        missing = None if self.missing is None else self.missing[inside]
        return RowSample(self.rows[inside], self.values[inside], missing)

    def refilled(self) -> Array:
        """Return the values, with missing cells filled with the medians of these rows.

        The median of other rows is not their middle: a spike beside it looks like skewness.
        """
        values = self.values.copy()
        if self.missing is not None:
            some_missing = self.missing.any(axis=0) & ~self.missing.all(axis=0)
            for j in np.flatnonzero(some_missing):
                filled = self.missing[:, j]
                values[filled, j] = median(values[~filled, j])
        return values
