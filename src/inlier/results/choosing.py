"""Choose another answer from a result, without a new fit: at a point, with a group back or gone."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from inlier._internal.arrays import double, every, like, namespace, on_host
from inlier._internal.typing import Array, Mask
from inlier._internal.validation import check_number
from inlier.data import Table
from inlier.results.certificate import certify_rows
from inlier.results.labels import labelled
from inlier.results.weighting import mean_of, shifted
from inlier.verdict import Finding, Group, GroupRule, Kind, Multiplier, Outcome, Suspect, rule_of

if TYPE_CHECKING:
    from inlier.results.result import RobustMeanResult

# Spread below this many ulps counts as zero.
ROUNDINGS = 8.0
# The first score above the threshold of a group.
OVER = float(np.nextafter(1.0, 2.0))


def at(
    result: RobustMeanResult,
    point: int | None,
    threshold: float | None,
    sigma: float | None,
    budget: float | None,
    p: float | None,
    contamination: float | None,
) -> RobustMeanResult:
    """Choose by one of the arguments; see `RobustMeanResult.at`."""
    given = [x for x in (point, threshold, sigma, budget, p, contamination) if x is not None]
    if len(given) != 1:
        raise ValueError(
            "Give one of point (a number of groups), threshold and contamination, but "
            f"{len(given)} were given."
        )
    if contamination is not None:
        from inlier.given.contamination import with_contamination

        return with_contamination(result, check_number(contamination, "contamination", below=0.5))
    if point is None and threshold is None:
        return _fitted_again(result, sigma, budget, p)
    if threshold is not None:
        return _at_threshold(result, check_number(threshold, "threshold", at_least=0.0))
    if not result._outcome.searched:
        raise ValueError(
            "This result has no points: sigma, contamination or trusted was given to the fit, or "
            "it was itself chosen. Call `at` on the result of robust_mean(X)."
        )
    points = range(len(result.groups) + 1)
    if not is_index(point, len(points)):
        raise ValueError(
            f"point must be how many of the {len(result.groups)} groups are removed, but is "
            f"{point!r}."
        )
    assert point is not None
    groups = result.groups[: points[point]]
    support = on_host(result.support).copy()
    for group in result.groups[points[point] :]:
        support[on_host(group.rows)] = True
    return chosen(result, support, groups)


def _fitted_again(
    result: RobustMeanResult, sigma: float | None, budget: float | None, p: float | None
) -> RobustMeanResult:
    """Fit again with another bound or power, with a warning: this is a new fit."""
    from inlier.api import robust_mean
    from inlier.l0.fit import Options

    warnings.warn(
        "at(sigma=...), at(budget=...) and at(p=...) go with the next release: fit again with "
        "robust_mean(X, sigma=..., l0=inlier.l0.Options(p=...)).",
        FutureWarning,
        stacklevel=4,
    )
    if budget is not None:
        budget = check_number(budget, "budget", below=np.inf)
        sigma = result.sigma * float(np.sqrt(budget / result.certificate.budget))
    metric = result._rule.metric
    return robust_mean(
        result._known_data(),
        sigma=result.sigma if sigma is None else sigma,
        sample_weight=result._sample_weight,
        scatter="auto" if metric is None else metric.matrix @ metric.matrix.T,
        l0=Options() if p is None else Options(p=p),
    )


def keep(result: RobustMeanResult, group: int | Group) -> RobustMeanResult:
    """Put a group back; see `RobustMeanResult.keep`."""
    back = result.groups[_index(group, result.groups, "group", "groups")]
    groups = tuple(other for other in result.groups if other is not back)
    support = on_host(result.support).copy()
    support[on_host(back.rows)] = True
    return chosen(result, support, groups, finding=Finding(Kind.PUT_BACK, group=back))


def drop(result: RobustMeanResult, suspect: int | Suspect) -> RobustMeanResult:
    """Remove a suspected group; see `RobustMeanResult.drop`."""
    gone = result.suspects[_index(suspect, result.suspects, "suspect", "suspects")]
    support = on_host(result.support).copy()
    support[on_host(gone.rows)] = False
    groups = (*result.groups, gone.group)
    return chosen(result, support, groups, finding=Finding(Kind.DROPPED, group=gone.group))


def is_index(value: Any, length: int) -> bool:
    """Return whether a value is an index into a sequence of this length."""
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
            f"{name} must be one of result.{names}, of which there "
            f"{'is 1' if len(own) == 1 else f'are {len(own)}'}, or its index from 0, but is "
            f"{value!r}."
        )
    return int(value)


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
    rule = replace(result._rule, threshold=threshold)
    return replace(chosen(result, support, groups, rule), _scores=result.scores)


def chosen(
    result: RobustMeanResult,
    support: Mask,
    groups: tuple[Group, ...],
    rule: Multiplier | GroupRule | None = None,
    finding: Finding | None = None,
) -> RobustMeanResult:
    """Return the answer that keeps these rows, computed from the data in some fifteen passes."""
    table = result._known_data()
    n, kept = len(support), int(support.sum())
    inside = like(support, result.support)
    # From a kept row: where the fit ended may be so far away that their digits are lost there.
    central = np.where(support, on_host(result.scores), np.inf).argmin()
    location = table.row(int(central))
    location = table.mean(double(inside), location)
    mean = mean_of(table, inside, None, location, result._sample_weight)
    # As many may be bad as the fit had removed, also if some of them are back.
    known = result.certificate
    suspected = max(known.n_removed, known.n_suspected)
    certificate = certify_rows(
        table, inside, mean.once, result._rule.metric,
        n_suspected=suspected, weighted=mean.weighted,
    )  # fmt: skip
    if rule is None:
        rule = _rule_of(result, groups, mean.once, certificate.budget, table)
    with np.errstate(over="ignore", invalid="ignore"):
        q = rule.scores(table)
    xp = namespace(q)
    before = result._outcome.having(frozenset({Kind.PUT_BACK, Kind.DROPPED}))
    now = (*before, *((finding,) if finding else ()), Finding(Kind.CHOSEN, kept, float(n)))
    # Of a group that was removed there is nothing left to suspect.
    suspects = [s for s in result.suspects if support[on_host(s.rows)].all()]
    return replace(
        result,
        location=labelled(table.to_device(mean.location.astype(table.dtype)), result._labels),
        support=inside,
        sigma=certificate.sigma_kept,
        certificate=certificate,
        groups=groups,
        suspects=tuple(shifted(s, table, mean) if mean.weighted else s for s in suspects),
        _rule=rule,
        _outcome=Outcome(findings=now),
        _indicator=None,
        # Where rows were chosen that no rule tells apart, moved to the side of the verdict.
        _scores=xp.where(inside, xp.clip(q, None, 1.0), xp.clip(q, OVER, None)),
        _unweighted=mean.unweighted,
        _n_passes=table.n_passes,
        _gaps=mean.gaps,
    )


def _rule_of(
    result: RobustMeanResult,
    groups: tuple[Group, ...],
    location: Array,
    budget: float,
    table: Table,
) -> Multiplier | GroupRule:
    """Return the verdict of some groups; a row that differs by rounding alone breaks no budget."""
    metric = result._rule.metric
    if groups or not np.isfinite(budget):
        return rule_of(groups, location, budget, metric)
    size = float(np.linalg.norm(location)) if metric is None else metric.reach(location)
    noise = ROUNDINGS * float(np.finfo(table.dtype).eps) * size
    return rule_of(groups, location, max(budget, table.shape[0] * noise**2), metric)
