"""Map a result from the coordinates of a metric back to those of the data."""

from dataclasses import replace

import numpy as np

from inlier._internal.arrays import double, on_host
from inlier.data import Metric, Table
from inlier.results.certificate import Certificate
from inlier.results.result import RobustMeanResult
from inlier.results.rules import Group, GroupRule, Multiplier


def in_units_of_the_data(
    result: RobustMeanResult, original: Table, metric: Metric
) -> RobustMeanResult:
    """Return a result found in other coordinates; sigma and the budget stay in theirs."""
    location = original.mean(
        double(result.support), metric.restored(on_host(result.location)[None])[0]
    )
    rule = result.rule
    if isinstance(rule, Multiplier):
        rule = _multiplier_of_the_data(rule, metric)
    groups = tuple(_group_of_the_data(group, metric) for group in result.groups)
    suspects = tuple(replace(s, group=_group_of_the_data(s.group, metric)) for s in result.suspects)
    path = tuple(
        replace(
            point,
            location=metric.restored(point.location[None])[0],
            certificate=_certificate_of_the_data(point.certificate, metric),
        )
        for point in result.path
    )
    if groups:
        rule = GroupRule(groups)
    return replace(
        result,
        location=original.to_device(location.astype(original.dtype)),
        rule=rule,
        certificate=_certificate_of_the_data(result.certificate, metric),
        groups=groups,
        suspects=suspects,
        path=path,
        n_passes=original.n_passes,
    )


def _group_of_the_data(group: Group, metric: Metric) -> Group:
    """Return a group found in other coordinates."""
    mean, center = metric.restored(np.stack([group.mean, group.center]))
    direction = metric.directions(group.direction[None])[0]
    length = max(float(np.linalg.norm(direction)), float(np.finfo(np.float64).tiny))
    return replace(
        group,
        mean=mean,
        center=center,
        direction=direction / length,
        cut=group.cut if group.by_distance else group.cut / length,
        metric=metric,
    )


def _certificate_of_the_data(certificate: Certificate, metric: Metric) -> Certificate:
    return replace(certificate, multiplier=_multiplier_of_the_data(certificate.multiplier, metric))


def _multiplier_of_the_data(multiplier: Multiplier, metric: Metric) -> Multiplier:
    """Return a multiplier found in other coordinates."""
    points = metric.restored(np.stack([multiplier.center, multiplier.start]))
    return multiplier.turned(metric.directions, center=points[0], start=points[1], metric=metric)
