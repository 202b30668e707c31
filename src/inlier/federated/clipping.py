"""The mean of updates whose lengths about it are bounded."""

from __future__ import annotations

import numpy as np

from inlier._internal.typing import Array
from inlier.federated.geometry import distances_from, middle, sq_distances, weighted_median

RADIUS = 1.5
"""Bound on a length, in medians of the lengths. At 1 the accuracy of clients with few classes each
falls by a point without any attack; at 2 liars count for more (benchmarks/federated.py)."""
MAX_ITER = 1000
TOL = 1e-10


def clipped_mean(G: Array, weights: Array) -> Array:
    """Return the point that is the weighted mean of the updates clipped to a ball about it.

    The fixed point of v <- v + sum_i w_i (x_i - v) min(1, radius / |x_i - v|), for weights w of sum
    one and a radius of 1.5 times the weighted median of |x_i - v|. A client moves it by no more
    than 1.5 w_i median lengths, whatever it sends.

    Parameters
    ----------
    G : array of shape (n, n)
        Inner products.
    weights : array of shape (n,)
        At least one is positive.

    Returns
    -------
    array of shape (n,)
        Its coefficients: not negative, of sum one.
    """
    counted = np.flatnonzero(weights > 0.0)
    G = G[np.ix_(counted, counted)]
    w = weights[counted] / weights[counted].sum()
    D = sq_distances(G)
    central, _ = middle(D)
    near = np.argsort(D[central], kind="stable")[: len(w) // 2 + 1]
    a = np.zeros(len(w))
    a[near] = w[near] / w[near].sum()
    for _ in range(MAX_ITER):
        lengths = distances_from(G, a)
        radius = RADIUS * weighted_median(lengths, w)
        long = lengths > radius
        share = w * np.where(long, radius / np.where(long, lengths, 1.0), 1.0)
        moved = share + (1.0 - share.sum()) * a
        step = float(np.abs(moved - a).sum())
        a = moved
        if step <= TOL:
            break
    out = np.zeros(len(weights))
    out[counted] = np.maximum(a, 0.0) / np.maximum(a, 0.0).sum()
    return out
