"""The median of each column from histograms, which can be merged: no column is ever sorted."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from inlier._typing import Array
from inlier.data.passes import Histogram

# A value is looked for in so many bins, and then in as many within one of them.
BINS = 1024
MOST_PASSES = 12
# How much of what a sample spans is looked through first, on both sides of its middle.
SHARE = 0.1
TINY = float(np.finfo(np.float64).tiny)


def column_medians(rows: Array) -> Array:
    """The median of each column of a few rows, by sorting: ten times as fast as numpy's."""
    ascending = np.sort(np.ascontiguousarray(rows.T), axis=1).astype(np.float64, copy=False)
    n = len(rows)
    return np.asarray((ascending[:, (n - 1) // 2] + ascending[:, n // 2]) / 2.0)


def median(n: int, sample: Array, count: Callable[[Histogram], Array], eps: float) -> Array:
    """The coordinate-wise median of n rows, to within rounding.

    Parameters
    ----------
    n : int
    sample : array of shape (m, d)
        Some of the rows: where to look first.
    count : callable
        Does the pass for a histogram, and returns its counts (d x bins).
    eps : float
        The relative precision of the values.
    """
    lower = _ranked((n - 1) // 2, sample, count, eps)
    return lower if n % 2 else (lower + _ranked(n // 2, sample, count, eps)) / 2.0


def _ranked(rank: int, sample: Array, count: Callable[[Histogram], Array], eps: float) -> Array:
    """The value of that rank in each column; three passes, if the sample is like the rows."""
    ascending: Array = np.sort(sample.astype(np.float64), axis=0)
    m = len(ascending)
    low: Array = ascending[int((0.5 - SHARE) * (m - 1))]
    high = ascending[int(np.ceil((0.5 + SHARE) * (m - 1)))]
    spread = ascending[-1] - ascending[0]
    for _ in range(MOST_PASSES):
        finest = np.maximum(eps * np.maximum(np.abs(low), np.abs(high)), eps**2 * spread) + TINY
        if (high - low <= finest).all():
            break
        width = np.maximum((high - low) / BINS, finest / 4.0)
        counts = count(Histogram(low, width, BINS))
        # The bin that holds the rank; the first and the last are all that lies outside.
        at = np.argmax(np.cumsum(counts, axis=1) > rank, axis=1)
        reach = BINS * width
        below, above = at == 0, at == BINS + 1
        edge = low + (at - 1) * width
        upper = np.where(above, low + (BINS + 1) * reach, edge + width)
        high = np.where(below, low, upper)
        low = np.where(below, low - BINS * reach, np.where(above, low + reach, edge))
    return low
