"""The result of a fit from its verdict, in the coordinates of the data."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from inlier._internal.arrays import any_true
from inlier._internal.typing import Array, Rows
from inlier.data import Frame, Table
from inlier.results.certificate import certify_verdict
from inlier.results.result import RobustMeanResult
from inlier.results.weighting import mean_of
from inlier.verdict import GroupRule, Multiplier, Verdict, rule_of


def built(
    frame: Frame, verdict: Verdict, table: Table, sample_weight: Array | None
) -> RobustMeanResult:
    """Build the result of a fit, in the coordinates of the data."""

    def on_device(rows: Rows) -> Rows:
        return table.to_device(rows) if isinstance(rows, np.ndarray) else rows

    support = on_device(frame.of_all_rows(verdict.kept, False))
    indicator = verdict.indicator
    if indicator is not None:
        indicator = on_device(frame.of_all_rows(indicator, 1.0))
    near, exact = verdict.mean, verdict.given or not verdict.groups
    exact = exact and any_true(verdict.kept)  # else the indicator was rounded up
    if frame.rotation is not None:
        near, exact = frame.origin, False
    if frame.metric is not None:
        near, exact = frame.metric.restored(near[None])[0], False
    mean = mean_of(table, support, indicator, near, sample_weight, exact)
    groups = (*verdict.early, *(group.in_data(frame) for group in verdict.groups))
    certificate = certify_verdict(verdict, frame, table, mean)
    scores: Rows | None = None
    if verdict.given:
        rule: Multiplier | GroupRule = certificate.multiplier
        if verdict.scores is not None and frame.complete and not verdict.rounded:
            scores = on_device(verdict.scores)
    else:
        allowed = max(verdict.budget, verdict.least_budget)
        rule = rule_of(groups, mean.once, allowed, frame.metric)
    if scores is None and not table.in_memory:
        # A file may be gone, and a cluster closed, when they are first used.
        scores = rule.scores(table)
    return RobustMeanResult(
        location=table.to_device(mean.location.astype(table.dtype)),
        support=support,
        sigma=verdict.sigma,
        certificate=certificate,
        groups=groups,
        suspects=tuple(replace(s, group=s.group.in_data(frame)) for s in verdict.suspects),
        converged=verdict.converged,
        _rule=rule,
        _outcome=verdict.outcome,
        _verdict=verdict,
        _indicator=indicator,
        _scores=scores,
        _n_passes=table.n_passes,
        _data=table,
        _fingerprint=table.fingerprint(),
        _sample_weight=sample_weight,
    )
