"""Choose another answer from a result, without a new fit: at a point, with a group back or gone."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from inlier._internal.arrays import all_but, double, every, like, namespace, on_host
from inlier._internal.late import late
from inlier._internal.typing import Array, Mask
from inlier._internal.validation import check_budget, check_number
from inlier.data import Table, as_table
from inlier.results.certificate import Certificate
from inlier.results.outcome import Finding, Kind, Outcome
from inlier.results.rules import Group, GroupRule, Multiplier, Suspect, rule_of
from inlier.results.weighting import weighted

if TYPE_CHECKING:
    from inlier.results.result import RobustMeanResult

# Rows of which nothing but so many roundings is left do not vary.
ROUNDINGS = 8.0
# The first score above the threshold of a group.
OVER = float(np.nextafter(1.0, 2.0))


def at(
    result: RobustMeanResult,
    point: int | None,
    sigma: float | None,
    budget: float | None,
    threshold: float | None,
    p: float | None,
) -> RobustMeanResult:
    """Choose by one of the arguments; see `RobustMeanResult.at`."""
    given = [x for x in (point, sigma, budget, threshold, p) if x is not None]
    if len(given) != 1:
        raise ValueError(
            "Give one of point (an index into path), sigma, budget, threshold and p, but "
            f"{len(given)} were given."
        )
    if threshold is not None:
        return _at_threshold(result, check_number(threshold, "threshold", at_least=0.0))
    if p is not None:
        return _solved_again(result, p=check_number(p, "p", at_most=1.0))
    if point is None:
        name, value = ("sigma", sigma) if budget is None else ("budget", budget)
        value = check_number(value, name, below=np.inf)
        # A budget is c1^2 n sigma^2, and c1 stays what it was.
        wanted = value if budget is None else result.sigma * float(np.sqrt(value / result.budget))
        if not result.path:
            ratio = wanted / result.sigma
            check_budget(result.budget * ratio * ratio, f"{name}={value}")
            return _solved_again(result, sigma=wanted)
        logs = np.log([max(step.sigma, np.finfo(float).tiny) for step in result.path])
        point = int(np.argmin(np.abs(logs - np.log(wanted))))
    if not result.path:
        raise ValueError(
            "This result has no path: sigma was given to the fit, or it was itself taken from a "
            "path. Call `at` on the result of robust_mean(X), or give sigma instead of point."
        )
    if not is_index(point, len(result.path)):
        raise ValueError(
            f"point must be an index into path, which has {len(result.path)} points, but is "
            f"{point!r}."
        )
    there = result.path[point]
    groups = result.groups[: range(len(result.path))[point]]
    support = all_but(result.support.shape[0], there.removed)
    return _chosen(result, support, groups, dual=there.certificate.multiplier)


def keep(result: RobustMeanResult, group: int | Group) -> RobustMeanResult:
    """Put a group back; see `RobustMeanResult.keep`."""
    back = result.groups[_index(group, result.groups, "group", "groups")]
    groups = tuple(other for other in result.groups if other is not back)
    support = on_host(result.support).copy()
    support[on_host(back.rows)] = True
    return _chosen(result, support, groups, finding=Finding(Kind.PUT_BACK, group=back))


def drop(result: RobustMeanResult, suspect: int | Suspect) -> RobustMeanResult:
    """Remove a suspected group; see `RobustMeanResult.drop`."""
    gone = result.suspects[_index(suspect, result.suspects, "suspect", "suspects")]
    support = on_host(result.support).copy()
    support[on_host(gone.rows)] = False
    groups = (*result.groups, gone.group)
    return _chosen(result, support, groups, finding=Finding(Kind.DROPPED, group=gone.group))


def is_index(value: Any, length: int) -> bool:
    """Return whether a value is the index of one of so many things."""
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool | np.bool_)
    return whole and -length <= int(value) < length


def _index(value: Any, own: Sequence[Any], name: str, names: str) -> int:
    """Return the index of a group or suspect, given as such or by its index."""
    if isinstance(value, Group | Suspect):
        for i, other in enumerate(own):
            if other.size == value.size and every(other.rows == value.rows):
                return i
        raise ValueError(f"{name} is not one of the {names} of this result.")
    if not is_index(value, len(own)):
        raise ValueError(
            f"{name} must be one of {names}, of which there are {len(own)}, or its index, but is "
            f"{value!r}."
        )
    return int(value)


def _solved_again(result: RobustMeanResult, **changes: float) -> RobustMeanResult:
    if not 0.0 < result.sigma < np.inf:
        raise ValueError(
            f"This result has sigma = {result.sigma:g}, for which there is no problem to solve "
            "again."
        )
    again: RobustMeanResult = late("solve_again")(result, **changes)
    finding = Finding(Kind.SOLVED_AGAIN, value=again.sigma)
    outcome = replace(again.outcome, findings=(finding, *again.outcome.findings))
    return replace(again, outcome=outcome)


def _at_threshold(result: RobustMeanResult, threshold: float) -> RobustMeanResult:
    """Remove the rows with a score above a threshold."""
    support = on_host(result.scores <= threshold)
    if not support.any():
        raise ValueError(
            f"threshold={threshold:g} is below every score, so that no row would be kept. The "
            f"lowest score is {float(on_host(result.scores).min()):.4g}."
        )
    groups = tuple(
        replace(group, rows=group.rows[like(~support, group.rows)[group.rows]])
        for group in result.groups
    )
    groups = tuple(group for group in groups if group.size)
    rule = replace(result.rule, threshold=threshold)
    return replace(_chosen(result, support, groups, rule), scores=result.scores)


def _chosen(
    result: RobustMeanResult,
    support: Mask,
    groups: tuple[Group, ...],
    rule: Multiplier | GroupRule | None = None,
    dual: Multiplier | None = None,
    finding: Finding | None = None,
) -> RobustMeanResult:
    """Return the answer that keeps these rows, computed from the data in some fifteen passes."""
    table = as_table(result.known_data().table)
    n, kept = len(support), int(support.sum())
    inside = like(support, result.support)
    # From a kept row: where the fit ended may be so far away that their digits are lost there.
    central = np.where(support, on_host(result.scores), np.inf).argmin()
    location = table.fetch(np.array([central]))[0].astype(np.float64)
    for _ in range(2):
        location = table.mean(double(inside), location)
    # As many may be bad as the fit had removed, also if some of them are back.
    known = result.certificate
    certificate = Certificate.of_rows(
        table, inside, location, result.rule.metric, dual, max(known.n_removed, known.n_suspected)
    )
    if rule is None:
        rule = _rule_of(result, groups, location, certificate.budget, table)
    with np.errstate(over="ignore", invalid="ignore"):
        q = rule.scores(table)
    xp = namespace(q)
    before = result.outcome.having(frozenset({Kind.PUT_BACK, Kind.DROPPED}))
    now = (*before, *((finding,) if finding else ()), Finding(Kind.CHOSEN, kept, float(n)))
    chosen = replace(
        result,
        location=like(location, result.location, result.location.dtype),
        support=inside,
        weights=double(inside),
        indicator=double(~inside),
        # Where rows were chosen that no rule tells apart, moved to the side of the verdict.
        scores=xp.where(inside, xp.clip(q, None, 1.0), xp.clip(q, OVER, None)),
        sigma=certificate.sigma_kept,
        budget=certificate.budget,
        certificate=certificate,
        rule=rule,
        groups=groups,
        # Of a group that is gone there is nothing left to suspect.
        suspects=tuple(s for s in result.suspects if support[on_host(s.rows)].all()),
        path=(),
        n_passes=table.n_passes,
        outcome=Outcome(findings=now),
        gaps=None,
        unweighted=None,
    )
    return weighted(chosen.over_cells())


def _rule_of(
    result: RobustMeanResult,
    groups: tuple[Group, ...],
    location: Array,
    budget: float,
    table: Table,
) -> Multiplier | GroupRule:
    """Return the verdict of some groups; a row that differs by rounding alone breaks no budget."""
    metric = result.rule.metric
    if groups or not np.isfinite(budget):
        return rule_of(groups, location, budget, metric)
    size = float(np.linalg.norm(location)) if metric is None else metric.reach(location)
    noise = ROUNDINGS * float(np.finfo(table.dtype).eps) * size
    return rule_of(groups, location, max(budget, table.shape[0] * noise**2), metric)
