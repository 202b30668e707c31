"""Copies: clients that say the same count once.

Honest updates carry noise of their own, and so are about as far from each other as from any other
honest one. Liars that act together often send the same vector, or nearly.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse.csgraph import connected_components

from inlier._internal.typing import Array

NEAR = 0.3
"""Copies are nearer than this share of the distance that is usual to the nearest half."""
ROUNDING = 1e-6
"""Of squared lengths: what single precision leaves of the distance of equal updates."""
FEWEST = 4
"""Fewer different updates have no majority that could be told from a minority."""


def copy_groups(D: Array, squares: Array) -> Array:
    """Return the number of the group of copies that each client belongs to.

    Parameters
    ----------
    D : array of shape (n, n)
        Squared distances.
    squares : array of shape (n,)
        Squared lengths, which rounding is relative to.

    Returns
    -------
    array of int, shape (n,)
        Equal for copies of each other. All different if fewer than four groups would be left:
        where nearly all agree, that is no evidence against them.
    """
    n = len(D)
    alone = np.arange(n)
    if n < FEWEST:
        return alone
    others = D + np.diag(np.full(n, np.inf))
    usual = float(np.median(np.sort(others, axis=1)[:, n // 2 - 1]))
    near = np.maximum(NEAR**2 * usual, ROUNDING * (squares[:, None] + squares)) >= D
    count, groups = connected_components(near, directed=False)
    return groups if count >= FEWEST else alone
