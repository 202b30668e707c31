"""The search by symmetry: groups are removed, one after the other, while there is evidence.

Each round tests the kept rows in three ways, from the simplest to the costliest, and stops at the
first that finds a group:

    distance       rows that stand apart, or more rows far from the center than near it, if they
                   also point the same way: the long rows of a heavy tail do not
    directions     of large variance, on one side of which there is a surplus that is no tail
    metric         the same along directions that are flat or skewed in the metric of the rows, if
                   they vary more in some directions than in others

Every one of these tests depends on the rows only through their distances and second moments, which
do not change if a row is reflected in the center. So for good rows, if they are symmetric, the side
on which a row lies stays a coin toss, however the direction was found and in any dimension. (The
search in the metric is the exception, and is corrected for it.)

A group is refused if hardly more than half of the rows would be kept: the majority is good, but a
narrow one proves nothing. If fewer than two thirds would be kept, it must be well separated.
`noise.py` tests whether the kept rows are symmetric and have one mode, as the search assumes.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
from scipy.sparse.linalg import LinearOperator, cg

from inlier._internal.arrays import (
    among,
    any_true,
    count,
    double,
    like,
    mask_of,
    middles,
    namespace,
    on_host,
    pieces,
    sort_in_place,
    total,
)
from inlier._internal.numbers import TINY
from inlier._internal.typing import Array, Mask, Rows
from inlier.data import as_table
from inlier.linalg.eigenpairs import Oracle
from inlier.search import tests, thresholds
from inlier.search.pursuit import White, centered_rows, chosen_rows, pursue, whitened
from inlier.search.state import Candidate, Near, SearchState, Task, remove, unit
from inlier.search.tests import NOTHING, Cut

# Bins of the screening: widths of the logarithm of the size, in standard deviations of the middle
# half.
WIDTH, LOW, HIGH = 0.01, -3.0, 6.0
# Bins by which the center of a sample may be off, where bins are wider than its error.
MARGIN = 2
# Bins that a gap in the sizes spans at least: half of the way from their quartile to their median.
GAP = 32


def symmetric(task: Task, first: SearchState) -> SearchState:
    """Remove groups while there is evidence for one, if good rows are symmetric about a center."""
    found = first.copy()
    while len(found.groups) < thresholds.MOST_GROUPS:
        found.doubtful, found.tail, found.unclear, found.coincide = NOTHING, 0, 0, False
        group = by_distance(task, found)
        if found.skewed:
            return found
        group = group or by_direction(task, found)
        if group is None and task.metric and is_uneven(found):
            group = by_metric(task, found)
        if group is None or remove(task, found, group) is None:
            break
        found.near = found.near.updated(task.oracle, found.kept)
    if not (task.metric and found.groups and is_uneven(found)):
        return found
    # Remove the groups once more, each tested without the others in the metric of the kept rows:
    # there a removed row may turn out to lie well inside, and a kept one far outside.
    signs = {name: getattr(found, name) for name in ("refused", "doubtful", "tail", "unclear")}
    again = replace(first.copy(), coincide=found.coincide, **signs)
    white = found.white or _whitened(task, found)
    discriminant = partial(_discriminant, task.oracle, found, white)
    for group, record in zip(found.candidates, found.groups, strict=True):
        halves = []
        if group.direction is not None and group.cut.side:
            halves = _halves(task, found, white, mask_of(record.rows, len(found.kept)))
        turned = [_turned(task, found, half, discriminant) for half in halves]
        parts = [part for part in turned if part is not None]
        for part in parts if parts and len(parts) == len(halves) else [group]:
            if any_true(part.among(again.kept)):
                remove(task, again, part._replace(kind=group.kind).with_log_p(group.cut.log_p))
    return again


def by_distance(task: Task, found: SearchState) -> Candidate | None:
    """Find rows that stand apart, or many rows that point the same way; at most four passes."""
    kept, near = found.kept, found.near
    # A row that differs by rounding alone is at the center, in any order of the rows.
    xp, rounding = namespace(kept), thresholds.NOISE_ROUNDINGS * found.noise

    def rounded(far: Rows) -> Rows:
        return xp.where(far <= rounding, 0.0, far)

    def apart(kind: str, cut: Cut) -> Candidate:
        # The evidence takes distances that treat all rows alike; the rule holds for new rows too.
        return Candidate(kind, cut, rounded(near.distances**0.5), near.center)

    inside = sort_in_place(rounded(near.sizes())[kept])  # once for all tests
    gap = tests.gap_test(inside)
    if gap.log_p < thresholds.LOG_LEVEL and any_true((group := apart("apart", gap)).among(kept)):
        return group
    # The logarithm of the distance of a row at the center would be infinite.
    typical = float(middles(inside[None, :])[0])
    found.coincide |= typical == 0.0 < float(inside[-1])
    inside = xp.clip(inside, max(1e-3 * typical, TINY), None)
    logs = xp.log(inside)
    del inside  # as large as a column
    center, tail = tests.excess_test(logs)
    cuts: list[tuple[str, Cut]] = []
    if tail.log_p < thresholds.LOG_LEVEL:
        separate = tests.is_no_tail(logs - center, tail.cut)
        cut = replace(tail, cut=float(np.exp(center + tail.cut)), side=0)
        cuts.append(("distance" if separate else "tail", cut))
    if gap.log_p < 0.0:
        cuts.append(("apart", gap))
    for kind, cut in cuts:
        group = apart(kind, cut)
        members = group.among(kept)
        if not any_true(members):
            continue
        together = _coherence(task.oracle, near, members)
        # To stand apart and to point the same way are independent pieces of evidence.
        log_p = cut.log_p + together if kind == "apart" else max(cut.log_p, together)
        if log_p >= thresholds.LOG_LEVEL:
            continue
        group = group.with_log_p(log_p)
        # By distance the nearest rows of a group and the farthest good ones may overlap.
        along = None if kind == "apart" else _turned(task, found, members)
        if kind == "tail" and not task.tails:
            if along is None or not _is_no_tail(task, found, along):
                found.skewed = True
                return None
            return along.with_log_p(log_p)
        if along is None:
            return group
        before, after = (tests.separation(g.sizes[kept], g.cut.cut) for g in (group, along))
        return along.with_log_p(log_p) if after > before else group
    return None


def _coherence(oracle: Oracle, near: Near, members: Rows) -> float:
    """Test whether rows point the same way, each relative to a center that leaves it out.

    A center that they share would add its error to all rows, which is large with many columns.
    """
    table = oracle.table
    xp = namespace(members)
    rows = near.half & ~members
    if count(rows) < 4:
        return 0.0
    # Alternating in the order of the distances, which does not depend on the order of the rows.
    order = xp.argsort(xp.where(rows, near.distances, np.inf))
    even = mask_of(order[::2], rows.shape[0])
    halves = [double(rows & ~even), double(rows & even)]
    halves = [half / xp.sum(half) for half in halves]
    first, second, summed = table.combine(near.center, xp.stack([*halves, double(members)]))
    others = summed - count(members) * second
    projected = table.project(near.center, np.stack([others, first + second]))
    own = near.distances - projected[1, :] + float(first @ second)
    return tests.coherence((projected[0, :] - float(first @ others) - own)[members])


def by_direction(task: Task, found: SearchState) -> Candidate | None:
    """Find the most significant group on one side of a direction of large variance."""
    kept, spectrum = found.kept, found.spectrum
    varies = np.flatnonzero(spectrum.values > found.least_variance * count(kept))
    signs: list[tuple[Cut, int, float]] = []
    # In pieces, because the intermediate results of a test are many times as large. A pass over
    # many rows projects them onto a few directions, which take less than half of the data's memory.
    at_once = max(1, thresholds.AT_ONCE // count(kept))
    table = task.oracle.table
    few = min(thresholds.PROJECTED, table.shape[1] * table.dtype.itemsize // 16)
    for some in pieces(len(varies), max(few, at_once)):
        places = varies[some]
        signs += _signs(found, places, among(spectrum.along(places), kept), at_once)
    signs.sort(key=lambda sign: (sign[0].log_p, sign[1]))
    for cut, place, center in signs[: thresholds.TURNS]:
        if cut.log_p >= thresholds.LOG_LEVEL:
            found.doubt(cut)
            break
        rows = spectrum.along(np.array([place]))[0, :]
        start = found.candidate("direction", spectrum.vectors[place], rows, center, cut)
        group = _refined(task, found, start, None)
        if group is not None:
            return group
    return None


def _signs(
    found: SearchState, places: Array, projected: Rows, at_once: int
) -> list[tuple[Cut, int, float]]:
    """Test rows along some directions: return cuts, places of the directions, and centers.

    The projected rows are sorted in place.
    """
    signs = []
    tested = np.flatnonzero(may_show_groups(projected))
    for part in pieces(len(tested), at_once):
        chosen = tested[part]
        ascending = projected[int(chosen[0]) : int(chosen[-1]) + 1, :]
        if ascending.shape[0] > len(chosen):  # some between them are left out
            xp = namespace(projected)
            ascending = xp.take(projected, like(chosen, projected), axis=0)
        ascending = sort_in_place(ascending)
        found.coincide |= bool(tests.coincides(ascending).any())
        for j, (center, spread, error) in enumerate(zip(*tests.centers(ascending), strict=True)):
            if spread > 0.0:
                cut = _sign(ascending[j, :], float(center), float(error))
                # Bonferroni-type correction over directions; the first is penalized least.
                place = int(places[chosen[j]])
                log_p = cut.log_p + float(np.log((place + 1) * (place + 2)))
                signs.append((replace(cut, log_p=log_p), place, float(center)))
    return signs


def _sign(ascending: Rows, center: float, error: float) -> Cut:
    """Return the stronger of the evidence for a group on one side and for rows that stand apart."""
    one_sided = tests.mirror_test(ascending, center, error)
    # Distances from the center of ascending values are two runs, which a stable sort only merges.
    both_sides = tests.gap_test(sort_in_place(abs(ascending - center), stable=True))
    sides = tests.same_side(ascending - center, both_sides)
    both_sides = replace(both_sides, log_p=both_sides.log_p + sides)
    return min(one_sided, both_sides, key=lambda cut: cut.log_p)


def by_metric(task: Task, found: SearchState) -> Candidate | None:
    """Find a group along directions that are flat or skewed in the metric of the kept rows.

    The directions come from a sample of the rows, the group from all of them.
    """
    white = found.white = _whitened(task, found)
    tested = pursue(white.rows, task.random)
    found.doubt(min((shown.cut for shown in tested), key=lambda cut: cut.log_p))
    significant = [shown for shown in tested if shown.cut.log_p < thresholds.LOG_LEVEL]
    significant = significant[: thresholds.TURNS]
    if not significant:
        return None
    directions = white.directions(np.stack([shown.direction for shown in significant]))
    lengths = np.linalg.norm(directions, axis=1)
    directions /= lengths[:, None]
    projected = task.oracle.table.project(found.mean, directions)
    for i, (_, center, cut) in enumerate(significant):
        length = float(lengths[i])
        cut = replace(cut, cut=cut.cut / length)
        start = found.candidate("metric", directions[i], projected[i, :], center / length, cut)
        group = _refined(task, found, start, white)
        if group is not None:
            return group
    return None


def _whitened(task: Task, found: SearchState) -> White:
    return whitened(task.oracle.table, found.mean, found.kept, found.least_variance, task.random)


def _refined(
    task: Task, found: SearchState, group: Candidate, white: White | None
) -> Candidate | None:
    """Turn a direction to the mean of the group that it shows, and cut again there.

    The evidence remains that of the first direction, which was not chosen for its group. A group on
    one side must not be a tail. Two passes for each turn.
    """
    kept, log_p = found.kept, group.cut.log_p
    members = group.among(kept)
    for _ in range(thresholds.TURNS if group.cut.side else 0):
        turned = _turned(task, found, members, white and white.discriminant)
        if turned is None:
            break
        group, before = turned, members
        members = group.among(kept)
        # A group found in the metric is cut once more, along the discriminant of all rows.
        few = thresholds.SETTLED_SHARE * count(before) if white is not None else 0.0
        if count(members != before) <= few:
            break
    sizes, cut = group.sizes[kept], group.cut
    if cut.side and not _is_no_tail(task, found, group):
        found.tail = max(found.tail, count(members))
        return None
    few = count(kept) - count(members) < (1.0 - thresholds.LARGE) * kept.shape[0]
    if few and cut.side and not tests.is_well_separated(sizes, cut.cut):
        # Group sizes alone would decide which side is good.
        found.unclear = max(found.unclear, count(members))
        return None
    return group.with_log_p(log_p)


def _is_no_tail(task: Task, found: SearchState, group: Candidate) -> bool:
    """Return whether a group has a shape of its own, or is unlike the others elsewhere."""
    table, sizes = task.oracle.table, group.sizes
    if tests.is_no_tail(sizes[found.kept], group.cut.cut):
        return True
    rows = chosen_rows(table, found.kept, thresholds.FEWEST_PURSUED, task.random)
    d = table.shape[1]
    # Of few columns little is elsewhere: clean rows with skewed factors were taken there.
    if d < 2 * thresholds.MINORITY_COLUMNS or len(rows) < thresholds.ROWS_PER_COLUMN * d:
        return False
    along = on_host(namespace(sizes).take(sizes, like(rows, sizes)))
    centered = on_host(centered_rows(table, rows, found.mean))
    return tests.is_nearer_elsewhere(centered, along, group.cut.cut)


def _turned(
    task: Task,
    found: SearchState,
    members: Rows,
    discriminant: Callable[[Array], Array] | None = None,
) -> Candidate | None:
    """Cut a group off along the direction from the other rows to it, if there is evidence.

    In a metric, along Fisher's discriminant of this offset. The group may have been removed.
    """
    rest = found.kept & ~members
    difference = double(members) / count(members) - double(rest) / count(rest)
    offset = task.oracle.table.combine(found.mean, difference[None, :])[0]
    direction = unit(offset if discriminant is None else discriminant(offset))
    rows = task.oracle.table.project(found.mean, direction[None])[0, :]
    center, cut = tests.excess_test(sort_in_place(rows[found.kept | members]))
    if cut.log_p >= thresholds.LOG_LEVEL:
        return None
    kind = "direction" if discriminant is None else "metric"
    return found.candidate(kind, direction, rows, center, cut)


def _halves(task: Task, found: SearchState, white: White, members: Rows) -> list[Rows]:
    """Divide a group in two if it is much wider than the kept rows, in their metric."""
    table, mean, random = task.oracle.table, found.mean, task.random
    chosen = chosen_rows(table, members, thresholds.MOST_PURSUED, random)
    inside = as_table(white.shrunk(centered_rows(table, chosen, mean)))
    ones = inside.constant(1.0)
    offset = inside.mean(ones, np.zeros(inside.shape[1]))
    widest = Oracle(inside, random).top_rough(offset, ones)
    if widest.values[0] <= thresholds.WIDE**2 * len(chosen):
        return [members]
    wide = widest.vectors[0]
    direction = white.directions((np.sqrt(white.shrinkage) * wide)[None])
    positive = table.project(mean, direction)[0, :] > float(wide @ offset)
    return [members & positive, members & ~positive]


def _discriminant(oracle: Oracle, found: SearchState, white: White, offset: Array) -> Array:
    """Multiply an offset by the inverse covariance of all kept rows: Fisher's discriminant.

    The metric of a sample preconditions a few steps of conjugate gradients, one pass each.
    """
    if not white.sampled:
        return white.discriminant(offset)
    d, m, weights = len(offset), count(found.kept), double(found.kept)

    def covariance(v: Array) -> Array:
        image = oracle.table.moment(found.mean, weights, v[None], drift=False).image
        return np.asarray(image[0] / m)

    solution, _ = cg(
        LinearOperator((d, d), covariance, dtype=np.float64),
        offset,
        M=LinearOperator((d, d), white.discriminant, dtype=np.float64),
        rtol=thresholds.DISCRIMINANT_ERROR,
        maxiter=thresholds.DISCRIMINANT_PASSES,
    )
    return np.asarray(solution)


def is_uneven(found: SearchState) -> bool:
    """Return whether whitening could show more, and is affordable."""
    d, m, near = len(found.mean), count(found.kept), found.near
    # With many columns, whitening costs more than passes over few rows.
    affordable = d <= 1024 or (d <= 4096 and m >= thresholds.ROWS_PER_COLUMN * d)
    if d < 2 or m < 5 * thresholds.WINDOW or not affordable:
        return False
    offset = found.mean - near.center
    squares = total(namespace(found.kept).where(found.kept, near.distances, 0.0))
    noise = (squares - m * float(offset @ offset)) / d * (1.0 + np.sqrt(d / m)) ** 2
    return bool(found.spectrum.values[0] > thresholds.ANISOTROPIC * noise)


# -- screening of directions ----------------------------------------------------------------------


def may_show_groups(projected: Rows) -> Mask:
    """Return which rows of a k x n array of values may show a group; all, if n is small.

    In a large table most directions show nothing, and to sort the rows along each of them would
    dominate the cost. Counts in bins bound every test from its optimistic side: a direction that is
    screened out would show no group, and not even a doubtful one, in the test of all values.
    """
    xp = namespace(projected)
    k, n = projected.shape
    if n < thresholds.SCREENED_ROWS or not hasattr(xp, "bincount"):
        return np.ones(k, dtype=np.bool_)
    thin = xp.sort(projected[:, :: n // thresholds.SCREENED_ROWS], axis=1)
    middles, spreads, _ = tests.centers(thin)
    # Where a fifth of a sample coincides, a quarter of all values may.
    odd = (spreads <= 0.0) | tests.coincides(thin, 0.2)
    spreads = np.where(spreads > 0.0, spreads, 1.0)
    counts = _counts(projected, middles, spreads)
    # One side may exceed its mirror image, for some cut within a bin.
    beyond = np.cumsum(counts[..., ::-1], axis=-1)[..., ::-1]
    mirrored = np.zeros_like(beyond)
    mirrored[..., : -MARGIN - 1] = beyond[:, ::-1, MARGIN + 1 :]
    pure = 1.0 + mirrored <= thresholds.GOOD_SHARE * beyond
    log_p = np.where(pure, tests.log_binomial(beyond, mirrored), 0.0) + tests.log_cuts(n)
    skewed = log_p.min(axis=(1, 2)) < np.log(thresholds.LEVEL)
    # Consecutive bins between the quartile of the sizes and the largest are empty.
    sizes = counts.sum(axis=1)
    inside = np.cumsum(sizes, axis=1)
    between = (inside > n / 4.0) & (inside < n)
    unchanged = inside[:, GAP:] == inside[:, :-GAP]
    gap = (unchanged & between[:, GAP:]).any(axis=1) | (sizes[:, -1] > 0.0)
    return np.asarray(odd | skewed | gap)


def _counts(values: Rows, middles: Array, spreads: Array) -> Array:
    """Count sizes in bins: k x 2 x bins, above the middle and below it."""
    xp, (k, n) = namespace(values), values.shape
    n_bins = round((HIGH - LOW) / WIDTH)
    counts = np.zeros(2 * k * n_bins)
    # In pieces, because the bins of all values take several times their memory.
    on_device = not isinstance(values, np.ndarray)
    at_once = 1 << 24 if on_device else thresholds.AT_ONCE // 8  # a device waits for each piece
    for part in pieces(n, max(1, at_once // k)):
        off = (values[:, part] - like(middles[:, None], values)) / like(spreads[:, None], values)
        with np.errstate(divide="ignore"):
            place = xp.log(xp.astype(abs(off), xp.float32)) * (1.0 / WIDTH) - LOW / WIDTH
        place = xp.astype(xp.clip(place, 0.0, n_bins - 1.0), xp.int64)
        view = 2 * like(np.arange(k)[:, None], place) + xp.astype(off < 0.0, xp.int64)
        flat = xp.reshape(view * n_bins + place, (-1,))
        counts += on_host(xp.bincount(flat, minlength=2 * k * n_bins))
    return counts.reshape(k, 2, n_bins)
