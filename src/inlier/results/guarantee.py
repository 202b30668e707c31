"""How far bad rows can move the mean of each column: the proof is in docs/no-knobs.md."""

import numpy as np

from inlier._internal.arrays import evenly_spaced, on_host
from inlier._internal.typing import Array, Mask
from inlier._internal.validation import fit_generator
from inlier.data import Table
from inlier.search.thresholds import INFLATED, INNER_SHARE, SAMPLE_CELLS, SAMPLE_ROWS


def bounds(table: Table, kept: Mask, fraction: float, counted: Array, deviation: Array) -> Array:
    """Bound how far the means of the good rows are from those of the cells that count.

    `counted` are the numbers of these cells, and `deviation` their standard deviations.
    """
    n = table.shape[0]
    common = np.maximum(counted / n - fraction, 0.0)
    with np.errstate(divide="ignore"):
        bound = np.where(common > 0.0, deviation * np.sqrt(fraction / common), np.inf)
    some = np.flatnonzero((counted < n) & np.isfinite(bound))
    if len(some):
        missing = np.zeros(len(bound)) if table.gaps is None else table.gaps.counts
        present = n - missing[some]
        spread = INFLATED * _largest_units(table, kept, some, fraction * n, present)
        bound[some] += spread * np.sqrt((1.0 - counted[some] / n) / common[some])
    return bound


def _largest_units(table: Table, kept: Mask, columns: Array, bad: float, present: Array) -> Array:
    """Return the largest unit that the good values of columns can have; infinite if it may be 0.

    The unit is half of the shortest interval that holds a share of them. Up to `bad` of the values
    that are `present` are not good.
    """
    rows = on_host(table.order(fit_generator(0)))
    rows = rows[kept[rows]]
    n_kept = len(rows)
    most = max(SAMPLE_ROWS, SAMPLE_CELLS // table.shape[1])
    rows = rows if n_kept <= most else evenly_spaced(rows, most)
    values = table.fetch(rows)[:, columns].astype(np.float64)
    if table.missing is not None:  # these are filled
        values[table.missing[np.ix_(rows, columns)]] = np.nan
    # Of a sample, three standard errors more, or fewer, at least.
    part, doubt = len(rows) / n_kept, 0.0 if len(rows) == n_kept else 1.5 * np.sqrt(len(rows))
    good = INNER_SHARE * np.maximum(present - bad, 0.0)
    units = np.empty(len(columns))
    for i, (ascending, of_good) in enumerate(zip(np.sort(values, axis=0).T, good, strict=True)):
        ascending = ascending[: np.count_nonzero(~np.isnan(ascending))]
        least, largest = (
            _shortest(ascending, int(np.ceil(number - 1e-9)))
            for number in (part * of_good - doubt, part * (of_good + bad) + doubt)
        )
        units[i] = largest / 2.0 if least > 0.0 else np.inf
    return units


def _shortest(ascending: Array, k: int) -> float:
    """Return the length of the shortest interval that holds k values; infinite if none does."""
    if k > len(ascending):
        return np.inf
    k = max(k, 1)
    return float(np.min(ascending[k - 1 :] - ascending[: len(ascending) - k + 1]))
