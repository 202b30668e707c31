"""Fits and their bounds on ||h||_0 against brute force over all subsets of the rows."""

from functools import cache

import numpy as np
import pytest

import inlier
import reference
from cases import cases
from fits import robust_mean
from inlier.l0 import Options
from small_tables import CONTAMINATIONS, SHAPES, small_table

SURROGATES = ["l1", "reweighted-l1", "reweighted-l2"]


def good_sigma(X, n_bad):
    good = X[n_bad:] - X[n_bad:].mean(axis=0)
    return np.linalg.norm(good, 2) / np.sqrt(len(good))


def test_bound_is_tight_where_the_outliers_are_obvious():
    X = np.vstack([np.full((3, 2), 50.0), np.random.default_rng(0).standard_normal((9, 2))])
    budget = 12 * good_sigma(X, 3) ** 2
    center = X[3:].mean(axis=0)
    assert reference.fewest_removed_about(X - center, budget) == 3
    assert inlier.l0.solve_l1(X, center, budget).l0_lower_bound == 3
    result = robust_mean(X, sigma=good_sigma(X, 3))
    assert result.certificate.l0_lower_bound == result.certificate.n_removed == 3


@cache
def fewest_removed(rows, d, budget):
    return reference.fewest_removed(np.frombuffer(rows).reshape(-1, d), budget)


def check_fit(result, X):
    """The certificate of a fit and its verdict, against brute force."""
    n, certificate = len(X), result.certificate
    assert certificate.n_removed == n - result.support.sum()
    about_location = reference.fewest_removed_about(X - result.location, result.details.budget)
    assert certificate.l0_lower_bound <= about_location
    if not result.support.any():
        assert not result.converged
        return
    kept = X[result.support] - X[result.support].mean(axis=0)
    top = reference.largest_eigenvalue(kept, np.ones(len(kept)))
    assert certificate.lambda_max == pytest.approx(top, rel=1e-7, abs=1e-12 * result.details.budget)
    feasible = top <= result.details.budget * (1.0 + 1e-8)
    assert certificate.feasible == feasible
    if result.converged:
        assert feasible
    if feasible:
        # No feasible set is larger than the largest, about its own mean or any other center.
        assert certificate.n_removed >= fewest_removed(
            X.tobytes(), X.shape[1], result.details.budget
        )


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("algorithm", ["continuation", "paper"])
@cases("surrogate", SURROGATES)
@cases("shape", SHAPES)
@cases("contamination", CONTAMINATIONS)
def test_no_fit_beats_brute_force(contamination, shape, algorithm, surrogate):
    X = small_table(contamination, shape, seed=0)
    for factor in (0.5, 1.0, 1.5) if surrogate == "reweighted-l2" else (1.0,):
        sigma = factor * good_sigma(X, shape[2])
        result = robust_mean(
            X,
            sigma=sigma,
            l0=Options(algorithm=algorithm, surrogate=surrogate, start="coordinate-median"),
        )
        assert result.details.budget == pytest.approx(len(X) * sigma**2)
        check_fit(result, X)


@cases("shape", SHAPES)
@cases("contamination", CONTAMINATIONS)
def test_the_default_finds_a_feasible_set_when_sigma_is_right(contamination, shape):
    """The good rows satisfy the budget, so an answer that does not would be a failure."""
    for seed in range(4):
        X = small_table(contamination, shape, seed)
        result = robust_mean(X, sigma=good_sigma(X, shape[2]))
        assert result.converged
        check_fit(result, X)


def test_c1_widens_the_budget():
    X = small_table("near cluster", (12, 4, 3), 0)
    result = robust_mean(X, sigma=0.8, l0=Options(c1=1.5))
    assert result.details.budget == pytest.approx(1.5**2 * 12 * 0.8**2)
    check_fit(result, X)


@pytest.mark.parametrize("prune", [0.1, 0.5])
def test_bounds_count_the_rows_that_were_pruned(prune):
    X = small_table("near cluster", (12, 4, 3), 0)
    X = np.vstack([X[:-1], np.full((1, 4), 1e4)])
    result = robust_mean(X, sigma=good_sigma(X[:-1], 3), l0=Options(prune=prune))
    assert not result.support[-1]
    check_fit(result, X)
