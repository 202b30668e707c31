"""Which of many directions are worth a full test, by a histogram of each instead of a sort.

In a large table most directions show nothing, and to sort the rows along each of them would be most
of the work. Counts in bins bound every test from its optimistic side: a direction that is screened
out would show no group, and not even a doubtful one, in the test of all values.
"""

import numpy as np

from inlier._internal.arrays import like, namespace, on_host, pieces
from inlier._internal.typing import Array, Mask, Rows
from inlier.search.settings import SEARCH
from inlier.search.significance import centers, coincides, log_binomial, log_looks

# Bins of the logarithm of the size, in standard deviations of the middle half.
WIDTH, LOW, HIGH = 0.01, -3.0, 6.0
# The center of a sample is off by less than so many bins, where bins are wider than the error.
MARGIN = 2
# Bins that a gap in the sizes spans at least: half of the way from their quartile to their median.
GAP = 32


def worth_testing(projected: Rows) -> Mask:
    """Return which rows of a k x n array of values may show a group; all, if n is small."""
    xp = namespace(projected)
    k, n = projected.shape
    if n < SEARCH.screened_rows or not hasattr(xp, "bincount"):
        return np.ones(k, dtype=np.bool_)
    thin = xp.sort(projected[:, :: n // SEARCH.screening_sample], axis=1)
    middles, spreads, _ = centers(thin)
    # Where a fifth of a sample coincides, a quarter of all values may.
    odd = (spreads <= 0.0) | coincides(thin, 0.2)
    spreads = np.where(spreads > 0.0, spreads, 1.0)
    # In pieces, because the places of all values are several times as large as these.
    at_once = SEARCH.at_once if isinstance(projected, np.ndarray) else SEARCH.counted_at_once
    parts = pieces(k, max(1, at_once // n))
    counts = np.concatenate([_counts(projected[p, :], middles[p], spreads[p]) for p in parts])
    return np.asarray(odd | _may_be_lopsided(counts, n) | _may_have_a_gap(counts.sum(axis=1)))


def _counts(values: Rows, middles: Array, spreads: Array) -> Array:
    """Count sizes in bins: k x 2 x bins, above the middle and below it."""
    xp, k = namespace(values), values.shape[0]
    n_bins = round((HIGH - LOW) / WIDTH)
    off = (values - like(middles[:, None], values)) / like(spreads[:, None], values)
    with np.errstate(divide="ignore"):
        place = xp.log(xp.astype(abs(off), xp.float32)) * (1.0 / WIDTH) - LOW / WIDTH
    place = xp.astype(xp.clip(place, 0.0, n_bins - 1.0), xp.int64)
    view = 2 * like(np.arange(k)[:, None], place) + xp.astype(off < 0.0, xp.int64)
    flat = xp.reshape(view * n_bins + place, (-1,))
    counts = on_host(xp.bincount(flat, minlength=2 * k * n_bins))
    return np.asarray(counts.reshape(k, 2, n_bins), dtype=np.float64)


def _may_be_lopsided(counts: Array, n: int) -> Mask:
    """Return where one side may exceed its mirror image, wherever in a bin the cut is."""
    beyond = np.cumsum(counts[..., ::-1], axis=-1)[..., ::-1]
    shift = MARGIN + 1
    nothing = np.zeros((*beyond.shape[:-1], shift))
    mirrored = np.concatenate([beyond[:, ::-1, shift:], nothing], axis=-1)
    pure = 1.0 + mirrored <= SEARCH.good_share * beyond
    log_p = np.where(pure, log_binomial(beyond, mirrored), 0.0) + log_looks(n)
    return np.asarray(log_p.min(axis=(1, 2)) < np.log(SEARCH.doubtful_level))


def _may_have_a_gap(counts: Array) -> Mask:
    """Return where bins between the quartile of the sizes and the largest are empty."""
    inside = np.cumsum(counts, axis=1)
    total = inside[:, -1:]
    between = (inside > total / 4.0) & (inside < total)
    # Nothing was counted in any of so many consecutive bins.
    unchanged = inside[:, GAP:] == inside[:, :-GAP]
    return np.asarray((unchanged & between[:, GAP:]).any(axis=1) | (counts[:, -1] > 0.0))
