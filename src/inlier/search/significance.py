"""Is a part of the rows a group of its own? One-dimensional tests that assume no distribution.

A row enters by one number: how far out it lies in some direction, or from the center. Good rows may
have any scale and any tail; they are asked to be symmetric about their center, no more. So the
rows on one side predict how many good ones there are on the other, and the surplus is the group:

    p  the fraction of rows as far out on the opposite side: what good rows do
    h  the fraction of rows that would leave on this side

p / h estimates the share of good rows among those that leave. The logic is that of the false
discovery rate (Benjamini and Hochberg 1995) with a mirror image as the null, as in Barber and
Candes (2015). A group of any size has to show at a level that clean data hardly ever reaches.

All probabilities are logarithms. Nothing here reads the data.
"""

from dataclasses import dataclass

import numpy as np

from inlier._internal.arrays import (
    any_true,
    count,
    counting,
    double,
    every,
    like,
    lowest,
    median,
    namespace,
    on_host,
)
from inlier._internal.numbers import TINY
from inlier._internal.typing import Array, Mask, Rows
from inlier.search.settings import SEARCH

# Standard deviation of a Gaussian over that of its middle half.
GAUSSIAN_HALF = 2.65
# Where a second mode is looked for: widths as fractions of how far out it lies, and places. The
# windows overlap, so each is tested at a level that makes a mode by chance in any of them unlikely.
WIDTHS = np.linspace(0.15, 0.6, 6)


