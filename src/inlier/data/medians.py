"""The median of each column from histograms, which can be merged: no column is ever sorted."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from inlier._internal.typing import Array
from inlier.data.passes import Histogram

# A value is looked for in so many bins, and then in as many within one of them.
BINS = 1024
# Fewer if there are many columns: so many counts in all.
MOST_COUNTS = 1 << 24
FEWEST_BINS = 16
MOST_PASSES = 20
# How much of what a sample spans is looked through first, on both sides of its middle.
SHARE = 0.1
# By how much of its width a bin is widened on both sides.
MARGIN = 1e-3
TINY = 1e-300


def column_medians(rows: Array) -> Array:
    """The median of each column of a few rows, by sorting: ten times as fast as numpy's."""
    n = len(rows)
    ascending = np.sort(np.ascontiguousarray(rows.T), axis=1)
    middle = ascending[:, [(n - 1) // 2, n // 2]].astype(np.float64, copy=False)
    # Halved before they are added, because the sum of large numbers may be none.
    return np.asarray(middle[:, 0] / 2.0 + middle[:, 1] / 2.0)


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
    """The value of that rank in each column, in a few passes if the sample is like the rows."""
    ascending: Array = np.sort(sample.astype(np.float64), axis=0)
    m = len(ascending)
    low: Array = ascending[int((0.5 - SHARE) * (m - 1))]
    high: Array = ascending[int(np.ceil((0.5 + SHARE) * (m - 1)))]
    # What the middle half of the sample spans: a few absurd values do not change it.
    spread = ascending[3 * m // 4] - ascending[m // 4]
    n_bins = max(FEWEST_BINS, min(BINS, MOST_COUNTS // len(low)))
    inside = np.zeros(low.shape, dtype=np.bool_)
    for _ in range(MOST_PASSES):
        finest = eps * np.maximum(np.maximum(np.abs(low), np.abs(high)), eps * spread) + TINY
        if (inside & (high - low <= finest)).all():
            break
        width = np.maximum((high - low) / n_bins, finest / 4.0)
        with np.errstate(over="ignore"):
            counts = count(Histogram(low, width, n_bins))
        # The bin that holds the rank; the first and the last are all that lies outside.
        at = np.argmax(np.cumsum(counts, axis=1) > rank, axis=1)
        below, above = at == 0, at == n_bins + 1
        edge = low + (at - 1) * width
        # A little more than the bin: a value at its edge may have been counted on either side.
        inner_low, inner_high = edge - MARGIN * width, edge + (1.0 + MARGIN) * width
        # Outside, as far as the sample goes, and then ever farther.
        reach = n_bins * (n_bins * width + spread)
        outer_low = np.minimum(ascending[0], low - reach)
        outer_high = np.maximum(ascending[-1], high + reach)
        inside = ~(below | above)
        low, high = (
            np.where(inside, inner_low, np.where(below, outer_low, high - width)),
            np.where(inside, inner_high, np.where(below, low + width, outer_high)),
        )
    return np.asarray((low + high) / 2.0)
