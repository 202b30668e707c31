"""Is a part of the rows a group of its own? One-dimensional tests that assume no distribution.

A row enters by one number: how far out it lies in some direction, or from the centre. Good rows may
have any scale and any tail; they are asked to be symmetric about their centre, no more. So the
rows on one side predict how many good ones there are on the other, and the surplus is the group:

    p  the fraction of rows as far out on the opposite side: what good rows do
    h  the fraction of rows that would leave on this side

p / h estimates the share of good rows among those that leave. The logic is that of the false
discovery rate (Benjamini and Hochberg 1995) with a mirror image as the null, as in Barber and
Candes (2015). A group of any size has to show at a level that clean data hardly ever reaches.

All probabilities are logarithms. Nothing here reads the data.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from inlier._typing import Array, Mask

# The two constants of the choice.
LEVEL = 1e-4
"""A clean table shows a group as clear as the ones that leave with about this probability."""
GOOD_SHARE = 0.25
"""At most this share of the rows beyond the cut may be good ones, judged by their mirror image."""

LOG_LEVEL = float(np.log(LEVEL))
LEVEL_QUANTILE = -float(ndtri(LEVEL))
"""Of the standard Gaussian, at that level."""
# Standard deviation over mean of what lies beyond a cut: clearly below the 1 of an exponential.
SHORT = 0.75
# The centre is known to two standard errors: the mirror is moved by so much to the safe side.
STANDARD_ERRORS = 2.0
# A gap is measured by so many of the spacings just below it, or the root of the number of rows.
MOST_SPACINGS = 20
FEWEST_SPACINGS = 5
# A redescending mean: rows beyond two standard deviations have no say in where the centre is.
REACH = 2.0
# Standard deviation of a Gaussian over that of its middle half.
GAUSSIAN_HALF = 2.65
# Half way between two groups lies at most this fraction of the smaller one, if they are clear.
CLEAR = 0.125
# Where a second mode is looked for: widths as fractions of how far out it lies, and places. The
# windows overlap, so each is tested at a level that makes a mode by chance in any of them unlikely.
WIDTHS = np.linspace(0.15, 0.6, 6)
PLACES = 40
LOG_MODE_LEVEL = float(np.log(1e-3))


@dataclass(frozen=True)
class Cut:
    """Where a group begins.

    Attributes
    ----------
    log_p : float
        Logarithm of the chance that good rows alone look like that; 0 if there is no group.
    cut : float
        Larger sizes belong to the group.
    side : int
        +1 or -1: the side of the centre; 0 for both.
    share : float
        p / h: the share of the group's rows that good ones account for.
    """

    log_p: float = 0.0
    cut: float = np.inf
    side: int = 1
    share: float = 1.0


NOTHING = Cut()


def centers(values: Array) -> tuple[Array, Array, Array]:
    """Centre, spread and standard error of the centre, for each row of ascending values (k x n).

    The mean of the half with the least variance (least trimmed squares) finds the majority even
    if two fifths of the values sit elsewhere; from there a redescending mean (Tukey's bisquare)
    takes the precision that a half lacks. A spread of zero means that a quarter of all values or
    more coincide there, or that few values occur at all; then nothing can be said about the rest.
    """
    k, n = values.shape
    half = n // 2 + 1
    middle = values[:, n // 2, None]
    z = values - middle
    zeros = np.zeros((k, 1))
    sums = np.concatenate([zeros, np.cumsum(z, axis=1)], axis=1)
    squares = np.concatenate([zeros, np.cumsum(z * z, axis=1)], axis=1)
    s1 = sums[:, half:] - sums[:, :-half]
    variance = squares[:, half:] - squares[:, :-half] - s1 * s1 / half
    best = np.argmin(variance, axis=1)[:, None]
    center = np.take_along_axis(s1, best, 1) / half
    spread = np.sqrt(np.maximum(np.take_along_axis(variance, best, 1), 0.0) / half) * GAUSSIAN_HALF
    # Where a quarter of all values is one value in the midst of that half, it is no scale.
    quarter = max(1, n // 4)
    inside = np.take_along_axis(z, best + np.arange(half), 1)
    width = np.min(inside[:, quarter:] - inside[:, :-quarter], axis=1, keepdims=True)
    smallest = 1e-9 * (z[:, -1:] - z[:, :1])
    spread = np.where(width > smallest, spread, 0.0)
    # Nor is there one where only a few values occur at all.
    distinct = 1 + np.sum(np.diff(z, axis=1) > smallest, axis=1, keepdims=True)
    spread = np.where(distinct**2 > n, spread, 0.0)
    reach = REACH * np.where(spread > 0.0, spread, 1.0)
    for _ in range(20):
        u = np.clip((z - center) / reach, -1.0, 1.0)
        weight = (1.0 - u * u) ** 2
        total = np.maximum(np.sum(weight, axis=1, keepdims=True), np.finfo(np.float64).tiny)
        moved = np.sum(weight * z, axis=1, keepdims=True) / total
        moved = np.where(spread > 0.0, moved, center)
        done = np.all(np.abs(moved - center) <= 1e-6 * reach)
        center = moved
        if done:
            break
    u = np.clip((z - center) / reach, -1.0, 1.0)
    pull = np.sum((u * (1.0 - u * u) ** 2) ** 2, axis=1, keepdims=True)
    slope = np.sum((1.0 - u * u) * (1.0 - 5.0 * u * u), axis=1, keepdims=True)
    error = np.where(spread > 0.0, reach * np.sqrt(pull) / np.maximum(slope, 0.05 * n), 0.0)
    return (middle + center)[:, 0], spread[:, 0], error[:, 0]


def quarter_coincides(ascending: Array) -> Mask:
    """Whether a quarter of the values of each row (k x n) are one value."""
    quarter = max(1, ascending.shape[1] // 4)
    width = np.min(ascending[:, quarter:] - ascending[:, :-quarter], axis=1)
    same: Mask = width <= 1e-9 * (ascending[:, -1] - ascending[:, 0])
    return same


def log_binomial(more: Array, fewer: Array) -> Array:
    """Chernoff's bound on the chance that a fair coin gives at least so many heads."""
    more, fewer = np.asarray(more, float), np.asarray(fewer, float)
    n = np.maximum(more + fewer, 1.0)
    share = np.clip(more / n, 1e-300, 1.0)
    rest = np.clip(fewer / n, 1e-300, 1.0)
    bound = -(more * np.log(2.0 * share) + fewer * np.log(2.0 * rest))
    return np.where(more > fewer, bound, 0.0)


def mirror(values: Array, center: float, error: float, sides: tuple[int, ...] = (1, -1)) -> Cut:
    """The side of ascending values that has a surplus over its mirror image."""
    z = values - center
    best = NOTHING
    right, left = z[z > 0.0], -z[z < 0.0][::-1]
    for side in sides:
        here, there = (right, left) if side > 0 else (left, right)
        if len(here) < 2:
            continue
        beyond = np.arange(len(here), 0, -1)
        # A centre that is off by e moves a mirror image by 2 e.
        safe = len(there) - np.searchsorted(there, here - 2.0 * STANDARD_ERRORS * error)
        pure = 1 + safe <= GOOD_SHARE * beyond
        if not pure.any():
            continue
        log_p = float(np.where(pure, log_binomial(beyond, safe), 0.0).min())
        log_p += _looks(len(values))
        if log_p >= best.log_p:
            continue
        mirrored = len(there) - np.searchsorted(there, here)
        worth = beyond - (1.0 + mirrored) / GOOD_SHARE
        worth[: int(np.argmax(pure))] = -np.inf
        at = _widest_gap(here, beyond, worth)
        cut = float(here[at - 1] + here[at]) / 2.0
        best = Cut(log_p, cut, side, float(1 + mirrored[at]) / float(beyond[at]))
    return best


def surplus(values: Array, sides: tuple[int, ...] = (1, -1)) -> tuple[float, Cut]:
    """The centre of values in any order, and the side of it that has a surplus."""
    ascending = np.sort(values)
    center, spread, error = centers(ascending[None])
    if spread[0] == 0.0:
        return float(center[0]), NOTHING
    return float(center[0]), mirror(ascending, float(center[0]), float(error[0]), sides)


def apart(sizes: Array) -> Cut:
    """Whether the largest sizes stand apart from all others, be it a single one.

    Far out, the logarithms of the sizes of good rows have independent exponential spacings,
    whatever power their tail falls with; where it falls faster the spacings shrink. So a gap is
    measured by the spacings just below it (Renyi's representation). It must also be half as wide as
    all that lies between it and the middle of the sizes.
    """
    ascending = np.sort(sizes)
    n = len(ascending)
    # Copies of one row are one size, or their missing spacings would make any gap look large.
    new = np.concatenate([[True], np.diff(ascending) > 1e-9 * ascending[1:]])
    distinct = ascending[new]
    beyond = n - np.flatnonzero(new)
    half, quarter = len(distinct) // 2, len(distinct) // 4
    if len(distinct) < 10 or distinct[quarter] <= 0.0:
        return NOTHING
    logs = np.log(distinct[quarter:])
    middle = half - quarter
    gaps = np.diff(logs)
    spacings = beyond[quarter + 1 :] * gaps
    before = np.arange(len(spacings))
    k = np.minimum(before, max(MOST_SPACINGS, int(np.sqrt(n))))
    sums = np.concatenate([[0.0], np.cumsum(spacings)])
    with np.errstate(divide="ignore", invalid="ignore"):
        typical = np.maximum((sums[before] - sums[before - k]) / k, np.finfo(np.float64).tiny)
        # The ratio of an exponential variable to the mean of k others.
        log_p = -k * np.log1p(spacings / typical / k)
    spread = np.maximum(logs[:-1] - logs[middle], logs[middle] - logs[0])
    wide = (gaps > 0.5 * spread) & (before > middle) & (k >= FEWEST_SPACINGS)
    log_p = np.where(wide, log_p, 0.0)
    at = int(np.argmin(log_p))
    if log_p[at] == 0.0:
        return NOTHING
    cut = float(np.exp((logs[at] + logs[at + 1]) / 2.0))
    return Cut(float(log_p[at]) + float(np.log(len(log_p) - middle)), cut, 0, 0.0)


def is_no_tail(sizes: Array, cut: float) -> bool:
    """Whether the rows beyond a cut are a group of their own: rows may also be skewed.

    Either they end sooner than a tail: beyond any point an exponential tail has a standard
    deviation that equals its mean, a heavier one a larger one. Or they have a mode, where a tail
    only falls: an interval that holds more rows than one as wide just inside it.
    """
    excess = sizes[sizes > cut] - cut
    longest = min(SHORT, 1.0 - LEVEL_QUANTILE / np.sqrt(len(excess)))
    return bool(excess.std() < longest * excess.mean()) or _has_mode(sizes, cut)


def is_clear(sizes: Array, cut: float) -> bool:
    """Whether there is hardly any row half way between the centre and the rows beyond a cut."""
    beyond = sizes[sizes > cut]
    far = float(np.median(beyond))
    between = (sizes > far / 3.0) & (sizes < 2.0 * far / 3.0)
    return bool(between.sum() <= CLEAR * len(beyond))


def separation(sizes: Array, cut: float) -> float:
    """How far apart the rows on both sides of a cut are, in units of how much they vary."""
    beyond = sizes > cut
    outer, inner = sizes[beyond], sizes[~beyond]
    varying = max(float(outer.std() + inner.std()), float(np.finfo(np.float64).tiny))
    return float(outer.mean() - inner.mean()) / varying


def _has_mode(sizes: Array, cut: float) -> bool:
    ascending = _spread_out(np.sort(sizes))
    far = float(np.median(ascending[ascending > cut]))
    for width in WIDTHS * far:
        x = np.linspace(max(0.0, cut - 1.5 * width), far, PLACES)
        at = np.searchsorted(ascending, np.stack([x, x + width, x + 2.0 * width]))
        inner, outer = at[1] - at[0], at[2] - at[1]
        if float(log_binomial(outer, inner).min()) < LOG_MODE_LEVEL:
            return True
    return False


def _spread_out(ascending: Array) -> Array:
    """Equal values spread evenly over their share of the line, lest a lattice look like modes."""
    values, first, counts = np.unique(ascending, return_index=True, return_counts=True)
    if len(values) < 2 or counts.max() == 1:
        return ascending
    between = (values[1:] + values[:-1]) / 2.0
    low = np.concatenate([[2.0 * values[0] - between[0]], between])
    high = np.concatenate([between, [2.0 * values[-1] - between[-1]]])
    place = (np.arange(len(ascending)) - np.repeat(first, counts) + 0.5) / np.repeat(counts, counts)
    return np.asarray(np.repeat(low, counts) + place * np.repeat(high - low, counts))


def same_side(values: Array, cut: Cut) -> float:
    """The additional evidence that rows which stand apart do so on one side.

    Given how far out they lie, the sides of good rows are coin tosses.
    """
    right = int((values > cut.cut).sum())
    left = int((values < -cut.cut).sum())
    log_p = float(log_binomial(np.array(max(right, left)), np.array(min(right, left))))
    return min(0.0, log_p + float(np.log(2.0)))


def coherence(along: Array) -> float:
    """Whether rows point the same way: the evidence that their leaving moves the mean.

    Parameters
    ----------
    along : array
        For each row of a group, its product with the sum of all other rows of the group. For good
        rows its sign is a coin; long rows of a heavy tail point anywhere.
    """
    same, opposite = int((along > 0.0).sum()), int((along <= 0.0).sum())
    if 1 + opposite > GOOD_SHARE * same:
        return 0.0
    return float(log_binomial(np.array(same), np.array(opposite)))


def _looks(n: int) -> float:
    """The charge for looking at every cut: neighbouring cuts hold nearly the same rows."""
    return float(np.log(max(1.0, np.log2(n))))


def _widest_gap(ascending: Array, beyond: Array, worth: Array) -> int:
    """Where to cut: in a wide gap, not far from where a cut is worth most.

    What a cut is worth is a count, known to the root of the rows beyond it; the wider a gap, the
    more of such errors it may be off.
    """
    best = int(np.argmax(worth))
    off = (worth[best] - worth) / np.sqrt(beyond[best])
    gaps = np.diff(ascending, prepend=ascending[0])
    with np.errstate(divide="ignore"):
        merit = np.where(np.isfinite(off), np.log(gaps) - off**2, -np.inf)
    at = int(np.argmax(merit))
    return at if merit[at] > -np.inf else max(1, best)
