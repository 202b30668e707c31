"""The looks at the rows that are still there: how far out, along directions, in their metric."""

from dataclasses import replace

import numpy as np
from scipy.sparse.linalg import LinearOperator, cg

from inlier._internal.arrays import (
    among,
    any_true,
    count,
    double,
    highest,
    like,
    mask_of,
    median,
    namespace,
    pieces,
    total,
)
from inlier._internal.numbers import TINY
from inlier._internal.typing import Array, Rows
from inlier.data import as_table
from inlier.linalg.eigenpairs import Oracle
from inlier.search import significance
from inlier.search.pursuit import pursue
from inlier.search.screening import worth_testing
from inlier.search.settings import SEARCH
from inlier.search.significance import Cut
from inlier.search.state import Candidate, Line, Near, SearchState, unit
from inlier.search.whitening import White, centered_rows, chosen_rows, whitened


def by_distance(oracle: Oracle, found: SearchState, near: Near) -> Candidate | None:
    """Find rows that stand apart, or are many and point the same way; at most four passes."""
    kept = found.kept
    # Evidence is in distances that treat all rows alike; the rule has to hold for other rows too.
    sizes, plain = near.sizes(), near.distances**0.5
    # A row that differs by rounding alone is at the center, as it is in another order of the rows.
    xp, rounding = namespace(sizes), SEARCH.roundings * found.noise
    sizes, plain = (xp.where(far <= rounding, 0.0, far) for far in (sizes, plain))
    inside = xp.sort(sizes[kept])  # once for all tests
    gap = significance.gap_test(inside)
    if gap.log_p < SEARCH.log_level and any_true(kept & (plain > gap.cut)):
        return Candidate("apart", gap, plain, near.center)
    # A row at the center itself is near, and not infinitely so.
    typical = median(inside)
    logs = xp.log(xp.clip(inside, max(1e-3 * typical, TINY), None))
    center, tail = significance.excess_test(logs, sides=(1,))
    found.coincide |= typical == 0.0 < highest(inside)
    candidates: list[tuple[str, Cut]] = []
    if tail.log_p < SEARCH.log_level:
        separate = significance.is_no_tail(logs - center, tail.cut)
        cut = replace(tail, cut=float(np.exp(center + tail.cut)), side=0)
        candidates.append(("distance" if separate else "tail", cut))
    if gap.log_p < 0.0:
        candidates.append(("apart", gap))
    for kind, cut in candidates:
        members = kept & (plain > cut.cut)
        if not any_true(members):
            continue
        together = _coherence(oracle, near, members)
        # That rows stand apart and that they point the same way are two pieces of evidence.
        log_p = cut.log_p + together if kind == "apart" else max(cut.log_p, together)
        if log_p < SEARCH.log_level:
            group = Candidate(kind, replace(cut, log_p=log_p), plain, near.center)
            if kind == "apart":
                return group
            return _along(oracle, found, group, members) or group
    return None


def _along(oracle: Oracle, found: SearchState, group: Candidate, members: Rows) -> Candidate | None:
    """Cut a distant group along its direction, if it is better separated there.

    By distance the nearest of its rows and the farthest good ones may overlap.
    """
    turned = _turned(oracle, found, members, None)
    if turned is None:
        return None
    line, cut = turned
    sizes = line.sizes(cut.side)
    kept = found.kept
    by_distance = significance.separation(group.sizes[kept], group.cut.cut)
    if significance.separation(sizes[kept], cut.cut) <= by_distance:
        return None
    point = found.mean + line.center * line.direction
    cut = replace(cut, log_p=group.cut.log_p)
    return Candidate("direction", cut, sizes, point, line.direction)


def _coherence(oracle: Oracle, near: Near, members: Rows) -> float:
    """Test whether rows point the same way, each from a center that leaves it out.

    Seen from one center, all rows would share its error, and with many columns point away from it.
    """
    table = oracle.table
    xp = namespace(members)
    rows = near.half & ~members
    if count(rows) < 4:
        return 0.0
    # By turns in the order of their distances, whatever the order of the rows.
    order = xp.argsort(xp.where(rows, near.distances, np.inf))
    even = mask_of(order[::2], rows.shape[0])
    halves = [double(rows & ~even), double(rows & even)]
    halves = [half / xp.sum(half) for half in halves]
    first, second, summed = table.combine(near.center, xp.stack([*halves, double(members)]))
    others = summed - count(members) * second
    projected = table.project(near.center, np.stack([others, first + second]))
    own = near.distances - projected[1, :] + float(first @ second)
    return significance.coherence((projected[0, :] - float(first @ others) - own)[members])


