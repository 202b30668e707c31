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
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri, pdtrc

from inlier._internal.arrays import ascending_columns, blocks_in_cache, median, middles
from inlier._internal.numbers import TINY
from inlier._internal.typing import Array, Mask
from inlier.data import Fences
from inlier.search import thresholds
from inlier.search.gaps import Tails

FARTHEST_LOG_P = -700.0


class _Cut(NamedTuple):
    """Distances above and below the median beyond which cells of a column are extreme."""

    above: float
    below: float
    log_p: float = 0.0

    def beyond(self, off: Array) -> Mask:
        return (off > self.above) | (-off > self.below)


NO_CUT = _Cut(np.inf, np.inf)


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
    above, below, least = np.full(d, np.inf), np.full(d, np.inf), 0.0
    all_above, all_below = above.copy(), below.copy()
    for j in _candidates(ascending, center, missing):
        present = slice(None) if missing is None else ~missing[:, j]
        off = values[:, j] - center[j]
        foreign = partial(others.foreign, present, j)
        law, cap = cuts_of(off[present], thresholds.LEVEL / d, foreign=foreign)
        cut = law if others.typical(law.beyond(off), j) else cap
        above[j], below[j] = min(cut.above, cap.above), min(cut.below, cap.below)
        all_above[j], all_below[j] = min(law.above, cap.above), min(law.below, cap.below)
        least = min(least, cut.log_p)
    rest, tested = values, np.arange(d)
    tails: Tails | None = None
    for _ in range(thresholds.ROUNDS):
        fenced = tested[np.minimum(above[tested], below[tested]) < np.inf]
        off = rest[:, fenced] - center[fenced]
        outside = (off > above[fenced]) | (-off > below[fenced])
        if outside.any():
            rest = rest.copy() if rest is values else rest
            rest[:, fenced] = np.where(outside, center[fenced], rest[:, fenced])
        if len(values) // 2 <= 1 + thresholds.FEWEST_VALUES:  # too few on a side for any gap
            break
        if tails is None:
            tails = Tails(ascending if rest is values else ascending_columns(rest))
            top, bottom, log_p = tails.gaps(tested)
        else:
            top, bottom, log_p = tails.gaps(tested, ascending_columns(rest[:, tested]))
        found = []
        for i in np.flatnonzero(np.isfinite(top) | np.isfinite(bottom)):
            j = tested[i]
            gap = _Cut(top[i], bottom[i])
            if others.typical(gap.beyond(rest[:, j] - center[j]), j):
                above[j], below[j] = min(above[j], gap.above), min(below[j], gap.below)
                found.append(j)
        if not found:
            break
        least, tested = min(least, log_p), np.array(found)
    all_above, all_below = np.minimum(all_above, above), np.minimum(all_below, below)
    if not np.isfinite([all_above, all_below]).any():
        return None, None
    unit = np.array([median(np.abs(rest[:, j] - center[j])) for j in range(d)])
    of_rows = Fences(center, unit, all_above, all_below, least)
    if not np.isfinite([above, below]).any():
        return None, of_rows
    return Fences(center, unit, above, below, least), of_rows


class _Others:
    """Whether rows with extreme cells in one column are like all others in the other columns."""

    def __init__(self, values: Array) -> None:
        self._values = values
        d = values.shape[1]
        # Some columns show it as well as all of them.
        self._columns = np.linspace(0, d - 1, min(d, 256)).astype(np.intp)

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
    order = np.argsort(values)
    ascending = values[order]
    starts = np.flatnonzero(np.concatenate([[True], ascending[1:] > ascending[:-1]]))
    counts = np.diff(starts, append=len(values))
    ranks = np.empty(len(values))
    ranks[order] = np.repeat(starts + (counts - 1) / 2.0, counts)
    return ranks


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
    """
    d, n = ascending.shape
    found = np.empty(d)
    for part in blocks_in_cache(d, n):
        off = ascending[part] - center[part, None]
        found[part] = np.min(np.maximum(-off[:, : n - k + 1], off[:, k - 1 :]), axis=1)
    return found


def rank(share: float, n: int) -> int:
    """Return the index of a quantile among n ascending values."""
    return max(0, int(np.ceil(share * n - 1e-9)) - 1)


def cuts_of(
    off: Array,
    level: float,
    inflated: float = thresholds.INFLATED,
    power: float = 1.0,
    foreign: Callable[[Mask, Mask], bool] = lambda rows, others: False,
) -> tuple[_Cut, _Cut]:
    """Return where the cells of a column are extreme by its law, and at any rate.

    `foreign` tells whether some rows differ from others in other columns: no unit is taken from the
    cells of rows that differ from those with the most frequent value.
    """
    n = len(off)
    a = np.abs(off)
    a.sort()
    if n < thresholds.FEWEST_ROWS or a[-1] == 0.0:
        return NO_CUT, NO_CUT
    least = 1e-9 * median(a[np.searchsorted(a, 0.0, "right") :])
    other, tail = a[np.searchsorted(a, least, "right") :], 1.0 - thresholds.INNER_SHARE
    if len(other) < thresholds.FEWEST_VALUES:
        return NO_CUT, NO_CUT
    # Of equal values no more count than leave a unit to the others.
    n = min(n, round(len(other) / (1.0 - thresholds.TIED_SHARE)))
    # Of few values a quantile is not well known: the upper end of its interval.
    unit = float(other[max(0, min(n, rank(thresholds.INNER_SHARE, n) + 3) - n + len(other) - 1)])
    tied = n < len(off)
    if tied:
        # Most of the others may be bad, but for a code that is repeated, or for the nearest ones.
        distinct, counts = np.unique(other, return_counts=True)
        repeated = counts >= 3
        repeated[1:] &= counts[1:] >= 0.01 * len(off)
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
    shares = [float(np.sum(side * off > unit)) / n for side in (1, -1)]
    cuts, caps, log_p = [], [], 0.0
    for side, share, opposite in ((1, *shares), (-1, *shares[::-1])):
        b = np.sort(side * off[side * off > unit]) / unit
        number = np.arange(len(b), 0, -1)
        # The side of a skewed column on which more of it lies may be heavier.
        surplus = min(1.0, max(0.0, share - opposite) / tail)
        spread = power * thresholds.LOG_DEVIATION * (1.0 + surplus)
        start = -ndtri(min(tail, max(share, tail / 2.0)))
        inflating = number * b**2
        far = inflating > n * inflated**2
        p = np.ones(len(b))
        p[far] = pdtrc(number[far] - 1, n * ndtr(-(start + np.log(b[far]) / spread)))
        by_law = p < level
        cuts.append(unit * _cut_before(b, by_law))
        caps.append(unit * _cut_before(b, inflating > n * cap**2))
        if by_law.any():
            # Over all columns, and all cuts.
            chance = float(p[by_law].min()) * len(b) * thresholds.LEVEL / level
            log_p = min(log_p, float(np.log(max(chance, np.exp(FARTHEST_LOG_P)))))
    return _Cut(cuts[0], cuts[1], log_p), _Cut(caps[0], caps[1])


def _cut_before(b: Array, extreme: Mask) -> float:
    """Return a cut between the first extreme value of some that ascend and the one before it."""
    if not extreme.any():
        return np.inf
    first = int(np.argmax(extreme))
    return float(np.sqrt(b[first] * (b[first - 1] if first else 1.0)))
