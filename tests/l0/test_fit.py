"""Fits with a known sigma: starts, options, and what they leave alone."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

import inlier
from cases import cases
from clear_samples import ALGORITHMS, SURROGATES, check_answer, clear_sample, fitted, spectral_sigma
from fits import robust_mean
from inlier.data import as_table
from inlier.l0 import Options
from inlier.linalg.centers import geometric_median
from inlier.research.datasets import SettingA, SettingB

# -- Starts ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("start", ["coordinate-median", "geometric-median", "auto"])
@pytest.mark.parametrize("algorithm", ["continuation", "paper"])
def test_every_start_leads_to_the_good_rows(algorithm, start):
    sample = SettingB(n=300, d=60, alpha=0.2).sample(0)
    result = robust_mean(sample.X, sigma=sample.sigma, l0=Options(algorithm=algorithm, start=start))
    np.testing.assert_array_equal(result.support, ~sample.is_outlier)


def steps(result):
    """The history but for the passes, of which a named start takes some itself."""
    return [(step.n_removed, step.h_sum, step.lambda_max) for step in result.details.history]


def test_named_starts_are_the_centers_they_name():
    sample = SettingA(n=100, d=5, alpha=0.2).sample(0)
    options = {"sigma": sample.sigma, "algorithm": "paper"}
    median = robust_mean(sample.X, l0=Options(start="coordinate-median"), **options)
    same = robust_mean(sample.X, l0=Options(start=np.median(sample.X, axis=0)), **options)
    auto = robust_mean(sample.X, **options)
    assert steps(median) == steps(same) == steps(auto)
    geometric = robust_mean(sample.X, l0=Options(start="geometric-median"), **options)
    same = robust_mean(
        sample.X, l0=Options(start=geometric_median(as_table(sample.X)).location), **options
    )
    assert steps(geometric) == steps(same)
    elsewhere = robust_mean(sample.X, l0=Options(start=sample.mean), **options)
    assert steps(elsewhere)[0] != steps(median)[0]


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize("algorithm", ["continuation", "paper"])
def test_a_start_that_is_one_of_the_rows(algorithm, unit):
    """The median of an odd number of values: its distance to itself is zero."""
    x = np.array([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 60.0]) * unit
    result = robust_mean(x[:, None], sigma=2.0 * unit, l0=Options(algorithm=algorithm))
    np.testing.assert_array_equal(result.outliers, [6])
    assert result.location[0] == pytest.approx(2.5 * unit)


# -- Options --------------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ["continuation", "paper"])
def test_prune_is_removing_the_far_rows_by_hand(algorithm):
    n, d, prune = 200, 10, 0.2
    sample = SettingA(n=n, d=d, alpha=0.2).sample(0)
    X = sample.X.copy()
    X[np.flatnonzero(sample.is_outlier)[:10]] += 1e3
    start = np.median(X, axis=0)
    near = np.linalg.norm(X - start, axis=1) <= sample.sigma * np.sqrt(40.0 * d / prune)
    assert 0 < (~near).sum() <= 10
    options = {"algorithm": algorithm, "start": start, "random_state": 0}
    pruned = robust_mean(X, sigma=sample.sigma, l0=Options(prune=prune), **options)
    # The budget is that of all rows, so by hand sigma has to make up for the rows that went.
    by_hand = robust_mean(
        X[near], sigma=sample.sigma, l0=Options(c1=np.sqrt(n / near.sum())), **options
    )
    np.testing.assert_array_equal(pruned.support[near], by_hand.support)
    np.testing.assert_array_equal(pruned.details.indicator[~near], 1.0)
    assert not pruned.support[~near].any()
    np.testing.assert_allclose(pruned.location, by_hand.location, atol=1e-12)
    assert pruned.details.budget == pytest.approx(by_hand.details.budget)
    assert pruned.certificate.n_removed == by_hand.certificate.n_removed + (~near).sum()


def test_prune_that_leaves_no_table_is_refused():
    X = np.random.default_rng(0).standard_normal((20, 3)) * 1e6
    with pytest.raises(ValueError, match=r"prune.*sigma"):
        robust_mean(X, sigma=1e-3, l0=Options(prune=0.5))


@pytest.mark.parametrize("algorithm", ["continuation", "paper"])
def test_callback_sees_each_step_as_it_is_done(algorithm):
    sample = SettingA(n=100, d=8, alpha=0.2).sample(0)
    seen = []
    result = robust_mean(
        sample.X, sigma=sample.sigma, callback=seen.append, l0=Options(algorithm=algorithm)
    )
    assert tuple(seen) == result.details.history
    passes = [step.n_passes for step in seen]
    assert passes == sorted(passes)
    assert passes[-1] <= result.details.n_passes


# -- kinds of tables ------------------------------------------------------------------------------


def test_few_rows_and_many_columns():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 20_000))
    X[25:] += 3.0
    sigma = spectral_sigma(X[:25])
    for data in (X, np.asfortranarray(X), X.astype(np.float32), sp.csr_array(X)):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            result = robust_mean(data, sigma=sigma)
        np.testing.assert_array_equal(result.support, np.arange(30) < 25)
        np.testing.assert_allclose(result.location, X[:25].mean(axis=0), atol=1e-5)
        # In single precision the eigenvalue is computed again, from the rows before the rotation.
        assert result.details.n_passes <= 6 + (data.dtype == np.float32)
        kept = X[:25] - X[:25].mean(axis=0)
        top = np.linalg.eigvalsh(kept @ kept.T)[-1]
        assert result.certificate.lambda_max == pytest.approx(top, rel=1e-5)
        directions = result.details.rule.directions
        np.testing.assert_allclose(
            directions @ directions.T, np.eye(len(directions)), atol=1e-4
        )  # fmt: skip


# -- difficult tables -----------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("n", [5, 40, 700])
def test_one_column(n, algorithm):
    rng = np.random.default_rng(n)
    X = rng.standard_normal((n, 1))
    n_bad = n // 5
    X[:n_bad] += 30.0
    result = fitted(X, sigma=spectral_sigma(X[n_bad:]), l0=Options(algorithm=algorithm))
    np.testing.assert_array_equal(result.support, np.arange(n) >= n_bad)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("d", [1, 2, 7])
def test_two_rows_within_sigma(d, algorithm):
    X = np.stack([np.zeros(d), np.ones(d) / np.sqrt(d)])
    result = fitted(X, sigma=1.0, l0=Options(algorithm=algorithm))
    assert result.support.all()
    np.testing.assert_allclose(result.location, X.mean(axis=0))


@cases("algorithm", ALGORITHMS)
@cases("surrogate", SURROGATES)
@cases("d", [1, 2, 7])
def test_two_rows_that_contradict_each_other(d, surrogate, algorithm):
    # Neither is the outlier by right: whatever is answered must be finite and say so.
    X = np.stack([np.zeros(d), np.full(d, 50.0)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        result = robust_mean(X, sigma=1.0, l0=Options(algorithm=algorithm, surrogate=surrogate))
    check_answer(X, result, 1.0)
    assert not result.support.all()


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("d", [1, 2, 5])
def test_three_rows_one_of_them_far(d, algorithm):
    X = np.stack([np.zeros(d), np.full(d, 0.1), np.full(d, 50.0)])
    result = fitted(X, sigma=1.0, l0=Options(algorithm=algorithm))
    np.testing.assert_array_equal(result.support, [True, True, False])


@cases("algorithm", ALGORITHMS)
@cases("shape", [(2, 1), (10, 3), (10, 30), (600, 2)])
def test_all_rows_equal(shape, algorithm):
    X = np.full(shape, 2.5)
    result = fitted(X, sigma=1.0, l0=Options(algorithm=algorithm))
    assert result.support.all()
    np.testing.assert_allclose(result.location, 2.5, rtol=1e-15)
    assert result.certificate.lambda_max == pytest.approx(0.0, abs=1e-20)


@cases("algorithm", ALGORITHMS)
@cases("surrogate", SURROGATES)
@cases("shape", [(3, 1), (10, 3), (10, 30), (600, 2)])
def test_all_rows_equal_but_one(shape, surrogate, algorithm):
    X = np.full(shape, 2.5)
    X[1] = 100.0
    result = fitted(X, sigma=1.0, l0=Options(algorithm=algorithm, surrogate=surrogate))
    np.testing.assert_array_equal(result.outliers, [1])
    np.testing.assert_allclose(result.location, 2.5, rtol=1e-15)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_many_copies_of_one_outlier(algorithm):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.standard_normal((60, 5)), np.tile(np.full(5, 20.0), (40, 1))])
    result = fitted(X, sigma=1.05 * spectral_sigma(X[:60]), l0=Options(algorithm=algorithm))
    assert not result.support[60:].any()
    assert result.support[:60].sum() >= 58


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_many_copies_of_one_good_row(algorithm):
    rng = np.random.default_rng(0)
    X = np.concatenate([np.ones((60, 5)), 10.0 + rng.standard_normal((40, 5))])
    result = fitted(X, sigma=1.0, l0=Options(algorithm=algorithm))
    np.testing.assert_array_equal(result.support, np.arange(100) < 60)
    np.testing.assert_allclose(result.location, 1.0, rtol=1e-14)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_rows_given_twice_are_judged_alike(algorithm):
    X, is_bad, sigma = clear_sample(n=50, n_bad=10)
    result = fitted(np.repeat(X, 2, axis=0), sigma=sigma, l0=Options(algorithm=algorithm))
    np.testing.assert_array_equal(result.support, np.repeat(~is_bad, 2))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_constant_columns_change_nothing(algorithm):
    X, is_bad, sigma = clear_sample()
    wider = np.insert(X, [0, 3], [7.0, 0.0], axis=1)
    result = fitted(wider, sigma=sigma, l0=Options(algorithm=algorithm))
    np.testing.assert_array_equal(result.support, ~is_bad)
    np.testing.assert_allclose(result.location[[0, 4]], [7.0, 0.0], rtol=1e-14)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_clean_rows_are_all_kept(algorithm):
    X = np.random.default_rng(0).standard_normal((300, 10))
    result = fitted(X, sigma=1.001 * spectral_sigma(X), l0=Options(algorithm=algorithm))
    assert result.support.all()
    assert result.certificate.l0_lower_bound == 0
    np.testing.assert_allclose(result.location, X.mean(axis=0), atol=1e-13)


@cases("where", ["one entry", "whole row"])
@cases("size", [1e2, 1e5, 1e8, 1e20, 1e150, 1e300])
@cases("shape", [(300, 30), (50, 2), (40, 1), (30, 80)])
def test_one_absurd_row_among_good_ones(shape, size, where):
    X = np.random.default_rng(1).standard_normal(shape)
    X[3] = 0.0
    X[3, slice(1) if where == "one entry" else slice(None)] = size
    good = np.arange(len(X)) != 3
    result = fitted(X, sigma=1.05 * spectral_sigma(X[good]))
    np.testing.assert_array_equal(result.support, good)


@cases("algorithm", ALGORITHMS)
@cases("surrogate", SURROGATES)
@cases("size", [1e8, 1e150, 1e300])
def test_absurd_rows_with_every_method(size, surrogate, algorithm):
    X = np.random.default_rng(1).standard_normal((80, 6))
    X[3], X[40, 2], X[41, 5] = size, -size, size
    good = ~np.isin(np.arange(80), [3, 40, 41])
    sigma = 1.05 * spectral_sigma(X[good])
    result = fitted(X, sigma=sigma, l0=Options(algorithm=algorithm, surrogate=surrogate))
    np.testing.assert_array_equal(result.support, good)


@cases("size", [1e6, 1e10, 1e150, 1e300])
@cases("shape", [(200, 12), (60, 200)])
def test_an_absurd_row_hides_no_other_outlier(shape, size):
    n, d = shape
    X = np.random.default_rng(1).standard_normal(shape)
    X[:10, d // 2 :] += 15.0
    X[20] = 0.0
    X[20, 0] = size
    good = ~np.isin(np.arange(n), [*range(10), 20])
    result = fitted(X, sigma=spectral_sigma(X[good]))
    np.testing.assert_array_equal(result.support, good)


@cases("size", [1e8, 1e19, 1e30, 1e38])
@cases("make", [np.asarray, sp.csr_array])
@cases("shape", [(200, 12), (60, 200)])
def test_absurd_rows_in_single_precision(shape, make, size):
    X = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    X[3], X[5, 0] = -size, size
    good = ~np.isin(np.arange(len(X)), [3, 5])
    result = fitted(make(X), dense=X, sigma=1.05 * spectral_sigma(X[good]))
    np.testing.assert_array_equal(result.support, good)


@pytest.mark.parametrize("start", ["geometric-median", "coordinate-median"])
@pytest.mark.parametrize("size", [1e6, 1e150, 1e300])
def test_absurd_rows_from_every_start(size, start):
    X = np.random.default_rng(1).standard_normal((80, 6))
    X[3] = size
    good = np.arange(80) != 3
    result = fitted(X, sigma=1.05 * spectral_sigma(X[good]), l0=Options(start=start))
    np.testing.assert_array_equal(result.support, good)


@cases("algorithm", ALGORITHMS)
@cases("surrogate", SURROGATES)
@cases("factor", [1e-2, 1e-8, 1e-12])
@cases("shape", [(40, 4), (20, 50)])
def test_a_bound_far_too_small_is_said_to_be_so(shape, factor, surrogate, algorithm):
    X = np.random.default_rng(0).standard_normal(shape)
    sigma = factor * spectral_sigma(X)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("always", ConvergenceWarning)
        options = Options(algorithm=algorithm, surrogate=surrogate)
        result = inlier.robust_mean(X, sigma=sigma, l0=options)
    assert np.isfinite(result.location).all()
    assert (np.abs(result.location) <= np.abs(X).max()).all(), "not even inside the data"
    assert "sigma" in result.message
    np.testing.assert_array_equal(result.support, result.details.indicator == 0.0)
    assert result.converged == (not caught)
    if caught:
        assert str(caught[0].message) == result.message
        assert caught[0].filename == __file__, "the warning points at the caller"
    # Nothing is kept, or next to nothing: no radius, but no exception either.
    radius = result.certificate.error_radius(0.1, sigma)
    assert radius >= 0.0


@cases("algorithm", ALGORITHMS)
@cases("surrogate", SURROGATES)
@cases("shape", [(100, 6), (20, 50)])
def test_a_huge_bound_keeps_all(shape, surrogate, algorithm):
    X = np.random.default_rng(0).standard_normal(shape)
    X[:5] += 10.0
    for sigma in (1e3, 1e8, 1e100):
        result = fitted(X, sigma=sigma, l0=Options(algorithm=algorithm, surrogate=surrogate))
        assert result.support.all()
        np.testing.assert_allclose(result.location, X.mean(axis=0), atol=1e-13)
        assert result.certificate.l0_lower_bound == 0


@cases("sigma", [1e-300, 1e-160, 1e160, 1e300])
def test_a_bound_whose_square_is_out_of_range_is_refused(sigma):
    X = np.random.default_rng(0).standard_normal((50, 3))
    with pytest.raises(ValueError, match=r"sigma=.* is out of range.*other units"):
        robust_mean(X, sigma=sigma)


def test_a_bound_whose_square_is_just_within_range():
    X = np.random.default_rng(0).standard_normal((50, 3))
    assert robust_mean(X, sigma=1e120).support.all()
    with pytest.warns(ConvergenceWarning, match="sigma"):
        assert not robust_mean(X, sigma=1e-120).support.any()


entries = st.one_of(
    st.integers(-3, 3).map(float),
    st.floats(-10.0, 10.0, width=32),
    st.floats(-1e6, 1e6, width=32),
    st.sampled_from([0.0, 1e8, -1e8, 1e-20]),
)


@st.composite
def small_fits(draw: st.DrawFn) -> tuple[np.ndarray, dict[str, Any]]:
    n, d = draw(st.tuples(st.integers(2, 9), st.integers(1, 4)))
    row = st.lists(entries, min_size=d, max_size=d)
    X = np.array(draw(st.lists(row, min_size=n, max_size=n)))
    sigma = draw(st.sampled_from([1e-3, 0.5, 1.0, 3.0, 1e3]))
    method = {
        "algorithm": draw(st.sampled_from(ALGORITHMS)),
        "surrogate": draw(st.sampled_from(SURROGATES)),
    }
    return X, {"sigma": sigma, **method}


def check_small_fit(fit: tuple[np.ndarray, dict[str, Any]]) -> None:
    X, arguments = fit
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        result = robust_mean(X, **arguments)
    check_answer(X, result, **arguments)
    assert result.certificate.error_radius(0.1, arguments["sigma"]) >= 0.0


@given(small_fits())
@settings(deadline=None, max_examples=40, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@example((np.array([[0.0], [13408.0], [1e8]]), {"sigma": 1e-3}))
@example((np.array([[0.0], [13408.0]]), {"sigma": 1e-3, "algorithm": "paper"}))
@example((np.array([[0.0], [50.0]]), {"sigma": 1.0}))
def test_any_finite_table_has_an_answer(fit):
    check_small_fit(fit)


@pytest.mark.slow
@given(small_fits())
@settings(deadline=None, max_examples=1000)
def test_many_finite_tables_have_an_answer(fit):
    check_small_fit(fit)


# -- pruning --------------------------------------------------------------------------------------


@cases("shape", [(100, 6), (40, 90)])
@cases("surrogate", SURROGATES)
@cases("algorithm", ALGORITHMS)
def test_pruned_rows_are_removed(algorithm, surrogate, shape):
    X = np.random.default_rng(0).standard_normal(shape)
    X[:3] += 1e4
    X[5, 0] = 1e9
    X[6] = 1e200
    good = ~np.isin(np.arange(len(X)), [0, 1, 2, 5, 6])
    result = fitted(
        X,
        sigma=1.1 * spectral_sigma(X[good]),
        l0=Options(prune=0.2, algorithm=algorithm, surrogate=surrogate),
    )
    np.testing.assert_array_equal(result.support, good)
    np.testing.assert_array_equal(result.details.indicator[~good], 1.0)


def test_pruning_where_nothing_is_far_changes_nothing():
    X, is_bad, sigma = clear_sample()
    plain = fitted(X, sigma=sigma)
    pruned = fitted(X, sigma=sigma, l0=Options(prune=0.01))
    np.testing.assert_array_equal(plain.support, pruned.support)
    np.testing.assert_array_equal(plain.support, ~is_bad)
    np.testing.assert_array_equal(plain.location, pruned.location)


def test_a_pruned_row_scores_above_the_threshold():
    # Far from the start, but too few rows and too many columns for it to break the budget.
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 2))
    X[0] = 12.0
    result = fitted(X, sigma=spectral_sigma(X[1:]), l0=Options(prune=0.9))
    np.testing.assert_array_equal(result.outliers, [0])


# -- starts ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [list, tuple, np.array, pd.Series, lambda v: v.astype(int)])
def test_a_start_of_any_kind(kind):
    X, is_bad, sigma = clear_sample()
    result = fitted(
        X, sigma=sigma, l0=Options(start=kind(np.array([1.0, 2.0, 0.0, -3.0, 1.0, 0.0])))
    )
    np.testing.assert_array_equal(result.support, ~is_bad)


@pytest.mark.parametrize("distance", [10.0, 1e3, 1e6])
def test_continuation_recovers_from_a_start_far_off(distance):
    X, is_bad, sigma = clear_sample()
    result = fitted(X, sigma=sigma, l0=Options(start=np.full(6, -distance)))
    np.testing.assert_array_equal(result.support, ~is_bad)


# -- the answer -----------------------------------------------------------------------------------


@cases("surrogate", SURROGATES)
@cases("algorithm", ALGORITHMS)
@cases("c1", [1.0, np.sqrt(1.5)])
@cases("setting", [SettingA(150, 12, 0.2), SettingB(150, 12, 0.2)])
def test_what_holds_of_every_answer(setting, c1, algorithm, surrogate):
    sample = setting.sample(0)
    arguments = {"sigma": sample.sigma, "c1": c1, "algorithm": algorithm, "surrogate": surrogate}
    result = fitted(sample.X, **arguments)
    alpha = (setting.n_outliers + 0.5) / setting.n
    radius = result.certificate.error_radius(alpha, sample.sigma)
    assert np.isfinite(radius)
    assert np.linalg.norm(result.location - sample.mean) <= radius


@pytest.mark.parametrize(
    "setting", [SettingA(600, 300, 0.1), SettingB(600, 300, 0.2), SettingA(60, 150, 0.1)]
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_what_holds_where_eigenvalues_are_not_all_computed(setting, dtype):
    sample = setting.sample(1)
    X = sample.X.astype(dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = robust_mean(X, sigma=sample.sigma)
    check_answer(X, result, sample.sigma)
    alpha = (setting.n_outliers + 0.5) / setting.n
    radius = result.certificate.error_radius(alpha, sample.sigma)
    assert np.linalg.norm(result.location - sample.mean) <= radius < np.inf


@pytest.mark.parametrize("setting", [SettingA(150, 12, 0.2), SettingA(40, 90, 0.1)])
def test_scores_are_those_of_the_multiplier(setting):
    sample = setting.sample(0)
    result = robust_mean(sample.X, sigma=sample.sigma)
    multiplier = result.details.rule
    assert multiplier.directions is not None
    gram = multiplier.directions @ multiplier.directions.T
    np.testing.assert_allclose(gram, np.eye(len(gram)), atol=1e-8)
    assert (multiplier.prices >= 0.0).all()
    seen = (sample.X - multiplier.center) @ multiplier.directions.T
    expected = np.square(seen) @ multiplier.prices / multiplier.budget
    np.testing.assert_allclose(result.scores, expected, rtol=1e-6, atol=1e-10)


def test_scores_where_nothing_was_removed():
    X = np.random.default_rng(0).standard_normal((50, 4))
    result = fitted(X, sigma=2.0)
    assert result.details.rule.directions is None
    expected = np.square(X - X.mean(axis=0)).sum(axis=1) / result.details.rule.budget
    np.testing.assert_allclose(result.scores, expected, rtol=1e-10)


@cases("method", [{}, {"algorithm": "paper", "surrogate": "l1"}])
def test_too_few_iterations_are_reported(method):
    sample = SettingA(150, 12, 0.3).sample(0)
    with pytest.warns(ConvergenceWarning, match="max_iter") as caught:
        result = inlier.robust_mean(sample.X, sigma=sample.sigma, l0=Options(max_iter=1, **method))
    assert caught[0].filename == __file__
    assert not result.converged
    assert result.details.n_iter == 1
    assert np.isfinite(result.location).all()


@cases("factor", [0.9995, 0.99, 0.97])
@cases("shape", [(37, 233), (200, 300), (1000, 20)])
def test_a_bound_a_little_too_small_costs_few_rows(shape, factor):
    # Less than the slack of the continuation, which sees no direction then.
    X = np.random.default_rng(2).standard_normal(shape)
    sigma = factor * spectral_sigma(X)
    result = fitted(X, sigma=sigma)
    assert result.converged
    kept = X[result.support]
    assert np.linalg.norm(kept - kept.mean(axis=0), 2) ** 2 <= len(X) * sigma**2 * (1.0 + 1e-6)
    assert 0 < result.certificate.n_removed <= 0.15 * len(X)
