"""Nothing is known: groups of rows leave while there is evidence, and what is left fixes sigma."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from inlier._arrays import count, double, every, namespace, on_host, some
from inlier._typing import Array, Mask, Rows
from inlier._validation import check_range, largest_distance
from inlier.centers import central_point
from inlier.certificate import Certificate
from inlier.data import Rotation, Table
from inlier.result import (
    PathPoint,
    RobustMeanResult,
    Step,
    WeakEvidenceWarning,
)
from inlier.rules import Group, Multiplier, rule_of
from inlier.selection import LARGE, LOG_LEVEL, MOST_GROUPS, Selection, below_the_edge, select
from inlier.spectral import Oracle

# A few rows so many times farther out than half of them leave before anything else. By Chebyshev's
# inequality at most one row in a million lies a thousand standard deviations out.
ABSURD = 1e3
FEW = 0.05
# However many there are: their squares would cost the others their precision.
HOPELESS = 1e6
# A sign of a further group that is weaker than the level, but stronger than this, is mentioned.
DOUBTFUL = np.log(1e-2)


def fit_without_sigma(
    whole: Table,
    start: Array,
    central: bool,
    random: np.random.Generator,
    metric: bool,
    callback: Callable[[Step], object] | None,
) -> RobustMeanResult:
    """The answer without a bound and without a fraction of outliers.

    Parameters
    ----------
    whole : Table
    start : array of shape (d,)
        Any robust centre.
    central : bool
        Whether a better one may be found in the coordinates of the rows.
    random : numpy.random.Generator
    metric : bool
        Whether to look in the metric of the rows as well.
    callback : callable, optional
    """
    n = whole.shape[0]
    steps: list[Step] = []

    def notify(step: Step) -> None:
        steps.append(step)
        if callback is not None:
            callback(step)

    table = whole
    distances = whole.sq_distances(start)
    typical = check_range(whole, start, distances)
    largest = largest_distance(whole.dtype)
    far = min(ABSURD * typical, largest) if typical > 0.0 else largest
    if typical > 0.0 and count(distances > far**2) > FEW * n:
        far = min(HOPELESS * typical, largest)
    near = distances <= far**2
    all_near = every(near)
    if not all_near:
        table, distances = whole.take(near), distances[near]
    apart = some(distances > 0.0)
    rotation = Rotation.of(table, start) if apart and Rotation.pays(table) else None
    seen = table if rotation is None else rotation.rotated
    oracle = Oracle(seen, random)
    first = start if rotation is None else np.zeros(seen.shape[1])
    if rotation is not None and central:
        first, distances = central_point(seen)
    noise = float(np.finfo(whole.dtype).eps) * (float(np.linalg.norm(start)) + typical)
    found = select(oracle, first, distances, random, noise, metric, notify)
    below = below_the_edge(oracle, found)
    path = found.path if below is None else [*found.path, below]
    groups = found.groups
    # A row that differs by rounding alone breaks no budget.
    least = n * found.least_variance
    scores: Rows = None
    if rotation is not None:
        if all_near:  # the same there, without another look at all columns
            chosen = path[len(groups)]
            there = rule_of(tuple(groups), chosen.location, max(chosen.budget, least))
            scores = there.scores(seen)
        groups, path = _restored(groups, path, rotation)
    if not all_near:
        groups, path = _with_absurd(whole, near, start, far, groups, path)
    chosen = path[len(groups)]
    support = whole.beside(_mask(n, on_host(chosen.removed)))
    weights = double(support)
    # Once more from the data: what was carried along has seen distant rows come and go.
    location = whole.mean(weights, start if rotation is not None else chosen.location)
    rule = rule_of(tuple(groups), location, max(chosen.budget, least))
    message = _message(found, groups, chosen.certificate)
    reason = _distrust(found, groups, n)
    if reason:
        message = f"{message} {reason}"
        warnings.warn(message, WeakEvidenceWarning, stacklevel=3)
    return RobustMeanResult(
        location=whole.beside(location.astype(whole.dtype)),
        support=support,
        weights=weights,
        indicator=1.0 - weights,
        scores=rule.scores(whole) if scores is None else scores,
        sigma=chosen.sigma,
        budget=chosen.budget,
        certificate=chosen.certificate,
        rule=rule,
        history=tuple(steps),
        n_iter=len(found.path),
        n_passes=whole.n_passes + (table.n_passes if table is not whole else 0),
        converged=True,
        message=message,
        groups=tuple(groups),
        path=tuple(path),
    )


def _mask(n: int, removed: Array) -> Mask:
    """Of all rows but those."""
    kept = np.ones(n, dtype=np.bool_)
    kept[removed] = False
    return kept


def _restored(
    groups: list[Group], path: list[PathPoint], rotation: Rotation
) -> tuple[list[Group], list[PathPoint]]:
    """From the coordinates of the rows' span to those of the data."""
    k, n = len(groups), rotation.rotated.shape[0]
    members = np.zeros((k + len(path), n))
    for own, group in zip(members, groups, strict=False):
        own[on_host(group.rows)] = 1.0
    for own, point in zip(members[k:], path, strict=True):
        own[_mask(n, on_host(point.removed))] = 1.0
    coefficients = [members / members.sum(axis=1, keepdims=True)]
    coefficients += [group.center[None] @ rotation.mixing for group in groups]
    there = rotation.spanned(np.concatenate(coefficients))
    locations, centers = there[k : k + len(path)], there[k + len(path) :]
    if groups:
        ways = rotation.directions(np.stack([group.direction for group in groups]))
        groups = [
            replace(group, mean=there[i], center=centers[i], direction=ways[i])
            for i, group in enumerate(groups)
        ]
    return groups, _with_locations(path, locations, rotation)


