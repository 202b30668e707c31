"""Tests on one coordinate that assume no distribution of the good rows.

Is a part of the rows a group of its own? A row enters by one number: how far out it lies in some
direction, or from the center. Good rows may have any scale and any tail; they only have to be
symmetric about their center. So the rows on one side predict the number of good ones on the other,
and the surplus is the group:

    p  the fraction of rows as far out on the opposite side: what good rows do
    h  the fraction of rows that would be removed on this side

p / h estimates the share of good rows among those removed. The logic is that of the false
discovery rate (Benjamini and Hochberg 1995) with a mirror image as the null, as in Barber and
Candes (2015). Clean data hardly ever reach the level of these tests.

All probabilities are logarithms. Nothing here reads the data.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.special import chdtrc, gammaincc, ndtri

from inlier._internal.arrays import (
    among,
    any_true,
    blocks_in_cache,
    count,
    counting,
    double,
    every,
    like,
    lowest,
    median,
    namespace,
    on_host,
    pieces,
    total,
)
from inlier._internal.numbers import TINY
from inlier._internal.typing import Array, Mask, Rows
from inlier.search import thresholds

# Standard deviation of a Gaussian over the one of its middle half.
GAUSSIAN_HALF = 2.65
# Widths of the windows in which a second mode is searched for, as fractions of how far out it is.
WIDTHS = np.linspace(0.15, 0.6, 6)
# Neighboring cuts that are looked at together first.
STRETCH = 64


@dataclass(frozen=True)
class Cut:
    """Where a group begins."""

    log_p: float = 0.0
    """Logarithm of the chance that good rows alone show such a group; 0 if there is none."""
    cut: float = np.inf
    """Larger sizes belong to the group."""
    side: int = 1
    """+1 or -1: the side of the center; 0 for both."""
    share: float = 1.0
    """p / h: the share of the group's rows that good ones account for."""


NOTHING = Cut()


