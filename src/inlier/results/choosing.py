"""Choose another answer from a result, without a new fit."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from inlier._internal.arrays import double, like, namespace, on_host
from inlier._internal.typing import Mask
from inlier.linalg.eigenpairs import rounding_of
from inlier.results.certificate import certify_rows
from inlier.results.labels import labelled
from inlier.results.weighting import mean_of
from inlier.verdict import Finding, Group, GroupRule, Kind, Multiplier, Outcome, rule_of

if TYPE_CHECKING:
    from inlier.results.result import RobustMeanResult

# The first score above the threshold of a group.
OVER = float(np.nextafter(1.0, 2.0))


def is_index(value: Any, length: int) -> bool:
    """Return whether a value is an index into a sequence of this length."""
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool | np.bool_)
    return whole and -length <= int(value) < length


def one_of(own: Sequence[Any], index: Any, name: str) -> Any:
    """Return one of the groups or suspects of a result."""
    if not is_index(index, len(own)):
        raise ValueError(
            f"{name} must be the index, from 0, of one of result.{name}s, of which there "
            f"{'is 1' if len(own) == 1 else f'are {len(own)}'}, but is {index!r}."
        )
    return own[index]


def without_kept(groups: tuple[Group, ...], support: Mask) -> tuple[Group, ...]:
    """Return groups without the rows that are kept."""
    parts = [replace(g, rows=g.rows[like(~support, g.rows)[g.rows]]) for g in groups]
    return tuple(part for part in parts if part.size)


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
    certificate = certify_rows(table, inside, mean, result._rule.metric, suspected)
    if rule is None:
        # A row that differs by rounding alone breaks no budget.
        with np.errstate(over="ignore"):
            least = len(support) * rounding_of(table, mean.once, result._rule.metric) ** 2
        rule = rule_of(groups, mean.once, max(certificate.budget, least), result._rule.metric)
    with np.errstate(over="ignore", invalid="ignore"):
        q = rule.scores(table)
    xp = namespace(q)
    before = result._outcome.having(Kind.PUT_BACK, Kind.DROPPED)
    now = (*before, *((finding,) if finding else ()), Finding(Kind.CHOSEN, kept, float(n)))
    # Of a group that was removed there is nothing left to suspect.
    return replace(
        result,
        location=labelled(table.to_device(mean.location.astype(table.dtype)), result._labels),
        support=inside,
        sigma=certificate.sigma_kept,
        certificate=certificate,
        groups=groups,
        suspects=tuple(s for s in result.suspects if support[on_host(s.rows)].all()),
        _rule=rule,
        _outcome=Outcome(findings=now),
        _indicator=None,
        # Where rows were chosen that no rule tells apart, moved to the side of the verdict.
        _scores=xp.where(inside, xp.clip(q, None, 1.0), xp.clip(q, OVER, None)),
        _n_passes=table.n_passes,
    )
