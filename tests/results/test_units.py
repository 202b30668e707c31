"""A result in the units of the data is that of the other coordinates, mapped back."""

import numpy as np
from inlier.results.units import in_units_of_the_data

from inlier import robust_mean
from inlier.data import Metric, as_table
from reference import contaminated


def test_locations_groups_and_rules_are_mapped_back():
    X = contaminated(200, 4, 20, far=9.0)
    L = np.tril(np.random.default_rng(0).standard_normal((4, 4))) + 2.0 * np.eye(4)
    metric = Metric(np.array([5.0, 0.0, -3.0, 1.0]), L)
    found = robust_mean(X, scatter="identity")
    Y = metric.restored(X)
    table = as_table(Y)
    mapped = in_units_of_the_data(found, table, metric)
    np.testing.assert_allclose(mapped.location, Y[found.support].mean(axis=0), rtol=1e-9)
    assert (mapped.sigma, mapped.budget) == (found.sigma, found.budget)
    np.testing.assert_array_equal(mapped.rule.scores(table) > mapped.rule.threshold, ~found.support)
    for group, before in zip(mapped.groups, found.groups, strict=True):
        np.testing.assert_allclose(group.mean, Y[before.rows].mean(axis=0), rtol=1e-9)
    for point in mapped.path:
        kept = np.delete(Y, point.removed, axis=0)
        np.testing.assert_allclose(point.location, kept.mean(axis=0), rtol=1e-9, atol=1e-9)
