"""Extreme rows: rows that are long as a whole, although no cell of them is extreme.

A length sums the distances of the cells of a row, each in the unit of its column. Two tests look at
lengths: the law of a column, and a gap. Far out, the logarithms of good lengths have independent
exponential spacings if their tail falls with any power. So if k lengths exceed all others by a
ratio r, k log r has the law of one more of the m spacings just inside the gap: the chance is
(1 + k log r / S)^(-m), where S is their sum.

Works on a sample of the rows on the host.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from inlier._internal.arrays import blocks_in_cache, first_places, middles
from inlier._internal.numbers import TINY
from inlier._internal.typing import Array, Mask
from inlier.data import Measure, TailLength
from inlier.data.measures import MEDIAN_SIZE
from inlier.linalg.whitening import PrincipalAxes
from inlier.search import thresholds
from inlier.search.cells import Unit, cuts_of, distances_kept, rank
from inlier.search.tests import quantile_of_last


class Rule(NamedTuple):
    """Rows with a size above the cut are extreme."""

    measure: Measure
    cut: float
    log_p: float


def extreme_lengths(
    R: Array, ascending: Array, columns: Mask, most: int
) -> list[tuple[Rule, Mask]]:
    """Find rows that are extreme as a whole, at most `most` by a gap.

    `ascending` are the sorted columns of R, and `columns` those of R among the columns of the
    table.
    """
    m, d = R.shape
    if d < 2 or m < thresholds.FEWEST_LENGTHS:
        return []
    plain, tied = _gaussian_length(ascending)
    # In columns of codes a length takes few values, and tests of it would find gaps.
    few_codes = 2 * int((tied > thresholds.TIED_SHARE).sum()) < d
    if d < min(m, thresholds.WIDE_COLUMNS):
        sizes = np.empty(R.shape, np.float32)
        for part in blocks_in_cache(*R.shape):
            sizes[part] = plain.cells(R[part])
        white = replace(plain, whitener=_whitener(sizes))
        measured = [(plain, plain.lengths(sizes)), (white, white.lengths(sizes))]
    else:
        measured = [(plain, _measured(plain, R))]
    extreme = _long_by_law(R, ascending, columns)
    for measure, lengths in measured:
        a = np.sort(lengths)
        off = np.maximum(a - np.median(a), 0.0)
        number = int(np.count_nonzero(off))
        if number < thresholds.FEWEST_VALUES or _few_values(lengths):
            continue
        scale, power = (x.item() for x in _unit_and_power(off[:, None], np.array([number])))
        log_tests = np.log(2 * d + 4)
        size = MEDIAN_SIZE * (off / scale) ** power
        found = _gap(a, size, log_tests, most, *thresholds.EXTREME)
        if found is None and few_codes and d < thresholds.WIDE_COLUMNS:
            found = _gap(a, MEDIAN_SIZE * off / scale, log_tests, most, *thresholds.LONG)
            if found is not None and np.sum(a > found[0]) < thresholds.LONG_SHARE * m:
                continue
        if found is not None:
            cut, log_p = found
            rule = Rule(_of_all_columns(measure, columns), cut, log_p)
            extreme.append((rule, lengths > cut))
    return extreme


def _gap(
    a: Array,
    size: Array,
    log_tests: float,
    most: int,
    least_size: float,
    least_ratio: float,
    prior: float,
) -> tuple[float, float] | None:
    """Find the largest lengths that the tail of the others cannot reach: at most `most`.

    `a` are the lengths, ascending, and `size` their Gaussian sizes. The cut is the least likely
    gap: a good length may lie next to many extreme ones. The expected tail index counts for `prior`
    spacings. Return the cut and the logarithm of the chance, or None.
    """
    n = len(a)
    k = np.arange(1, max(1, min(most, n - 8)) + 1)
    logs = np.log(np.maximum(a, TINY))
    sums = np.concatenate([[0.0], np.cumsum(logs)])
    # Hill's estimate of the tail index from the sqrt(n) lengths just inside the cut.
    fewest = thresholds.FEWEST_VALUES
    inside = np.maximum(np.sqrt(np.maximum(n - k, 1)).astype(np.intp), fewest)
    inside = np.minimum(inside, n - k - 1)
    enough = inside >= fewest
    inside, edge = np.maximum(inside, 1), n - k
    hill = sums[edge] - sums[edge - inside]
    hill -= inside * logs[np.maximum(edge - inside - 1, 0)]
    total = np.maximum(hill, 0.0) + prior / thresholds.TAIL_INDEX
    r = np.maximum(a[edge] / np.maximum(a[edge - 1], TINY), TINY)
    # k times the logarithm of r has the law of one more spacing; the others are as many.
    log_p = (
        log_tests
        + np.log(k * (k + 1.0))
        - (inside + prior) * np.log1p(k * np.log(np.maximum(r, 1.0)) / total)
    )
    extreme = enough & (size[edge] >= least_size) & (r >= least_ratio)
    extreme &= log_p < np.log(thresholds.LEVEL)
    if not extreme.any():
        return None
    i = int(np.argmin(np.where(extreme, log_p, np.inf)))
    inner, nearest = (max(float(a[edge[i] - j]), TINY) for j in (1, 0))
    return float(np.sqrt(inner * nearest)), float(log_p[i])


def _gaussian_length(
    ascending: Array, levels: tuple[float, float] = (0.5, 0.75)
) -> tuple[TailLength, Array]:
    """Return a length for which heavy tails are transformed to those of a Gaussian.

    How heavy they are, two quantiles of each side tell: by default, a quarter of it may be bad.
    Also return the share of the values of each column that equal its median.
    """
    center, (d, n), columns = middles(ascending), ascending.shape, np.arange(len(ascending))
    above = n - first_places(lambda at: ascending[columns, at] > center, d, n)
    number = np.stack([above, first_places(lambda at: ascending[columns, at] >= center, d, n)])
    ends = ascending.T, ascending[:, ::-1].T  # the farthest of a side last
    found = [_unit_and_power(*side, levels, center) for side in zip(ends, number, strict=True)]
    unit, power = np.stack(found, axis=1)
    few = number < thresholds.FEWEST_VALUES
    short = np.flatnonzero(few.any(axis=0))
    if len(short):  # a side of few values has no unit of its own
        both = np.sort(np.abs(ascending[short] - center[short, None]), axis=1, kind="stable")
        shared = _unit_and_power(both.T, number[:, short].sum(axis=0), levels)
        unit[:, short] = np.where(few[:, short], shared[0], unit[:, short])
        power[:, short] = np.where(few[:, short], shared[1], power[:, short])
    tied = (n - number.sum(axis=0)) / n
    return TailLength(center, np.maximum(unit, TINY), power), tied


def _unit_and_power(
    ascending: Array,
    number: Array,
    levels: tuple[float, float] = (0.5, 0.75),
    center: Array | float = 0.0,
) -> tuple[Array, Array]:
    """Return a quantile m of the sizes in sorted columns, and the power h <= 1.

    The sizes are the last `number` distances from the center of each column. (a / m)^h is
    half-normal, up to a factor, at this quantile and at the upper one.
    """
    unit, upper = (quantile_of_last(ascending, number, level, center) for level in levels)
    inner, outer = ndtri(0.5 + np.array(levels) / 2.0)
    gaussian = np.log(outer / inner)
    with np.errstate(all="ignore"):
        power = gaussian / np.log(upper / unit)
    return unit, np.where(upper > unit, np.clip(power, 0.05, 1.0), 1.0)


def _length(R: Array, ascending: Array, power: float) -> TailLength:
    """Return a length of distances in units of the columns, of which three quarters keep one.

    A power of 1/2 gives the root of their sum, which no single column dominates.
    """
    center = middles(ascending)
    unit = distances_kept(ascending, center, rank(0.75, len(R)) + 1)
    # No column deviates by more than its range.
    small = np.flatnonzero(unit <= 1e-12 * (ascending[:, -1] - ascending[:, 0]))
    deviation = R[:, small].std(axis=0)
    unit[small] = np.where(unit[small] > 1e-12 * deviation, unit[small], deviation)
    return TailLength(center, np.stack([unit, unit]), np.full((2, R.shape[1]), power))


def _long_by_law(R: Array, ascending: Array, columns: Mask) -> list[tuple[Rule, Mask]]:
    """Find rows whose length no admitted law explains, as for the cells of a column."""
    measure = _length(R, ascending, 0.5)
    if R.shape[1] < thresholds.WIDE_COLUMNS:
        # Amounts in several columns that grow together make lengths as heavy as the columns are.
        # How heavy, few values on a side do not tell well.
        transformed = _gaussian_length(ascending, thresholds.INNER_LEVELS)[0]
        sure = 1.0 / (1.0 + thresholds.TAIL_ERROR / np.sqrt(len(R) / 2.0))
        measure = replace(measure, power=measure.power * transformed.power * sure)
    lengths = _measured(measure, R)
    if _few_values(lengths):
        return []
    middle = float(np.median(lengths))
    off = lengths - middle
    law, cap, log_p = cuts_of(
        off, Unit.of(off), thresholds.LEVEL, thresholds.LONG_INFLATED, power=0.5
    )
    cut = middle + float(min(law[0], cap[0]))
    if not np.isfinite(cut):
        return []
    return [(Rule(_of_all_columns(measure, columns), cut, log_p), lengths > cut)]


def _measured(measure: TailLength, R: Array) -> Array:
    return np.concatenate([measure(R[part]) for part in blocks_in_cache(*R.shape)])


def _few_values(lengths: Array) -> bool:
    """Return whether lengths take few values: those of rows of codes have no tail."""
    a = np.sort(lengths)
    return bool((np.diff(a) > 1e-6 * a[-1]).sum() < 2.0 * np.sqrt(len(a)))


def _of_all_columns(measure: TailLength, columns: Mask) -> TailLength:
    """Extend a measure of some columns to all columns, of which the others do not count."""

    def extended(values: Array, fill: float) -> Array:
        out = np.full((*values.shape[:-1], len(columns)), fill)
        out[..., columns] = values
        return out

    whitener = None if measure.whitener is None else extended(measure.whitener, 0.0)
    center, unit = extended(measure.center, 0.0), extended(measure.unit, np.inf)
    return TailLength(center, unit, extended(measure.power, 1.0), whitener)


def _whitener(sizes: Array) -> Array:
    """Decorrelate sizes by the correlations of wrapped cells.

    Wrapping bounds the influence of a cell (Raymaekers and Rousseeuw 2021); the correlations are
    shrunk to 0 by d / n.
    """
    n, d = sizes.shape
    wrapped = sizes.copy()
    for part in blocks_in_cache(n, d):
        cells = wrapped[part].reshape(-1)  # a view
        far = np.flatnonzero(np.abs(cells) > 1.5)
        offset = 4.0 - np.minimum(np.abs(cells[far]), 4.0)
        cells[far] = np.copysign(1.540793 * np.tanh(0.8622731 * offset), cells[far])
    wrapped -= wrapped.mean(axis=0)
    covariance = wrapped.T @ wrapped / n
    # A column that varies less has rare codes, which do not make a row long.
    deviation = np.maximum(np.sqrt(np.diag(covariance)), MEDIAN_SIZE)
    correlation = (1.0 - min(0.9, d / n)) * covariance / deviation / deviation[:, None]
    np.fill_diagonal(correlation, 1.0)
    axes = PrincipalAxes.of(correlation)
    variances = np.maximum(axes.variances, 1e-9 * axes.variances[0])
    return np.asarray(axes._replace(variances=variances).whitener / deviation)
