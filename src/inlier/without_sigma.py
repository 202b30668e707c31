"""Nothing is known: groups of rows leave while there is evidence, and what is left fixes sigma."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from inlier._typing import Array, Mask
from inlier.data import Rotation, Table
from inlier.result import (
    Certificate,
    Group,
    GroupRule,
    Multiplier,
    PathPoint,
    RobustMeanResult,
    Step,
    WeakEvidenceWarning,
)
from inlier.selection import LARGE, Selection, below_the_edge, select
from inlier.spectral import Oracle

# Rows this many times farther out than half of them leave before anything else: their squares would
# cost the others their precision.
ABSURD = 1e6
# Distances whose squares can be summed over any table.
LARGEST = 1e140
# A sign of a further group that is weaker than the level, but stronger than this, is mentioned.
DOUBTFUL = np.log(1e-2)


def fit_without_sigma(
    whole: Table,
    start: Array,
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
    typical = float(np.sqrt(np.median(distances)))
    if not typical < LARGEST:
        raise ValueError(
            f"X is out of range: half of the rows lie {typical:.1e} or more from the others, and "
            "the squares of such distances are no numbers any more. Measure X in other units."
        )
    far = ABSURD * typical if typical > 0.0 else LARGEST
    near = distances <= far**2
    if not near.all():
        table, distances = whole.take(near), distances[near]
    rotation = Rotation.of(table, start) if Rotation.pays(table) else None
    seen = table if rotation is None else rotation.rotated
    oracle = Oracle(seen, random)
    first = start if rotation is None else np.zeros(seen.shape[1])
    found = select(oracle, first, distances, random, metric, notify)
    below = below_the_edge(oracle, found)
    path = found.path if below is None else [*found.path, below]
    groups = found.groups
    if rotation is not None:
        groups, path = _restored(groups, path, rotation)
    if not near.all():
        groups, path = _with_absurd(whole, near, start, far, groups, path)
    chosen = path[len(groups)]
    location = chosen.location
    if rotation is not None:
        location = whole.mean(_mask(n, chosen.removed).astype(np.float64), start)
    support = _mask(n, chosen.removed)
    rule: Multiplier | GroupRule = GroupRule(tuple(groups))
    if not groups:
        rule = Multiplier(location, None, np.empty(0), chosen.budget, 1.0, start)
    message = _message(found, groups, chosen.certificate)
    reason = _distrust(found, groups, n)
    if reason:
        message = f"{message} {reason}"
        warnings.warn(message, WeakEvidenceWarning, stacklevel=3)
    return RobustMeanResult(
        location=location.astype(whole.dtype, copy=False),
        support=support,
        indicator=np.where(support, 0.0, 1.0),
        scores=rule.scores(whole),
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
    kept = np.ones(n, dtype=np.bool_)
    kept[removed] = False
    return kept


def _restored(
    groups: list[Group], path: list[PathPoint], rotation: Rotation
) -> tuple[list[Group], list[PathPoint]]:
    """From the coordinates of the rows' span to those of the data."""
    vectors = [vector for g in groups for vector in (g.mean, g.center, g.direction)]
    vectors += [point.location for point in path]
    back = rotation.restore(np.stack(vectors))
    origin = rotation.center
    groups = [
        replace(
            group,
            mean=origin + back[3 * i],
            center=origin + back[3 * i + 1],
            direction=back[3 * i + 2],
        )
        for i, group in enumerate(groups)
    ]
    locations = origin + back[3 * len(groups) :]
    return groups, [replace(p, location=x) for p, x in zip(path, locations, strict=True)]


def _with_absurd(
    whole: Table, near: Mask, start: Array, far: float, groups: list[Group], path: list[PathPoint]
) -> tuple[list[Group], list[PathPoint]]:
    """The absurdly distant rows as a first group, and all row numbers those of the whole table."""
    n, rows = len(near), np.flatnonzero(near)
    gone = np.flatnonzero(~near)
    mean = whole.mean((~near).astype(np.float64), start)
    offset = mean - start
    with np.errstate(over="ignore"):
        length = float(np.abs(offset).max())
    direction = offset / length
    direction /= float(np.linalg.norm(direction))
    group = Group(
        kind="apart",
        rows=gone,
        mean=mean,
        direction=direction,
        center=start,
        cut=far,
        side=0,
        log_p=-np.inf,
        share=0.0,
        budget=np.inf,
    )
    everything = PathPoint(
        budget=np.inf,
        sigma=np.inf,
        price=0.0,
        rank=0.0,
        share=1.0,
        removed=np.empty(0, dtype=np.intp),
        location=whole.mean(np.ones(n), start),
        certificate=Certificate(np.inf, np.inf, np.inf, n, 0, float(n)),
    )
    moved = [
        replace(
            point,
            removed=np.sort(np.concatenate([gone, rows[point.removed]])),
            certificate=replace(
                point.certificate, n=n, n_removed=point.certificate.n_removed + len(gone)
            ),
        )
        for point in path
    ]
    return [group, *(replace(g, rows=rows[g.rows]) for g in groups)], [everything, *moved]


def _message(found: Selection, groups: list[Group], certificate: Certificate) -> str:
    n, removed = certificate.n, certificate.n_removed
    if groups:
        listed = "; ".join(str(group) for group in groups)
        message = f"Kept {n - removed} of {n} rows. Left: {listed}. {certificate.statement()}"
    else:
        message = f"Kept all {n} rows: no group of them shows more than chance would."
    if found.doubtful.log_p < DOUBTFUL:
        chance = np.exp(found.doubtful.log_p)
        message += f" There are weak signs (chance {chance:.1g}) of one more group; it was kept."
    return message


def _distrust(found: Selection, groups: list[Group], n: int) -> str:
    """Why the answer should not be taken on trust, if there is a reason."""
    if found.refused is not None:
        return (
            f"The evidence is contradictory: a further group, {found.refused}, shows as well, but "
            "without it fewer than half of the rows would be left. The rows fall into several "
            "groups; look at result.groups, and put one back with result.keep if it is good."
        )
    largest = max((group.size for group in groups), default=0)
    if largest >= LARGE * n:
        return (
            f"One group has {largest} of {n} rows. That it is bad and the others good is said by "
            "their numbers alone: look at result.groups; result.keep puts one back."
        )
    tails = sum(group.size for group in groups if group.kind == "tail")
    if tails:
        return (
            f"{tails} of the rows that left lie at the end of a long tail, in one direction. They "
            "may be bad; skewed data look like that too. Compare with result.keep."
        )
    return ""
