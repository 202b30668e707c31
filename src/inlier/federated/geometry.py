"""Distances and points in the span of the clients, from inner products alone.

A point is a vector of coefficients a with sum 1: the combination sum_i a_i x_i.
"""

from __future__ import annotations

import numpy as np

from inlier._internal.typing import Array


def sq_distances(G: Array) -> Array:
    """Return the squared distances between all clients."""
    squares = np.diag(G)
    D: Array = np.maximum(squares[:, None] + squares - G - G.T, 0.0)
    np.fill_diagonal(D, 0.0)
    return D


def about(G: Array, a: Array) -> Array:
    """Return the inner products of the clients relative to a point."""
    Ga = G @ a
    relative: Array = G - Ga[:, None] - Ga + a @ Ga
    return relative


def distances_from(G: Array, a: Array) -> Array:
    """Return the distances of the clients from a point."""
    Ga = G @ a
    found: Array = np.sqrt(np.maximum(np.diag(G) - 2.0 * Ga + a @ Ga, 0.0))
    return found


def middle(D: Array) -> tuple[int, float]:
    """Find the client whose nearest majority is nearest, and how far that reaches, squared.

    While fewer than half of the clients lie, this is at most the least distance within which an
    honest client has all other honest ones.
    """
    radii = np.sort(D, axis=1)[:, len(D) // 2]
    central = int(np.argmin(radii))
    return central, float(radii[central])


def weighted_median(x: Array, weights: Array) -> float:
    """Return the upper weighted median."""
    order = np.argsort(x, kind="stable")
    below = np.cumsum(weights[order])
    # A hair above one half, so that rounding of the sum does not decide a tie.
    place = np.searchsorted(below, 0.5 * (1.0 + 1e-12) * below[-1])
    return float(x[order][min(int(place), len(x) - 1)])
