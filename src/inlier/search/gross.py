"""Gross cells and gross rows: values that the tail of the others cannot reach.

Far out, the logarithms of good values have independent exponential spacings, whatever power their
tail falls with. So k values that lie beyond all others by a ratio r have the chance r^(-k g), with
g the index of the tail, read from the values just inside the gap. Each side of each column is
judged by its own unit and its own tail; then the rows' lengths in these units.

Works on a sample of the rows, on the host or a device; what it finds are rules that hold for all
rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from inlier._internal.arrays import like, namespace, of_columns, on_host
from inlier._internal.numbers import TINY
from inlier._internal.typing import Array, Mask, Rows
from inlier.data import Fences, Measure, TailLength, as_table
from inlier.data.measures import MEDIAN_SIZE
from inlier.data.medians import ascending_columns, column_medians, middles
from inlier.search.rounding import rounding_steps


@dataclass(frozen=True)
class GrossSettings:
    """What counts as gross; `benchmarks/tables.py` and `benchmarks/clean.py` measured each."""

    level: float = 0.003
    """Chance, for a table, that good rows leave as gross, over all columns, lengths and cuts."""
    index: float = 3.0
    """Tail index expected of good values: their variance is finite, and a bit more."""
    prior: float = 20.0
    """The expected index counts as much as so many spacings."""
    quantile: float = 0.75
    """Unit and tail power of a side come from its median and this quantile, so that a quarter of a
    side may be bad."""
    size: float = 3.5
    """Least size of a gross value, in Gaussian standard deviations, its own tail taken off."""
    ratio: float = 1.5
    """Least ratio of a gross value to the largest of the others."""
    many_size: float = 3.0
    many_ratio: float = 1.05
    many_prior: float = 10.0
    many_share: float = 0.04
    """Weaker conditions on lengths for at least this share of the rows: a length has many columns
    behind it, and so a short tail. Not in wide tables, where columns are correlated like those of
    embeddings, and long rows are a minority like others."""
    few: float = 0.12
    """Share of the rows that may leave at once, whatever the others look like."""
    left: float = 0.58
    """Share of the rows that must stay: they have to be a clear majority."""
    rounds: int = 8
    fewest_values: int = 5
    """A side with fewer values has no unit of its own: both sides share one."""
    most_whitened: int = 256
    """Tables with fewer columns are not wide: lengths are also measured with correlations taken
    out."""


SETTINGS = GrossSettings()


class Rule(NamedTuple):
    """Rows with a size above the cut are gross."""

    measure: Measure
    cut: float
    log_p: float


def of_rows(X: Rows, kept: Mask) -> Rows:
    """Select the rows that a mask of the host keeps."""
    if kept.all():
        return X
    if isinstance(X, np.ndarray):
        return X[kept]
    return namespace(X).take(X, like(np.flatnonzero(kept), X), axis=0)


def gross_rules(X: Rows, n: int, settings: GrossSettings = SETTINGS) -> tuple[list[Rule], Mask]:
    """Find rules that tell gross rows from the others, and the rows that stay.

    X holds all rows, or a sample with all that may be gross; shares are of n rows. The rules are in
    the order in which their rows leave: one for cells, if any, and some for lengths.
    """
    m, d = X.shape
    kept = np.ones(m, dtype=np.bool_)
    high, low = np.full(d, np.inf), np.full(d, -np.inf)
    cells_p = 0.0
    lengths: list[Rule] = []
    for _ in range(settings.rounds):
        R = of_rows(X, kept)
        if R.shape[0] < 8:
            break
        xp = namespace(R)
        varies = on_host(xp.max(R, axis=0) > xp.min(R, axis=0))
        columns = np.flatnonzero(varies)
        if not len(columns):
            break
        R = of_columns(R, varies)
        view = _View.of(R, settings)
        most = int(settings.few * n) + 1
        found = _gross_cells(view, most, settings)
        long = _gross_lengths(R, view, columns, d, most, not len(found.fenced), settings)
        gone = found.beyond(R)
        for _, members in long:
            gone |= members
        if not gone.any() or kept.sum() - gone.sum() < settings.left * n:
            break
        high[columns] = np.minimum(high[columns], found.high)
        low[columns] = np.maximum(low[columns], found.low)
        cells_p = min(cells_p, found.log_p)
        lengths += [rule for rule, _ in long]
        kept[kept] = ~gone
    rules = []
    if np.isfinite(high).any() or np.isfinite(low).any():
        rest = of_rows(X, kept)
        center = column_medians(rest)
        unit = column_medians(abs(rest - like(center, rest)))
        rules.append(Rule(Fences(center, unit, high - center, center - low), 1.0, cells_p))
    return rules + lengths, kept


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
    step: Array
    """d: the smallest step between the values of a column, by which they may be rounded."""

    def end(self, side: int, size: int, columns: Array) -> Array:
        """Return how far out the farthest values of some columns lie on a side, ascending."""
        a = self.ascending
        a = a[a.shape[0] - size :, :] if side == 0 else a[:size, :]
        a = on_host(of_columns(a, columns))
        return a if side == 0 else -a[::-1]

    @classmethod
    def of(cls, R: Rows, settings: GrossSettings) -> _View:
        sorted_columns = ascending_columns(R)
        center, ascending = middles(sorted_columns), sorted_columns.T
        xp, d = namespace(R), R.shape[1]
        step = rounding_steps(ascending)
        # What differs from the median by rounding alone is on neither side of it.
        at_center = 16.0 * np.finfo(np.float64).eps * np.abs(center) + 1e-9 * step
        ascending = ascending - like(center, R)
        unit, power, count = np.empty((2, d)), np.empty((2, d)), np.empty((2, d), np.intp)
        for side, values in enumerate((ascending, -xp.flip(ascending, axis=0))):
            count[side] = on_host(xp.sum(values > like(at_center, R), axis=0, dtype=xp.int64))
            unit[side], power[side] = _unit_and_power(values, count[side], settings)
        total = count.sum(axis=0)
        short = count.min(axis=0) < settings.fewest_values
        values = on_host(of_columns(ascending, short)) if short.any() else np.empty((0, 0))
        for i, j in enumerate(np.flatnonzero(short)):
            both = np.sort(np.abs(values[:, [i]]), axis=0)
            shared = _unit_and_power(both, total[[j]], settings)
            few = count[:, j] < settings.fewest_values
            unit[few, j], power[few, j] = shared[0][0], shared[1][0]
        return cls(ascending, center, np.maximum(unit, TINY), power, count, step)


def _unit_and_power(ascending: Rows, count: Array, settings: GrossSettings) -> tuple[Array, Array]:
    """Return the median m of the positive values of sorted columns, and the power h <= 1.

    (a / m)^h is half-normal at the median and at the upper quantile.
    """
    unit = _quantile_of_last(ascending, count, 0.5)
    upper = _quantile_of_last(ascending, count, settings.quantile)
    gaussian = np.log(ndtri(0.5 + settings.quantile / 2.0) / MEDIAN_SIZE)
    with np.errstate(all="ignore"):
        power = gaussian / np.log(upper / unit)
    return unit, np.where(upper > unit, np.clip(power, 0.05, 1.0), 1.0)


def _quantile_of_last(ascending: Rows, count: Array, q: float) -> Array:
    """Return a quantile of the last `count` values of each column."""
    n = ascending.shape[0]
    at = np.maximum(count - 1, 0) * q
    low = np.floor(at).astype(np.intp)
    first = n - np.maximum(count, 1) + low
    places = like(np.stack([first, np.minimum(first + 1, n - 1)]), ascending)
    inner, outer = on_host(namespace(ascending).take_along_axis(ascending, places, axis=0))
    return np.asarray(inner + (at - low) * (outer - inner))


class _Beyond(NamedTuple):
    """How many of the largest values are gross, where to cut, and the chance of it."""

    number: Array
    cut: Array
    nearest: Array
    """The smallest of the gross values."""
    log_p: Array


def _beyond(
    a: Array, size: Array, count: Array, step: Array, looks: int, most: int,
    settings: GrossSettings, least: float, ratio: float, prior: float,
) -> _Beyond:  # fmt: skip
    """Find the largest values that the tail of the others cannot reach.

    `a` and `size` (t x v) are the largest values of each of v views, ascending, and their Gaussian
    sizes; `count` is how many values of a view are above 0, and `step` its rounding, by half of
    which values could be nearer. At most so many values may be gross, of at least the size `least`
    and the ratio to the others; `prior` is how much the expected index counts. They are those
    beyond the least likely gap: a good value may lie next to many gross ones.
    """
    t, v = a.shape
    k = np.arange(1, max(1, min(most, t - 8)) + 1)[:, None]
    edge, column = t - k, np.arange(v)[None, :]
    logs = np.log(np.maximum(a, TINY))
    sums = np.concatenate([np.zeros((1, v)), np.cumsum(logs, axis=0)])
    # Hill's estimate of the index from the sqrt(n) values just inside the cut.
    inside = np.maximum(np.sqrt(np.maximum(count - k, 1)).astype(np.intp), settings.fewest_values)
    inside = np.minimum(inside, np.minimum(count - k - 1, edge - 1))
    enough = inside >= settings.fewest_values
    inside = np.maximum(inside, 1)
    hill = sums[edge, column] - sums[edge - inside, column]
    hill -= inside * logs[np.maximum(edge - inside - 1, 0), column]
    index = (inside + prior) / (np.maximum(hill, 0.0) + prior / settings.index)
    inner = np.maximum(a[edge - 1, column] + step / 2.0, TINY)
    r = np.maximum((a[edge, column] - step / 2.0) / inner, TINY)
    log_p = np.log(looks * k * (k + 1.0)) - k * index * np.log(r)
    gross = enough & (size[edge, column] >= least) & (r >= ratio)
    gross &= log_p < np.log(settings.level)
    found = np.where(gross.any(axis=0), 1 + np.argmin(np.where(gross, log_p, np.inf), axis=0), 0)
    at = np.maximum(found, 1)
    column = column[0]
    inner, nearest = (np.maximum(a[t - at - i, column], TINY) for i in (1, 0))
    cut = np.where(found > 0, np.sqrt(inner * nearest), np.inf)
    return _Beyond(found, cut, nearest, log_p[at - 1, column])


class _Cells(NamedTuple):
    """The fences of the columns; infinite where nothing is gross."""

    high: Array
    low: Array
    log_p: float

    def beyond(self, R: Rows) -> Mask:
        """Return the rows with a cell beyond its fence."""
        fenced = self.fenced
        R = on_host(of_columns(R, fenced))
        return np.asarray(((self.high[fenced] < R) | (self.low[fenced] > R)).any(axis=1))

    @property
    def fenced(self) -> Array:
        """The columns in which something is gross."""
        return np.flatnonzero(np.isfinite(self.high) | np.isfinite(self.low))


def _gross_cells(view: _View, most: int, settings: GrossSettings) -> _Cells:
    m, d = view.ascending.shape
    tail = min(m, 2 * most + 80 + 2 * int(np.sqrt(m)))
    looks = 2 * d + 4
    # In many cells the largest good one is this far out by chance.
    least = max(settings.size, -float(ndtri(0.5 / (m * d))))
    cuts, nearest, log_p = np.full((2, d), np.inf), np.full((2, d), np.inf), 0.0
    ends = on_host(view.ascending[-1, :]), -on_host(view.ascending[0, :])
    for side, farthest in enumerate(ends):
        unit, power = view.unit[side], view.power[side]
        size = MEDIAN_SIZE * (np.maximum(farthest, 0.0) / unit) ** power
        far = np.flatnonzero(size >= least)
        if not len(far):
            continue
        a = np.maximum(view.end(side, tail, far), 0.0)
        found = _beyond(
            a, MEDIAN_SIZE * (a / unit[far]) ** power[far], view.number[side, far],
            view.step[far], looks, most, settings, least, settings.ratio, settings.prior,
        )  # fmt: skip
        cuts[side, far], nearest[side, far] = found.cut, found.nearest
        log_p = min(log_p, float(np.min(found.log_p[found.number > 0], initial=0.0)))
    # Nothing leaves on one side that is nearer than what stays on the other.
    gross = np.flatnonzero(np.isfinite(cuts).any(axis=0))
    tails = np.stack([view.end(side, tail, gross) for side in (1, 0)])
    stays = np.where(tails < cuts[::-1, None, gross], tails, 0.0).max(axis=1)
    cuts[:, gross] = np.where(nearest[:, gross] < stays, np.inf, cuts[:, gross])
    return _Cells(view.center + cuts[0], view.center - cuts[1], log_p)


def _gross_lengths(
    R: Rows, view: _View, columns: Array, d: int, most: int, alone: bool, settings: GrossSettings
) -> list[tuple[Rule, Mask]]:
    """Find rows that are gross as a whole; many of them only where no cell is."""
    if len(columns) < 2:
        return []
    plain = TailLength(view.center, view.unit, view.power)
    m = R.shape[0]
    if len(columns) < min(m, settings.most_whitened):
        sizes = on_host(plain.cells(R))
        white = replace(plain, whitener=_whitener(sizes))
        measured = [(plain, plain.lengths(sizes)), (white, white.lengths(sizes))]
    else:
        measured = [(plain, on_host(as_table(R).measured(plain)))]
    looks = 2 * len(columns) + 4
    rules = []
    for measure, lengths in measured:
        a = np.sort(lengths)[:, None]
        off = np.maximum(a - np.median(a), 0.0)
        count = np.array([(off > 0.0).sum()])
        distinct = int((np.diff(a[:, 0]) > 1e-6 * a[-1]).sum())
        if count[0] < settings.fewest_values or distinct < 2.0 * np.sqrt(len(a)):
            continue  # a few codes have no tail
        scale, bend = _unit_and_power(off, count, settings)
        everything = np.array([len(a)])
        step = np.zeros(1)
        found = _beyond(
            a, MEDIAN_SIZE * (off / scale) ** bend, everything, step, looks, most, settings,
            settings.size, settings.ratio, settings.prior,
        )  # fmt: skip
        if not found.number[0] and alone and len(columns) < settings.most_whitened:
            found = _beyond(
                a, MEDIAN_SIZE * off / scale, everything, step, looks, most, settings,
                settings.many_size, settings.many_ratio, settings.many_prior,
            )  # fmt: skip
            if found.number[0] < settings.many_share * m:
                continue
        if found.number[0]:
            measure = _of_all_columns(measure, columns, d)
            rule = Rule(measure, float(found.cut[0]), float(found.log_p[0]))
            rules.append((rule, lengths > rule.cut))
    return rules


def _of_all_columns(measure: TailLength, columns: Array, d: int) -> TailLength:
    """Extend a measure of some columns to d columns, of which the others do not count."""
    center, unit, power = np.zeros(d), np.full((2, d), np.inf), np.ones((2, d))
    center[columns], unit[:, columns] = measure.center, measure.unit
    power[:, columns] = measure.power
    if measure.whitener is None:
        return TailLength(center, unit, power)
    whitener = np.zeros((len(columns), d))
    whitener[:, columns] = measure.whitener
    return TailLength(center, unit, power, whitener)


def _whitener(sizes: Array) -> Array:
    """Turn sizes into uncorrelated ones, by the correlations of wrapped cells.

    Wrapping bounds what a cell can do to a correlation (Raymaekers and Rousseeuw 2021); they are
    drawn to 0 by d / n.
    """
    n, d = sizes.shape
    far = np.abs(sizes)
    wrapped = np.sign(sizes) * 1.540793 * np.tanh(0.8622731 * (4.0 - np.minimum(far, 4.0)))
    wrapped = np.where(far <= 1.5, sizes, wrapped)
    wrapped = wrapped - wrapped.mean(axis=0)
    # A column that varies less has rare codes, and a row is not long for having one.
    deviation = np.maximum(wrapped.std(axis=0), MEDIAN_SIZE)
    wrapped /= deviation
    correlation = (1.0 - min(0.9, d / n)) * (wrapped.T @ wrapped) / n
    np.fill_diagonal(correlation, 1.0)
    values, vectors = np.linalg.eigh(correlation)
    values = np.maximum(values, 1e-9 * values[-1])
    return np.asarray((vectors / np.sqrt(values)).T / deviation)
