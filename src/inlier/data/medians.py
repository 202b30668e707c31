"""Column medians, by sorting."""

import numpy as np

from inlier._internal.arrays import like, namespace, on_host
from inlier._internal.typing import Array, Rows


def ascending_columns(rows: Rows) -> Rows:
    """Sort the columns of a few rows, d x n, where the rows are."""
    columns = np.ascontiguousarray(rows.T) if isinstance(rows, np.ndarray) else rows.T
    return namespace(rows).sort(columns, axis=1)


def column_medians(rows: Rows) -> Array:
    """Compute column medians by sorting: of a few rows ten times as fast as numpy's."""
    if not getattr(rows, "is_cuda", False):
        rows = on_host(rows)
    return middles(ascending_columns(rows))


def middles(ascending: Rows) -> Array:
    """Return the medians of ascending rows."""
    n = ascending.shape[1]
    low, high = on_host(
        namespace(ascending).stack([ascending[:, i] for i in ((n - 1) // 2, n // 2)])
    ).astype(np.float64)
    # Halved before they are added, because the sum may overflow.
    return np.asarray(low / 2.0 + high / 2.0)


def median_distances(ascending: Rows, center: Array) -> Array:
    """Compute median distances from a center of ascending rows, without sorting the distances.

    The k nearest values are neighbors, so the k-th distance is the least over all runs of k values
    of the larger distance of their ends.
    """
    n = ascending.shape[1]
    xp, off = namespace(ascending), ascending - like(center[:, None], ascending)
    nearest = [
        on_host(xp.min(xp.maximum(-off[:, : n - k + 1], off[:, k - 1 :]), axis=1))
        for k in sorted({(n + 1) // 2, n // 2 + 1})
    ]
    return np.asarray(nearest[0] / 2.0 + nearest[-1] / 2.0)