def _with_locations(path: list[PathPoint], locations: Any, rotation: Rotation) -> list[PathPoint]:
    """The points of a path in the coordinates of the data; their directions in one pass."""
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


def _with_absurd(
    whole: Table, near: Rows, start: Array, far: float, groups: list[Group], path: list[PathPoint]
) -> tuple[list[Group], list[PathPoint]]:
    """The absurdly distant rows as a first group, and all row numbers those of the whole table."""
    xp, n = namespace(near), near.shape[0]
    rows, gone = xp.nonzero(near)[0], xp.nonzero(~near)[0]
    n_gone = gone.shape[0]
    weights = double(~near) / n_gone
    with np.errstate(over="ignore", invalid="ignore"):
        offset = np.nan_to_num(whole.combine(start, weights[None, :])[0].astype(np.float64))
        size = float(np.abs(offset).max())
        direction = offset / size if size > 0.0 else np.zeros_like(offset)
        mean = start + offset
        middle = start + np.nan_to_num(whole.combine(start, whole.rows(1.0 / n)[None, :])[0])
    direction /= max(float(np.linalg.norm(direction)), float(np.finfo(np.float64).tiny))
    group = Group(
        kind="apart",
        rows=gone,
        mean=mean,
        direction=direction,
        center=start,
        cut=far,
        side=0,
        log_p=float(min(0.0, np.log(n / ABSURD**2))),
        share=0.0,
        budget=np.inf,
    )
    everything = PathPoint(
        budget=np.inf,
        sigma=np.inf,
        price=0.0,
        rank=0.0,
        share=1.0,
        removed=gone[:0],
        location=middle,
        certificate=Certificate(
            budget=np.inf,
            lambda_max=np.inf,
            bound=np.inf,
            failure=0.0,
            n=n,
            n_removed=0,
            most_kept=float(n),
            removed=gone[:0],
            multiplier=Multiplier(middle, None, np.empty(0), np.inf, 1.0, middle),
        ),
    )
    moved = []
    for point in path:
        removed = xp.sort(xp.concat([gone, xp.take(rows, point.removed)]))
        budget = point.budget * n / (n - n_gone)
        certificate = replace(
            point.certificate,
            budget=budget,
            n=n,
            n_removed=point.certificate.n_removed + n_gone,
            most_kept=point.certificate.multiplier.most_kept(whole, point.location, budget),
            removed=removed,
        )
        moved.append(replace(point, removed=removed, budget=budget, certificate=certificate))
    return [group, *(replace(g, rows=xp.take(rows, g.rows)) for g in groups)], [everything, *moved]


def _message(found: Selection, groups: list[Group], certificate: Certificate) -> str:
    n, removed = certificate.n, certificate.n_removed
    if groups:
        listed = "; ".join(str(group) for group in groups)
        message = f"Kept {n - removed} of {n} rows. Removed: {listed}."
        if certificate.l0_lower_bound:
            message += f" At this sigma at least {certificate.l0_lower_bound} had to go."
        message += f" {certificate.statement()}"
    else:
        message = f"Kept all {n} rows."
    if found.tail:
        message += (
            f" There is a surplus on one side, {found.tail} rows, that looks like the tail of "
            "skewed data; it was kept."
        )
    elif LOG_LEVEL <= found.doubtful.log_p < DOUBTFUL:
        chance = np.exp(found.doubtful.log_p)
        message += f" There are weak signs (chance {chance:.1g}) of one more group; it was kept."
    elif found.doubtful.log_p < LOG_LEVEL and found.refused is None and not found.unclear:
        message += " There are signs of one more group, but no cut that tells it from the others."
    elif not groups and not found.unclear and not found.coincide and found.refused is None:
        message += " No group of them shows more than chance would."
    return message if groups else f"{message} {certificate.statement()}"


def _distrust(found: Selection, groups: list[Group], n: int) -> str:
    """Why the answer should not be taken on trust, if there is a reason."""
    removed = sum(group.size for group in groups)
    if found.refused is not None and not groups:
        return (
            f"The evidence is contradictory: there are {found.refused}, but hardly fewer than the "
            "others, so nothing says which of them are good. All were kept. Pass sigma if you know "
            "how much good rows vary."
        )
    if found.refused is not None:
        return (
            f"The evidence is contradictory: a further group, {found.refused}, shows as well, but "
            "without it hardly more than half of the rows would be left. The rows fall into "
            "several groups; look at result.groups, and put one back with result.keep if it is "
            "good."
        )
    if len(found.looks) >= MOST_GROUPS:
        return (
            f"The search ended after {len(found.looks)} groups, and there may be more. The rows do "
            "not have one majority."
        )
    if found.unclear:
        return (
            f"A further group of {found.unclear} rows shows, but it is large and not clear of the "
            "others, so nothing says which of them are good. It was kept. Pass sigma if you know "
            "how much good rows vary."
        )
    if found.coincide:
        return (
            "So many rows coincide that there is no scale to judge the others by. Pass sigma if "
            "you know how much good rows vary."
        )
    if removed >= LARGE * n:
        return (
            f"{removed} of {n} rows were removed. That these are bad and the others good is said "
            "by their numbers alone: look at result.groups; result.keep puts one back."
        )
    tails = sum(group.size for group in groups if group.kind == "tail")
    if tails:
        return (
            f"{tails} of the removed rows lie at the end of a long tail, in one direction. They "
            "may be bad; skewed data look like that too. Compare with result.keep."
        )
    return ""
