"""The rules of groups, and the points of the path, recomputed from the rows."""

import pickle

import numpy as np
import pytest

import inlier
import reference
from inlier.data import as_table
from inlier.datasets import SettingA
from inlier.results.certificate import most_rows
from symmetric_fits import (
    SETTINGS,
    SMALL,
    check_sigma,
    fitted,
    robust_mean,
    set_aside,
    top_eigenvalue,
)


def test_the_rule_is_the_verdict_on_any_row(fit):
    sample, result = fit
    X, _ = set_aside(sample.X, result)
    np.testing.assert_allclose(
        result.details.rule.scores(as_table(X)), result.scores, rtol=1e-9, atol=1e-12
    )
    # Rows that were not there, judged group by group.
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


def test_points_of_the_path_are_recomputed(fit):
    sample, result = fit
    (X, _), n = set_aside(sample.X, result), len(sample.X)
    assert len(result._path) == len(result.groups) + 2
    gone = np.zeros(n, dtype=bool)
    for i, point in enumerate(result._path):
        kept = np.ones(n, dtype=bool)
        kept[point.removed] = False
        rows = X[kept]
        np.testing.assert_allclose(
            point.location, rows.mean(axis=0), rtol=0.0, atol=1e-11 * np.abs(X).max()
        )
        certificate = point.certificate
        assert (certificate.n, certificate.n_removed) == (n, int((~kept).sum()))
        top = top_eigenvalue(rows)
        assert certificate.lambda_max * (1.0 - 1e-9) <= top <= certificate.bound * (1.0 + 1e-9)
        check_sigma(point.sigma, certificate)
        assert certificate.feasible and point.budget == certificate.budget
        assert certificate.l0_lower_bound <= certificate.n_removed
        if i <= len(result.groups):
            np.testing.assert_array_equal(~kept, gone)
        if i < len(result.groups):
            gone[result.groups[i].rows] = True
    below, chosen = result._path[-1], result._path[-2]
    assert below.certificate.lambda_max < chosen.certificate.lambda_max
    assert set(chosen.removed) <= set(below.removed)


@pytest.mark.parametrize("alpha", [0.1, 0.3])
@pytest.mark.parametrize("setting", SETTINGS)
def test_the_budget_falls_and_the_price_jumps_below_the_good_rows(setting, alpha):
    result = fitted(SETTINGS[setting](1000, 100, alpha).sample(0).X)
    groups = result._path[: len(result.groups) + 1]
    assert np.all(np.diff([point.budget for point in groups]) < 0.0)
    assert np.all(np.diff([point.sigma for point in groups]) < 0.0)
    below, chosen = result._path[-1], groups[-1]
    assert below.price > 3.0 * chosen.price
    assert below.rank > chosen.rank
    # Good rows pay on both sides alike: nothing speaks for their leaving.
    assert groups[0].share == 1.0 and below.share > 0.5
    assert max(point.share for point in groups[1:]) < 0.25


@pytest.mark.parametrize("n_bad", [2, 5])
def test_the_l0_bound_of_the_path_against_all_subsets(n_bad):
    rng = np.random.default_rng(n_bad)
    X = rng.standard_normal((14, 2))
    X[:n_bad] += 1e8
    result = fitted(X)
    np.testing.assert_array_equal(result.outliers, np.arange(n_bad))
    A = X - result.location
    fewest = reference.fewest_removed_about(A, result.details.budget)
    assert result.certificate.l0_lower_bound <= fewest <= n_bad


def test_the_path_is_the_same_after_pickling():
    X = SMALL["A"]().X
    result = robust_mean(X)
    again = pickle.loads(pickle.dumps(result)).with_data(X)
    assert [point.certificate for point in again._path] == [p.certificate for p in result._path]
    with pytest.warns(FutureWarning, match=r"robust_mean\(X\)\.sensitivity"):
        points = inlier.path(X, assume="symmetric")
    assert [point.budget for point in points] == [point.budget for point in result._path]


def test_every_point_tells_of_missing_cells_and_weights():
    X = np.random.default_rng(0).standard_normal((200, 4))
    X[:3], X[3:40, 1] = 900.0, np.nan
    result = inlier.robust_mean(X, sample_weight=np.arange(1.0, 201.0))
    assert result.groups and len(result._path) > 2
    for point in result._path:
        assert point.certificate.n_missing == 37 and point.certificate.weighted
        assert point.certificate.verify(X).holds
