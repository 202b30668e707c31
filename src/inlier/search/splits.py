"""Directions along which rows fall apart into two parts, and these parts.

Groups are searched for along principal axes, in the units of the columns and whitened, and then
along the difference of the means of each group and the others. No row contributes to its own
direction, so that in many dimensions the search does not make groups of noise.

Works on a sample of the rows on the host; principal axes are computed on the device of the table.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from inlier._internal.arrays import (
    ascending_columns,
    blocks_in_cache,
    like,
    median_distances,
    middles,
    namespace,
    of_columns,
    on_host,
)
from inlier._internal.numbers import TINY
from inlier._internal.typing import Array, Mask, Rows
from inlier.linalg.whitening import PrincipalAxes
from inlier.search import thresholds
from inlier.search.gaps import rounding_steps
from inlier.search.tests import is_no_tail


class Space(NamedTuple):
    """Rows along principal axes, the longest first."""

    rows: Array
    """n x k, centered, on the host."""
    lengths: Array
    """k: roots of their sums of squares."""
    axes: Rows
    """k x d, for rows in the units of the columns; or k x n, as combinations of the rows."""
    combined: Rows | None
    """The rows that are combined to axes if d > n, where k x d axes would be large."""
    columns: Mask
    """Which columns of the data take part."""
    unit: Array
    rounding: Array
    """Unit and rounding step of each column of the data."""

    @classmethod
    def of(cls, Y: Rows, columns: Mask, unit: Array, rounding: Array) -> Space:
        """Find the principal axes of centered rows in the units of the columns."""
        n, d = Y.shape
        lengths, axes = PrincipalAxes.of(Y.T @ Y if d <= n else Y @ Y.T)
        lengths = np.sqrt(lengths)
        if d <= n:
            return cls(on_host(Y @ axes.T), lengths, axes, None, columns, unit, rounding)
        rows = on_host(axes.T) * lengths
        axes = axes / like(np.maximum(lengths, TINY)[:, None], Y)
        return cls(rows, lengths, axes, Y, columns, unit, rounding)

    def scaled(self, chosen: Array, scales: Array) -> Space:
        """Divide the rows along chosen axes by scales."""
        xp, places = namespace(self.axes), like(chosen, self.axes)
        axes = xp.take(self.axes, places, axis=0) / like(scales[:, None], self.axes)
        rows, lengths = self.rows[:, chosen] / scales, self.lengths[chosen] / scales
        return self._replace(rows=rows, lengths=lengths, axes=axes)

    def of_data(self, ways: Array) -> Array:
        """Transform directions (j x k) to those of the data (j x d)."""
        along = like(ways, self.axes) @ self.axes
        along = on_host(along if self.combined is None else along @ self.combined)
        found = np.zeros((len(ways), len(self.unit)))
        found[:, self.columns] = along / self.unit[self.columns]
        return found

    def noise(self, ways: Array) -> Array:
        """Return the standard deviation along directions (j x k) that rounding causes."""
        # Some at a time: together they would be as large as the data, if these are few long rows.
        some = blocks_in_cache(len(ways), len(self.unit))
        noise = [np.linalg.norm(self.of_data(ways[part]) * self.rounding, axis=1) for part in some]
        return np.asarray(np.concatenate(noise) / np.sqrt(12.0))


def coordinate_systems(X: Rows) -> Iterator[tuple[Space, int]]:
    """Yield the rows in the units of the columns, and whitened.

    Also the number of axes that are tested.
    """
    xp, (n, d) = namespace(X), X.shape
    ascending = ascending_columns(X)
    center = middles(ascending)
    unit, rounding = median_distances(ascending, center), rounding_steps(ascending.T)
    del ascending  # as large as the rows
    Y = X - like(center, X)
    # Half of the values are equal up to rounding.
    rough = unit <= 16.0 * np.finfo(np.float64).eps * np.abs(center)
    for j in np.flatnonzero(rough):
        values = on_host(Y[:, int(j)])
        other = np.abs(values[values != 0.0])
        # Of the farther ones: the nearer may be rounded otherwise.
        unit[j] = np.quantile(other, 0.9) if len(other) else np.inf
    Y /= like(unit, Y)
    # Squares must not overflow.
    in_place = {"out": Y} if isinstance(Y, np.ndarray) else {}
    Y = xp.clip(Y, -1e100, 1e100, **in_place)
    Y -= xp.mean(Y, axis=0)
    space = Space.of(Y, np.ones(d, dtype=np.bool_), unit, rounding)
    held = np.flatnonzero(space.lengths > 1e-7 * space.lengths[0])
    space = space.scaled(held, np.ones(len(held)))
    yield space, min(thresholds.UNIT_AXES, len(held))
    usable = ~rough & np.isfinite(unit)
    if usable.sum() < 2:
        return
    if not usable.all():
        space = Space.of(of_columns(Y, usable), usable, unit, rounding)
    deviations = space.lengths / np.sqrt(n)
    most = min(thresholds.WHITE_AXES, max(2, n // 8))
    good = deviations > 1e-6 * deviations[0]
    # An axis has length 1, so its noise is at most that of the roughest column.
    roughest = (rounding[usable] / unit[usable]).max() / np.sqrt(12.0)
    if not (deviations[good][:most] > thresholds.ROUNDINGS * roughest).all():
        good &= deviations > thresholds.ROUNDINGS * space.noise(np.eye(len(deviations)))
    chosen = np.flatnonzero(good)[:most]
    if len(chosen) >= 2:
        white = space.scaled(chosen, deviations[chosen])
        yield white, min(int(usable.sum()), thresholds.WHITE_AXES)


def project_on_axes(X: Rows) -> Array:
    """Project the rows on the principal axes along which groups are searched for."""
    return np.concatenate([space.rows[:, :k] for space, k in coordinate_systems(X)], axis=1)


def project_and_divide(X: Rows) -> tuple[Array, Array]:
    """Project the rows on these axes, and on the directions that divide them best into two parts.

    No row contributes to its own direction: noise that was divided in two still has one mode.
    """
    first = [space.rows[:, :k] for space, k in coordinate_systems(X)]
    # In the units of the columns, along few axes: along many, noise falls apart into two parts.
    T = first[0].T
    least = np.full(len(T), max(4, int(thresholds.MODE_SHARE * X.shape[0])))
    for _ in range(thresholds.TURNS):
        T = _along(first[0], _split(T, least)[0])[0]
    return np.concatenate(first, axis=1), T.T


class Part(NamedTuple):
    """Rows that some direction shows to be apart from the others."""

    members: Mask
    ratio: float
    spread: float
    """The distance of the farthest member over that of the nearest."""
    way: Array
    between: int = 0
    """Members between the rest and the other members: these alone count in ratio and spread."""


def parts_apart(space: Space, n_tested: int) -> list[Part]:
    """Find the groups that some direction shows, and chains of rows that end in a group."""
    rows = space.rows
    m = len(rows)
    least = sorted({3, max(4, int(thresholds.PART_SHARE * m))})
    starts = rows[:, :n_tested].T
    fewest = [np.full(len(starts), k) for k in least]
    split, found = _split(starts, *fewest)
    G, k_least = _distinct(split[found], np.concatenate(fewest)[found])
    if not len(G):
        return []
    for turn in range(thresholds.TURNS):
        along = _along(rows, G)[0]
        if turn:  # only groups that stand out already are worth another turn
            foremost = np.argsort(-_standardized_distance(along, G), kind="stable")
            foremost = foremost[: thresholds.FOREMOST]
            along, G, k_least = along[foremost], G[foremost], k_least[foremost]
        split, found = _split(along, k_least)
        G, k_least = _distinct(np.where(found[:, None], split, G), k_least)
    along, ways = _along(rows, G)
    for _ in range(2):
        moved = _cut_in_widest_gap(along, G)
        if (moved == G).all():
            break
        G = moved
        along, ways = _along(rows, G)
    G, chosen = _distinct(G, np.arange(len(G)))
    along, ways = along[chosen], ways[chosen]
    lengths = np.maximum(np.linalg.norm(ways, axis=1), TINY)
    parts = []
    for t, members, way, rounding in zip(along, G, ways, space.noise(ways) / lengths, strict=True):
        if 2 < int(members.sum()) < m / 2:
            blur = thresholds.ROUNDINGS * rounding
            coarse = t[~members].std() < blur
            blur = blur if coarse else 0.0
            parts.append(Part(members, *extent(t, members, blur), way))
            far, chain = _chain(t)
            between = int(chain.sum() - far.sum())
            if between:
                counted = far | ~chain
                parts.append(Part(chain, *extent(t[counted], far[counted], blur), way, between))
    return parts


def _chain(along: Array) -> tuple[Mask, Mask]:
    """Find rows that are far out, and fewer ones that lead to them from the others.

    Return the first, and both together. Of a tail that falls with a power of 1, as Cauchy's does,
    a twelfth of the rows beyond a distance lie beyond twelve times this distance, not half. What
    grows exponentially falls more slowly over a range: so the rows have to end sooner than a tail,
    or to have a mode.
    """
    n = len(along)
    far = chain = np.zeros(n, dtype=np.bool_)
    off, edge = along, np.inf
    for _ in range(thresholds.TURNS):
        off = along - np.median(along[~chain])
        ascending = np.sort(off)
        outer = ascending[n // 2 :]
        inner = outer / thresholds.CHAIN_RATIO
        n_inside = np.searchsorted(ascending, inner, side="right")
        k = n - np.arange(n // 2, n)
        between = n - n_inside - k
        allowed = (inner > -ascending[0]) & (n_inside > n / 2) & (between < k)
        if not allowed.any():
            break
        # Twice: a good row that is removed costs more than a bad one that stays.
        best = int(np.where(allowed, k - 2 * between, -n).argmax())
        edge = float(inner[best])
        far, chain = off >= outer[best], off > edge
    if chain.any() and not _ends(off, edge):
        far = chain = np.zeros(n, dtype=np.bool_)
    return far, chain


def _ends(off: Array, edge: float) -> bool:
    """Return whether the distances beyond an edge end sooner than a tail, or have a mode.

    At an ordinary level, because how far out they are is evidence already.
    """
    excess = off[off > edge] - edge
    longest = min(thresholds.SHORT_TAIL, 1.0 + ndtri(thresholds.LEVEL) / np.sqrt(len(excess)))
    return bool(excess.std() < longest * excess.mean()) or is_no_tail(off, edge)


def _split(T: Array, *least: Array) -> tuple[Array, Mask]:
    """Split each row of T by the best two-Gaussian classification; True is the smaller part.

    Variances are shrunk to the pooled one by four rows. Each `least` gives the fewest rows of a
    part for every row of T; the splits are concatenated. Also return whether there is a cut.
    """
    k, n = T.shape
    splits = np.empty((len(least), k, n), dtype=np.bool_)
    found = np.empty((len(least), k), dtype=np.bool_)
    left = np.arange(1, n)
    smaller = np.minimum(left, n - left)
    for part in blocks_in_cache(k, n):
        ascending = np.sort(T[part], axis=1)
        merit = _merits_of_cuts(ascending)
        for i, fewest in enumerate(least):
            among = np.where(smaller < fewest[part, None], -np.inf, merit)
            at = among.argmax(axis=1)[:, None]
            found[i, part] = np.take_along_axis(among, at, axis=1)[:, 0] > -np.inf
            below = T[part] <= np.take_along_axis(ascending, at, axis=1)
            splits[i, part] = below == (at + 1 <= n - at - 1)
    return splits.reshape(-1, n), found.ravel()


def _merits_of_cuts(ascending: Array) -> Array:
    """Return the log-likelihoods of two Gaussian parts of ascending values, for each cut."""
    n = ascending.shape[1]
    a = ascending - ascending[:, n // 2 : n // 2 + 1]
    a /= np.maximum(np.abs(a[:, [0, -1]]).max(axis=1, keepdims=True), TINY)
    left = np.arange(1.0, n)
    right = n - left
    sums, squares = np.cumsum(a, axis=1), np.cumsum(a * a, axis=1)
    summed, squared = sums[:, -1:], squares[:, -1:]
    whole = squared / n - (summed / n) ** 2
    # Sums of squares about the means of both sides, and the pooled one of four rows.
    sums, squares = sums[:, :-1], squares[:, :-1]
    low, high = sums * sums, summed - sums
    low *= -1.0 / left
    low += squares
    high *= high
    high *= -1.0 / right
    high -= squares
    high += squared
    pooled = low + high
    pooled *= 4.0 / n
    merit: Array = left * np.log(left / n) + right * np.log(right / n)
    for side, number in ((low, left), (high, right)):
        side += pooled
        side /= number + 4.0
        np.log(np.maximum(side, 1e-4 * whole + TINY, out=side), out=side)
        side *= 0.5 * number
        merit = merit - side
    merit[a[:, 1:] <= a[:, :-1]] = -np.inf
    return merit


def _along(rows: Array, G: Array) -> tuple[Array, Array]:
    """Project centered rows on each group's difference of means, leaving each out of its own."""
    n, d = rows.shape
    squares = np.vecdot(rows, rows)
    projected, ways = np.empty(G.shape), np.empty((len(G), d))
    for part in blocks_in_cache(*G.shape):
        inside = G[part]
        k = np.count_nonzero(inside, axis=1)[:, None].astype(np.float64)
        m = n - k
        # The sums of the groups; those of the others are the same with the other sign.
        summed = inside.astype(np.float64) @ rows
        way = ways[part] = summed * (1.0 / k + 1.0 / m)
        lengths = np.maximum(np.linalg.norm(way, axis=1, keepdims=True), TINY)
        size = np.vecdot(summed, summed)[:, None] / m
        shared = summed @ rows.T
        # Of the rows less the mean of the others: along the way, and their squared lengths.
        along = (shared + size) * (1.0 / k + 1.0 / m)
        squared = shared * (2.0 / m) + squares
        squared += size / m
        rest = np.maximum(m - 1.0, 1.0)
        projected[part] = np.where(
            inside,
            (along * k - squared) * (1.0 / np.maximum(k - 1.0, 1.0) / lengths),
            (along + squared * (1.0 / rest)) * (m / rest / lengths),
        )
    return projected, ways


