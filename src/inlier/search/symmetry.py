"""Are good rows noise about one center? Tests of symmetry and of having one mode.

A minority is not bad for being a minority: classes, skewed columns and bounded ones are ordinary.
Only where what would stay is symmetric and has one mode does a group of others speak for itself.
"""

import numpy as np
from scipy.special import ndtri

from inlier._internal.arrays import namespace, of_columns, on_host
from inlier._internal.typing import Array, Rows
from inlier.data.medians import ascending_columns
from inlier.search.settings import SAMPLE

# Standard deviations of three measures of skewness for Gaussian rows, times sqrt(n); that of the
# outer 3% is 1.02, and gets an allowance for tails that are a little heavier. And how much farther
# apart than the octiles the outer 3% of Gaussian rows begin.
OCTILE, OUTER, MEDIAN = 1.07, 1.17, 0.7555
GAUSSIAN_REACH = float(ndtri(0.97) / ndtri(0.875))


def lopsided(T: Rows, strict: bool = True) -> float:
    """Return the largest skewness of a column over what chance allows; above 1, it is skewed.

    By the octiles and the outer 3%, which a few rows on one side cannot move; if strict, by the
    mean as well, and with allowance for heavy tails.
    """
    xp = namespace(T)
    T = of_columns(T, on_host(xp.max(T, axis=0) > xp.min(T, axis=0)))
    n, k = T.shape
    if n < 8 or not k:
        return 0.0
    low, octile, middle, high, end = _quantiles(T, (0.03, 0.125, 0.5, 0.875, 0.97))
    skewness = np.abs(high + octile - 2.0 * middle) / _positive(high - octile) / OCTILE
    outer = np.abs(end + low - 2.0 * middle) / _positive(end - low) / OUTER
    if strict:
        # Outer quantiles vary with about the square of their reach: by 1.7 for t3, 1.4 for Laplace.
        reach = (end - low) / _positive(high - octile) / GAUSSIAN_REACH
        outer /= np.maximum(reach, 1.0) ** 2
        mean, deviation = on_host(xp.stack([xp.mean(T, axis=0), xp.std(T, axis=0)]))
        shift = np.abs(mean - middle) / _positive(deviation) / MEDIAN
        outer = np.maximum(outer, shift)
    skewness = np.maximum(skewness, outer)
    level = SAMPLE.skew_level if strict else SAMPLE.rest_level
    return float(np.sqrt(n) * skewness.max() / -ndtri(level / 2.0 / k))


def flat(T: Rows, level: float) -> float:
    """Return how flat the flattest column is, over what chance allows; above 1, not one mode.

    By its kurtosis, which Anscombe and Glynn (1983) turn into a Gaussian variable: two classes of
    similar size make it small.
    """
    xp = namespace(T)
    T = of_columns(T, on_host(xp.std(T, axis=0) > 0.0))
    n, k = T.shape
    if n < 8 or not k:
        return 0.0
    squares = (T - xp.mean(T, axis=0)) ** 2
    kurtosis = on_host(xp.mean(squares * squares, axis=0) / xp.mean(squares, axis=0) ** 2)
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


def _quantiles(T: Rows, q: tuple[float, ...]) -> Array:
    """Compute quantiles of the columns by sorting: faster than numpy's."""
    ascending, last = ascending_columns(T), T.shape[0] - 1
    at = np.asarray(q) * last
    low = at.astype(np.intp)
    places = np.concatenate([low, np.minimum(low + 1, last)])
    found = on_host(of_columns(ascending, places))
    inner, outer = found[:, : len(q)], found[:, len(q) :]
    return np.asarray((inner + (at - low) * (outer - inner)).T)


def _positive(x: Array) -> Array:
    return np.where(x > 0.0, x, np.inf)
