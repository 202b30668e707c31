"""The gap that separates extreme values of a column from the others.

Take the distances from the median on one side of a column, the farthest first. Of good values, the
logarithms of the i-th distance and of the next differ by an exponential variable with the mean
1 / (i a), where a is the tail index of their law at this quantile; these spacings are independent
(Renyi). So if the k farthest values exceed all others by a ratio r, the chance is r^(-k a).

The laws that are admitted are Student's t, from the Gaussian to the Cauchy law. Which of them, the
spacings inside of the gap tell, and those of the other sides of all columns: the chance is the
mean over the laws, weighted by both.

Works on the rows of a sample, on the host.
"""

from __future__ import annotations

from functools import cache, cached_property

import numpy as np
from scipy.special import gammaln, ndtr, ndtri, stdtr

from inlier._internal.arrays import (
    blocks_in_cache,
    first_places,
    middles,
    namespace,
    of_columns,
    on_host,
)
from inlier._internal.numbers import TINY
from inlier._internal.typing import Array, Rows
from inlier.data.measures import MEDIAN_SIZE
from inlier.search import thresholds

# Logarithms of the share of a side that lies beyond a distance: there tail indices are tabled.
_LOG_SHARES = np.linspace(np.log(1e-9), 0.0, 512)


class Tails:
    """What the sides of all columns of a table tell of how their values are distributed."""

    def __init__(self, sides: Sides) -> None:
        """Take the sides of all columns."""
        self._all = sides
        self._n_columns, self._n_rows = sides.shape
        self._most = int(thresholds.FEW_SHARE * self._n_rows) + 1
        self._weights_without: dict[int, Array] = {}

    @cached_property
    def _some(self) -> tuple[Array, Array]:
        """Some sides, of those above and then below, and the likelihoods of the laws there.

        Some show how frequent the laws are as well as all of them.
        """
        likelihoods = np.exp(np.concatenate([_evidence(*side) for side in self._all.sides]))
        n = len(likelihoods)
        some = np.linspace(0, n - 1, min(n, thresholds.SHOWN)).astype(np.intp)
        return some, likelihoods[some]

    def gaps(self, columns: Array, found: Sides) -> tuple[Array, float]:
        """Find the values of columns, of which these are the sides, that a gap separates.

        Return how far above and below the median such values begin, 2 x k, infinite where there
        are none, and the logarithm of the least chance.
        """
        d = len(columns)
        cuts, nearest = np.full((2, d), np.inf), np.full((2, d), np.inf)
        chances = np.zeros((2, d))
        for side, (a, number) in enumerate(found.sides):
            for j, k, log_ratio in self._wide_gaps(a, number, found.step):
                log_p = self._log_chance(a[j], number[j], k, log_ratio, side, columns[j])
                if log_p < min(chances[side, j], np.log(thresholds.GAP_LEVEL)):
                    chances[side, j], nearest[side, j] = log_p, a[j, k - 1]
                    cuts[side, j] = np.sqrt(a[j, k - 1] * max(a[j, k], TINY))
        # No value is extreme on one side that is nearer than a kept one on the other.
        for column in np.flatnonzero(np.isfinite(cuts).any(axis=0)):
            off = np.stack([a[column] for a, _ in found.sides])
            kept = np.max(off, axis=1, where=off < cuts[:, column, None], initial=0.0)
            cuts[nearest[:, column] < kept[::-1], column] = np.inf
        return cuts, float(np.min(chances, where=np.isfinite(cuts), initial=0.0))

    def _wide_gaps(self, a: Array, number: Array, step: Array) -> list[tuple[int, int, float]]:
        """Return column, number of values beyond, and log-ratio of gaps that may separate them."""
        most = min(self._most, a.shape[1] - 1)
        unit = a[np.arange(len(a)), number // 2] / MEDIAN_SIZE
        least_size, least_ratio, _ = thresholds.EXTREME
        # Among many cells the largest good one has this size by chance.
        least_size = max(least_size, -float(ndtri(0.5 / (self._n_rows * self._n_columns))))
        outer = a[:, :most] - step[:, None] / 2.0
        j, k = np.nonzero(outer >= least_size * unit[:, None])
        inner, outer = a[j, k + 1] + step[j] / 2.0, outer[j, k]
        log_ratio = np.log(np.maximum(outer, TINY) / np.maximum(inner, TINY))
        wide = (log_ratio >= np.log(least_ratio)) & (number[j] > k + 1 + thresholds.FEWEST_VALUES)
        return list(zip(j[wide].tolist(), (k[wide] + 1).tolist(), log_ratio[wide], strict=True))

    def _log_chance(
        self, a: Array, number: int, k: int, log_ratio: float, side: int, column: int
    ) -> float:
        """Return the logarithm of the chance that k of a number of good values lie so far out."""
        last = max(min(number // 2, k + thresholds.MOST_SPACINGS), k + thresholds.FEWEST_VALUES)
        beyond = np.log(2.0 * self._n_columns * k * (k + 1.0))
        beyond = beyond - k * _indices(number, k - 1, k)[0] * log_ratio
        if beyond.min() > np.log(thresholds.GAP_LEVEL):  # not even of the lightest tail
            return 0.0
        laws = _likelihoods(a[None, : last + 1], number, k, last)[0]
        laws = laws + self._weights(side * self._n_columns + column)
        total = np.logaddexp.reduce  # far quicker than that of scipy on few numbers
        return float(total(laws - total(laws) + beyond))

    def _weights(self, own: int) -> Array:
        """Return the logarithms of how frequent the laws are among the other sides."""
        some, likelihoods = self._some
        # A side that is none of them needs no weights of its own: in a wide table a long row may
        # have a gap in every column.
        own = own if own in some else -1
        if own not in self._weights_without:
            others = likelihoods[some != own]
            shares = even = np.full(others.shape[1], 1.0 / others.shape[1])
            for _ in range(thresholds.ROUNDS):  # of the EM algorithm
                memberships = others * shares
                shares = (memberships / memberships.sum(axis=1, keepdims=True)).mean(axis=0)
            doubt = thresholds.UNLIKE / (thresholds.UNLIKE + len(others))
            self._weights_without[own] = np.log(doubt * even + (1.0 - doubt) * shares)
        return self._weights_without[own]


class Sides:
    """Distances of the values of columns from their medians, sorted on either side."""

    def __init__(self, ascending: Array) -> None:
        """Take the sorted columns, d x n."""
        self.shape = ascending.shape
        center = middles(ascending)
        self.step = rounding_steps(ascending.T)
        # Values that differ from the median by rounding alone are on neither side of it.
        at_center = 16.0 * np.finfo(np.float64).eps * np.abs(center) + 1e-9 * self.step
        (d, n), columns = ascending.shape, np.arange(len(center))
        # The farther half of each side, the farthest first, and how many values are on it.
        most = n // 4 + 8
        above = ascending[:, : -most - 1 : -1] - center[:, None]
        below = center[:, None] - ascending[:, :most]
        first = first_places(lambda at: ascending[columns, at] - center > at_center, d, n)
        last = first_places(lambda at: center - ascending[columns, at] <= at_center, d, n)
        self.sides = [(above, n - first), (below, last)]


def _evidence(a: Array, number: Array) -> Array:
    """Return the log-likelihoods of the laws, d x laws, by the farther half of each side.

    Without the farthest values, which may be extreme.
    """
    found = np.zeros((len(a), len(_laws()[0])))
    for size in np.unique(number):
        first = int(np.ceil(thresholds.FARTHEST_SHARE * size))  # the farther ones may be extreme
        last = min(int(size) // 2, first + thresholds.MOST_SPACINGS)
        if last > first:
            these = number == size
            found[these] = _likelihoods(a[these, : last + 1], int(size), first, last)
    return np.asarray(found - found.max(axis=1, keepdims=True))


def _likelihoods(a: Array, number: int, first: int, last: int) -> Array:
    """Return the log-likelihoods of the laws by the spacings first + 1, ..., last of sides."""
    logs = np.log(np.maximum(a, TINY))
    spacings = np.arange(first + 1, last + 1) * (
        logs[:, first:last] - logs[:, first + 1 : last + 1]
    )
    indices = _indices(number, first, last)
    return np.asarray(np.log(indices).sum(axis=0) - spacings @ indices)


def _indices(number: int, first: int, last: int) -> Array:
    """Return tail indices, ranks x laws, at the ranks first + 1, ..., last of so many values."""
    at = (np.log(np.arange(first + 1, last + 1) / (number + 1.0)) - _LOG_SHARES[0]) / (
        _LOG_SHARES[1] - _LOG_SHARES[0]
    )
    below = np.clip(at.astype(np.intp), 0, len(_LOG_SHARES) - 2)
    part = np.clip(at - below, 0.0, 1.0)[:, None]
    table = _laws()
    return np.asarray((1.0 - part) * table[below] + part * table[below + 1])


@cache
def _laws() -> Array:
    """Return the tail indices of Student's t, shares of a side x laws."""
    columns = []
    x = np.geomspace(1e-3, 1e10, 4096)
    for inverse in thresholds.INVERSE_DEGREES:
        if inverse == 0.0:
            z = x[x < 8.0]
            beyond, log_density = ndtr(-z), -z * z / 2.0 - np.log(2.0 * np.pi) / 2.0
        else:
            z, nu = x, 1.0 / inverse
            beyond = stdtr(nu, -z)
            log_density = gammaln((nu + 1.0) / 2.0) - gammaln(nu / 2.0)
            log_density -= np.log(nu * np.pi) / 2.0 + (nu + 1.0) / 2.0 * np.log1p(z * z / nu)
        index = z * np.exp(log_density) / beyond
        columns.append(np.interp(-_LOG_SHARES, -np.log(2.0 * beyond), index))
    return np.stack(columns, axis=1)


def rounding_steps(ascending: Rows) -> Array:
    """Return the smallest step between the values of each sorted column; 0 if all are equal.

    Steps below 1e-9 of the column's spread are arithmetic, not rounding. The spread is the one of
    the middle values: a single huge value must not make the others look like copies.
    """
    n, d = ascending.shape
    if isinstance(ascending, np.ndarray):  # without another copy
        return np.concatenate([_steps(ascending[:, part]) for part in blocks_in_cache(d, n)])
    return _steps(ascending)


def _steps(ascending: Rows) -> Array:
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
        codes = counts >= max(thresholds.CODE_ROWS, thresholds.CODE_SHARE * n)
        if counts[codes].sum() >= thresholds.INNER_SHARE * n and codes.sum() > 1:
            return float(np.diff(ascending[starts[codes]]).min())
    return float(np.min(steps, where=grows, initial=np.inf))