def centers(values: Rows) -> tuple[Array, Array, Array]:
    """Return center, spread and standard error of each row of ascending values (k x n).

    The mean of the half with the least variance (least trimmed squares) finds the majority even
    if two fifths of the values sit elsewhere; from there a redescending mean (Tukey's bisquare)
    takes the precision that a half lacks. A spread of zero means that a quarter of all values or
    more coincide there, or that few values occur at all; then the others cannot be judged.
    """
    xp = namespace(values)
    n = values.shape[1]
    middle = values[:, n // 2 : n // 2 + 1]
    # Of many values a regular subsample of the sorted ones is accurate enough to start from.
    step = max(1, n // thresholds.CENTER_VALUES)
    thin = values[:, step // 2 :: step] - middle
    center, spread, first = _shortest_half(thin)
    smallest = 1e-9 * (values[:, -1:] - values[:, :1])
    # There is no scale where a quarter of all values is one value within that half, ...
    m = thin.shape[1]
    half, quarter = m // 2 + 1, max(1, m // 4)
    widths = thin[:, quarter:] - thin[:, :-quarter]
    place = counting(m - quarter, values)[None, :]
    inside = (place >= first) & (place < first + (half - quarter))
    width = xp.min(xp.where(inside, widths, np.inf), axis=1, keepdims=True)
    spread = xp.where(width > smallest, spread, 0.0)
    # or where only a few values occur at all, up to rounding.
    distinct = 1.0
    for part in _columns_of(values[:, 1:]):
        some = values[:, part.start : part.stop + 1]
        grows = double(some[:, 1:] - some[:, :-1] > smallest)
        distinct = distinct + xp.sum(grows, axis=1, keepdims=True)
    spread = xp.where(distinct**2 > n, spread, 0.0)
    scaled = spread > 0.0
    reach = thresholds.CENTER_REACH * xp.where(scaled, spread, 1.0)
    if step > 1:
        center = _redescended(thin, 0.0 * middle, center, reach, scaled)
    center = _redescended(values, middle, center, reach, scaled)
    pull = slope = 0.0 * middle
    for part in _columns_of(values):
        u = xp.clip((values[:, part] - middle - center) / reach, -1.0, 1.0)
        pull = pull + xp.sum((u * (1.0 - u * u) ** 2) ** 2, axis=1, keepdims=True)
        slope = slope + xp.sum((1.0 - u * u) * (1.0 - 5.0 * u * u), axis=1, keepdims=True)
    error = xp.where(scaled, reach * pull**0.5 / xp.clip(slope, 0.05 * n, None), 0.0)
    found = on_host(xp.concat([middle + center, spread, error], axis=1))
    return found[:, 0], found[:, 1], found[:, 2]


def _shortest_half(z: Rows) -> tuple[Rows, Rows, Rows]:
    """Return the mean of the half of least variance, its spread, and where it begins."""
    xp, zeros = namespace(z), 0.0 * z[:, :1]
    half = z.shape[1] // 2 + 1
    sums = xp.concat([zeros, xp.cumulative_sum(z, axis=1)], axis=1)
    squares = xp.concat([zeros, xp.cumulative_sum(z * z, axis=1)], axis=1)
    s1 = sums[:, half:] - sums[:, :-half]
    variance = squares[:, half:] - squares[:, :-half] - s1 * s1 / half
    best = xp.argmin(variance, axis=1)[:, None]
    center = xp.take_along_axis(s1, best, axis=1) / half
    least = xp.clip(xp.take_along_axis(variance, best, axis=1), 0.0, None)
    return center, (least / half) ** 0.5 * GAUSSIAN_HALF, double(best)


def _columns_of(values: Rows) -> Iterable[slice]:
    """Divide the columns of an array: intermediate results are several times as large.

    On the host into parts that stay in the cache.
    """
    k, n = values.shape
    if isinstance(values, np.ndarray):
        return blocks_in_cache(n, k)
    return pieces(n, thresholds.AT_ONCE // 8)


def _redescended(values: Rows, middle: Rows, center: Rows, reach: Rows, moves: Rows) -> Rows:
    """Iterate the redescending mean of each row of values less their middle until it converges."""
    xp = namespace(values)
    for _ in range(20):
        weights = sums = 0.0 * middle
        for part in _columns_of(values):
            z = values[:, part] - middle
            u = xp.clip((z - center) / reach, -1.0, 1.0)
            weight = (1.0 - u * u) ** 2
            weights = weights + xp.sum(weight, axis=1, keepdims=True)
            sums = sums + xp.sum(weight * z, axis=1, keepdims=True)
        moved = xp.where(moves, sums / xp.clip(weights, TINY, None), center)
        done = every(abs(moved - center) <= 1e-6 * reach)
        center = moved
        if done:
            break
    return center


def coincides(ascending: Rows, share: float = 0.25) -> Mask:
    """Return whether this share of the values of each row (k x n) is one value."""
    more = max(2, math.ceil(share * ascending.shape[1])) - 1
    width = namespace(ascending).min(ascending[:, more:] - ascending[:, :-more], axis=1)
    same: Mask = on_host(width <= 1e-9 * (ascending[:, -1] - ascending[:, 0]))
    return same


def log_binomial(more: Rows, fewer: Rows) -> Rows:
    """Bound the chance of at least `more` heads among all tosses of a fair coin (Chernoff)."""
    xp = namespace(more)
    n = xp.clip(more + fewer, 1.0, None)
    share = xp.clip(more / n, 1e-300, 1.0)
    rest = xp.clip(fewer / n, 1e-300, 1.0)
    bound = -(more * xp.log(2.0 * share) + fewer * xp.log(2.0 * rest))
    return xp.where(more > fewer, bound, 0.0)


def mirror_test(values: Rows, center: float, error: float, sides: tuple[int, ...] = (1, -1)) -> Cut:
    """Test whether one side of ascending values exceeds its mirror image.

    Of the sides that are tested, the one with the stronger evidence is returned.
    """
    xp = namespace(values)
    best = NOTHING
    right = values[values.shape[0] - count(values > center) :] - center
    left = xp.flip(center - values[: count(values < center)])
    # A center that is off by e moves a mirror image by 2 e.
    safely = 2.0 * thresholds.CENTER_ERRORS * error
    for side in sides:
        here, there = (right, left) if side > 0 else (left, right)
        first = _first_pure(here, there, safely) if here.shape[0] > 1 else None
        if first is None:
            continue
        # Of the cuts before it none may be chosen; the last of them begins the first gap.
        start = max(0, first - 1)
        here = here[start:]
        beyond = here.shape[0] - counting(here.shape[0], here)
        safe = _at_least(there, here - safely)
        pure = 1.0 + safe <= thresholds.GOOD_SHARE * beyond
        log_p = lowest(xp.where(pure, log_binomial(beyond, safe), 0.0)) + log_cuts(values.shape[0])
        if log_p >= best.log_p:
            continue
        mirrored = _at_least(there, here)
        worth = beyond - (1.0 + mirrored) / thresholds.GOOD_SHARE
        worth = xp.concat([0.0 * worth[: first - start] - np.inf, worth[first - start :]])
        at = _widest_gap(here, beyond, worth)
        cut = float(here[at - 1] + here[at]) / 2.0
        best = Cut(log_p, cut, side, (1.0 + float(mirrored[at])) / float(beyond[at]))
    return best


def _first_pure(here: Rows, there: Rows, safely: float) -> int | None:
    """Return the first cut beyond which few rows are good, by their mirror image."""
    n = here.shape[0]

    def pure(sizes: Rows, beyond: Rows) -> Rows:
        return 1.0 + _at_least(there, sizes - safely) <= thresholds.GOOD_SHARE * beyond

    # No cut of a stretch has more rows beyond it than the first, or fewer good ones than the last.
    ends = np.arange(STRETCH - 1, n, STRETCH)
    beyond = n + STRETCH - 1.0 - ends
    start = _first(pure(namespace(here).take(here, like(ends, here)), like(beyond, here)))
    start = STRETCH * (len(ends) if start is None else start)
    for part in pieces(n - start, thresholds.AT_ONCE // 8):
        some = here[start + part.start : start + part.stop]
        at = _first(pure(some, n - start - part.start - counting(some.shape[0], here)))
        if at is not None:
            return int(start + part.start + at)
    return None


def _first(mask: Rows) -> int | None:
    """Return the place of the first true entry."""
    xp = namespace(mask)
    return int(xp.argmax(xp.astype(mask, xp.int64))) if any_true(mask) else None


def _at_least(ascending: Rows, sizes: Rows) -> Rows:
    """Count the ascending values that are at least as large, for each size."""
    return ascending.shape[0] - double(namespace(sizes).searchsorted(ascending, sizes))


def excess_test(ascending: Rows) -> tuple[float, Cut]:
    """Return the center of ascending values, and the mirror test of those above it."""
    center, spread, error = (float(one[0]) for one in centers(ascending[None, :]))
    return center, mirror_test(ascending, center, error, sides=(1,)) if spread > 0.0 else NOTHING


def gap_test(ascending: Rows) -> Cut:
    """Test whether the largest of ascending sizes, possibly one, stand apart from all others.

    Far out, the logarithms of the sizes of good rows have independent exponential spacings if their
    tail falls with any power; if it falls faster the spacings shrink. So a gap is compared with the
    spacings just below it (Renyi's representation). It must also be half as wide as the distance
    between it and the middle of the sizes, which few gaps are.
    """
    xp = namespace(ascending)
    n = ascending.shape[0]
    # Copies of a row count as one size: their spacings of 0 would make any gap look large.
    new = [ascending[:1] >= 0.0]
    for part in pieces(n - 1, thresholds.AT_ONCE // 8):
        some = ascending[part.start : part.stop + 1]
        new.append(some[1:] - some[:-1] > 1e-9 * some[1:])  # not only by rounding
    distinct = among(ascending, xp.concat(new))
    del new
    m = distinct.shape[0]
    half, quarter = m // 2, m // 4
    if m < 10 or float(distinct[quarter]) <= 0.0:
        return NOTHING
    n_gaps, middle = m - quarter - 1, half - quarter
    most = max(20, int(np.sqrt(n)))  # spacings that a gap is compared with
    best, cut = 0.0, np.inf
    for at in _wide_gaps(distinct[quarter:], middle):
        before = min(at, most)
        logs = xp.log(distinct[quarter + at - before : quarter + at + 2])
        own = double(
            xp.searchsorted(ascending, distinct[quarter + at - before + 1 :][: before + 1])
        )
        spacings = (n - own) * (logs[1:] - logs[:-1])
        number = max(float(before), 1.0)
        # The ratio of an exponential variable to the mean of k others.
        mean = max(total(spacings[:-1]) / number, TINY)
        with np.errstate(over="ignore"):
            log_p = -number * float(np.log1p(float(spacings[-1]) / mean / number))
        if log_p < best:
            best, cut = log_p, float(np.exp((float(logs[-2]) + float(logs[-1])) / 2.0))
    return Cut(best + float(np.log(n_gaps - middle)), cut, 0, 0.0) if best < 0.0 else NOTHING


def _wide_gaps(distinct: Rows, middle: int) -> list[int]:
    """Return the gaps, of logarithms beyond the middle, that are half as wide as it is far away."""
    xp, found = namespace(distinct), []
    first, center = float(xp.log(distinct[0])), float(xp.log(distinct[middle]))
    start = max(middle, 4) + 1
    for part in pieces(max(0, distinct.shape[0] - 1 - start), thresholds.AT_ONCE // 8):
        logs = xp.log(distinct[start + part.start : start + part.stop + 1])
        spread = xp.clip(logs[:-1] - center, center - first, None)
        wide = on_host(xp.nonzero(logs[1:] - logs[:-1] > 0.5 * spread)[0])
        found += [start + part.start + int(at) for at in wide]
    return found


def is_no_tail(sizes: Rows, cut: float) -> bool:
    """Return whether the rows beyond a cut are a mode of their own, and not a tail.

    Either they end sooner than a tail: beyond any point an exponential tail has a standard
    deviation that equals its mean, a heavier tail a larger one. Or they have a mode, where a tail
    only falls: an interval that holds more rows than the equally wide one just inside it.
    """
    excess = sizes[sizes > cut] - cut
    longest = 1.0 - thresholds.LEVEL_QUANTILE / np.sqrt(excess.shape[0])
    xp = namespace(excess)
    short = float(xp.std(excess)) < min(thresholds.SHORT_TAIL, longest) * float(xp.mean(excess))
    return bool(short) or _has_mode(sizes, cut)


def is_well_separated(sizes: Rows, cut: float) -> bool:
    """Return whether few rows lie half way between the center and those beyond a cut."""
    beyond = sizes[sizes > cut]
    far = median(beyond)
    between = (sizes > far / 3.0) & (sizes < 2.0 * far / 3.0)
    return bool(count(between) <= thresholds.UNPOPULATED * beyond.shape[0])


def separation(sizes: Rows, cut: float) -> float:
    """Return the distance between the means of both sides of a cut, in standard deviations."""
    beyond = sizes > cut
    xp, outer, inner = namespace(sizes), sizes[beyond], sizes[~beyond]
    distance = float(xp.mean(outer)) - float(xp.mean(inner))
    return distance / max(float(xp.std(outer)) + float(xp.std(inner)), TINY)


def _has_mode(sizes: Rows, cut: float) -> bool:
    xp = namespace(sizes)
    ascending = _spread_out(xp.sort(sizes))
    far = median(ascending[ascending > cut])
    # For all windows together, the rows in each of them and in the one just inside it.
    widths = WIDTHS * far
    x = np.stack([np.linspace(max(0.0, cut - 1.5 * width), far, 40) for width in widths])
    edges = np.stack([x + step * widths[:, None] for step in range(3)])
    at = on_host(xp.searchsorted(ascending, like(edges.ravel(), ascending))).reshape(edges.shape)
    inner, outer = at[1] - at[0], at[2] - at[1]
    log_p = lowest(log_binomial(outer.astype(float), inner.astype(float)))
    return log_p < float(np.log(thresholds.STRICT_LEVEL))


def _spread_out(ascending: Rows) -> Rows:
    """Spread equal values evenly over their share of the line: a lattice has no modes."""
    xp = namespace(ascending)
    n = ascending.shape[0]
    first = xp.concat([like([True], ascending), ascending[1:] > ascending[:-1]])
    start = xp.nonzero(first)[0]
    n_values = start.shape[0]
    if n_values in (1, n):
        return ascending
    values = xp.take(ascending, start)
    counts = double(xp.concat([start[1:], like([n], start)]) - start)
    between = (values[1:] + values[:-1]) / 2.0
    low = xp.concat([2.0 * values[:1] - between[:1], between])
    high = xp.concat([between, 2.0 * values[-1:] - between[-1:]])
    which = xp.cumulative_sum(xp.astype(first, xp.int64)) - 1
    place = counting(n, values) + 0.5 - xp.take(double(start), which)
    return xp.take(low, which) + place / xp.take(counts, which) * xp.take(high - low, which)


def same_side(values: Rows, cut: Cut) -> float:
    """Return the additional evidence if most rows that stand apart do so on one side.

    Given how far out they lie, the sides of good rows are coin tosses.
    """
    right, left = count(values > cut.cut), count(values < -cut.cut)
    log_p = float(log_binomial(np.float64(max(right, left)), np.float64(min(right, left))))
    return min(0.0, log_p + float(np.log(2.0)))


def coherence(along: Rows) -> float:
    """Test whether the rows of a group point the same way, so that removing them moves the mean.

    `along` holds the product of each row with the sum of all others. For good rows its sign is a
    coin toss; long rows of a heavy tail point anywhere.
    """
    same, opposite = count(along > 0.0), count(along <= 0.0)
    if 1 + opposite > thresholds.GOOD_SHARE * same:
        return 0.0
    return float(log_binomial(np.float64(same), np.float64(opposite)))


def log_cuts(n: int) -> float:
    """Return the charge for testing every cut: neighbouring cuts hold nearly the same rows."""
    return float(np.log(max(1.0, np.log2(n))))


def _widest_gap(ascending: Rows, beyond: Rows, worth: Rows) -> int:
    """Choose a cut in a wide gap, near where a cut is worth most.

    The worth is a count with a standard error of the root of the rows beyond the cut; a wider gap
    may be off by more of these errors.
    """
    xp = namespace(ascending)
    best = int(xp.argmax(worth))
    off = (worth[best] - worth) / beyond[best] ** 0.5
    gaps = xp.concat([0.0 * ascending[:1], ascending[1:] - ascending[:-1]])
    usable = xp.isfinite(off) & (gaps > 0.0)
    merit = xp.log(xp.where(gaps > 0.0, gaps, 1.0)) - xp.where(usable, off, 0.0) ** 2
    merit = xp.where(usable, merit, -np.inf)
    at = int(xp.argmax(merit))
    return at if float(merit[at]) > -np.inf else max(1, best)


def is_nearer_elsewhere(R: Array, along: Array, cut: float) -> bool:
    """Return whether rows that are far out along one direction are near in all others.

    The tail of a skewed direction is like the other rows elsewhere or, where the spread of rows
    grows with their size, farther out. This holds beside rows that are Gaussian elsewhere; rows
    that are skewed in several directions may be anything there. The others are the rows up to half
    way to the cut, because farther out bad rows may be among them.
    """
    inner, beyond = along <= cut / 2.0, along > cut
    Z = _sphered(R)
    # Elsewhere: without the direction of the cut, and without the one towards the rows beyond it.
    ways = np.stack([Z.T @ (along - along.mean()), Z[beyond].mean(axis=0)], axis=1)
    Z = Z @ np.linalg.qr(ways, mode="complete")[0][:, 2:]
    if not Z.shape[1] or not _is_gaussian(Z[~beyond], Z[inner]):
        return False
    lengths = (Z * Z).sum(axis=1)
    others = np.sort(lengths[inner])
    ranks = (1.0 + np.searchsorted(others, lengths[~inner])) / (1.0 + len(others))
    # Of equally distributed ranks, the logarithms add up to a gamma variable (Fisher's method).
    chance = gammaincc(len(ranks), -np.log(ranks).sum())
    return bool(chance < thresholds.STRICT_LEVEL)


def _is_gaussian(Z: Array, inner: Array) -> bool:
    """Test skewness and, of the inner rows, kurtosis in all directions at once (Mardia 1970).

    A few bad rows hardly change the skewness, which thus takes all the rows that there are.
    """
    n, p = len(inner), Z.shape[1]
    product = p * (p + 2.0)
    kurtosis = ((_sphered(inner) ** 2).sum(axis=1) ** 2).mean() - product * (n - 1.0) / (n + 1.0)
    if abs(kurtosis) >= -ndtri(thresholds.LEVEL / 2.0) * np.sqrt(8.0 * product / n):
        return False
    n, S = len(Z), _sphered(Z)
    cubes = 0.0
    for part in pieces(n, 512):
        products = S[part] @ S.T
        cubes += float(np.vdot(products * products, products))
    # Mardia's correction for few rows.
    factor = (p + 1.0) * (n + 1.0) * (n + 3.0) / (n * ((n + 1.0) * (p + 1.0) - 6.0))
    degrees = product * (p + 1.0) / 6.0
    return bool(chdtrc(degrees, factor * cubes / n / 6.0) > thresholds.LEVEL)


def _sphered(R: Array) -> Array:
    """Transform rows to coordinates in which their covariance is the identity."""
    R = R - R.mean(axis=0)
    values, vectors = np.linalg.eigh(R.T @ R / len(R))
    held = values > 1e-10 * values[-1]
    return np.asarray(R @ (vectors[:, held] / np.sqrt(values[held])))


def quantile_of_last(
    ascending: Rows, number: Array, q: float, center: Array | float | None = None
) -> Array:
    """Return a quantile of the last `number` values of each sorted column.

    Of their distances from a center, if there is one.
    """
    n = ascending.shape[0]
    at = np.maximum(number - 1, 0) * q
    low = np.floor(at).astype(np.intp)
    first = n - np.maximum(number, 1) + low
    places = like(np.stack([first, np.minimum(first + 1, n - 1)]), ascending)
    ends = on_host(namespace(ascending).take_along_axis(ascending, places, axis=0))
    inner, outer = ends if center is None else np.abs(ends - center)
    return np.asarray(inner + (at - low) * (outer - inner))
