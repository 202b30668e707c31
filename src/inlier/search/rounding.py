"""The step by which the values of a column are rounded."""

import numpy as np

from inlier._internal.arrays import namespace, of_columns, on_host
from inlier._internal.typing import Array, Rows


def rounding_steps(ascending: Rows) -> Array:
    """Return the smallest step between the values of each sorted column; 0 if all are equal.

    Steps below 1e-9 of the column's spread are arithmetic, not rounding. The spread is that of the
    middle values: a single huge one must not make the others look like copies.
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
