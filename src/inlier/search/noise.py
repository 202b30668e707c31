"""Whether rows are noise about one center: symmetric, with one mode, and no classes.

Classes, skewed columns and bounded ones are ordinary, so a minority is evidence only beside rows
that pass these tests.
"""

from collections.abc import Callable, Iterable

import numpy as np
from scipy.special import ndtri

from inlier._internal.arrays import ascending_columns, namespace, of_columns, on_host
from inlier._internal.typing import Array, Rows
from inlier.search import thresholds
from inlier.search.splits import project_and_divide
from inlier.search.tests import quantile_of_last

# Standard deviations of three measures of skewness for Gaussian rows, times sqrt(n): by the
# octiles, by the outer 3% (1.02, with an allowance for slightly heavier tails) and by the mean. And
# how much farther apart than the octiles the outer 3% of Gaussian rows begin.
OCTILE_ERROR, OUTER_ERROR, MEAN_ERROR = 1.07, 1.17, 0.7555
GAUSSIAN_REACH = float(ndtri(0.97) / ndtri(0.875))


def is_noise(
    values: Array,
    n: int,
    n_kept: int,
    groups: Iterable[tuple[int, Array]],
    to_gpu: Callable[[Array], Rows] = np.asarray,
) -> bool:
    """Return whether the rows that would be kept are noise about one center.

    `values` holds the `n_kept` of n rows that would be kept, or some of them; `groups` the number
    of rows of each group that would be removed, and some of these rows. The tests run where
    `to_gpu` copies the values.
    """
    groups = list(groups)
    varies = np.ptp(values, axis=0) > 0.0
    d = int(varies.sum())
    if not d or n_kept < max(60, 1000 / d):
        return False
    natural = n - n_kept > thresholds.FEW_SHARE * n
    if natural and d < thresholds.MINORITY_COLUMNS:
        return False
    if any(k > thresholds.CLASS_SHARE * n and is_class(rows, values) for k, rows in groups):
        return False
    # A rare code in a column does not make rows bad, even if all of them would be removed.
    code = values[0, ~varies]
    if any((rows[:, ~varies] != code).any(axis=1).sum() > len(rows) / 2 for _, rows in groups):
        return False
    tested = to_gpu(values[:, varies])
    with np.errstate(all="ignore"):
        if not _is_symmetric_with_one_mode(tested):
            return False
        on_axes, divided = project_and_divide(tested)
        return (
            _is_symmetric_with_one_mode(on_axes)
            and bimodality_ratio(divided, thresholds.CAREFUL_LEVEL) <= 1.0
        )


def _is_symmetric_with_one_mode(T: Rows) -> bool:
    flatness = bimodality_ratio(T, thresholds.CAREFUL_LEVEL)
    return max(skewness_ratio(T), flatness) <= 1.0


def is_class(group: Array, rest: Array) -> bool:
    """Return whether a group varies as the rest does, within a factor of 2: then it is a class."""
    varies = (np.ptp(rest, axis=0) > 0.0) & (np.ptp(group, axis=0) > 0.0)
    if len(group) < thresholds.FEWEST_ROWS or not varies.any():
        return False
    ratios = group[:, varies].var(axis=0) / rest[:, varies].var(axis=0)
    return bool(np.median(np.abs(np.log(ratios))) < np.log(2.0))


def skewness_ratio(T: Rows, strict: bool = True) -> float:
    """Return the largest skewness of a column over its critical value; above 1 it is skewed.

    Measured by the octiles and the outer 3%, which a few rows on one side cannot move; if strict,
    by the mean as well, and with an allowance for heavy tails.
    """
    xp = namespace(T)
    T = of_columns(T, on_host(xp.max(T, axis=0) > xp.min(T, axis=0)))
    n, k = T.shape
    if n < thresholds.FEWEST_ROWS or not k:
        return 0.0
    ascending, number = ascending_columns(T).T, np.full(k, n)
    low, octile, middle, high, end = (
        quantile_of_last(ascending, number, q) for q in (0.03, 0.125, 0.5, 0.875, 0.97)
    )

    def positive(x: Array) -> Array:
        return np.where(x > 0.0, x, np.inf)

    skewness = np.abs(high + octile - 2.0 * middle) / positive(high - octile) / OCTILE_ERROR
    outer = np.abs(end + low - 2.0 * middle) / positive(end - low) / OUTER_ERROR
    if strict:
        # Outer quantiles vary with about the square of their reach: by 1.7 for t3, 1.4 for Laplace.
        reach = (end - low) / positive(high - octile) / GAUSSIAN_REACH
        outer /= np.maximum(reach, 1.0) ** 2
        mean, deviation = on_host(xp.stack([xp.mean(T, axis=0), xp.std(T, axis=0)]))
        shift = np.abs(mean - middle) / positive(deviation) / MEAN_ERROR
        outer = np.maximum(outer, shift)
    skewness = np.maximum(skewness, outer)
    level = thresholds.CAREFUL_LEVEL if strict else thresholds.STRICT_LEVEL
    return float(np.sqrt(n) * skewness.max() / -ndtri(level / 2.0 / k))


def bimodality_ratio(T: Rows, level: float) -> float:
    """Return the flatness of the flattest column over its critical value; above 1, several modes.

    Measured by the kurtosis, which Anscombe and Glynn (1983) transform to a Gaussian variable: two
    classes of similar size make it small.
    """
    xp = namespace(T)
    T = of_columns(T, on_host(xp.std(T, axis=0) > 0.0))
    n, k = T.shape
    if n < thresholds.FEWEST_ROWS or not k:
        return 0.0
    squares = (T - xp.mean(T, axis=0)) ** 2
    kurtosis = on_host(xp.mean(squares * squares, axis=0) / xp.mean(squares, axis=0) ** 2)
    mean = 3.0 * (n - 1) / (n + 1)
    variance = 24.0 * n * (n - 2) * (n - 3) / ((n + 1) ** 2 * (n + 3) * (n + 5))
    x = (kurtosis - mean) / np.sqrt(variance)
    skewness = 6.0 * (n * n - 5 * n + 2) / ((n + 7) * (n + 9))
    skewness *= np.sqrt(6.0 * (n + 3) * (n + 5) / (n * (n - 2) * (n - 3)))
    a = 6.0 + 8.0 / skewness * (2.0 / skewness + np.sqrt(1.0 + 4.0 / skewness**2))
    # Clipped at the smallest kurtosis for which their formula holds.
    denominator = np.maximum(1.0 + x * np.sqrt(2.0 / (a - 4.0)), 1e-6)
    z = 1.0 - 2.0 / (9.0 * a) - np.cbrt((1.0 - 2.0 / a) / denominator)
    return float((z / np.sqrt(2.0 / (9.0 * a))).min() / ndtri(level / k))
