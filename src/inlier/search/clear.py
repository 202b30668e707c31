"""Groups that are clear of the rest.

The clearness r of a group is how far out its nearest row lies over how far out the farthest of the
others lies, on either side of their median, along the difference of the means. No row has a part in
its own direction, so that in many dimensions r is not made by the search. Groups are looked for in
the columns' own units, and in coordinates in which the rows vary alike in all directions.

Works on a sample of the rows on the host; to turn the rows to their principal directions, on the
device of the table.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import bdtr

from inlier._internal.arrays import like, namespace, of_columns, on_host
from inlier._internal.numbers import TINY
from inlier._internal.typing import Array, Mask, Rows
from inlier.data.medians import ascending_columns, median_distances, middles
from inlier.search.rounding import rounding_steps

# No cell lies farther out, in units of its column, lest its square overflow.
FARTHEST = 1e100


@dataclass(frozen=True)
class ClearSettings:
    """What counts as clear; `benchmarks/real.py` and `benchmarks/clean.py` measured each."""

    index: float = 3.0
    """Tail index of good rows: k rows beyond a ratio r have the chance r^(-3 k)."""
    per_direction: float = 1.0
    """Charge for each direction that is looked along, as a logarithm of the chance."""
    few: float = 0.12
    """Share of the rows that counts as few; more may be a natural minority."""
    few_log_p: float = float(np.log(1e-3))
    large_log_p: float = float(np.log(1e-12))
    few_ratio: float = 1.35
    large_ratio: float = 1.5
    obvious_ratio: float = 6.0
    obvious_share: float = 0.05
    """So few rows, so clear, leave whatever the others look like."""
    class_share: float = 0.15
    class_columns: int = 4
    """In fewer columns a group of more than this share is a class of its own, unless obvious."""
    class_least: float = 0.1
    """Share of the rows that a class has at least, where rows that stay are searched for them."""
    left: float = 0.58
    """Share of the rows that must stay."""
    equal: float = 0.01
    """A group is smaller than the rest by more than one of two equal groups would be by chance, at
    this level."""
    rounding: float = 3.0
    """Directions in which rows vary by less than so many roundings of the columns say nothing."""
    sample: int = 1000
    directions: int = 40
    rows_per_direction: int = 8
    turns: int = 3
    followed: int = 16
    """Groups that are turned again after the first turn: those that stand out most."""
    share: float = 0.04
    """Of the rows that the smaller part of a large split has at least."""
    rounds: int = 8
    units: int = 8
    """Principal directions that are looked along in the columns' units."""


SETTINGS = ClearSettings()


class Clear(NamedTuple):
    """A group that is clear of the rest."""

    members: Mask
    direction: Array
    """In the coordinates of the data."""
    ratio: float
    log_p: float


class _Axes(NamedTuple):
    """Principal directions: k x d, or k combinations of the rows, which are then not formed."""

    weights: Rows
    rows: Rows | None

    def combined(self, ways: Array) -> Array:
        found = like(ways, self.weights) @ self.weights
        return on_host(found if self.rows is None else found @ self.rows)


class _Space(NamedTuple):
    """Rows in some coordinates."""

    rows: Array
    """n x k, on the host."""
    axes: _Axes
    """Of these coordinates, in the columns' units."""
    columns: Mask
    unit: Array
    """Which of the d columns of the data take part, and the units of all."""
    rounding: Array
    """d: of the columns of the data."""
    n_looks: int
    white: bool
    """Whether rows vary alike in all directions."""

    def of_data(self, ways: Array) -> Array:
        """Transform directions (j x k) to those of the data (j x d)."""
        found = np.zeros((len(ways), len(self.unit)))
        found[:, self.columns] = self.axes.combined(ways) / self.unit[self.columns]
        return found

    @property
    def first(self) -> Array:
        """The rows along the directions that are looked along, n x j."""
        return self.rows[:, : self.n_looks]

    def starts(self) -> Array:
        """Return the rows along the directions at which a search for groups begins, j x n."""
        return np.concatenate([_climb(self.rows), self.rows.T]) if self.white else self.first.T


