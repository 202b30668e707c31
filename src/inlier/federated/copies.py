"""Copies: clients that say the same count once.

Honest updates carry noise of their own, and so are about as far from each other as from any other
honest one. Liars that act together often send the same vector, or nearly.
"""

from __future__ import annotations

import numpy as np
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform

from inlier._internal.typing import Array

NEAR = 0.3
"""Copies are linked by distances of at most this share of that to the next client, and of what is
usual to the nearest half of all."""
ROUNDING = 1e-6
"""Of squared lengths: what single precision leaves of the distance of equal updates."""
FEWEST = 4
"""Fewer different updates have no majority that could be told from a minority."""


def copy_groups(D: Array, squares: Array) -> Array:
    """Return the number of the group of copies that each client belongs to.

    Groups are those of single linkage that are small beside the distance to the next client. That
    they are small beside others is not enough: honest clients that have nothing left to learn all
    send next to nothing.

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
    usual = float(np.sqrt(np.median(np.sort(others, axis=1)[:, n // 2 - 1])))
    equal = np.maximum(squares[:, None], squares) * ROUNDING >= D
    tree = linkage(squareform(np.sqrt(np.where(equal, 0.0, D)), checks=False), "single")

    parent = np.full(2 * n - 1, np.inf)  # the height at which a cluster joins another
    for left, right, height, _ in tree:
        parent[[int(left), int(right)]] = height
    members: list[list[int]] = [[i] for i in range(n)]
    groups = alone.copy()
    for k, (left, right, height, _) in enumerate(tree):
        members.append(members[int(left)] + members[int(right)])
        if height <= NEAR * min(usual, parent[n + k]) or height == 0.0:
            groups[members[-1]] = min(members[-1])
    return groups if len(np.unique(groups)) >= FEWEST else alone
