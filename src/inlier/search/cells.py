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

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri, pdtrc

from inlier._internal.arrays import blocks_in_cache, first_places, median_distances, middles, pieces
from inlier._internal.numbers import TINY
from inlier._internal.typing import Array, Mask
from inlier.data import Fences
from inlier.search import thresholds
from inlier.search.gaps import Sides, Tails

FARTHEST_LOG_P = -700.0
# Columns of which the nearest rows are compared with others in one product.
TOGETHER = 16


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
    others = _Others(values, ascending)
    center = middles(ascending)
    # Distances above and below the median.
    of_cells, of_rows, least = np.full((2, d), np.inf), np.full((2, d), np.inf), 0.0
    columns = _candidates(ascending, center, missing)
    for j, present, unit in _with_units(values, center, missing, columns, others):
        law, cap, log_p = cuts_of(present, unit, thresholds.LEVEL / d)
        of_rows[:, j] = np.minimum(law, cap)
        if others.typical(_beyond(values[:, j] - center[j], law), j):
            of_cells[:, j], least = of_rows[:, j], min(least, log_p)
        else:
            of_cells[:, j] = cap
    tested = np.arange(d)
    tails: Tails | None = None
    for _ in range(thresholds.ROUNDS):
        fenced = tested[of_cells[:, tested].min(axis=0) < np.inf]
        if len(fenced):
            ascending = ascending.copy()
            for j in fenced:
                ascending[j] = _within(ascending[j], center[j], of_cells[:, j])
        if len(values) // 2 <= 1 + thresholds.FEWEST_VALUES:  # too few on a side for any gap
            break
        sides = Sides(ascending if len(tested) == d else ascending[tested])
        tails = tails or Tails(sides)
        cuts, log_p = tails.gaps(tested, sides)
        found = []
        for i in np.flatnonzero(np.isfinite(cuts).any(axis=0)):
            j, cut = tested[i], cuts[:, i]
            off = values[:, j] - center[j]
            if others.typical(_beyond(off, cut) & ~_beyond(off, of_cells[:, j]), j):
                of_cells[:, j] = np.minimum(of_cells[:, j], cut)
                found.append(j)
        if not found:
            break
        least, tested = min(least, log_p), np.array(found)
    of_rows = np.minimum(of_rows, of_cells)
    if not np.isfinite(of_rows).any():
        return None, None
    units = median_distances(ascending, center)
    rows = Fences(center, units, of_rows[0], of_rows[1], least)
    if not np.isfinite(of_cells).any():
        return None, rows
    return Fences(center, units, of_cells[0], of_cells[1], least), rows


def _within(ascending: Array, center: float, cuts: Array) -> Array:
    """Return a sorted column with the median in place of the cells beyond the cuts."""
    off = ascending - center
    first, last = np.searchsorted(off, -cuts[1]), np.searchsorted(off, cuts[0], "right")
    middle = int(np.searchsorted(off, 0.0))
    equal = np.full(first + len(off) - last, center)
    return np.concatenate([ascending[first:middle], equal, ascending[middle:last]])


def _beyond(off: Array, cuts: Array) -> Mask:
    """Return which distances from the median lie beyond the cuts above and below it."""
    return np.asarray((off > cuts[0]) | (-off > cuts[1]))


class _Others:
    """Whether rows with extreme cells in one column are like all others in the other columns."""

    def __init__(self, values: Array, ascending: Array) -> None:
        self._values, self._ascending = values, ascending
        d = values.shape[1]
        # Some columns show it as well as all of them.
        self._columns = np.linspace(0, d - 1, min(d, thresholds.SHOWN)).astype(np.intp)

    @cached_property
    def _ranks(self) -> Array:
        """Location and spread of the ranks in each column, standardized: a row for each."""
        columns = self._values.T[self._columns]
        both = np.empty((len(columns), 2, columns.shape[1]))
        for out, column, j in zip(both, columns, self._columns, strict=True):
            out[0] = average_ranks(column, self._ascending[j])
            out[1] = (out[0] - out[0].mean()) ** 2
            out -= out.mean(axis=1, keepdims=True)
            out /= np.maximum(out.std(axis=1, keepdims=True), TINY)
        return both.reshape(-1, columns.shape[1])

    def typical(
        self, rows: Mask, column: int, others: Mask | None = None, z: Array | None = None
    ) -> bool:
        """Return whether the ranks of these rows lie and spread as those of the others.

        `z` are the means of their ranks, where they are known.
        """
        among = np.ones(len(rows), dtype=np.bool_) if others is None else rows | others
        n, k = int(among.sum()), int(rows.sum())
        if not 0 < k < n or len(self._columns) < 2:
            return True
        z = self._ranks[:, np.flatnonzero(rows)].mean(axis=1) if z is None else z
        if n < len(rows):  # of all rows the mean is 0 and the deviation 1
            ranks = self._ranks[:, among]
            z = (z - ranks.mean(axis=1)) / np.maximum(ranks.std(axis=1), TINY)
        z *= np.sqrt(k * (n - 1.0) / (n - k))
        z[np.repeat(self._columns == column, 2)] = 0.0
        return bool(np.abs(z).max() < -ndtri(thresholds.LEVEL / (2 * len(z))))

    def foreign(self, columns: list[int], rows: Mask, others: Mask) -> list[int]:
        """Return the columns of which some rows, k x n, differ from others in other columns."""
        if not columns or len(self._columns) < 2:
            return []
        # One product for all columns reads the ranks once.
        number = np.maximum(np.count_nonzero(rows, axis=1), 1)
        means = rows.astype(np.float64) @ self._ranks.T / number[:, None]
        asked = zip(columns, rows, others, means, strict=True)
        return [j for j, these, rest, z in asked if not self.typical(these, j, rest, z)]