def spaces(X: Rows, settings: ClearSettings = SETTINGS) -> Iterator[_Space]:
    """Yield the rows in the columns' own units, and whitened."""
    xp, n = namespace(X), X.shape[0]
    ascending = ascending_columns(X)
    center = middles(ascending)
    Y = X - like(center, X)
    unit = median_distances(ascending, center)
    # Half of the values are the same, but for rounding.
    rough = unit <= 16.0 * np.finfo(np.float64).eps * np.abs(center)
    for j in np.flatnonzero(rough):
        values = on_host(Y[:, int(j)])
        other = np.abs(values[values != 0.0])
        unit[j] = np.median(other) if len(other) else np.inf
    Y /= like(unit, Y)
    Y = xp.clip(Y, -FARTHEST, FARTHEST)
    Y -= xp.mean(Y, axis=0)
    rounding = rounding_steps(ascending.T)
    rows, lengths, axes = _principal(Y)
    held = int((lengths > 1e-7 * lengths[0]).sum())  # they are in descending order
    rows, axes = rows[:, :held], axes._replace(weights=axes.weights[:held, :])
    n_looks = min(settings.units, rows.shape[1])
    every = np.ones(len(unit), dtype=np.bool_)
    yield _Space(on_host(rows), axes, every, unit, rounding, n_looks, False)
    usable = ~rough & np.isfinite(unit)
    if usable.sum() < 2:
        return
    if not usable.all():
        rows, lengths, axes = _principal(of_columns(Y, usable))
    else:
        lengths = lengths[:held]
    deviations = lengths / np.sqrt(n)
    most = min(settings.directions, max(2, n // settings.rows_per_direction))
    good = lengths > 1e-6 * lengths[0]
    steps = rounding[usable] / unit[usable] / np.sqrt(12.0)
    # An axis has length 1, so its noise is at most that of the roughest column.
    if not (deviations[good][:most] > settings.rounding * steps.max()).all():
        noise = np.linalg.norm(axes.combined(np.eye(len(lengths))) * steps, axis=1)
        good &= deviations > settings.rounding * noise
    chosen = np.flatnonzero(good)[:most]
    if len(chosen) < 2:
        return
    places, scales = like(chosen, rows), like(deviations[chosen], rows)
    white = xp.take(rows, places, axis=1) / scales
    axes = axes._replace(weights=xp.take(axes.weights, places, axis=0) / scales[:, None])
    n_looks = min(int(usable.sum()), settings.directions)
    yield _Space(on_host(white), axes, usable, unit, rounding, n_looks, True)


def principal(X: Rows) -> Array:
    """Project the rows on the directions in which groups are searched for."""
    return np.concatenate([space.first for space in spaces(X)], axis=1)


def principal_and_divided(X: Rows, settings: ClearSettings = SETTINGS) -> tuple[Array, Array]:
    """Project the rows on these directions, and on those that divide them best into two parts.

    No row has a part in its own direction: noise that was divided in two has one mode all the same.
    """
    first = [space.first for space in spaces(X, settings)]
    # In the columns' units, along few directions: in many, noise falls apart into two.
    T = first[0].T
    least = np.full(len(T), max(4, int(settings.class_least * X.shape[0])))
    for _ in range(settings.turns):
        T = _along(first[0], _split(T, least)[0])[0]
    return np.concatenate(first, axis=1), T.T


def clearest(X: Rows, n: int, settings: ClearSettings = SETTINGS) -> tuple[Clear | None, bool]:
    """Find the clearest group, and tell whether there is one that is too large to leave.

    n is how many rows there were before any group left, in proportion to those of X.
    """
    m = X.shape[0]
    best, merit, blocked = None, 0.0, False
    for space in spaces(X, settings):
        for members, ratio, spread, way in _candidates(space, settings):
            k = int(members.sum())
            few = k <= settings.few * n
            if ratio < (settings.few_ratio if few else settings.large_ratio):
                continue
            log_p = settings.per_direction * space.n_looks - settings.index * k * np.log(ratio)
            # A group that spreads wider than the gap before it is the tail of skewed rows.
            isolated = few and spread <= ratio
            lenient = isolated or ratio >= settings.obvious_ratio
            if log_p > (settings.few_log_p if lenient else settings.large_log_p):
                continue
            natural = k > settings.class_share * n and X.shape[1] < settings.class_columns
            small = m - k >= settings.left * n and bdtr(k, m, 0.5) <= settings.equal
            if not small or (natural and ratio < settings.obvious_ratio):
                blocked = True
            elif k * np.log(ratio) ** 2 > merit:
                merit = k * np.log(ratio) ** 2
                best = Clear(members, space.of_data(way[None])[0], ratio, log_p)
    return best, blocked


def is_obvious(group: Clear, n: int, settings: ClearSettings = SETTINGS) -> bool:
    """Return whether a group may leave whatever the others look like."""
    few = group.members.sum() <= settings.obvious_share * n
    return bool(few and group.ratio >= settings.obvious_ratio)


def is_suspect(group: Clear, settings: ClearSettings = SETTINGS) -> bool:
    """Return whether a group that may not leave is as clear as a large one has to be."""
    return group.ratio >= settings.large_ratio and group.log_p <= settings.large_log_p


def clearness(along: Array, members: Mask) -> float:
    """Divide how far out the nearest member lies by the farthest other row on either side."""
    return _extent(along, members)[0]


def _extent(along: Array, members: Mask) -> tuple[float, float]:
    """Return the clearness, and how far out the farthest member lies over the nearest."""
    others = along[~members]
    middle = np.median(others)
    nearest, farthest = along[members].min() - middle, along[members].max() - middle
    reach = max(np.abs(others - middle).max(), TINY)
    return float(nearest / reach), float(farthest / max(nearest, TINY))


def _candidates(space: _Space, settings: ClearSettings) -> list[tuple[Mask, float, float, Array]]:
    """Find the groups that some direction shows, each with its extent and direction."""
    rows = space.rows
    m = len(rows)
    least = sorted({3, max(4, int(settings.share * m))})
    starts = space.starts()
    fewest = [np.full(len(starts), k) for k in least]
    split, found = _split(starts, *fewest)
    groups, sizes = [split[found]], [np.concatenate(fewest)[found]]
    if not space.white:
        order = np.argsort(starts, axis=1, kind="stable")
        for k in (m // 10, m // 4):
            for end in (order[:, :k], order[:, m - k :]) if k >= 3 else ():
                ends = np.zeros((len(order), m), dtype=np.bool_)
                np.put_along_axis(ends, end, True, axis=1)
                groups.append(ends)
                sizes.append(np.full(len(order), least[-1]))
    G, k_least = _distinct(np.concatenate(groups), np.concatenate(sizes))
    if not len(G):
        return []
    for turn in range(settings.turns):
        along = _along(rows, G)[0]
        if turn:  # only groups that stand out already are worth another turn
            foremost = np.argsort(-_standing_out(along, G), kind="stable")[: settings.followed]
            along, G, k_least = along[foremost], G[foremost], k_least[foremost]
        split, found = _split(along, k_least)
        G, k_least = _distinct(np.where(found[:, None], split, G), k_least)
    for _ in range(2):
        G = _placed(_along(rows, G)[0], G)
    G, _ = _distinct(G, np.zeros(len(G)))
    along, ways = _along(rows, G)
    lengths = np.maximum(np.linalg.norm(ways, axis=1), TINY)
    noise = np.linalg.norm(space.of_data(ways) * space.rounding, axis=1) / np.sqrt(12.0) / lengths
    candidates = []
    for t, members, way, rounding in zip(along, G, ways, noise, strict=True):
        k = int(members.sum())
        if 2 < k < m / 2 and t[~members].std() >= settings.rounding * rounding:
            candidates.append((members, *_extent(t, members), way))
    return candidates


def _split(T: Array, *least: Array) -> tuple[Array, Mask]:
    """Split each row of T by the best two-Gaussian classification; True is the smaller part.

    Variances are drawn to the pooled one by four rows. Each `least` gives the fewest rows of a part
    for every row of T; the splits follow each other. Also whether there is a cut at all.
    """
    k, n = T.shape
    ascending = np.sort(T, axis=1)
    a = ascending - ascending[:, n // 2 : n // 2 + 1]
    a /= np.maximum(np.abs(a).max(axis=1, keepdims=True), TINY)
    sums, squares = np.cumsum(a, axis=1), np.cumsum(a * a, axis=1)
    left = np.arange(1, n)[None, :]
    right = n - left
    whole = squares[:, -1:] / n - (sums[:, -1:] / n) ** 2
    low = squares[:, :-1] / left - (sums[:, :-1] / left) ** 2
    high = (squares[:, -1:] - squares[:, :-1]) / right
    high -= ((sums[:, -1:] - sums[:, :-1]) / right) ** 2
    pooled = (left * low + right * high) / n
    floor = 1e-4 * whole + TINY
    low = np.maximum((left * low + 4.0 * pooled) / (left + 4.0), floor)
    high = np.maximum((right * high + 4.0 * pooled) / (right + 4.0), floor)
    merit = left * np.log(left / n) + right * np.log(right / n)
    merit = merit - 0.5 * (left * np.log(low) + right * np.log(high))
    merit[np.diff(a, axis=1) <= 0.0] = -np.inf
    splits, found = [], []
    for fewest in least:
        among = np.where(np.minimum(left, right) < fewest[:, None], -np.inf, merit)
        at = among.argmax(axis=1)
        found.append(among[np.arange(k), at] > -np.inf)
        below = np.take_along_axis(ascending, at[:, None], axis=1) >= T
        splits.append(np.where((at + 1 <= n - at - 1)[:, None], below, ~below))
    return np.concatenate(splits), np.concatenate(found)


def _along(rows: Array, G: Array) -> tuple[Array, Array]:
    """Project all rows on each group's difference of means, leaving each row out of its own."""
    n = len(rows)
    k = G.sum(axis=1)[:, None].astype(np.float64)
    m = n - k
    summed = G.astype(np.float64) @ rows
    center = (rows.sum(axis=0) - summed) / m
    ways = summed / k - center
    projected = ways @ rows.T - (ways * center).sum(axis=1, keepdims=True)
    squared = (rows * rows).sum(axis=1)[None, :] - 2.0 * center @ rows.T
    squared = np.maximum(squared + (center * center).sum(axis=1, keepdims=True), 0.0)
    inside = (k * projected - squared) / np.maximum(k - 1.0, 1.0)
    outside = m / np.maximum(m - 1.0, 1.0) * (projected + squared / np.maximum(m - 1.0, 1.0))
    lengths = np.maximum(np.linalg.norm(ways, axis=1, keepdims=True), TINY)
    return np.where(G, inside, outside) / lengths, ways


def _standing_out(T: Array, G: Array) -> Array:
    """Divide the distance of each group from the others by how both of them vary."""
    k = G.sum(axis=1)
    squares, sums = (np.where(G, values, 0.0).sum(axis=1) for values in (T * T, T))
    inside = squares / k - (sums / k) ** 2
    m = T.shape[1] - k
    rest = T.sum(axis=1) - sums
    outside = ((T * T).sum(axis=1) - squares) / m - (rest / m) ** 2
    return np.asarray((sums / k - rest / m) / np.sqrt(np.maximum(inside + outside, TINY)))


def _placed(T: Array, G: Array) -> Array:
    """Move the cut of each group into the widest gap within a few ranks."""
    moved = G.copy()
    n = T.shape[1]
    for i, (t, members) in enumerate(zip(T, G, strict=True)):
        k = int(members.sum())
        reach = max(2, int(0.03 * k))
        low, high = max(1, n - k - reach), min(n - 2, n - k + reach)
        if k <= 2 or high <= low:
            continue
        order = np.argsort(t, kind="stable")
        gaps = t[order[low : high + 1]] - t[order[low - 1 : high]]
        at = low + int(gaps.argmax())
        if 1 < n - at < n / 2:
            moved[i] = False
            moved[i, order[at:]] = True
    return moved


def _distinct(G: Array, sizes: Array) -> tuple[Array, Array]:
    """Return each group once, in the order in which they came."""
    _, first = np.unique(np.packbits(G, axis=1), axis=0, return_index=True)
    first = np.sort(first)
    return G[first], sizes[first]


def _climb(white: Array, window: int = 10, steps: int = 8) -> Array:
    """Find the most skewed and the flattest direction in windows of principal directions.

    The iteration climbs to directions of large skewness (see `pursuit`).
    """
    found = []
    for first in range(0, max(1, white.shape[1] - window // 2), window // 2):
        W = white[:, first : first + window]
        V = np.eye(W.shape[1])
        for _ in range(steps):
            V = ((W @ V.T) ** 2).T @ W
            V /= np.maximum(np.linalg.norm(V, axis=1, keepdims=True), TINY)
        projected = W @ V.T
        projected = (projected - projected.mean(axis=0)) / np.maximum(projected.std(axis=0), TINY)
        skewed, flat = (projected**3).mean(axis=0).argmax(), (projected**4).mean(axis=0).argmin()
        found += [projected[:, i] for i in sorted({int(skewed), int(flat)})]
    return np.array(found)


def _principal(Y: Rows) -> tuple[Rows, Array, _Axes]:
    """Compute the centered rows along their principal directions, and these directions."""
    xp, (n, d) = namespace(Y), Y.shape
    values, vectors = xp.linalg.eigh(Y.T @ Y if d <= n else Y @ Y.T)
    lengths = np.sqrt(np.maximum(on_host(values)[::-1], 0.0))
    vectors = xp.flip(vectors, axis=1)
    if d <= n:
        return Y @ vectors, lengths, _Axes(vectors.T, None)
    weights = vectors.T / like(np.maximum(lengths, TINY)[:, None], Y)
    return vectors * like(lengths, Y), lengths, _Axes(weights, Y)
