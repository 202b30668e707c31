"""Extreme rows, and the gap that separates extreme values from the others.

Far out, the logarithms of good values have independent exponential spacings if their tail falls
with any power. So if k values exceed all others by a ratio r, k log r has the law of one more of
the m spacings just inside the gap: the chance is (1 + k log r / S)^(-m), where S is their sum. Each
side of each column is tested in its own unit; then the lengths of rows.

Works on a sample of the rows on the host, and finds rules that hold for all rows.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from typing import NamedTuple, cast

import numpy as np
from scipy.special import ndtri

from inlier._internal.arrays import (
    ascending_columns,
    highest,
    like,
    median_distances,
    middles,
    namespace,
    of_columns,
    on_host,
)
from inlier._internal.numbers import TINY
from inlier._internal.typing import Array, Mask, Rows
from inlier.data import (
    DenseTable,
    Fences,
    ManyCells,
    Measure,
    Table,
    TailLength,
    as_table,
    set_aside,
)
from inlier.data.measures import MEDIAN_SIZE
from inlier.linalg.whitening import PrincipalAxes
from inlier.search import thresholds
from inlier.search.cells import cuts_of, find_fences, rank
from inlier.search.sample import RowSample
from inlier.search.tests import quantile_of_last


class Rule(NamedTuple):
    """Rows with a size above the cut are extreme."""

    measure: Measure
    cut: float
    log_p: float


def extreme_rules(table: Table, sample: RowSample) -> list[Rule]:
    """Find rules that separate extreme rows from the others; two passes if rows were sampled.

    Where extreme cells were set aside, a row is removed if it has many; elsewhere if it has one.
    """
    fences = table.fences
    with np.errstate(all="ignore"):
        if len(sample.rows) == table.shape[0]:
            return find_extremes(sample.values, sample.missing, fences, table.screened)[0]
        values, widened = _with_rows_beyond(table, sample)
        rules, kept = find_extremes(values, None, fences, table.screened)
        return [
            rule if isinstance(rule.measure, ManyCells) else widened(rule, values[kept])
            for rule in rules
        ]


def without_extreme_cells(table: Table, many: bool = False) -> tuple[Table, bool]:
    """Return an array in memory with its extreme cells set aside, any other table as it is.

    The cells of a row that has many stay: it is removed as a row. Many cells of a column may be
    those of a group of rows: they stay too, unless `many` are wanted. Return also whether there
    are such cells.
    """
    X = table.array if isinstance(table, DenseTable) else None
    n = table.shape[0]
    if X is None or n * table.shape[1] > thresholds.COPIED_CELLS:
        return table, False
    sample = RowSample.of(copy(table))  # the order of the rows is left to the fit
    if sample is None or not np.isfinite(sample.values).all():
        return table, False
    table.screened = True
    with np.errstate(all="ignore"):
        if len(sample.rows) == n:
            fences, more = _fences(sample.values, sample.missing, many)
        else:
            values, widened = _with_rows_beyond(table, sample)
            fences, more = _fences(values, None, many)
            if fences is not None:
                kept = values[fences(values) <= 1.0]
                fences = cast(Fences, widened(Rule(fences, 1.0, 0.0), kept).measure)
    if fences is None:
        return table, more
    found = cells_beyond(table, fences)
    screened = set_aside(cast(DenseTable, table), found, fences) if len(found) else table
    screened.fences = fences
    return screened, more


def cells_beyond(table: Table, fences: Fences) -> Array:
    """Return row and column of the cells to be set aside, k x 2: not those of rows with many."""
    with np.errstate(all="ignore"):
        sizes = table.measured(fences)
        rows = on_host(namespace(sizes).nonzero(sizes > 1.0)[0])
        values = table.fetch(rows).astype(np.float64)
        off = values - fences.center
        extreme = (off > fences.above) | (-off > fences.below)
        extreme[many_cells(fences)(values) > 1.0] = False
    if table.missing is not None:
        extreme &= ~table.missing[rows]
    found = np.argwhere(extreme)
    found[:, 0] = rows[found[:, 0]]
    return found


def _with_rows_beyond(
    table: Table, sample: RowSample
) -> tuple[Array, Callable[[Rule, Array], Rule]]:
    """Add the rows that may be extreme to a sample; return also what widens a rule to all rows."""
    factor = (table.shape[0] / len(sample.rows)) ** (1.0 / thresholds.TAIL_INDEX)
    reach = _reach(sample.values, factor)
    values = np.concatenate([sample.values, _rows_beyond(table, reach)])
    return values, lambda rule, kept: _widened(rule, kept, factor)


def _reach(values: Rows, factor: float) -> Fences:
    """Bound the columns of all rows, given those of a sample."""
    ascending = ascending_columns(values)
    center = middles(ascending)
    ends = (on_host(ascending[:, -1]) - center, center - on_host(ascending[:, 0]))
    above, below = (np.where(end > 0.0, factor * end, np.inf) for end in ends)
    return Fences(center, median_distances(ascending, center), above, below)


def _rows_beyond(table: Table, reach: Fences) -> Array:
    """Return the rows that lie farther out in some column, or the 2,000 farthest of them."""
    far = table.measured(reach)
    xp = namespace(far)
    beyond = xp.nonzero(far > 1.0)[0]
    rows, far = on_host(beyond), on_host(xp.take(far, beyond))
    rows = rows[np.argsort(-far, kind="stable")[:2000]]
    return table.fetch(np.sort(rows)).astype(np.float64)


def _widened(rule: Rule, kept: Array, factor: float) -> Rule:
    """Widen a rule by what good rows outside of the sample can reach, given the kept ones in it."""
    measure = rule.measure
    if not isinstance(measure, Fences):
        return rule._replace(cut=max(rule.cut, factor * highest(measure(kept))))
    # Of the values within the fences: those beyond may be bad, and would move them to any distance.
    off = kept - measure.center
    above, below = (
        np.where(np.isfinite(fence), np.maximum(fence, factor * farthest), np.inf)
        for fence, farthest in (
            (measure.above, off.max(axis=0, initial=0.0)),
            (measure.below, -off.min(axis=0, initial=0.0)),
        )
    )
    return rule._replace(measure=replace(measure, above=above, below=below))


def find_extremes(
    X: Array,
    missing: Mask | None = None,
    fences: Fences | None = None,
    screened: bool = False,
) -> tuple[list[Rule], Mask]:
    """Find rules that separate extreme rows from the others, and the mask of the rows to keep.

    X holds all rows, or a sample with all rows that may be extreme. The rules are in the order in
    which they apply: one for cells, if any, and some for lengths. If the table was `screened`, the
    cells beyond the `fences` were set aside, but for those of rows that have many.
    """
    n = X.shape[0]
    kept = np.ones(n, dtype=np.bool_)
    rules: list[Rule] = []
    most = int(thresholds.FEW_SHARE * n) + 1
    if fences is not None:
        rules = [Rule(many_cells(fences), 1.0, fences.log_p)]
    elif not screened and (found := _fences(X, missing, True)[0]) is not None:
        rules = [Rule(found, 1.0, found.log_p)]
    for rule in rules:
        kept &= rule.measure(X) <= 1.0
    if kept.sum() < thresholds.KEPT_SHARE * n:
        rules, kept = [], np.ones(n, dtype=np.bool_)
    for _ in range(thresholds.ROUNDS):
        R = X[kept]
        if len(R) < thresholds.FEWEST_ROWS:
            break
        varies = np.ptp(R, axis=0) > 0.0
        if not varies.any():
            break
        R = np.ascontiguousarray(R[:, varies])
        lengths = _extreme_lengths(R, _View.of(R), varies, most)
        removed = np.zeros(len(R), dtype=np.bool_)
        for _, members in lengths:
            removed |= members
        if not removed.any() or kept.sum() - removed.sum() < thresholds.KEPT_SHARE * n:
            break
        rules += [rule for rule, _ in lengths]
        kept[kept] = ~removed
    return rules, kept


def many_cells(fences: Fences) -> ManyCells:
    """Return the measure of rows in which many cells are extreme."""
    d = len(fences.center)
    least = max(min(2.0, d), float(int(thresholds.MANY_CELLS * d)) + 1.0)
    return ManyCells(**vars(fences), least=least)


def _fences(X: Array, missing: Mask | None, many: bool) -> tuple[Fences | None, bool]:
    if len(X) < thresholds.FEWEST_ROWS:
        return None, False
    most = int(thresholds.FEW_SHARE * len(X)) + 1
    return find_fences(X, missing, many, lambda rows: _separated_cells(_View.of(rows), most))


class _View(NamedTuple):
    """Sorted columns about their medians, with a unit and a tail power for each side."""

    ascending: Rows
    """n x d."""
    center: Array
    unit: Array
    """2 x d: above and below."""
    power: Array
    number: Array
    """2 x d: of values on each side."""
    decay: Array
    """d: how fast the tails of a column fall, by its middle; 1 for a Gaussian."""
    step: Array
    """d: the smallest step between the values of a column, by which they may be rounded."""

    @classmethod
    def of(cls, R: Rows) -> _View:
        sorted_columns = ascending_columns(R)
        center, ascending = middles(sorted_columns), sorted_columns.T
        xp, d = namespace(R), R.shape[1]
        step = rounding_steps(ascending)
        # Values that differ from the median by rounding alone are on neither side of it.
        at_center = 16.0 * np.finfo(np.float64).eps * np.abs(center) + 1e-9 * step
        ascending = ascending - like(center, R)
        unit, power, number = np.empty((2, d)), np.empty((2, d)), np.empty((2, d), np.intp)
        for side, values in enumerate((ascending, -xp.flip(ascending, axis=0))):
            number[side] = on_host(xp.sum(values > like(at_center, R), axis=0, dtype=xp.int64))
            unit[side], power[side] = _unit_and_power(values, number[side])
        short = np.flatnonzero(number.min(axis=0) < thresholds.FEWEST_VALUES)
        if len(short):
            both = np.sort(np.abs(on_host(of_columns(ascending, short))), axis=0)
            few = number[:, short] < thresholds.FEWEST_VALUES
            shared = _unit_and_power(both, number[:, short].sum(axis=0))
            unit[:, short] = np.where(few, shared[0], unit[:, short])
            power[:, short] = np.where(few, shared[1], power[:, short])
        return cls(
            ascending, center, np.maximum(unit, TINY), power, number, _tail_index(ascending), step
        )

    def end(self, side: int, size: int, columns: Array) -> Array:
        """Return how far out the farthest values of some columns lie on a side, ascending."""
        a = self.ascending
        a = a[a.shape[0] - size :, :] if side == 0 else a[:size, :]
        a = on_host(of_columns(a, columns))
        return a if side == 0 else -a[::-1]


def rounding_steps(ascending: Rows) -> Array:
    """Return the smallest step between the values of each sorted column; 0 if all are equal.

    Steps below 1e-9 of the column's spread are arithmetic, not rounding. The spread is the one of
    the middle values: a single huge value must not make the others look like copies.
    """
    xp, n = namespace(ascending), ascending.shape[0]
    steps = ascending[1:, :] - ascending[:-1, :]
    spread = ascending[n - 1 - n // 10, :] - ascending[n // 10, :]
    spread = xp.where(spread > 0.0, spread, ascending[-1, :] - ascending[0, :])
    least, smallest = 1e-9 * on_host(spread), on_host(xp.min(steps, axis=0)).copy()
    tied = np.flatnonzero(~(smallest > least))
    if len(tied):
        columns = on_host(of_columns(ascending, tied)).T
        smallest[tied] = [_step(a, least[j]) for j, a in zip(tied, columns, strict=True)]
    return np.where(np.isfinite(smallest), smallest, 0.0)


def _step(ascending: Array, least: float) -> float:
    """Return the smallest step between ascending values; of codes, if most values are."""
    n = len(ascending)
    steps = np.diff(ascending)
    grows = steps > least
    if 2 * np.count_nonzero(grows) < n:
        starts = np.flatnonzero(np.concatenate([[True], grows]))
        counts = np.diff(starts, append=n)
        codes = counts >= max(3, 0.01 * n)
        if counts[codes].sum() >= thresholds.INNER_SHARE * n and codes.sum() > 1:
            return float(np.diff(ascending[starts[codes]]).min())
    return float(np.min(steps, where=grows, initial=np.inf))


def _unit_and_power(ascending: Rows, number: Array) -> tuple[Array, Array]:
    """Return the median m of the positive values of sorted columns, and the power h <= 1.

    (a / m)^h is half-normal at the median and at the upper quantile.
    """
    q = 0.75  # a quarter of a side may be bad
    unit, upper = (quantile_of_last(ascending, number, level) for level in (0.5, q))
    gaussian = np.log(ndtri(0.5 + q / 2.0) / MEDIAN_SIZE)
    with np.errstate(all="ignore"):
        power = gaussian / np.log(upper / unit)
    return unit, np.where(upper > unit, np.clip(power, 0.05, 1.0), 1.0)


def _tail_index(ascending: Rows) -> Array:
    """Return a factor for the tail index of each sorted column: 1 for a Gaussian, or less.

    The reach of the middle 90% over that of the middle half tells heavy tails from light ones.
    """
    n = ascending.shape[0]
    wide, narrow = (
        on_host(ascending[n - 1 - int(q * n), :] - ascending[int(q * n), :]) for q in (0.05, 0.25)
    )
    with np.errstate(all="ignore"):
        shape = np.log(ndtri(0.95) / MEDIAN_SIZE) / np.log(wide / narrow)
    shape = np.where((wide > narrow) & (narrow > 0.0), np.clip(shape, 0.0, 1.0), 0.0)
    # Of few rows the reach is not well known. The power separates Student's t_3 from a Gaussian.
    return np.asarray(shape * (1.0 - 0.3 / np.sqrt(n))) ** 4


def _tail_test(
    a: Array,
    size: Array,
    number: Array,
    step: Array,
    n_tests: int,
    most: int,
    least_size: float,
    least_ratio: float,
    prior: float,
    least_index: float,
    level: float,
    index: Array | float = 0.0,
) -> tuple[Array, Array, Array, Array]:
    """Find the largest values that the tail of the others cannot reach: at most `most`.

    `a` and `size` (t x v) are the largest values of each of v views, ascending, and their Gaussian
    sizes; a view has `number` values above 0, rounded to its `step`, so that values may be nearer
    by half of it. The cut is the least likely gap: a good value may lie next to many extreme ones.
    The expected tail index, at least `least_index`, counts for `prior` spacings. Return for each
    view the number of extreme values, the cut, the smallest of them, and the logarithm of the
    chance.
    """  # fmt: skip
    t, v = a.shape
    k = np.arange(1, max(1, min(most, t - 8)) + 1)[:, None]
    edge, column = t - k, np.arange(v)[None, :]
    logs = np.log(np.maximum(a, TINY))
    sums = np.concatenate([np.zeros((1, v)), np.cumsum(logs, axis=0)])
    # Hill's estimate of the tail index from the sqrt(n) values just inside the cut.
    fewest = thresholds.FEWEST_VALUES
    inside = np.maximum(np.sqrt(np.maximum(number - k, 1)).astype(np.intp), fewest)
    inside = np.minimum(inside, np.minimum(number - k - 1, edge - 1))
    enough = inside >= fewest
    inside = np.maximum(inside, 1)
    hill = sums[edge, column] - sums[edge - inside, column]
    hill -= inside * logs[np.maximum(edge - inside - 1, 0), column]
    # Beyond a Gaussian size z the tail index is about z^2.
    expected = np.maximum(least_index, index * size[edge - 1, column] ** 2)
    spacings, total = inside + prior, np.maximum(hill, 0.0) + prior / expected
    inner = np.maximum(a[edge - 1, column] + step / 2.0, TINY)
    r = np.maximum((a[edge, column] - step / 2.0) / inner, TINY)
    # k times the logarithm of r has the law of one more spacing; the others are as many.
    log_p = np.log(n_tests * k * (k + 1.0)) - spacings * np.log1p(
        k * np.log(np.maximum(r, 1.0)) / total
    )
    extreme = enough & (size[edge, column] >= least_size) & (r >= least_ratio)
    extreme &= log_p < np.log(level)
    least_likely = 1 + np.argmin(np.where(extreme, log_p, np.inf), axis=0)
    found = np.where(extreme.any(axis=0), least_likely, 0)
    at = np.maximum(found, 1)
    column = column[0]
    inner, nearest = (np.maximum(a[t - at - i, column], TINY) for i in (1, 0))
    cut = np.where(found > 0, np.sqrt(inner * nearest), np.inf)
    return found, cut, nearest, log_p[at - 1, column]


def _separated_cells(view: _View, most: int) -> tuple[Array, Array, float]:
    """Find values that a gap separates: the limits of the columns, infinite where there are none.

    Also the logarithm of the least chance.
    """
    m, d = view.ascending.shape
    tail = min(m, 2 * most + 80 + 2 * int(np.sqrt(m)))
    # Among many cells the largest good one has this size by chance.
    least_size, ratio, prior = thresholds.EXTREME
    least = max(least_size, -float(ndtri(0.5 / (m * d))))
    cuts, nearest, log_p = np.full((2, d), np.inf), np.full((2, d), np.inf), 0.0
    for side, unit, power in zip((0, 1), view.unit, view.power, strict=True):
        farthest = view.end(side, 1, np.arange(d))[0]
        size = MEDIAN_SIZE * (np.maximum(farthest, 0.0) / unit) ** power
        far = np.flatnonzero(size >= least)
        if not len(far):
            continue
        a = np.maximum(view.end(side, tail, far), 0.0)
        size = MEDIAN_SIZE * (a / unit[far]) ** power[far]
        number, cuts[side, far], nearest[side, far], chances = _tail_test(
            a, size, view.number[side, far], view.step[far], 2 * d, most,
            least, ratio, prior, thresholds.GAP_INDEX, thresholds.GAP_LEVEL, view.decay[far],
        )  # fmt: skip
        log_p = min(log_p, float(np.min(chances[number > 0], initial=0.0)))
    # No value is removed on one side that is nearer than a kept one on the other.
    extreme = np.flatnonzero(np.isfinite(cuts).any(axis=0))
    tails = np.stack([view.end(side, tail, extreme) for side in (1, 0)])
    kept = np.where(tails < cuts[::-1, None, extreme], tails, 0.0).max(axis=1)
    cuts[:, extreme] = np.where(nearest[:, extreme] < kept, np.inf, cuts[:, extreme])
    return view.center + cuts[0], view.center - cuts[1], log_p


def _extreme_lengths(R: Rows, view: _View, columns: Mask, most: int) -> list[tuple[Rule, Mask]]:
    """Find rows that are extreme as a whole.

    `columns` are those of R among the columns of the table.
    """
    m, d = R.shape
    if d < 2:
        return []
    # The tail of few lengths is not well known: only one that is far beyond all others is extreme.
    few = m < thresholds.FEWEST_LENGTHS
    least_size, least_ratio, prior = thresholds.EXTREME
    plain = TailLength(view.center, view.unit, view.power)
    if few:
        plain = _length(R, 1.0)
        measured, least_ratio = [(plain, on_host(plain(R)))], thresholds.FEW_LENGTHS_RATIO
    elif d < min(m, thresholds.WIDE_COLUMNS):
        sizes = on_host(plain.cells(R))
        white = replace(plain, whitener=_whitener(sizes))
        measured = [(plain, plain.lengths(sizes)), (white, white.lengths(sizes))]
    else:
        measured = [(plain, on_host(as_table(R).measured(plain)))]
    # In columns of codes a length takes few values, and tests of it would find gaps.
    tied = (view.ascending == 0.0).mean(axis=0) > thresholds.TIED_SHARE
    few_codes = 2 * int(tied.sum()) < d
    extreme = [] if few else _long_by_law(R, columns)
    for measure, lengths in measured:
        a = np.sort(lengths)[:, None]
        off = np.maximum(a - np.median(a), 0.0)
        number = np.array([(off > 0.0).sum()])
        if number[0] < thresholds.FEWEST_VALUES or _few_values(lengths):
            continue
        scale, power = _unit_and_power(off, number)
        counted = np.array([len(a)]), np.zeros(1), 2 * d + 4, most  # all values, not rounded
        found = _tail_test(
            a,
            MEDIAN_SIZE * (off / scale) ** power,
            *counted,
            least_size,
            least_ratio,
            prior,
            thresholds.TAIL_INDEX,
            thresholds.EXTREME_LEVEL,
        )
        if not few and not found[0] and few_codes and d < thresholds.WIDE_COLUMNS:
            weak = *thresholds.LONG, thresholds.TAIL_INDEX, thresholds.EXTREME_LEVEL
            found = _tail_test(a, MEDIAN_SIZE * off / scale, *counted, *weak)
            if found[0] < thresholds.LONG_SHARE * m:
                continue
        number, cut, _, log_p = (x.item() for x in found)
        if number:
            rule = Rule(_of_all_columns(measure, columns), cut, log_p)
            extreme.append((rule, lengths > cut))
    return extreme


def _length(R: Array, power: float) -> TailLength:
    """Return a length of distances in units of the columns, of which three quarters keep one.

    A power of 1/2 gives the root of their sum, which no single column dominates.
    """
    center = np.median(R, axis=0)
    off = np.abs(R - center)
    inner = rank(0.75, len(R))
    unit = np.partition(off, inner, axis=0)[inner]
    deviation = R.std(axis=0)
    unit = np.where(unit > 1e-12 * deviation, unit, deviation)
    return TailLength(center, np.stack([unit, unit]), np.full((2, R.shape[1]), power))


def _long_by_law(R: Array, columns: Mask) -> list[tuple[Rule, Mask]]:
    """Find rows whose length no admitted law explains, as for the cells of a column."""
    measure = _length(R, 0.5)
    lengths = on_host(measure(R))
    if _few_values(lengths):
        return []
    middle = float(np.median(lengths))
    law, cap = cuts_of(lengths - middle, thresholds.CELL_LEVEL, thresholds.LONG_INFLATED, 0.5)
    cut = middle + min(law.above, cap.above)
    if not np.isfinite(cut):
        return []
    return [(Rule(_of_all_columns(measure, columns), cut, law.log_p), lengths > cut)]


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
    far = np.abs(sizes)
    wrapped = np.sign(sizes) * 1.540793 * np.tanh(0.8622731 * (4.0 - np.minimum(far, 4.0)))
    wrapped = np.where(far <= 1.5, sizes, wrapped)
    wrapped = wrapped - wrapped.mean(axis=0)
    # A column that varies less has rare codes, which do not make a row long.
    deviation = np.maximum(wrapped.std(axis=0), MEDIAN_SIZE)
    wrapped /= deviation
    correlation = (1.0 - min(0.9, d / n)) * (wrapped.T @ wrapped) / n
    np.fill_diagonal(correlation, 1.0)
    axes = PrincipalAxes.of(correlation)
    variances = np.maximum(axes.variances, 1e-9 * axes.variances[0])
    return np.asarray(axes._replace(variances=variances).whitener / deviation)
