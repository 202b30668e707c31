"""The second moments within a few directions, as a table for the engine."""

import numpy as np

from inlier._internal.typing import Array


def products(P: Array, rest: Array | None = None, columns: int = 1) -> Array:
    """Return z z^T for rows with the coordinates P (k x n), as the rows of a table.

    Its k (k + 1) / 2 columns are coordinates of symmetric matrices in an orthonormal basis, so that
    they are uncorrelated with variance 2 if the coordinates are independent and standard Gaussian.
    So is the last one: `rest`, the squared length in all other `columns`, over their root.
    """
    i, j = np.triu_indices(len(P))
    table = P[i] * P[j] * np.where(i == j, 1.0, np.sqrt(2.0))[:, None]
    if rest is not None:
        table = np.concatenate([table, rest[None] / np.sqrt(columns)])
    return np.ascontiguousarray(table.T)
