"""From the coordinates of the search back to those of the data, with the rows that left early."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from inlier._internal.arrays import all_but, count, double, namespace, on_host
from inlier._internal.numbers import TINY
from inlier._internal.typing import Array, Rows
from inlier.data import Measure, Rotation, Table, WorkingFrame
from inlier.results.certificate import Certificate
from inlier.results.records import PathPoint
from inlier.results.rules import Group, Suspect, rule_of
from inlier.search import SearchState


class Early(NamedTuple):
    """Rows that leave before the search."""

    kind: str
    members: Rows
    cut: float
    log_p: float
    measure: Measure | None


class MappedAnswer(NamedTuple):
    """What was found, in the coordinates of the data."""

    groups: tuple[Group, ...]
    path: tuple[PathPoint, ...]
    suspects: tuple[Suspect, ...]
    scores: Rows | None
    """Where they are known without another pass."""
    least_budget: float
    """A row that differs by rounding alone does not exceed it."""


def mapped_back(
    frame: WorkingFrame,
    found: SearchState,
    suspects: list[Suspect],
    below: PathPoint | None,
    early: list[Early],
) -> MappedAnswer:
    """Map what was found in a frame to the data; `below` is a last point of the path."""
    groups, path = found.groups, [*found.path, *([below] if below else [])]
    least = frame.whole.shape[0] * found.least_variance
    scores: Rows = None
    rotation = frame.rotation
    if rotation is not None:
        if frame.complete:  # without another pass over all columns
            chosen = path[len(groups)]
            rule = rule_of(tuple(groups), chosen.location, max(chosen.budget, least))
            scores = rule.scores(frame.table)
        groups, path = _restored_groups(groups, rotation), _restored_path(path, rotation)
        restored = _restored_groups([suspect.group for suspect in suspects], rotation)
        suspects = [replace(s, group=g) for s, g in zip(suspects, restored, strict=True)]
    if not frame.complete:
        groups, path, suspects = _with_early(frame, early, groups, path, suspects)
    return MappedAnswer(tuple(groups), tuple(path), tuple(suspects), scores, least)


def _restored_groups(groups: list[Group], rotation: Rotation) -> list[Group]:
    """Map groups from the coordinates of the rows' span to those of the data."""
    if not groups:
        return []
    n, k = rotation.rotated.shape[0], len(groups)
    means = np.zeros((k, n))  # as combinations of the rows: nothing is rounded on the way
    for own, group in zip(means, groups, strict=True):
        own[on_host(group.rows)] = 1.0 / group.size
    centers = np.stack([group.center for group in groups]) @ rotation.mixing
    there = rotation.spanned(np.concatenate([means, centers]))
    ways = rotation.directions(np.stack([group.direction for group in groups]))
    return [
        replace(group, mean=there[i], center=there[k + i], direction=ways[i])
        for i, group in enumerate(groups)
    ]


def _restored_path(path: list[PathPoint], rotation: Rotation) -> list[PathPoint]:
    """Map the points of a path to the coordinates of the data; one pass."""
    n = rotation.rotated.shape[0]
    kept = np.stack([all_but(n, point.removed) for point in path]).astype(np.float64)
    locations = rotation.spanned(kept / kept.sum(axis=1, keepdims=True))
    multipliers = [point.certificate.multiplier for point in path]
    stacked = [m.deciding for m in multipliers]
    ways = rotation.directions(np.concatenate(stacked))
    restored, first = [], 0
    for i, (point, multiplier, own) in enumerate(zip(path, multipliers, stacked, strict=True)):
        part = slice(first, first := first + len(own))
        multiplier = replace(
            multiplier,
            center=locations[i],
            start=locations[i],
            directions=None if multiplier.directions is None else ways[part],
        )
        certificate = replace(point.certificate, multiplier=multiplier)
        restored.append(replace(point, location=locations[i], certificate=certificate))
    return restored


def _with_early(
    frame: WorkingFrame,
    early: list[Early],
    groups: list[Group],
    path: list[PathPoint],
    suspects: list[Suspect],
) -> tuple[list[Group], list[PathPoint], list[Suspect]]:
    """Prepend the rows that left early as groups, and renumber all rows."""
    whole, near, start = frame.whole, frame.near, frame.origin
    xp, n = namespace(near), near.shape[0]
    rows = xp.nonzero(near)[0]
    gone = xp.nonzero(~near)[0]
    first_groups: list[Group] = []
    points: list[PathPoint] = []
    kept = xp.ones_like(near)
    for group in early:
        points.append(_point_before(whole, kept, start, 0.0 if points else 1.0))
        first_groups.append(_early_group(whole, start, group, points[-1].certificate.bound))
        kept = kept & ~group.members
    path = [replace(path[0], share=0.0), *path[1:]]
    for point in path:
        all_gone = xp.sort(xp.concat([gone, xp.take(rows, point.removed)]))
        budget = point.budget * n / (n - gone.shape[0])
        certificate = replace(
            point.certificate,
            budget=budget,
            n=n,
            n_removed=point.certificate.n_removed + gone.shape[0],
            most_kept=point.certificate.multiplier.most_kept(whole, point.location, budget),
            removed=all_gone,
        )
        points.append(replace(point, removed=all_gone, budget=budget, certificate=certificate))

    def renumbered(group: Group) -> Group:
        return replace(group, rows=xp.take(rows, group.rows))

    groups = first_groups + [renumbered(group) for group in groups]
    return groups, points, [replace(s, group=renumbered(s.group)) for s in suspects]


def _offset(whole: Table, start: Array, rows: Rows) -> Array:
    """Return the mean of some rows seen from the start, as far as it is a number."""
    weights = double(rows) / count(rows)
    with np.errstate(over="ignore", invalid="ignore"):
        combined = whole.combine(start, weights[None, :])[0]
        return np.nan_to_num(np.asarray(combined, np.float64))


def _early_group(whole: Table, start: Array, early: Early, bound: float) -> Group:
    """Describe rows that left early as a group, with a direction that points to them."""
    offset = _offset(whole, start, early.members)
    with np.errstate(over="ignore", invalid="ignore"):
        size = float(np.abs(offset).max())
        direction = offset / size if size > 0.0 else np.zeros_like(offset)
        mean = start + offset
    direction /= max(float(np.linalg.norm(direction)), TINY)
    return Group(
        kind=early.kind,
        rows=namespace(early.members).nonzero(early.members)[0],
        mean=mean,
        direction=direction,
        center=start if early.measure is None else early.measure.center,
        cut=early.cut,
        side=0,
        log_p=early.log_p,
        share=0.0,
        lambda_max_before=bound,
        measure=early.measure,
    )


def _point_before(whole: Table, kept: Rows, start: Array, share: float) -> PathPoint:
    """Return the point of the path at which some rows are still there that leave early."""
    with np.errstate(over="ignore"):
        mean = start + _offset(whole, start, kept)
    certificate = Certificate.of_rows(whole, kept, mean)
    budget = max(certificate.budget, TINY)
    certificate = replace(certificate, budget=budget)
    return PathPoint(
        budget=budget,
        sigma=certificate.sigma_kept,
        price=0.0,
        rank=0.0,
        share=share,
        removed=certificate.removed,
        location=mean,
        certificate=certificate,
    )
