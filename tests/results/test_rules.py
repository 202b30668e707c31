"""The rules of groups, recomputed from the rows, and the bounds on what can be kept."""

import numpy as np
import pytest

import inlier
import reference
from inlier.data import as_table
from inlier.research.datasets import SettingA
from inlier.results.certificate import most_rows


def test_the_rule_judges_rows_that_were_not_there_group_by_group(fit):
    sample, result = fit
    rng = np.random.default_rng(7)
    new = np.concatenate([sample.X[:50] + 0.1, 1.5 * sample.X[50:100], 9.0 * sample.X[:20]])
    new += 0.01 * rng.standard_normal(new.shape)
    expected = np.zeros(len(new), dtype=bool)
    for group in result.groups:
        offsets = new - group.center
        if group.kind in ("apart", "distance", "tail"):
            sizes = np.linalg.norm(offsets, axis=1)
        else:
            sizes = offsets @ group.direction
            sizes = np.abs(sizes) if group.side == 0 else group.side * sizes
        expected |= sizes > group.cut
    if not result.groups:
        expected = np.sum((new - result.location) ** 2, axis=1) > result.details.budget
    got = result.details.rule.scores(as_table(new)) > result.details.rule.threshold
    np.testing.assert_array_equal(got, expected)


def test_new_rows_are_told_apart():
    model = inlier.RobustMean(assume="symmetric").fit(SettingA(2000, 100, 0.2).sample(0).X)
    fresh = SettingA(2000, 100, 0.4).sample(1)
    assert np.mean((model.predict(fresh.X) == 1) == ~fresh.is_outlier) > 0.999


@pytest.mark.parametrize("factor", [0.5, 1.0, 2.0])
def test_how_many_rows_can_be_kept_within_any_budget(factor):
    X = reference.contaminated(12, 2, 3, far=5.0)
    rule = inlier.robust_mean(X, sigma=1.2).details.rule
    center, budget = X[3:].mean(axis=0), factor * rule.budget
    found = most_rows(rule, as_table(X), center, budget)
    # By hand: the dual of the l1 problem at the best multiple of Lambda, which is at a kink.
    Lambda = (rule.directions.T * rule.prices) @ rule.directions / rule.budget
    q = np.einsum("ni,ij,nj->n", X - center, Lambda, X - center)
    multiples = np.append(0.0, 1.0 / q)
    price = budget * np.trace(Lambda)
    duals = multiples * price + np.maximum(1.0 - np.outer(q, multiples), 0.0).sum(axis=0)
    assert found == pytest.approx(duals.min())
    assert found >= 12 - reference.fewest_removed_about(X - center, budget)
