"""The rows that are tested on the host, and rounding and quantiles of their columns."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from inlier._internal.arrays import evenly_spaced, like, median, namespace, of_columns, on_host
from inlier._internal.typing import Array, Mask, Rows
from inlier._internal.validation import fit_generator
from inlier.data import Table
from inlier.search import thresholds


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
        n, d = table.shape
        m = min(n, max(thresholds.SAMPLE_ROWS, thresholds.SAMPLE_CELLS // d))
        if n * d <= thresholds.WHOLE_CELLS:
            m = n
        if n < thresholds.FEWEST_ROWS or m * d > thresholds.MOST_SAMPLE_CELLS:
            return None
        # In the order in which the fit samples rows, if it has one already.
        order = table.order(fit_generator(0))
        rows = on_host(order) if m == n else evenly_spaced(order, m)
        missing = None if table.missing is None else table.missing[rows]
        return cls(rows, table.fetch(rows).astype(np.float64), missing)

    def among(self, kept: Rows, most: int) -> RowSample:
        """Return the kept rows of the sample, or `most` of them."""
        inside = np.flatnonzero(on_host(namespace(kept).take(kept, like(self.rows, kept))))
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


def rounding_steps(ascending: Rows) -> Array:
    """Return the smallest step between the values of each sorted column; 0 if all are equal.

    Steps below 1e-9 of the column's spread are arithmetic, not rounding. The spread is the one of
    the middle values: a single huge value must not make the others look like copies.
    """
    xp, n = namespace(ascending), ascending.shape[0]
    steps = ascending[1:, :] - ascending[:-1, :]
    spread = ascending[n - 1 - n // 10, :] - ascending[n // 10, :]
    spread = xp.where(spread > 0.0, spread, ascending[-1, :] - ascending[0, :])
    least, smallest = 1e-9 * on_host(spread), on_host(xp.min(steps, axis=0)).copy()
    tied = np.flatnonzero(~(smallest > least))
    if len(tied):
        among = on_host(of_columns(steps, tied))
        smallest[tied] = np.where(among > least[tied], among, np.inf).min(axis=0)
    return np.where(np.isfinite(smallest), smallest, 0.0)


def quantile_of_last(ascending: Rows, number: Array, q: float) -> Array:
    """Return a quantile of the last `number` values of each sorted column."""
    n = ascending.shape[0]
    at = np.maximum(number - 1, 0) * q
    low = np.floor(at).astype(np.intp)
    first = n - np.maximum(number, 1) + low
    places = like(np.stack([first, np.minimum(first + 1, n - 1)]), ascending)
    inner, outer = on_host(namespace(ascending).take_along_axis(ascending, places, axis=0))
    return np.asarray(inner + (at - low) * (outer - inner))
