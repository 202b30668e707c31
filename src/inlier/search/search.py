"""The search by symmetry: groups are removed, one after the other, while there is evidence.

Each round tests the rows that are left in three ways, from the simplest to the costliest, and stops
at the first that finds a group:

    distance       rows that stand apart, or more rows far from the center than near it, if they
                   also point the same way: the long rows of a heavy tail do not
    directions     of large variance, on one side of which there is a surplus that is no tail
    metric         the same along directions that are flat or skewed in the metric of the rows, if
                   they vary more in some directions than in others

Every one of these tests depends on the rows only through their distances and second moments, which
do not change if a row is reflected in the center. So for good rows, if they are symmetric, the side
on which a row lies stays a coin toss, however the direction was found and in any dimension. (The
search in the metric is the exception, and is corrected for it.)

A group is refused if hardly more than half of the rows would be left: the majority is good, but a
narrow one proves nothing. If fewer than two thirds would be left, it must be well separated.
"""

import numpy as np

from inlier._internal.arrays import any_true, count, double, mask_of, namespace, smallest
from inlier._internal.numbers import TINY
from inlier._internal.typing import Array, Rows
from inlier.data import Place
from inlier.linalg.eigenpairs import DENSE, EXCESS, Oracle
from inlier.search import thresholds
from inlier.search.pursuit import whitened
from inlier.search.state import Candidate, Near, SearchState, Task, spectrum_of, unit
from inlier.search.symmetric import by_direction, by_distance, by_metric, is_uneven, polished
from inlier.search.tests import NOTHING
from inlier.verdict.rules import Group
from inlier.verdict.verdict import Step


def start_search(task: Task, start: Array, distances: Rows, noise: float = 0.0) -> SearchState:
    """Return the state before any group is removed.

    The search begins at any robust center, relative to which the rows have these squared distances;
    `noise` is what rounding adds to their coordinates.
    """
    oracle, kept = task.oracle, distances >= 0.0
    near = Near(start, kept, distances)
    for _ in range(2):  # the nearest half forgets a start that is off by sqrt(d)
        near = _nearest_half(oracle, near, kept)
    mean = oracle.table.mean(double(kept), near.center)
    state = SearchState(kept, mean, spectrum_of(oracle, mean, kept), near, noise=noise)
    _report(task, state)
    return state


def symmetric(task: Task, first: SearchState) -> SearchState:
    """Remove groups while there is evidence for one, if good rows are symmetric about a center."""
    found = first.copy()
    while len(found.groups) < thresholds.MOST_GROUPS:
        group = _next_group(task, found)
        if group is None or remove(task, found, group) is None:
            break
        found.near = _nearest_half(task.oracle, found.near, found.kept)
    if task.metric and found.groups and is_uneven(found, found.near):
        found = _last_look(task, found, first)
    return found


def tighten_bound(oracle: Oracle, found: SearchState) -> None:
    """Bound the spectrum of the kept rows as closely as possible."""
    close = (1.0 + EXCESS) * float(found.spectrum.values[0])
    if found.spectrum.bound > close and oracle.table.shape[1] > DENSE:
        found.spectrum = oracle.bound_top(found.mean, double(found.kept))


def _last_look(task: Task, found: SearchState, first: SearchState) -> SearchState:
    """Test each group again without the others, and remove them once more."""
    oracle, random = task.oracle, task.random
    again = first.copy()
    again.refused, again.doubtful = found.refused, found.doubtful
    again.tail, again.unclear, again.coincide = found.tail, found.unclear, found.coincide
    white = found.white or whitened(
        oracle.table, found.mean, found.kept, found.least_variance, random
    )
    for group, record in zip(found.candidates, found.groups, strict=True):
        members = mask_of(record.rows, found.kept.shape[0])
        for part in polished(oracle, found, white, group, members, random):
            if any_true(part.among(again.kept)):
                remove(task, again, part)
    return again


def remove(task: Task, found: SearchState, group: Candidate) -> Group | None:
    """Remove a group and return it; None if hardly a majority would be left."""
    oracle = task.oracle
    members = group.among(found.kept)
    size = count(members)
    left = count(found.kept) - size
    # Relative to the center of the others, which rows that are still there do not draw.
    summed = oracle.table.combine(group.center, double(members)[None, :])[0]
    mean = group.center + summed / size
    offset = mean - found.mean
    direction = group.direction if group.direction is not None else unit(offset)
    record = Group(
        kind=group.kind,
        rows=namespace(members).nonzero(members)[0],
        place=Place(np.stack([mean, group.center]), direction[None]),
        cut=group.cut.cut,
        side=group.cut.side,
        log_p=group.cut.log_p,
        share=group.cut.share,
        ratio=group.ratio,
    )
    if left < thresholds.MAJORITY * members.shape[0] - 1e-9:
        found.refused = record
        return None
    found.groups.append(record)
    found.candidates.append(group)
    found.kept, found.white = found.kept & ~members, None
    found.mean = found.mean - offset * (size / left)
    found.spectrum = spectrum_of(oracle, found.mean, found.kept)
    # What rounding has left of the removed rows, which may have been far out.
    rest = found.spectrum.drift / left
    found.mean = found.mean + rest
    if left * float(rest @ rest) > thresholds.NEGLIGIBLE * float(found.spectrum.values[0]):
        found.spectrum = spectrum_of(oracle, found.mean, found.kept)
    _report(task, found)
    return record


def _next_group(task: Task, found: SearchState) -> Candidate | None:
    oracle, near = task.oracle, found.near
    found.doubtful, found.tail, found.unclear, found.coincide = NOTHING, 0, 0, False
    group = by_distance(oracle, found, near)
    if group is None:
        group = by_direction(oracle, found)
    if group is None and task.metric and is_uneven(found, near):
        group = by_metric(oracle, found, task.random)
    return group


def _nearest_half(oracle: Oracle, near: Near, kept: Rows) -> Near:
    """Measure distances from the mean of the nearest half of the kept rows."""
    distances = namespace(kept).where(kept, near.distances, np.inf)
    half = smallest(distances, max(1, count(kept) // 2))
    center = oracle.table.mean(double(half), near.center)
    return Near(center, half, oracle.table.sq_distances(center))


def _report(task: Task, found: SearchState) -> None:
    """Report a step of the search."""
    n, m = found.kept.shape[0], count(found.kept)
    top = found.spectrum.bound
    gone, rank, n_passes = float(n - m), len(found.groups), task.oracle.table.n_passes
    task.notify(Step("selection", max(top * n / m, TINY), gone, gone, rank, top, n_passes))
