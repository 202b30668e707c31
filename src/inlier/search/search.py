"""The search: groups leave, one after the other, while there is evidence for one."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from inlier._internal.arrays import any_true, count, double, mask_of, namespace, smallest, total
from inlier._internal.numbers import TINY
from inlier._internal.typing import Array, Rows
from inlier.l0.problem import Subspace
from inlier.linalg.eigenpairs import DENSE, EXCESS, Oracle, Spectrum
from inlier.results.records import Step
from inlier.results.rules import Group
from inlier.search.detectors import by_direction, by_distance, by_metric, is_uneven, polished
from inlier.search.path import point_at
from inlier.search.settings import SEARCH
from inlier.search.significance import NOTHING
from inlier.search.state import Candidate, Near, SearchState, spectrum_of, unit
from inlier.search.whitening import whitened


def select(
    oracle: Oracle,
    start: Array,
    distances: Rows,
    random: np.random.Generator,
    noise: float = 0.0,
    metric: bool = True,
    notify: Callable[[Step], None] = lambda step: None,
    symmetric: bool = True,
) -> SearchState:
    """Remove groups of rows while there is evidence for one.

    The search begins at any robust center, from which the rows have these squared distances;
    `noise` is what rounding adds to their coordinates. With `metric` it looks in the metric of
    the rows as well. If good rows are not taken to be symmetric, nothing is removed.
    """
    everything = distances >= 0.0
    near = Near(start, everything, distances)
    for _ in range(2):  # the nearest half forgets a start that is off by sqrt(d)
        near = _nearest_half(oracle, near, everything)
    first = begun(oracle, near.center, noise, notify)
    if not symmetric:
        return first
    found = _begun_again(first)
    while len(found.groups) < SEARCH.most_groups:
        group = _next_group(oracle, found, near, random, metric)
        if group is None or not _remove(oracle, found, group):
            break
        _extend_path(found, group.cut.share, notify, oracle)
        near = _nearest_half(oracle, near, found.kept)
    if metric and found.groups and is_uneven(found, near):
        found = _last_look(oracle, found, first, random, notify)
    return found


def begun(oracle: Oracle, near: Array, noise: float, notify: Callable[[Step], None]) -> SearchState:
    """Return the state before any group has left; `near` is a point near the rows."""
    ones = oracle.table.constant(1.0)
    mean = oracle.table.mean(ones, near)
    kept = ones > 0.0
    spectrum = spectrum_of(oracle, mean, kept)
    found = SearchState(kept, mean, spectrum, Subspace.empty(oracle.table, mean), noise=noise)
    _extend_path(found, 1.0, notify, oracle)
    return found


def removed(
    oracle: Oracle, found: SearchState, group: Candidate, notify: Callable[[Step], None]
) -> Group | None:
    """Remove a group; return None if hardly a majority would be left."""
    if not _remove(oracle, found, group):
        return None
    _extend_path(found, group.cut.share, notify, oracle)
    return found.groups[-1]


def settled(oracle: Oracle, found: SearchState, notify: Callable[[Step], None]) -> SearchState:
    """Bound the spectrum of the kept rows as closely as possible."""
    close = (1.0 + EXCESS) * float(found.spectrum.values[0])
    if found.spectrum.bound > close and oracle.table.shape[1] > DENSE:
        found.spectrum = oracle.bound_top(found.mean, double(found.kept))
        _extend_path(found, found.path.pop().share, notify, oracle)
    return found


def _begun_again(first: SearchState) -> SearchState:
    """Return a state from which groups may leave, while the first one stays as it is."""
    return replace(first, groups=[], path=list(first.path), looks=[])


def _last_look(
    oracle: Oracle,
    found: SearchState,
    first: SearchState,
    random: np.random.Generator,
    notify: Callable[[Step], None],
) -> SearchState:
    """Test each group again without the others, and remove them once more."""
    again = _begun_again(first)
    again.refused, again.doubtful = found.refused, found.doubtful
    again.tail, again.unclear, again.coincide = found.tail, found.unclear, found.coincide
    white = found.white or whitened(
        oracle.table, found.mean, found.kept, found.least_variance, random
    )
    for group, record in zip(found.looks, found.groups, strict=True):
        members = mask_of(record.rows, found.kept.shape[0])
        for part in polished(oracle, found, white, group, members, random):
            if any_true(part.among(again.kept)) and _remove(oracle, again, part):
                _extend_path(again, part.cut.share, notify, oracle)
    return again


def _remove(oracle: Oracle, found: SearchState, group: Candidate) -> bool:
    """Remove a group, unless hardly a majority would be left."""
    members = group.among(found.kept)
    size = count(members)
    left = count(found.kept) - size
    # Seen from the center of the others, which is not drawn by rows that have not left yet.
    summed = oracle.table.combine(group.center, double(members)[None, :])[0]
    mean = group.center + summed / size
    offset = mean - found.mean
    record = Group(
        kind=group.kind,
        rows=namespace(members).nonzero(members)[0],
        mean=mean,
        direction=group.direction if group.direction is not None else unit(offset),
        center=group.center,
        cut=group.cut.cut,
        side=group.cut.side,
        log_p=group.cut.log_p,
        share=group.cut.share,
        lambda_max_before=found.spectrum.bound,
        ratio=group.ratio,
    )
    if left < SEARCH.majority * members.shape[0] - 1e-9:
        found.refused = record
        return False
    found.groups.append(record)
    found.looks.append(group)
    found.kept, found.white = found.kept & ~members, None
    found.mean = found.mean - offset * (size / left)
    found.spectrum = spectrum_of(oracle, found.mean, found.kept)
    # What rounding has left of the rows that went, which may have been far out.
    rest = found.spectrum.drift / left
    found.mean = found.mean + rest
    if left * float(rest @ rest) > SEARCH.negligible * float(found.spectrum.values[0]):
        found.spectrum = spectrum_of(oracle, found.mean, found.kept)
    found.subspace = _with_direction(oracle, found.subspace, record.direction)
    return True


def _next_group(
    oracle: Oracle,
    found: SearchState,
    near: Near,
    random: np.random.Generator,
    metric: bool,
) -> Candidate | None:
    found.doubtful, found.tail, found.unclear, found.coincide = NOTHING, 0, 0, False
    group = by_distance(oracle, found, near)
    if group is None:
        group = by_direction(oracle, found)
    if group is None and metric and is_uneven(found, near):
        group = by_metric(oracle, found, random)
    return group


def _nearest_half(oracle: Oracle, near: Near, kept: Rows) -> Near:
    """Measure distances from the mean of the nearest half of the kept rows."""
    distances = namespace(kept).where(kept, near.distances, np.inf)
    half = smallest(distances, max(1, count(kept) // 2))
    center = oracle.table.mean(double(half), near.center)
    return Near(center, half, oracle.table.sq_distances(center))


def _with_direction(oracle: Oracle, subspace: Subspace, direction: Array) -> Subspace:
    """Extend the subspace of the groups by a direction; one pass."""
    rows = oracle.table.project(subspace.origin, direction[None])
    projected = Spectrum(np.ones(1), direction[None], rows, np.zeros(1), np.zeros(0))
    return subspace.extended(projected, np.array([0]), subspace.origin)


def _extend_path(
    found: SearchState, share: float, notify: Callable[[Step], None], oracle: Oracle
) -> None:
    """Record where the search stands."""
    n, m = found.kept.shape[0], count(found.kept)
    top = found.spectrum.bound
    budget = max(top * n / m, TINY)
    point, weights = point_at(
        found.kept,
        found.mean,
        found.spectrum,
        found.subspace,
        budget,
        share,
        oracle.draw,
    )
    found.path.append(point)
    notify(
        Step(
            "selection",
            point.budget,
            float(n - m),
            n - total(weights),
            len(found.subspace.basis),
            top,
            oracle.table.n_passes,
        )
    )
