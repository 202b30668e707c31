"""Clients so far from the majority that no honest update can be."""

from __future__ import annotations

from inlier._internal.typing import Array, Mask
from inlier.federated.copies import ROUNDING
from inlier.federated.geometry import middle

FAR = 20.0
"""Radii of the nearest majority. Honest updates reach 12 (docs/federated.md); a liar that stays
within it is clipped."""
FEWEST = 3


def distant(D: Array, squares: Array) -> tuple[Mask, Array]:
    """Return which clients are beyond 20 radii of the majority, and how many radii off each is.

    Parameters
    ----------
    D : array of shape (n, n)
        Squared distances of different updates.
    squares : array of shape (n,)
        Squared lengths, which rounding is relative to.
    """
    central, radius = middle(D)
    least = max(radius, ROUNDING * float(squares[central]))
    apart = D[central]
    if len(D) < FEWEST or not apart.any():
        return apart < 0.0, apart
    if least == 0.0:
        return apart > 0.0, apart * 0.0
    ratios = (apart / least) ** 0.5
    return ratios > FAR, ratios