def average_ranks(values: Array, ascending: Array | None = None) -> Array:
    """Return the ranks of values, from 0 on; equal ones have their mean rank.

    As `scipy.stats.rankdata`, whose import takes as long as that of all else together. `ascending`
    are the sorted values, if they are known.
    """
    a = np.sort(values) if ascending is None else ascending
    starts = np.flatnonzero(np.append(True, a[1:] > a[:-1]))
    counts = np.diff(starts, append=len(a))
    means = starts + (counts - 1) / 2.0
    if 8 * len(starts) < len(a):  # few values are found faster than all are sorted
        return np.asarray(means[np.searchsorted(a[starts], values)])
    ranks = np.empty(len(a))
    ranks[np.argsort(values)] = np.repeat(means, counts)
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
    From run to run one end comes nearer and the other goes away, so that bisection finds it.
    """
    columns = np.arange(len(center))

    def ends(first: Array) -> tuple[Array, Array]:
        return center - ascending[columns, first], ascending[columns, first + k - 1] - center

    # The first run whose upper end is the farther one, or else the last run.
    n_runs = ascending.shape[1] - k + 1
    first = first_places(lambda run: np.less_equal(*ends(run)), len(center), n_runs - 1)
    near, before = np.maximum(*ends(first)), np.maximum(*ends(np.maximum(first - 1, 0)))
    return np.asarray(np.minimum(near, before))


def rank(share: float, n: int) -> int:
    """Return the index of a quantile among n ascending values."""
    return max(0, int(np.ceil(share * n - 1e-9)) - 1)


class Unit(NamedTuple):
    """In which the cells of a column are measured."""

    size: float
    """The distance from the median that most values keep; 0 if there are too few."""
    number: int = 0
    """Values that count: of equal ones no more than leave a unit to the others."""
    nearest: Mask | None = None
    """If many are equal, which of the others give the unit."""
    equal: Mask | None = None
    """And which these are."""

    @classmethod
    def of(cls, off: Array) -> Unit:
        """Find the unit of the distances of some values from their median."""
        n, size = len(off), np.abs(off)
        a = np.sort(size)
        if n < thresholds.FEWEST_ROWS or a[-1] == 0.0:
            return cls(0.0)
        least = 1e-9 * float(middles(a[None, np.searchsorted(a, 0.0, "right") :])[0])
        other = a[np.searchsorted(a, least, "right") :]
        if len(other) < thresholds.FEWEST_VALUES:
            return cls(0.0)
        n = min(n, round(len(other) / (1.0 - thresholds.TIED_SHARE)))
        # Of few values a quantile is not well known: the upper end of its interval.
        at = min(n, rank(thresholds.INNER_SHARE, n) + 3) - n + len(other) - 1
        unit = float(other[max(0, at)])
        if n == len(off):
            return cls(unit, n)
        # Most of the others may be bad, but for a code that is repeated, or for the nearest ones.
        distinct, counts = np.unique(other, return_counts=True)
        repeated = counts >= thresholds.CODE_ROWS
        repeated[1:] &= counts[1:] >= thresholds.CODE_SHARE * len(off)
        codes = distinct[repeated]
        if len(codes) and codes[0] <= unit:
            unit = float(codes[0])
            return cls(unit, n, size == unit, size <= least)
        return cls(unit, n, (size > least) & (size <= unit), size <= least)


def _with_units(
    values: Array, center: Array, missing: Mask | None, columns: Array, others: _Others
) -> Iterator[tuple[int, Array, Unit]]:
    """Yield columns, the distances of their present cells from the median, and their unit.

    No unit is taken from the cells of rows that differ, in other columns, from those with the most
    frequent value: these cells count as if they had it.
    """
    for some in pieces(len(columns), TOGETHER):
        offs, units, asked = dict[int, Array](), dict[int, Unit](), columns[some].tolist()
        present = {j: slice(None) if missing is None else ~missing[:, j] for j in asked}
        while asked:
            for j in asked:
                offs[j] = values[present[j], j] - center[j] if j not in offs else offs[j]
                units[j] = Unit.of(offs[j])
            nearest = {j: mask for j in asked if (mask := units[j].nearest) is not None}
            masks = np.zeros((2, len(nearest), len(values)), dtype=np.bool_)
            for i, j in enumerate(nearest):
                masks[:, i, present[j]] = nearest[j], units[j].equal
            asked = others.foreign(list(nearest), *masks)
            for j in asked:
                offs[j] = np.where(nearest[j], 0.0, offs[j])
        for j, off in offs.items():
            yield j, off, units[j]


def cuts_of(
    off: Array,
    unit: Unit,
    level: float,
    inflated: float = thresholds.INFLATED,
    power: float = 1.0,
) -> tuple[Array, Array, float]:
    """Return where the cells of a column are extreme by its law, and at any rate.

    These are distances above and below the median, infinite where there are none; with the
    logarithm of the chance of those beyond the law.
    """
    law, caps, log_p = np.full(2, np.inf), np.full(2, np.inf), 0.0
    size, n, tail = unit.size, unit.number, 1.0 - thresholds.INNER_SHARE
    if not n:
        return law, caps, log_p
    cap = thresholds.CAP if unit.nearest is None else thresholds.NARROW_CAP
    a = np.sort(off)
    above, below = a[np.searchsorted(a, size, "right") :], -a[: np.searchsorted(a, -size)][::-1]
    sides = above / size, below / size
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
        law[side] = size * _cut_before(b, by_law)
        caps[side] = size * _cut_before(b, inflating > n * cap**2)
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