def _standardized_distance(T: Array, G: Array) -> Array:
    """Divide the distance of each group from the others by the standard deviation of both."""
    weights = np.stack([G, ~G]).astype(np.float64)
    weights /= weights.sum(axis=2, keepdims=True)
    means, squares = np.vecdot(weights, T), np.vecdot(weights, T * T)
    variances = (squares - means**2).sum(axis=0)
    return np.asarray((means[0] - means[1]) / np.sqrt(np.maximum(variances, TINY)))


def _cut_in_widest_gap(T: Array, G: Array) -> Array:
    """Move the cut of each group into the widest gap within a few ranks."""
    moved = G.copy()
    n = T.shape[1]
    for i, (t, members) in enumerate(zip(T, G, strict=True)):
        k = int(members.sum())
        reach = max(2, int(thresholds.MOVED_SHARE * k))
        low, high = max(1, n - k - reach), min(n - 2, n - k + reach)
        if k <= 2 or high <= low:
            continue
        ascending = np.sort(t)
        gaps = np.diff(ascending[low - 1 : high + 1])
        widest = int(gaps.argmax())
        if gaps[widest] > 0.0 and 1 < n - low - widest < n / 2:
            moved[i] = t >= ascending[low + widest]
    return moved


def _distinct(G: Array, sizes: Array) -> tuple[Array, Array]:
    """Return each group once, in the given order."""
    places: dict[bytes, int] = {}
    for i, key in enumerate(map(bytes, np.packbits(G, axis=1))):
        places.setdefault(key, i)
    chosen = np.fromiter(places.values(), np.intp, len(places))
    return G[chosen], sizes[chosen]


def extent(along: Array, members: Mask, rounding: float = 0.0) -> tuple[float, float]:
    """Return the separation ratio, and the distance of the farthest member over the nearest.

    Both edges of the gap may be off by the rounding.
    """
    others = along[~members]
    middle = np.median(others)
    nearest = along[members].min() - middle - rounding
    farthest = along[members].max() - middle
    reach = max(np.abs(others - middle).max() + rounding, TINY)
    return float(nearest / reach), float(farthest / max(nearest, TINY))
