"""Clients so far from the majority that no honest update can be."""

from __future__ import annotations

import numpy as np

from inlier._internal.typing import Array, Mask
from inlier.federated.copies import FEWEST, ROUNDING
from inlier.federated.geometry import middle

FAR = 20.0
"""Radii of the nearest majority. Without liars, updates in the trainings of benchmarks/federated.py
reach 12; a liar that stays within it is clipped."""


def distant(D: Array, squares: Array, first: Array) -> tuple[Mask, Array]:
    """Return which clients are beyond 20 radii of the majority, and how many radii off each is.

    The majority is that of all clients, unless more than half of them sent the same, as those do
    that were idle: then it is that of the updates that differ, if there are four of them.

    Parameters
    ----------
    D : array of shape (n, n)
        Squared distances.
    squares : array of shape (n,)
        Squared lengths, which rounding is relative to.
    first : array of int, shape (n,)
        The first copy of each client's update.
    """
    central, radius = middle(D)
    rounding = ROUNDING * float(squares[central])
    if radius <= rounding:
        leaders = np.unique(first)
        if len(leaders) >= FEWEST:
            place, radius = middle(D[np.ix_(leaders, leaders)])
            central = int(leaders[place])
    apart = D[central]
    # No ratio is out of range, whatever the radius.
    least = max(radius, rounding, 1e-30 * float(apart.max()), float(np.finfo(np.float64).tiny))
    ratios: Array = np.sqrt(apart / least) if len(D) > 2 else np.zeros(len(D))
    return ratios > FAR, ratios
