"""Extreme cells: values that no law which is admitted for their column explains.

A column is described by its median and its unit, the distance from it that two thirds of the
values keep. The heaviest law that is admitted beyond it is log-normal, and heavier still on a side
on which more of the column lies, as amounts do above 0. Of values that are equal, as the
zeros of a column of flags, no more count than leave a unit to the others. Cells are extreme if
more of them lie beyond a distance than this law explains, and if they alone would inflate the
second moment of the column: the bound of the paper, in one dimension. Where their rows differ
from the others in other columns too, they are not slips in one cell but rows of another kind,
which is for the tests of rows to judge; then only cells beyond a wide cap are extreme, which
bounds the influence of every row. Last, few values that are separated from the others by a gap
that their tail does not explain.

Works on the rows of a sample, on the host, and finds fences that hold for all rows.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial

import numpy as np
from scipy.special import ndtr, ndtri, pdtrc

from inlier._internal.arrays import ascending_columns, blocks_in_cache, median, middles
from inlier._internal.numbers import TINY
from inlier._internal.typing import Array, Mask
from inlier.data import Fences
from inlier.search import thresholds
from inlier.search.gaps import Sides, Tails

FARTHEST_LOG_P = -700.0


def find_fences(
    values: Array,
    ascending: Array,
    missing: Mask | None,
) -> tuple[Fences | None, Fences | None]:
    """Find fences beyond which cells are set aside, and fences by which rows are judged.

    The second are also those of cells whose rows differ from others in other columns: one such cell
    may belong to a natural class, but not many. None if no cell is extreme. `ascending` are the
    sorted columns, d x n.
    """
    d = values.shape[1]
    others = _Others(values)
    center = middles(ascending)
    # Distances above and below the median.
    of_cells, of_rows, least = np.full((2, d), np.inf), np.full((2, d), np.inf), 0.0
    for j in _candidates(ascending, center, missing):
        present = slice(None) if missing is None else ~missing[:, j]
        off = values[:, j] - center[j]
        foreign = partial(others.foreign, present, j)
        law, cap, log_p = cuts_of(off[present], thresholds.LEVEL / d, foreign=foreign)
        of_rows[:, j] = np.minimum(law, cap)
        if others.typical(_beyond(off, law), j):
            of_cells[:, j], least = of_rows[:, j], min(least, log_p)
        else:
            of_cells[:, j] = cap
    rest, tested = values, np.arange(d)
    tails: Tails | None = None
    for _ in range(thresholds.ROUNDS):
        fenced = tested[of_cells[:, tested].min(axis=0) < np.inf]
        off = rest[:, fenced] - center[fenced]
        outside = _beyond(off, of_cells[:, fenced])
        if outside.any():
            rest = rest.copy() if rest is values else rest
            rest[:, fenced] = np.where(outside, center[fenced], rest[:, fenced])
        if len(values) // 2 <= 1 + thresholds.FEWEST_VALUES:  # too few on a side for any gap
            break
        sides = Sides(ascending if rest is values else ascending_columns(rest[:, tested]))
        tails = tails or Tails(sides)
        cuts, log_p = tails.gaps(tested, sides)
        found = []
        for i in np.flatnonzero(np.isfinite(cuts).any(axis=0)):
            j, cut = tested[i], cuts[:, i]
            if others.typical(_beyond(rest[:, j] - center[j], cut), j):
                of_cells[:, j] = np.minimum(of_cells[:, j], cut)
                found.append(j)
        if not found:
            break
        least, tested = min(least, log_p), np.array(found)
    of_rows = np.minimum(of_rows, of_cells)
    if not np.isfinite(of_rows).any():
        return None, None
    unit = np.array([median(np.abs(rest[:, j] - center[j])) for j in range(d)])
    rows = Fences(center, unit, of_rows[0], of_rows[1], least)
    if not np.isfinite(of_cells).any():
        return None, rows
    return Fences(center, unit, of_cells[0], of_cells[1], least), rows


def _beyond(off: Array, cuts: Array) -> Mask:
    """Return which distances from the median lie beyond the cuts above and below it."""
    return np.asarray((off > cuts[0]) | (-off > cuts[1]))


class _Others:
    """Whether rows with extreme cells in one column are like all others in the other columns."""

    def __init__(self, values: Array) -> None:
        self._values = values
        d = values.shape[1]
        # Some columns show it as well as all of them.
        self._columns = np.linspace(0, d - 1, min(d, thresholds.SHOWN)).astype(np.intp)

    @cached_property
    def _ranks(self) -> Array:
        """Location and spread of the ranks in each column, standardized: a row for each."""
        both = []
        for column in self._values.T[self._columns]:
            ranks = average_ranks(column)
            for values in (ranks, (ranks - ranks.mean()) ** 2):
                values = values - values.mean()
                both.append(values / max(float(values.std()), TINY))
        return np.stack(both)

    def typical(self, rows: Mask, column: int, others: Mask | None = None) -> bool:
        """Return whether the ranks of these rows lie and spread as those of the others."""
        among = np.ones(len(rows), dtype=np.bool_) if others is None else rows | others
        n, k = int(among.sum()), int(rows.sum())
        if not 0 < k < n or len(self._columns) < 2:
            return True
        z = self._ranks[:, np.flatnonzero(rows)].mean(axis=1)
        if n < len(rows):  # of all rows the mean is 0 and the deviation 1
            ranks = self._ranks[:, among]
            z = (z - ranks.mean(axis=1)) / np.maximum(ranks.std(axis=1), TINY)
        z *= np.sqrt(k * (n - 1.0) / (n - k))
        z[np.repeat(self._columns == column, 2)] = 0.0
        return bool(np.abs(z).max() < -ndtri(thresholds.LEVEL / (2 * len(z))))

    def foreign(self, present: Mask | slice, column: int, rows: Mask, others: Mask) -> bool:
        """Return whether some rows with a value in a column differ from others in other columns."""
        masks = np.zeros((2, len(self._values)), dtype=np.bool_)
        masks[:, present] = rows, others
        return not self.typical(masks[0], column, masks[1])


def average_ranks(values: Array) -> Array:
    """Return the ranks of values, from 0 on; equal ones have their mean rank.

    As `scipy.stats.rankdata`, whose import takes as long as that of all else together.
    """
    _, which, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts + 1) / 2.0)[which])


def _candidates(ascending: Array, center: Array, missing: Mask | None) -> Array:
    """Return the columns that may have extreme cells: the others are not looked at one by one."""
    d, n = ascending.shape
    found: Mask = np.zeros(d, dtype=np.bool_)
    if missing is not None:
        found |= missing.any(axis=0)
    farthest = np.maximum(ascending[:, -1] - center, center - ascending[:, 0])
    unit = distances_kept(ascending, center, rank(thresholds.INNER_SHARE, n) + 1)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        for part in blocks_in_cache(d, n):
            relative = (ascending[part] - center[part, None]) / unit[part, None]
            # The squares of cells beyond a distance are at least their number times its square.
            found[part] |= ~(np.vecdot(relative, relative) <= n * thresholds.INFLATED**2)
    equal = distances_kept(ascending, center, int(thresholds.TIED_SHARE * n) + 1)
    for j in np.flatnonzero(equal <= 1e-9 * farthest):
        a = np.abs(ascending[j] - center[j])
        least = np.min(a, where=a > 1e-9 * farthest[j], initial=np.inf)
        found[j] |= farthest[j] > thresholds.INFLATED * least
    return np.flatnonzero(found)


def distances_kept(ascending: Array, center: Array, k: int) -> Array:
    """Return the distance from its center that k values of each sorted column keep.

    The k nearest values are neighbors: it is the least over all runs of k of the larger distance.
    From run to run one end comes nearer and the other goes away, so that bisection finds it.
    """
    columns = np.arange(len(center))

    def ends(first: Array) -> tuple[Array, Array]:
        return center - ascending[columns, first], ascending[columns, first + k - 1] - center

    # The first run whose upper end is the farther one, or else the last run.
    first, last = np.zeros_like(columns), np.full_like(columns, ascending.shape[1] - k)
    while (first < last).any():
        run = (first + last) // 2
        lower, upper = ends(run)
        nearer = upper < lower
        first = np.where(nearer, np.minimum(run + 1, last), first)
        last = np.where(nearer, last, run)
    near, before = np.maximum(*ends(first)), np.maximum(*ends(np.maximum(first - 1, 0)))
    return np.asarray(np.minimum(near, before))


def rank(share: float, n: int) -> int:
    """Return the index of a quantile among n ascending values."""
    return max(0, int(np.ceil(share * n - 1e-9)) - 1)


def cuts_of(
    off: Array,
    level: float,
    inflated: float = thresholds.INFLATED,
    power: float = 1.0,
    foreign: Callable[[Mask, Mask], bool] = lambda rows, others: False,
) -> tuple[Array, Array, float]:
    """Return where the cells of a column are extreme by its law, and at any rate.

    These are distances above and below the median, infinite where there are none; with the
    logarithm of the chance of those beyond the law. `foreign` tells whether some rows differ from
    others in other columns: no unit is taken from the cells of rows that differ from those with the
    most frequent value.
    """
    law, caps, log_p = np.full(2, np.inf), np.full(2, np.inf), 0.0
    n = len(off)
    a = np.sort(np.abs(off))
    if n < thresholds.FEWEST_ROWS or a[-1] == 0.0:
        return law, caps, log_p
    least = 1e-9 * median(a[np.searchsorted(a, 0.0, "right") :])
    other, tail = a[np.searchsorted(a, least, "right") :], 1.0 - thresholds.INNER_SHARE
    if len(other) < thresholds.FEWEST_VALUES:
        return law, caps, log_p
    # Of equal values no more count than leave a unit to the others.
    n = min(n, round(len(other) / (1.0 - thresholds.TIED_SHARE)))
    # Of few values a quantile is not well known: the upper end of its interval.
    unit = float(other[max(0, min(n, rank(thresholds.INNER_SHARE, n) + 3) - n + len(other) - 1)])
    tied = n < len(off)
    if tied:
        # Most of the others may be bad, but for a code that is repeated, or for the nearest ones.
        distinct, counts = np.unique(other, return_counts=True)
        repeated = counts >= thresholds.CODE_ROWS
        repeated[1:] &= counts[1:] >= thresholds.CODE_SHARE * len(off)
        codes = distinct[repeated]
        size = np.abs(off)
        nearest = (size > least) & (size <= unit)
        if len(codes) and codes[0] <= unit:
            unit = float(codes[0])
            nearest = size == unit
        if foreign(nearest, size <= least):
            # The others without the cells of these rows.
            return cuts_of(np.where(nearest, 0.0, off), level, inflated, power, foreign)
    cap = thresholds.NARROW_CAP if tied else thresholds.CAP
    sides = [np.sort(side * off[side * off > unit]) / unit for side in (1, -1)]
    shares = [len(b) / n for b in sides]
    for side, b in enumerate(sides):
        share = shares[side]
        number = np.arange(len(b), 0, -1)
        # The side of a skewed column on which more of it lies may be heavier.
        surplus = min(1.0, max(0.0, share - shares[1 - side]) / tail)
        spread = power * thresholds.LOG_DEVIATION * (1.0 + surplus)
        start = -ndtri(min(tail, max(share, tail / 2.0)))
        inflating = number * b**2
        far = inflating > n * inflated**2
        p = np.ones(len(b))
        p[far] = pdtrc(number[far] - 1, n * ndtr(-(start + np.log(b[far]) / spread)))
        by_law = p < level
        law[side] = unit * _cut_before(b, by_law)
        caps[side] = unit * _cut_before(b, inflating > n * cap**2)
        if by_law.any():
            # Over all columns, and all cuts.
            chance = float(p[by_law].min()) * len(b) * thresholds.LEVEL / level
            log_p = min(log_p, float(np.log(max(chance, np.exp(FARTHEST_LOG_P)))))
    return law, caps, log_p


def _cut_before(b: Array, extreme: Mask) -> float:
    """Return a cut between the first extreme value of some that ascend and the one before it."""
    if not extreme.any():
        return np.inf
    first = int(np.argmax(extreme))
    return float(np.sqrt(b[first] * (b[first - 1] if first else 1.0)))
