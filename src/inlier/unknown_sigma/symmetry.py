"""Are good rows noise about one center? Tests of symmetry and of having one mode.

A minority is not bad for being a minority: classes, skewed columns and bounded ones are ordinary.
Only where what would stay is symmetric and has one mode does a group of others speak for itself.
"""

import numpy as np
from scipy.special import ndtri

from inlier._internal.numbers import TINY
from inlier._internal.typing import Array
from inlier.unknown_sigma.settings import SAMPLE

# Standard deviations of measures of skewness for Gaussian rows, times sqrt(n).
OCTILE, OUTER, MEDIAN = 1.07, 1.17, 0.7555
# That of the outer rows on the right less those on the left, over the root of their number. With a
# known center it would be 1 for all symmetric rows; the error of the median adds to it.
SIDES = 1.07


def lopsided(T: Array, strict: bool = True) -> float:
    """Return the largest skewness of a column over what chance allows; above 1, it is skewed.

    By the octiles and the outer 3% on each side, which a few rows cannot move. If strict, by the
    mean as well, and the outer rows are counted on each side: how far out they lie varies more
    where tails are heavy.
    """
    T = T[:, np.ptp(T, axis=0) > 0.0]
    n, k = T.shape
    if n < 8 or not k:
        return 0.0
    ascending = np.sort(np.ascontiguousarray(T.T), axis=1)
    low, octile, middle, high, end = _quantiles(ascending, (0.03, 0.125, 0.5, 0.875, 0.97))
    skewness = _asymmetry(octile, middle, high, n) / OCTILE
    if strict:
        shift = np.sqrt(n) * np.abs(T.mean(axis=0) - middle) / T.std(axis=0) / MEDIAN
        skewness = np.maximum.reduce([skewness, shift, _sides(ascending, middle) / SIDES])
    else:
        skewness = np.maximum(skewness, _asymmetry(low, middle, end, n) / OUTER)
    level = SAMPLE.strict_skew_level if strict else SAMPLE.skew_level
    return float(skewness.max() / -ndtri(level / 2.0 / k))


def _asymmetry(low: Array, middle: Array, high: Array, n: int) -> Array:
    """Compare how far two quantiles of n values lie from the median."""
    width = high - low
    return np.asarray(
        np.sqrt(n) * np.abs(high + low - 2.0 * middle) / np.where(width > 0.0, width, np.inf)
    )


def _sides(ascending: Array, middle: Array, share: float = 0.06) -> Array:
    """Count the outer rows on the right less those on the left, over the root of their number."""
    m = max(1, round(share * ascending.shape[1]))
    left, right = middle[:, None] - ascending[:, :m], ascending[:, -m:] - middle[:, None]
    inner = np.partition(np.concatenate([left, right], axis=1), m, axis=1)[:, [m]]
    inner = np.maximum(inner, TINY)
    n_left, n_right = (left >= inner).sum(axis=1), (right >= inner).sum(axis=1)
    return np.asarray(np.abs(n_right - n_left) / np.sqrt(n_left + n_right))


def flat(T: Array, level: float = SAMPLE.flat_level) -> float:
    """Return how flat the flattest column is, over what chance allows; above 1, not one mode.

    By its kurtosis, which Anscombe and Glynn (1983) turn into a Gaussian variable: two classes of
    similar size make it small.
    """
    T = T[:, T.std(axis=0) > 0.0]
    n, k = T.shape
    if n < 8 or not k:
        return 0.0
    squares = (T - T.mean(axis=0)) ** 2
    kurtosis = (squares * squares).mean(axis=0) / squares.mean(axis=0) ** 2
    mean = 3.0 * (n - 1) / (n + 1)
    variance = 24.0 * n * (n - 2) * (n - 3) / ((n + 1) ** 2 * (n + 3) * (n + 5))
    x = (kurtosis - mean) / np.sqrt(variance)
    skewness = 6.0 * (n * n - 5 * n + 2) / ((n + 7) * (n + 9))
    skewness *= np.sqrt(6.0 * (n + 3) * (n + 5) / (n * (n - 2) * (n - 3)))
    a = 6.0 + 8.0 / skewness * (2.0 / skewness + np.sqrt(1.0 + 4.0 / skewness**2))
    # Below the smallest kurtosis for which their formula holds, it is as small as can be.
    denominator = np.maximum(1.0 + x * np.sqrt(2.0 / (a - 4.0)), 1e-6)
    z = 1.0 - 2.0 / (9.0 * a) - np.cbrt((1.0 - 2.0 / a) / denominator)
    return float((z / np.sqrt(2.0 / (9.0 * a))).min() / ndtri(level / k))


def _quantiles(ascending: Array, q: tuple[float, ...]) -> Array:
    """Compute quantiles of ascending rows: faster than numpy's."""
    n = ascending.shape[1]
    at = np.asarray(q) * (n - 1)
    low = at.astype(np.intp)
    inner, outer = ascending[:, low], ascending[:, np.minimum(low + 1, n - 1)]
    return np.asarray((inner + (at - low) * (outer - inner)).T)