def by_direction(oracle: Oracle, found: SearchState) -> Candidate | None:
    """Find the clearest group on one side of a direction of large variance."""
    kept, rows = found.kept, found.spectrum.projections
    projected = among(rows, kept)
    varies = found.spectrum.values > found.least_variance * count(kept)
    tested = np.flatnonzero(varies & worth_testing(projected))
    signs = []
    # In pieces, because what a look is made from is many times as large.
    for part in pieces(len(tested), max(1, SEARCH.at_once // projected.shape[1])):
        places = like(tested[part], projected)
        some_signs, coincide = _signs(namespace(projected).take(projected, places, axis=0))
        found.coincide |= coincide
        for j, center, cut in some_signs:
            # Many directions are looked at: the first pays least, all together pay for one look.
            place = int(tested[part][j])
            log_p = cut.log_p + float(np.log((place + 1) * (place + 2)))
            signs.append((log_p, place, center, cut))
    for log_p, where, center, cut in sorted(signs, key=lambda sign: sign[:2])[: SEARCH.most_turned]:
        if log_p >= SEARCH.log_level:
            found.doubt(replace(cut, log_p=log_p))
            break
        start = Line(found.spectrum.vectors[where], rows[where, :], center)
        group = _refined(oracle, found, start, replace(cut, log_p=log_p), None)
        if group is not None:
            return group
    return None


def _signs(projected: Rows) -> tuple[list[tuple[int, float, Cut]], bool]:
    """Test some directions: the center and cut of each, and whether rows coincide."""
    ascending = namespace(projected).sort(projected, axis=1)
    centers, spreads, errors = significance.centers(ascending)
    signs = []
    for j in (int(i) for i in np.flatnonzero(spreads > 0.0)):
        center = float(centers[j])
        one_sided = significance.mirror_test(ascending[j, :], center, float(errors[j]))
        both_sides = significance.gap_test(abs(ascending[j, :] - center))
        sides = significance.same_side(projected[j, :] - center, both_sides)
        both_sides = replace(both_sides, log_p=both_sides.log_p + sides)
        cut = min(one_sided, both_sides, key=lambda cut: cut.log_p)
        signs.append((j, center, cut))
    return signs, bool(significance.coincides(ascending).any())


def by_metric(oracle: Oracle, found: SearchState, random: np.random.Generator) -> Candidate | None:
    """Find a group along directions that are flat or skewed in the metric of the kept rows.

    The directions come from a sample of the rows, the group from all of them.
    """
    white = found.white = whitened(
        oracle.table, found.mean, found.kept, found.least_variance, random
    )
    looks = pursue(white.rows, random)
    found.doubt(min((replace(look[3], log_p=look[0]) for look in looks), key=lambda cut: cut.log_p))
    clear = [look for look in looks if look[0] < SEARCH.log_level][: SEARCH.most_turned]
    if not clear:
        return None
    directions = white.directions(np.stack([mixing for _, mixing, _, _ in clear]))
    lengths = np.linalg.norm(directions, axis=1)
    directions /= lengths[:, None]
    projected = oracle.table.project(found.mean, directions)
    for i, (log_p, _, center, cut) in enumerate(clear):
        length = float(lengths[i])
        start = Line(directions[i], projected[i, :], center / length)
        cut = replace(cut, log_p=log_p, cut=cut.cut / length)
        group = _refined(oracle, found, start, cut, white)
        if group is not None:
            return group
    return None


def _refined(
    oracle: Oracle, found: SearchState, line: Line, cut: Cut, white: White | None
) -> Candidate | None:
    """Turn a direction towards the mean of the group that it shows, and cut again there.

    The evidence stays that of the first direction, which was not chosen for its group. A group on
    one side must be no mere tail. Two passes for each turn.
    """
    kept = found.kept
    log_p, sizes = cut.log_p, line.sizes(cut.side)
    members = kept & (sizes > cut.cut)
    for _ in range(SEARCH.turns if cut.side else 0):
        turned = _turned(oracle, found, members, white)
        if turned is None:
            break
        (line, cut), before = turned, members
        sizes = line.sizes(cut.side)
        members = kept & (sizes > cut.cut)
        # A group that is found in the metric is cut once more, along the discriminant of all rows.
        few = SEARCH.moved * count(before) if white is not None else 0.0
        if count(members != before) <= few:
            break
    if cut.side and not significance.is_no_tail(sizes[kept], cut.cut):
        found.tail = max(found.tail, count(members))
        return None
    few = count(kept) - count(members) < (1.0 - SEARCH.large) * kept.shape[0]
    if few and cut.side and not significance.is_clear(sizes[kept], cut.cut):
        # It would hang on the numbers alone which rows are the good ones.
        found.unclear = max(found.unclear, count(members))
        return None
    kind = "direction" if white is None else "metric"
    point = found.mean + line.center * line.direction
    return Candidate(kind, replace(cut, log_p=log_p), sizes, point, line.direction)


def _turned(
    oracle: Oracle, found: SearchState, members: Rows, white: White | None
) -> tuple[Line, Cut] | None:
    """Return the direction from the other rows to a group, and its cut, if there is one."""
    rest = found.kept & ~members
    difference = double(members) / count(members) - double(rest) / count(rest)
    offset = oracle.table.combine(found.mean, difference[None, :])[0]
    direction = unit(offset if white is None else white.discriminant(offset))
    rows = oracle.table.project(found.mean, direction[None])[0, :]
    center, cut = significance.excess_test(rows[found.kept], sides=(1,))
    return (Line(direction, rows, center), cut) if cut.log_p < SEARCH.log_level else None


def polished(
    oracle: Oracle,
    found: SearchState,
    white: White,
    group: Candidate,
    members: Rows,
    random: np.random.Generator,
) -> list[Candidate]:
    """Test the rows of a group again, in the metric of the kept rows.

    A direction of the data is not where a group is clearest if the others vary unevenly. Along
    Fisher's discriminant a row that was taken may turn out to lie well inside, and one that was
    left to lie far outside. A group that is much wider than the others is looked at as two.
    """
    if group.direction is None or group.cut.side == 0:
        return [group]
    table, mean = oracle.table, found.mean
    chosen = chosen_rows(table, members, SEARCH.most_pursued, random)
    inside = as_table(white.shrunk(centered_rows(table, chosen, mean)))
    ones = inside.constant(1.0)
    offset = inside.mean(ones, np.zeros(inside.shape[1]))
    widest = Oracle(inside, random).top_rough(offset, ones)
    halves = [members]
    if widest.values[0] > SEARCH.wide**2 * len(chosen):
        wide = widest.vectors[0]
        direction = white.directions((np.sqrt(white.shrinkage) * wide)[None])
        positive = table.project(mean, direction)[0, :] > float(wide @ offset)
        halves = [members & positive, members & ~positive]
    shares = namespace(members).stack([double(half) / count(half) for half in halves])
    offsets = table.combine(mean, shares)
    directions = np.stack([_discriminant(oracle, found, white, offset) for offset in offsets])
    projected = table.project(mean, directions)
    parts = []
    for i, half in enumerate(halves):
        center, cut = significance.excess_test(projected[i, :][found.kept | half], sides=(1,))
        if cut.log_p >= SEARCH.log_level:
            return [group]
        line = Line(directions[i], projected[i, :], center)
        point = mean + center * directions[i]
        cut = replace(cut, log_p=group.cut.log_p)
        parts.append(Candidate(group.kind, cut, line.sizes(1), point, directions[i]))
    return parts


def _discriminant(oracle: Oracle, found: SearchState, white: White, offset: Array) -> Array:
    """Return Fisher's discriminant: the offset, times the inverse covariance of the kept rows.

    If the metric is that of a sample, it preconditions a few steps of conjugate gradients with all
    rows, one pass each.
    """
    d, m = len(offset), count(found.kept)
    if not white.sampled:
        return unit(white.discriminant(offset))
    weights = double(found.kept)

    def covariance(v: Array) -> Array:
        image = oracle.table.moment(found.mean, weights, v[None], drift=False).image
        return np.asarray(image[0] / m)

    solution, _ = cg(
        LinearOperator((d, d), covariance, dtype=np.float64),
        offset,
        M=LinearOperator((d, d), white.discriminant, dtype=np.float64),
        rtol=SEARCH.discriminant_error,
        maxiter=SEARCH.discriminant_passes,
    )
    return unit(solution)


def is_uneven(found: SearchState, near: Near) -> bool:
    """Return whether whitening could show more, and is affordable."""
    d, m = len(found.mean), count(found.kept)
    if not 2 <= d <= SEARCH.most_columns or m < max(SEARCH.fewest_rows, _fewest_rows(d)):
        return False
    offset = found.mean - near.center
    squares = total(namespace(found.kept).where(found.kept, near.distances, 0.0))
    noise = (squares - m * float(offset @ offset)) / d * (1.0 + np.sqrt(d / m)) ** 2
    return bool(found.spectrum.values[0] > SEARCH.anisotropic * noise)


def _fewest_rows(d: int) -> int:
    """Return the rows from which on whitening costs about as much as the passes over them."""
    return 0 if d <= SEARCH.few_columns else SEARCH.rows_per_column * d
