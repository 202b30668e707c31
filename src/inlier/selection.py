"""No sigma and no alpha: rows leave in groups, as long as there is evidence for one.

What is left fixes sigma. Each round looks at the rows that are still there in three ways, from the
simplest to the costliest, and stops at the first that finds a group:

    how far out    rows that stand apart, or more rows far from the centre than near it, if they
                   also point the same way: the long rows of a heavy tail do not
    directions     of large variance, on one side of which there is a surplus that is no tail
    metric         the same along directions that are flat or skewed in the metric of the rows, if
                   they vary more in some directions than in others

Every one of these looks depends on the rows only through their distances and second moments, which
do not change if a row is reflected in the centre. So for good rows, if they are symmetric, the side
on which a row lies stays a coin toss, however the direction was searched for and in any dimension.
(The search in the metric is the exception, and is charged for it.)

A group that would leave fewer than half of the rows is refused: the majority is good. If fewer than
two thirds would be left, it must be clear of the others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from inlier import evidence
from inlier._typing import Array, Mask
from inlier.evidence import LOG_LEVEL, NOTHING, Cut
from inlier.problem import Subspace, packing_bound, scores
from inlier.projection import Within
from inlier.pursuit import WINDOW, pursue
from inlier.result import Certificate, Group, PathPoint, Step
from inlier.spectral import DENSE, Oracle, Spectrum
from inlier.surrogates import L1

# Rounds of the search; each but the last removes a group.
MOST_GROUPS = 30
# Passes of the oracle in a round, where the whole spectrum would be too dear.
ROUND_PASSES = 4
# The largest eigenvalue of white noise, by the law of Marchenko and Pastur, times this: above it
# the rows vary more in some directions than in others.
ANISOTROPIC = 1.3
# Whitening takes the whole spectrum, and memory: rows times columns.
MOST_COLUMNS = 512
MOST_WHITENED = 1 << 25
# Directions below this fraction of the largest variance hold rounding, or nothing.
RELATIVE = 1e-10
FEWEST_ROWS = 5 * WINDOW
# A group is looked at as two if somewhere its standard deviation is so many times that of the rest.
WIDE = 2.0
# How far the path goes on below what the kept rows need, to show that the price jumps.
BELOW = 0.7
# The l1 problems of the path are there for their prices: near the optimum will do.
NEARLY_L1 = L1(tau=10.0)
GAP = 1e-2
# How often a direction is turned towards the group that it shows.
TURNS = 3
# If more than this fraction leaves, a group has to be clear of the others.
LARGE = 1.0 / 3.0
TINY = float(np.finfo(np.float64).tiny)


@dataclass
class Selection:
    """What is kept, and how it came to that."""

    kept: Mask
    mean: Array
    spectrum: Spectrum
    """Of the kept rows about their mean."""
    subspace: Subspace
    """The directions in which groups left."""
    groups: list[Group] = field(default_factory=list)
    path: list[PathPoint] = field(default_factory=list)
    refused: Group | None = None
    """A group with evidence that would have left fewer than half of the rows."""
    doubtful: Cut = NOTHING
    """The clearest sign of a further group that was not enough."""


@dataclass(frozen=True)
class Found:
    """A candidate: some of the rows that are still there."""

    kind: str
    cut: Cut
    members: Mask
    """Of all rows."""
    center: Array
    direction: Array | None = None


def select(
    oracle: Oracle,
    start: Array,
    distances: Array,
    random: np.random.Generator,
    metric: bool = True,
    notify: Callable[[Step], None] = lambda step: None,
) -> Selection:
    """Remove groups of rows while there is evidence for one.

    Parameters
    ----------
    oracle : Oracle
    start : array of shape (d,)
        Any robust centre.
    distances : array of shape (n,)
        Squared distances of the rows from it.
    random : numpy.random.Generator
    metric : bool
        Whether to look for skewness in the metric of the rows as well.
    notify : callable
        Called after each round.
    """
    table = oracle.table
    n = table.shape[0]
    kept = np.ones(n, dtype=np.bool_)
    near = start
    for _ in range(2):  # the nearest half forgets a start that is off by sqrt(d)
        near, distances = _nearest_half(oracle, near, distances, kept)
    mean = table.mean(np.ones(n), near)
    found = Selection(kept, mean, _spectrum(oracle, mean, kept), Subspace.empty(n, mean))
    _extend_path(found, 1.0, notify, oracle)
    for _ in range(MOST_GROUPS):
        group = _next_group(oracle, found, near, distances, random, metric)
        if group is None:
            break
        parts = _polished(oracle, found, group) if metric and _uneven(oracle, found) else [group]
        for part in parts:
            _remove(oracle, found, part)
            if found.refused is not None:
                return found
            _extend_path(found, part.cut.share, notify, oracle)
        near, distances = _nearest_half(oracle, near, distances, found.kept)
    return found


def _remove(oracle: Oracle, found: Selection, group: Found) -> None:
    """Take a group out, unless fewer than half of the rows would be left."""
    members = group.members
    left = int(found.kept.sum() - members.sum())
    total = oracle.table.combine(found.mean, members[None].astype(np.float64))[0]
    offset = total / members.sum()
    record = Group(
        kind=group.kind,
        rows=np.flatnonzero(members),
        mean=found.mean + offset,
        direction=group.direction if group.direction is not None else _unit(offset),
        center=group.center,
        cut=group.cut.cut,
        side=group.cut.side,
        log_p=group.cut.log_p,
        share=group.cut.share,
        budget=float(found.spectrum.values[0]),
    )
    if 2 * left < len(members):
        found.refused = record
        return
    found.groups.append(record)
    found.kept = found.kept & ~members
    found.mean = found.mean - total / left
    found.spectrum = _spectrum(oracle, found.mean, found.kept)
    found.subspace = _with_direction(oracle, found.subspace, record.direction)


def _next_group(
    oracle: Oracle,
    found: Selection,
    near: Array,
    distances: Array,
    random: np.random.Generator,
    metric: bool,
) -> Found | None:
    by_distance = _by_distance(oracle, found, near, distances)
    if by_distance is not None:
        return by_distance
    found.doubtful = NOTHING
    group = _by_direction(oracle, found)
    if group is None and metric and _uneven(oracle, found):
        group = _by_metric(oracle, found, random)
    return group


def _by_distance(oracle: Oracle, found: Selection, near: Array, distances: Array) -> Found | None:
    kept = found.kept
    sizes = np.sqrt(distances)
    gap = evidence.apart(sizes[kept])
    if gap.log_p < LOG_LEVEL:
        return Found("apart", gap, kept & (sizes > gap.cut), near)
    # A row at the centre itself is near, and not infinitely so.
    logs = np.log(np.maximum(sizes, max(1e-3 * float(np.median(sizes[kept])), TINY)))
    ascending = np.sort(logs[kept])
    center, spread, error = evidence.centers(ascending[None])
    tail = evidence.mirror(ascending, float(center[0]), float(error[0]), sides=(1,))
    candidates: list[tuple[str, Cut]] = []
    if spread[0] > 0.0 and tail.log_p < LOG_LEVEL:
        separate = evidence.is_no_tail(logs[kept] - center[0], tail.cut)
        cut = replace(tail, cut=float(np.exp(center[0] + tail.cut)), side=0)
        candidates.append(("distance" if separate else "tail", cut))
    if gap.log_p < 0.0:
        candidates.append(("apart", gap))
    for kind, cut in candidates:
        members = kept & (sizes > cut.cut)
        total = oracle.table.combine(near, members[None].astype(np.float64))
        along = oracle.table.project(near, total)[0] - distances
        together = evidence.coherence(along[members])
        # That rows stand apart and that they point the same way are two pieces of evidence.
        log_p = cut.log_p + together if kind == "apart" else max(cut.log_p, together)
        if log_p < LOG_LEVEL:
            return Found(kind, replace(cut, log_p=log_p), members, near)
    return None


def _by_direction(oracle: Oracle, found: Selection) -> Found | None:
    """The clearest group on one side of a direction of large variance; it may be too weak."""
    kept, rows = found.kept, found.spectrum.projections
    seen = rows[:, kept]
    ascending = np.sort(seen, axis=1)
    centers, spreads, errors = evidence.centers(ascending)
    signs = []
    for j in np.flatnonzero(spreads > 0.0):
        one_sided = evidence.mirror(ascending[j], float(centers[j]), float(errors[j]))
        both_sides = evidence.apart(np.abs(seen[j] - centers[j]))
        sides = evidence.same_side(seen[j] - centers[j], both_sides)
        both_sides = replace(both_sides, log_p=both_sides.log_p + sides)
        cut = min(one_sided, both_sides, key=lambda cut: cut.log_p)
        # Many directions are looked at: the first pays least, and all together pay for one look.
        signs.append((cut.log_p + float(np.log((j + 1) * (j + 2))), int(j), cut))
    for log_p, where, cut in sorted(signs, key=lambda sign: sign[:2]):
        if log_p >= LOG_LEVEL:
            found.doubtful = min(found.doubtful, replace(cut, log_p=min(0.0, log_p)), key=_log_p)
            break
        start = Line(found.spectrum.vectors[where], rows[where], float(centers[where]))
        group = _refined(oracle, found, start, replace(cut, log_p=log_p), None)
        if group is not None:
            return group
    return None


def _by_metric(oracle: Oracle, found: Selection, random: np.random.Generator) -> Found | None:
    """The same along directions that are flat or skewed in the metric of the kept rows."""
    kept = found.kept
    white = _whitened(oracle, found.mean, kept)
    whitener, whitened = white.whitener, white.rows
    # Towards the mean of a group in the metric of the rows: Fisher's discriminant.
    precision = whitener.T @ (white.shrinkage[:, None] * whitener)
    for log_p, mixing, center, cut in pursue(whitened[:, kept], random):
        if log_p >= LOG_LEVEL:
            found.doubtful = min(found.doubtful, replace(cut, log_p=log_p), key=_log_p)
            continue
        direction = mixing @ whitener
        length = float(np.linalg.norm(direction))
        start = Line(direction / length, mixing @ whitened / length, center / length)
        cut = replace(cut, log_p=log_p, cut=cut.cut / length)
        group = _refined(oracle, found, start, cut, precision)
        if group is not None:
            return group
    return None


class White(NamedTuple):
    """All rows in coordinates in which some of them vary alike in all directions."""

    rows: Array
    """k x n, in the order of the variance that was divided out."""
    whitener: Array
    """k x d: the rows are these directions times the data, less the mean."""
    shrinkage: Array
    """By how much a variance should be larger than it was measured, as the inverse."""


def _whitened(oracle: Oracle, mean: Array, kept: Mask) -> White:
    m, d = int(kept.sum()), oracle.table.shape[1]
    moment = oracle.table.moment(mean, kept.astype(np.float64), np.eye(d))
    values, vectors = np.linalg.eigh((moment.image + moment.image.T) / (2.0 * m))
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    held = values > RELATIVE * values[0]
    values, vectors = values[held], vectors[:, held]
    rows = vectors.T @ moment.projection
    shrinkage = values / _shrunk(values, rows[:, kept], d)
    roots = np.sqrt(values)[:, None]
    return White(rows / roots, vectors.T / roots, shrinkage)


def _polished(oracle: Oracle, found: Selection, group: Found) -> list[Found]:
    """A last look at the rows of a group and at those beside it, in the metric of the others.

    A direction of the data is not where a group is clearest if the others vary unevenly. Along
    Fisher's discriminant a row that was taken may turn out to lie well inside, and one that was
    left to lie far outside. A group that is much wider than the others is looked at as two.
    """
    if group.direction is None or group.cut.side == 0:
        return [group]
    rest = found.kept & ~group.members
    if rest.sum() < FEWEST_ROWS:
        return [group]
    mean = oracle.table.mean(rest.astype(np.float64), found.mean)
    white = _whitened(oracle, mean, rest)
    rows = white.rows * np.sqrt(white.shrinkage)[:, None]
    inside = rows[:, group.members]
    offset = inside.mean(axis=1, keepdims=True)
    axes, lengths, _ = np.linalg.svd(inside - offset, full_matrices=False)
    halves = [group.members]
    if len(lengths) and lengths[0] ** 2 > WIDE**2 * group.members.sum():
        positive = axes[:, 0] @ (rows - offset) > 0.0
        halves = [group.members & positive, group.members & ~positive]
    parts: list[Found] = []
    taken = np.zeros_like(rest)
    for half in halves:
        direction = _unit(rows[:, half].mean(axis=1) * np.sqrt(white.shrinkage)) @ white.whitener
        length = float(np.linalg.norm(direction))
        seen = oracle.table.project(mean, direction[None] / length)[0]
        among = (rest | half) & ~taken
        ascending = np.sort(seen[among])
        center, spread, error = evidence.centers(ascending[None])
        cut = evidence.mirror(ascending, float(center[0]), float(error[0]), sides=(1,))
        if spread[0] == 0.0 or cut.log_p >= LOG_LEVEL:
            return [group]
        line = Line(direction / length, seen, float(center[0]))
        members = (rest | group.members) & ~taken & _beyond(line, cut)
        if not members.any():
            continue
        taken |= members
        point = mean + line.center * line.direction
        cut = replace(cut, log_p=group.cut.log_p)
        parts.append(Found(group.kind, cut, members, point, line.direction))
    return parts or [group]


class Line(NamedTuple):
    """A direction, and where the rows lie along it, seen from the mean of the kept ones."""

    direction: Array
    rows: Array
    center: float


def _refined(
    oracle: Oracle, found: Selection, line: Line, cut: Cut, precision: Array | None
) -> Found | None:
    """Turn a direction towards the mean of the group that it shows, and cut again there.

    The evidence stays that of the first direction, which was not chosen for its group. A group on
    one side must be no mere tail. Two passes for each turn.
    """
    kept, table = found.kept, oracle.table
    log_p = cut.log_p
    members = kept & _beyond(line, cut)
    for _ in range(TURNS if cut.side else 0):
        rest = kept & ~members
        difference = members / members.sum() - rest / rest.sum()
        offset = table.combine(found.mean, difference[None])[0]
        turned = _unit(offset if precision is None else precision @ offset)
        rows = table.project(found.mean, turned[None])[0]
        ascending = np.sort(rows[kept])
        center, spread, error = evidence.centers(ascending[None])
        again = evidence.mirror(ascending, float(center[0]), float(error[0]), sides=(1,))
        if spread[0] == 0.0 or again.log_p >= LOG_LEVEL:
            break
        line, cut, before = Line(turned, rows, float(center[0])), again, members
        members = kept & _beyond(line, cut)
        if np.array_equal(members, before):
            break
    sizes = cut.side * (line.rows - line.center)[kept]
    if cut.side and not evidence.is_no_tail(sizes, cut.cut):
        return None
    few = kept.sum() - members.sum() < (1.0 - LARGE) * len(kept)
    if few and cut.side and not evidence.is_clear(sizes, cut.cut):
        return None  # it would hang on the numbers alone which rows are the good ones
    kind = "direction" if precision is None else "metric"
    center = found.mean + line.center * line.direction
    return Found(kind, replace(cut, log_p=log_p), members, center, line.direction)


def _beyond(line: Line, cut: Cut) -> Mask:
    sizes = line.rows - line.center
    beyond: Mask = (np.abs(sizes) if cut.side == 0 else cut.side * sizes) > cut.cut
    return beyond


def _uneven(oracle: Oracle, found: Selection) -> bool:
    """Whether whitening could show more, and can be done."""
    n, d = oracle.table.shape
    m = int(found.kept.sum())
    if d > MOST_COLUMNS or n * d > MOST_WHITENED or d < 2 or m < FEWEST_ROWS:
        return False
    total = float(oracle.table.sq_distances(found.mean) @ found.kept)
    noise = total / d * (1.0 + np.sqrt(d / m)) ** 2
    return bool(found.spectrum.values[0] > ANISOTROPIC * noise)


def _shrunk(values: Array, rows: Array, d: int) -> Array:
    """Eigenvalues of a covariance drawn to their mean, as far as Ledoit and Wolf (2004) advise."""
    m = rows.shape[1]
    mean = float(values.sum()) / d
    squared = float(np.sum(values**2))
    noise = (float(np.mean(np.sum(rows**2, axis=0) ** 2)) - squared) / m
    weight = float(np.clip(noise / max(squared - d * mean**2, TINY), 1e-6, 1.0))
    return np.maximum((1.0 - weight) * values + weight * mean, TINY)


def _nearest_half(
    oracle: Oracle, center: Array, distances: Array, kept: Mask
) -> tuple[Array, Array]:
    """The mean of the half of the kept rows nearest to a centre, and the distances from it."""
    order = np.argsort(np.where(kept, distances, np.inf), kind="stable")
    half = np.zeros(len(kept))
    half[order[: max(1, int(kept.sum()) // 2)]] = 1.0
    center = oracle.table.mean(half, center)
    return center, oracle.table.sq_distances(center)


def _spectrum(oracle: Oracle, mean: Array, kept: Mask) -> Spectrum:
    weights = kept.astype(np.float64)
    if oracle.table.shape[1] <= DENSE:
        return oracle.accurately(mean, weights, 0.0)
    return oracle(mean, weights, lambda values, r: bool(r[0] <= 0.05 * values[0]), ROUND_PASSES)


def _with_direction(oracle: Oracle, subspace: Subspace, direction: Array) -> Subspace:
    """The subspace of the groups with one more direction, in one pass."""
    rows = oracle.table.project(subspace.origin, direction[None])
    seen = Spectrum(np.ones(1), direction[None], rows, np.zeros(1), np.zeros(0))
    return subspace.extended(seen, np.array([0]), subspace.origin)


def _log_p(cut: Cut) -> float:
    return cut.log_p


def _unit(vector: Array) -> Array:
    unit: Array = vector / max(float(np.linalg.norm(vector)), TINY)
    return unit


def _extend_path(
    found: Selection, share: float, notify: Callable[[Step], None], oracle: Oracle
) -> None:
    """Record where the search stands."""
    n, m = len(found.kept), int(found.kept.sum())
    top = float(found.spectrum.values[0])
    point, weights = _point(
        found.kept, found.mean, found.spectrum, found.subspace, max(top * n / m, TINY), share
    )
    found.path.append(point)
    notify(
        Step(
            "selection",
            point.budget,
            float(n - m),
            n - float(weights.sum()),
            len(found.subspace.basis),
            top,
            oracle.table.n_passes,
        )
    )


def below_the_edge(oracle: Oracle, found: Selection) -> PathPoint | None:
    """The path goes on below what the kept rows need: there is no group any more to pay for it.

    Only the directions of largest variance and those of the groups are looked at.
    """
    everything = np.arange(len(found.spectrum.values))
    subspace = found.subspace.extended(found.spectrum, everything, found.mean)
    budget = BELOW * float(found.spectrum.values[0])
    if budget <= 0.0:  # the kept rows do not vary
        return None
    P = subspace.seen_from(found.mean, budget)
    kept = found.kept & (NEARLY_L1.minimise(Within(P, GAP)).weights >= 0.5)
    if not kept.any():
        return None  # no row fits on its own
    leaving = P[:, found.kept & ~kept]
    along = np.einsum("ij,ij->j", leaving, leaving.sum(axis=1, keepdims=True) - leaving)
    share = min(1.0, 2.0 * float(np.mean(along <= 0.0))) if len(along) else 1.0
    mean = oracle.table.mean(kept.astype(np.float64), found.mean)
    return _point(kept, mean, _spectrum(oracle, mean, kept), subspace, budget, share)[0]


def _point(
    kept: Mask, mean: Array, spectrum: Spectrum, subspace: Subspace, budget: float, share: float
) -> tuple[PathPoint, Array]:
    """A point of the path, and the weights of the l1 problem with its budget, nearly solved."""
    n, m = len(kept), int(kept.sum())
    P = subspace.seen_from(mean, budget)
    solved = NEARLY_L1.minimise(Within(P, GAP))
    prices = np.linalg.eigvalsh(solved.S) if len(P) else np.zeros(0)
    total = float(prices.sum())
    top = float(spectrum.values[0])
    point = PathPoint(
        budget=budget,
        sigma=float(np.sqrt(top / m)),
        price=total / n,
        rank=1.0 / float(np.sum((prices / total) ** 2)) if total > 0.0 else 0.0,
        share=share,
        removed=np.flatnonzero(~kept),
        location=mean,
        certificate=Certificate(
            budget=budget,
            lambda_max=top,
            residual=float(spectrum.residuals[0]),
            n=n,
            n_removed=n - m,
            most_kept=packing_bound(np.ones(n), scores(P, solved.S), total),
        ),
    )
    return point, solved.weights
