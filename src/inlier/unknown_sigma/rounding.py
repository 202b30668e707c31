"""The step by which the values of a column are rounded."""

import numpy as np

from inlier._internal.typing import Array


def rounding_steps(ascending: Array) -> Array:
    """Return the smallest step between the values of each sorted column; 0 if all are equal.

    Steps below 1e-9 of the column's spread are arithmetic, not rounding. The spread is that of the
    middle values: a single huge one must not make the others look like copies.
    """
    n = len(ascending)
    steps = np.diff(ascending, axis=0)
    spread = ascending[n - 1 - n // 10] - ascending[n // 10]
    spread = np.where(spread > 0.0, spread, ascending[-1] - ascending[0])
    least = 1e-9 * spread
    smallest = steps.min(axis=0)
    tied = np.flatnonzero(~(smallest > least))
    if len(tied):
        among = steps[:, tied]
        smallest[tied] = np.where(among > least[tied], among, np.inf).min(axis=0)
    return np.where(np.isfinite(smallest), smallest, 0.0)
