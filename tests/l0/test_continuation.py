"""Continuation succeeds where the published start fails."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from cases import cases
from fits import robust_mean
from inlier.datasets import SettingA, SettingB
from inlier.l0 import Options, interior_point
from inlier.l0 import fit as with_sigma


def error(result, sample):
    return np.linalg.norm(result.location - sample.mean)


# Nearly all good rows break the budget about the coordinate-wise median of these data.
def test_continuation_succeeds_where_the_published_start_fails():
    sample = SettingA(n=600, d=300, alpha=0.45).sample(0)
    published = robust_mean(sample.X, sigma=sample.sigma, l0=Options(algorithm="paper", tol=1e-3))
    assert error(published, sample) > 1.0
    result = robust_mean(sample.X, sigma=sample.sigma)
    np.testing.assert_array_equal(result.support, ~sample.is_outlier)
    assert result.converged


@cases("factor", [0.8, 0.95, 1.0, 1.2])
@cases("setting", [SettingA, SettingB])
def test_what_is_clear_of_many_rows_is_what_solving_again_says(monkeypatch, setting, factor):
    sample = setting(6000, 20, 0.2).sample(0)
    sigma = factor * sample.sigma
    known = robust_mean(sample.X, sigma=sigma).support
    monkeypatch.setattr(with_sigma, "CLEAR", -np.inf)
    np.testing.assert_array_equal(robust_mean(sample.X, sigma=sigma).support, known)


@pytest.mark.slow
def test_continuation_succeeds_where_the_published_start_fails_in_high_dimension():
    sample = SettingA(n=4000, d=2000, alpha=0.3).sample(0)
    with pytest.warns(ConvergenceWarning, match="continuation"):
        published = robust_mean(
            sample.X, sigma=sample.sigma, l0=Options(algorithm="paper", tol=1e-3)
        )
    assert not published.support.any()
    assert not published.converged
    result = robust_mean(sample.X, sigma=sample.sigma)
    np.testing.assert_array_equal(result.support, ~sample.is_outlier)


def deviation(rows):
    """The largest in any direction."""
    return float(np.linalg.norm(rows - rows.mean(axis=0), 2)) / np.sqrt(len(rows))


# As those who take sigma for the deviation of a column: the multiplier had a rank near n then.
@cases("factor", [0.7, 0.5, 0.3, 0.1, 1e-6])
@cases("law", [lambda r: r.standard_normal((120, 1200)), lambda r: r.standard_normal((1500, 60)),
               lambda r: np.exp(r.normal(100.0, 8.0, (200, 400)))])  # fmt: skip
def test_a_sigma_that_is_too_small_costs_few_passes_and_a_low_rank(law, factor):
    X = law(np.random.default_rng(0))
    right = deviation(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = [robust_mean(X, sigma=f * right).details for f in (1.05, factor)]
    assert found[1].n_passes <= 5 * found[0].n_passes
    assert max((step.rank for step in found[1].history), default=0) <= 40


@cases("shape", [(120, 1200), (900, 60)])
def test_where_half_of_the_rows_exceed_the_budget_the_fit_says_what_they_need(shape):
    rng = np.random.default_rng(0)
    X = rng.standard_normal(shape)
    with pytest.warns(ConvergenceWarning, match="not that of a column"):
        result = robust_mean(X, sigma=0.3 * deviation(X))
    assert not result.converged
    assert not result.support.any()
    assert 2 * result.certificate.l0_lower_bound > len(X)
    (finding,) = result._outcome.findings
    halves = [rng.permutation(len(X))[: len(X) // 2] for _ in range(20)]
    least = min(deviation(X[half]) for half in halves)
    assert 0.6 * least < finding.value < least
    assert f"at least {finding.value:.3g}" in result.message
    assert robust_mean(X, sigma=deviation(X)).support.all()


# A surrogate would remove every row whose weight is lowered: 6 of 10 with a sigma of 9 tenths.
@cases("factor", [0.95, 0.9, 0.8, 0.7])
@cases("shape", [(1000, 10), (600, 40), (5000, 8)])
def test_a_sigma_that_is_a_little_too_small_costs_few_rows_and_no_surrogate(
    monkeypatch, shape, factor
):
    solved = []
    solve = interior_point.solve
    monkeypatch.setattr(
        interior_point, "solve", lambda P, *a, **k: (solved.append(len(P)), solve(P, *a, **k))[1]
    )
    X = np.random.default_rng(0).standard_normal(shape)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        result = robust_mean(X, sigma=factor * deviation(X))
    assert result.converged
    kept, bound = X[result.support], result.certificate.l0_lower_bound
    assert len(kept) * deviation(kept) ** 2 <= len(X) * (factor * deviation(X)) ** 2 * (1 + 1e-9)
    assert len(X) - len(kept) <= 2.0 * bound + 0.1 * len(X)
    assert len(solved) <= 12


# The tails of these rows exceed the budget in ever more directions, one pass after the other.
@cases("factor", [0.9, 0.8, 0.7, 0.6])
def test_a_sigma_that_is_too_small_for_heavy_tails_solves_few_problems(monkeypatch, factor):
    solved = []
    solve = interior_point.solve
    monkeypatch.setattr(
        interior_point, "solve", lambda P, *a, **k: (solved.append(len(P)), solve(P, *a, **k))[1]
    )
    X = np.exp(np.random.default_rng(0).standard_normal((2000, 100)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        result = robust_mean(X, sigma=factor * deviation(X))
    assert result.support.mean() > 0.6
    assert len(solved) <= 24


# The copies spend the budget in one direction; in another the good rows come near to it as well.
def test_copies_of_an_outlier_leave_all_together_though_parts_of_them_fit():
    sample = SettingB(60, 100, 0.2).sample(0)
    result = robust_mean(sample.X, sigma=sample.sigma)
    np.testing.assert_array_equal(result.support, ~sample.is_outlier)