@dataclass(frozen=True)
class Cut:
    """Where a group begins."""

    log_p: float = 0.0
    """Logarithm of the chance that good rows alone look like that; 0 if there is no group."""
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
    more coincide there, or that few values occur at all; then nothing can be said about the rest.
    """
    xp = namespace(values)
    n = values.shape[1]
    half = n // 2 + 1
    middle = values[:, n // 2 : n // 2 + 1]
    z = values - middle
    zeros = 0.0 * middle
    sums = xp.concat([zeros, xp.cumulative_sum(z, axis=1)], axis=1)
    squares = xp.concat([zeros, xp.cumulative_sum(z * z, axis=1)], axis=1)
    s1 = sums[:, half:] - sums[:, :-half]
    variance = squares[:, half:] - squares[:, :-half] - s1 * s1 / half
    best = xp.argmin(variance, axis=1)[:, None]
    center = xp.take_along_axis(s1, best, axis=1) / half
    least = xp.clip(xp.take_along_axis(variance, best, axis=1), 0.0, None)
    spread = (least / half) ** 0.5 * GAUSSIAN_HALF
    # Where a quarter of all values is one value in the midst of that half, it is no scale.
    quarter = max(1, n // 4)
    widths = z[:, quarter:] - z[:, :-quarter]
    place = counting(n - quarter, values)[None, :]
    first = double(best)
    inside = (place >= first) & (place < first + (half - quarter))
    width = xp.min(xp.where(inside, widths, np.inf), axis=1, keepdims=True)
    smallest = 1e-9 * (z[:, -1:] - z[:, :1])
    spread = xp.where(width > smallest, spread, 0.0)
    # Nor is there one where only a few values occur at all.
    steps = double(z[:, 1:] - z[:, :-1] > smallest)
    distinct = 1.0 + xp.sum(steps, axis=1, keepdims=True)
    spread = xp.where(distinct**2 > n, spread, 0.0)
    scaled = spread > 0.0
    reach = SEARCH.reach * xp.where(scaled, spread, 1.0)
    # Every so many of ascending values lead nearly as far as all of them.
    step = n // SEARCH.enough_values
    if step > 1:
        center = _redescended(z[:, step // 2 :: step], center, reach, scaled)
    center = _redescended(z, center, reach, scaled)
    u = xp.clip((z - center) / reach, -1.0, 1.0)
    pull = xp.sum((u * (1.0 - u * u) ** 2) ** 2, axis=1, keepdims=True)
    slope = xp.sum((1.0 - u * u) * (1.0 - 5.0 * u * u), axis=1, keepdims=True)
    error = xp.where(scaled, reach * pull**0.5 / xp.clip(slope, 0.05 * n, None), 0.0)
    found = on_host(xp.concat([middle + center, spread, error], axis=1))
    return found[:, 0], found[:, 1], found[:, 2]


def _redescended(z: Rows, center: Rows, reach: Rows, moves: Rows) -> Rows:
    """Iterate the redescending mean of each row of values until it settles."""
    xp = namespace(z)
    for _ in range(20):
        u = xp.clip((z - center) / reach, -1.0, 1.0)
        weight = (1.0 - u * u) ** 2
        summed = xp.clip(xp.sum(weight, axis=1, keepdims=True), TINY, None)
        moved = xp.sum(weight * z, axis=1, keepdims=True) / summed
        moved = xp.where(moves, moved, center)
        done = every(abs(moved - center) <= 1e-6 * reach)
        center = moved
        if done:
            break
    return center


def coincides(ascending: Rows, share: float = 0.25) -> Mask:
    """Return whether that share of the values of each row (k x n) are one value."""
    part = max(1, int(share * ascending.shape[1]))
    width = namespace(ascending).min(ascending[:, part:] - ascending[:, :-part], axis=1)
    same: Mask = on_host(width <= 1e-9 * (ascending[:, -1] - ascending[:, 0]))
    return same


def log_binomial(more: Rows, fewer: Rows) -> Rows:
    """Bound the chance that a fair coin gives at least so many heads (Chernoff)."""
    xp = namespace(more)
    n = xp.clip(more + fewer, 1.0, None)
    share = xp.clip(more / n, 1e-300, 1.0)
    rest = xp.clip(fewer / n, 1e-300, 1.0)
    bound = -(more * xp.log(2.0 * share) + fewer * xp.log(2.0 * rest))
    return xp.where(more > fewer, bound, 0.0)


def log_coin(more: int, fewer: int) -> float:
    """Bound the same chance for two numbers."""
    return float(log_binomial(np.array([float(more)]), np.array([float(fewer)]))[0])


def mirror_test(values: Rows, center: float, error: float, sides: tuple[int, ...] = (1, -1)) -> Cut:
    """Test whether one side of ascending values exceeds its mirror image."""
    xp = namespace(values)
    z = values - center
    best = NOTHING
    right, left = z[z > 0.0], xp.flip(-z[z < 0.0])
    for side in sides:
        here, there = (right, left) if side > 0 else (left, right)
        if here.shape[0] < 2:
            continue
        beyond = here.shape[0] - counting(here.shape[0], here)
        # A center that is off by e moves a mirror image by 2 e.
        safe = _at_least(there, here - 2.0 * SEARCH.standard_errors * error)
        pure = 1.0 + safe <= SEARCH.good_share * beyond
        if not any_true(pure):
            continue
        log_p = lowest(xp.where(pure, log_binomial(beyond, safe), 0.0)) + log_looks(values.shape[0])
        if log_p >= best.log_p:
            continue
        mirrored = _at_least(there, here)
        worth = beyond - (1.0 + mirrored) / SEARCH.good_share
        first = int(xp.argmax(xp.astype(pure, xp.int64)))
        worth = xp.concat([0.0 * worth[:first] - np.inf, worth[first:]])
        at = _widest_gap(here, beyond, worth)
        cut = float(here[at - 1] + here[at]) / 2.0
        best = Cut(log_p, cut, side, (1.0 + float(mirrored[at])) / float(beyond[at]))
    return best


def _at_least(ascending: Rows, sizes: Rows) -> Rows:
    """Count the ascending values that are at least as large, for each size."""
    return ascending.shape[0] - double(namespace(sizes).searchsorted(ascending, sizes))


def excess_test(values: Rows, sides: tuple[int, ...] = (1, -1)) -> tuple[float, Cut]:
    """Return the center of values in any order, and the mirror test about it."""
    ascending = namespace(values).sort(values)
    center, spread, error = centers(ascending[None, :])
    if spread[0] == 0.0:
        return float(center[0]), NOTHING
    return float(center[0]), mirror_test(ascending, float(center[0]), float(error[0]), sides)


def gap_test(sizes: Rows) -> Cut:
    """Test whether the largest sizes stand apart from all others, be it a single one.

    Far out, the logarithms of the sizes of good rows have independent exponential spacings,
    whatever power their tail falls with; where it falls faster the spacings shrink. So a gap is
    measured by the spacings just below it (Renyi's representation). It must also be half as wide as
    all that lies between it and the middle of the sizes.
    """
    xp = namespace(sizes)
    # Distances from the center of ascending values are two runs, which a stable sort only merges.
    ascending = xp.sort(sizes, stable=True)
    n = ascending.shape[0]
    # Copies of one row are one size, or their missing spacings would make any gap look large.
    new = ascending[1:] - ascending[:-1] > 1e-9 * ascending[1:]
    new = xp.concat([like([True], new), new])
    distinct = ascending[new]
    m = distinct.shape[0]
    half, quarter = m // 2, m // 4
    if m < 10 or float(distinct[quarter]) <= 0.0:
        return NOTHING
    beyond = n - double(xp.nonzero(new)[0])
    logs = xp.log(distinct[quarter:])
    middle = half - quarter
    gaps = logs[1:] - logs[:-1]
    spacings = beyond[quarter + 1 :] * gaps
    n_gaps = spacings.shape[0]
    before = counting(n_gaps, spacings)
    most = max(SEARCH.most_spacings, int(np.sqrt(n)))
    sums = xp.concat([0.0 * spacings[:1], xp.cumulative_sum(spacings)])[:-1]
    earlier = xp.concat([0.0 * sums[: min(most, n_gaps)], sums[: max(0, n_gaps - most)]])
    recent = sums - earlier
    # The ratio of an exponential variable to the mean of k others.
    number = xp.clip(before, 1.0, float(most))
    with np.errstate(over="ignore"):
        log_p = -number * xp.log1p(spacings / xp.clip(recent / number, TINY, None) / number)
    center = logs[middle]
    spread = xp.maximum(logs[:-1] - center, center - logs[:1])
    wide = (gaps > 0.5 * spread) & (before > max(middle, SEARCH.fewest_spacings - 1))
    log_p = xp.where(wide, log_p, 0.0)
    at = int(xp.argmin(log_p))
    found = float(log_p[at])
    if found == 0.0:
        return NOTHING
    cut = float(np.exp((float(logs[at]) + float(logs[at + 1])) / 2.0))
    return Cut(found + float(np.log(n_gaps - middle)), cut, 0, 0.0)


def is_no_tail(sizes: Rows, cut: float) -> bool:
    """Return whether the rows beyond a cut are a mode of their own, and not a tail.

    Either they end sooner than a tail: beyond any point an exponential tail has a standard
    deviation that equals its mean, a heavier one a larger one. Or they have a mode, where a tail
    only falls: an interval that holds more rows than one as wide just inside it.
    """
    excess = sizes[sizes > cut] - cut
    longest = min(SEARCH.short, 1.0 - SEARCH.level_quantile / np.sqrt(excess.shape[0]))
    mean, deviation = _mean_and_deviation(excess)
    short = bool(deviation < longest * mean)
    return short or _has_mode(sizes, cut)


def is_clear(sizes: Rows, cut: float) -> bool:
    """Return whether hardly any row lies half way between the center and those beyond a cut."""
    beyond = sizes[sizes > cut]
    far = median(beyond)
    between = (sizes > far / 3.0) & (sizes < 2.0 * far / 3.0)
    return bool(count(between) <= SEARCH.clear * beyond.shape[0])


def separation(sizes: Rows, cut: float) -> float:
    """Return the distance between both sides of a cut, in units of how much they vary."""
    beyond = sizes > cut
    outer, outer_deviation = _mean_and_deviation(sizes[beyond])
    inner, inner_deviation = _mean_and_deviation(sizes[~beyond])
    return (outer - inner) / max(outer_deviation + inner_deviation, TINY)


def _mean_and_deviation(x: Rows) -> tuple[float, float]:
    xp = namespace(x)
    return float(xp.mean(x)), float(xp.std(x))


def _has_mode(sizes: Rows, cut: float) -> bool:
    xp = namespace(sizes)
    ascending = _spread_out(xp.sort(sizes))
    far = median(ascending[ascending > cut])
    # All windows at once: for each of them the rows in it, and in the one just inside it.
    x = np.stack([np.linspace(max(0.0, cut - 1.5 * w), far, SEARCH.places) for w in WIDTHS * far])
    edges = np.stack([x + step * (WIDTHS * far)[:, None] for step in range(3)])
    at = on_host(xp.searchsorted(ascending, like(edges.ravel(), ascending))).reshape(edges.shape)
    inner, outer = at[1] - at[0], at[2] - at[1]
    return bool(
        lowest(log_binomial(outer.astype(float), inner.astype(float))) < np.log(SEARCH.mode_level)
    )


def _spread_out(ascending: Rows) -> Rows:
    """Spread equal values evenly over their share of the line, lest a lattice look like modes."""
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
    """Return the additional evidence that rows which stand apart do so on one side.

    Given how far out they lie, the sides of good rows are coin tosses.
    """
    right, left = count(values > cut.cut), count(values < -cut.cut)
    return min(0.0, log_coin(max(right, left), min(right, left)) + float(np.log(2.0)))


def coherence(along: Rows) -> float:
    """Test whether rows point the same way, so that removing them moves the mean.

    `along` holds, for each row of a group, its product with the sum of all others. For good rows
    its sign is a coin; long rows of a heavy tail point anywhere.
    """
    same, opposite = count(along > 0.0), count(along <= 0.0)
    if 1 + opposite > SEARCH.good_share * same:
        return 0.0
    return log_coin(same, opposite)


def log_looks(n: int) -> float:
    """Return the charge for testing every cut: neighbouring cuts hold nearly the same rows."""
    return float(np.log(max(1.0, np.log2(n))))


def _widest_gap(ascending: Rows, beyond: Rows, worth: Rows) -> int:
    """Choose a cut in a wide gap, near where a cut is worth most.

    What a cut is worth is a count, known to the root of the rows beyond it; the wider a gap, the
    more of such errors it may be off.
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
