"""Algorithm 1 as published, step by step with cvxpy."""

import numpy as np
import pytest

import reference
from cases import cases
from fits import robust_mean
from inlier.data import as_table
from inlier.l0 import Options, solve_l1
from inlier.l0.algorithm import ExactStep
from inlier.l0.surrogates import SMOOTHING
from inlier.l0.surrogates import surrogate as named_surrogate
from inlier.linalg.eigenpairs import Oracle
from inlier.research.datasets import SettingA, SettingB

SURROGATES = ["l1", "reweighted-l1", "reweighted-l2"]
POWERS = [0.3, 0.5, 0.9]


def minimised_by_cvxpy(A, budget, surrogate, p=1.0):
    """Step 1: the indicator h, by the paper's sequence of convex problems."""
    h = np.ones(len(A))
    if surrogate == "l1":
        return 1.0 - reference.optimum(A, budget, reference.weighted_l1(h))[1]
    for eps in SMOOTHING:
        if surrogate == "reweighted-l1":
            objective = reference.weighted_l1((h + eps) ** (p - 1.0))
        else:
            objective = reference.weighted_squares((h**2 + eps) ** (p / 4.0 - 0.5))
        h = 1.0 - reference.optimum(A, budget, objective)[1]
        h = np.clip(h, 0.0, 1.0)
    return h


@pytest.mark.parametrize("seed", range(4))
def test_iterations_are_those_of_algorithm_1_with_cvxpy(seed):
    sample = SettingA(n=60, d=6, alpha=0.3).sample(seed)
    result = robust_mean(
        sample.X, sigma=sample.sigma, l0=Options(algorithm="paper", surrogate="l1", tol=1e-8)
    )
    center, counts, sums = np.median(sample.X, axis=0), [np.inf], []
    while True:
        h = minimised_by_cvxpy(sample.X - center, result.details.budget, "l1")
        counts.append(int((h > 1e-5).sum()))
        sums.append(h.sum())
        if counts[-1] >= counts[-2]:
            break
        kept = h <= 1e-5
        center = sample.X[kept].mean(axis=0)
    assert [step.n_removed for step in result.details.history] == counts[1:]
    np.testing.assert_allclose([step.h_sum for step in result.details.history], sums, atol=1e-5)
    np.testing.assert_array_equal(result.support, kept)


# All powers, but for l1, which has none.
STEPS = [("l1", 0.5), *((name, p) for name in SURROGATES[1:] for p in POWERS)]


@cases("seed", range(2))
@cases(("surrogate", "p"), STEPS)
def test_step_1_is_the_sequence_of_convex_problems_of_the_paper(surrogate, p, seed):
    sample = SettingA(n=60, d=6, alpha=0.2).sample(seed)
    center, budget = np.median(sample.X, axis=0), 60 * sample.sigma**2
    oracle = Oracle(as_table(sample.X), np.random.default_rng(0))
    step1 = ExactStep(oracle, named_surrogate(surrogate, p), tol=1e-9)
    found = step1(center, budget, np.inf)
    h = minimised_by_cvxpy(sample.X - center, budget, surrogate, p)
    # All but the last of the least squares problems are solved to a gap of 1e-3 only.
    close = 2e-2 if surrogate == "reweighted-l2" else 2e-3
    np.testing.assert_allclose(found.h, h, atol=close)
    # Removed is what has h != 0, as published; nothing is asked of rows that are too close to call.
    zero = np.sqrt(SMOOTHING[-1] / (1.0 - p)) if surrogate == "reweighted-l2" else 1e-4
    assert np.all(found.removed[h > zero + close])
    assert not np.any(found.removed[h < zero - close])
    np.testing.assert_allclose(found.mean, sample.X[~found.removed].mean(axis=0), atol=1e-12)


@cases(("surrogate", "p"), STEPS)
@cases("setting", [SettingA, SettingB])
def test_algorithm_1_stops_by_the_rule_of_the_paper(setting, surrogate, p):
    sample = setting(n=120, d=10, alpha=0.2).sample(0)
    result = robust_mean(
        sample.X, sigma=sample.sigma, l0=Options(p=p, algorithm="paper", surrogate=surrogate)
    )
    counts = [step.n_removed for step in result.details.history]
    assert all(step.stage == "algorithm 1" for step in result.details.history)
    assert all(step.budget == result.details.budget for step in result.details.history)
    assert result.details.n_iter == len(counts)
    assert np.all(np.diff(counts[:-1]) < 0)
    assert counts[-1] >= counts[-2] or counts[-1] == 0
    assert result.converged
    assert result.certificate.n_removed == min(counts)
    np.testing.assert_array_equal(result.support, result.details.indicator == 0.0)
    np.testing.assert_allclose(result.location, sample.X[result.support].mean(axis=0), atol=1e-12)


@pytest.mark.parametrize("surrogate", ["reweighted-l1", "reweighted-l2"])
def test_power_1_is_l1(surrogate):
    sample = SettingA(n=100, d=8, alpha=0.2).sample(1)
    options = {"sigma": sample.sigma, "algorithm": "paper"}
    l1 = robust_mean(sample.X, l0=Options(surrogate="l1"), **options)
    reweighted = robust_mean(sample.X, l0=Options(surrogate=surrogate, p=1.0), **options)
    np.testing.assert_array_equal(l1.support, reweighted.support)
    assert l1.details.history == reweighted.details.history


def test_algorithm_1_in_more_columns_than_the_interior_point_method_takes():
    sample = SettingB(n=150, d=40, alpha=0.2).sample(0)
    for surrogate in SURROGATES:
        result = robust_mean(
            sample.X,
            sigma=sample.sigma,
            l0=Options(algorithm="paper", surrogate=surrogate, tol=1e-5),
        )
        counts = [step.n_removed for step in result.details.history]
        assert np.all(np.diff(counts[:-1]) < 0)
        kept = sample.X[result.support]
        top = reference.largest_eigenvalue(kept - kept.mean(axis=0), np.ones(len(kept)))
        assert top <= result.details.budget * (1.0 + 1e-9)
        assert result.certificate.lambda_max == pytest.approx(top, rel=1e-9)


@pytest.mark.parametrize(("n", "d"), [(100, 10), (100, 30)])
@pytest.mark.parametrize("alpha", [0.2, 0.4])
def test_l1_objective_never_rises_when_the_mean_is_weighted(n, d, alpha):
    """Theorem 2 for the relaxed problem: a weighted mean keeps feasible weights feasible."""
    sample = SettingA(n=n, d=d, alpha=alpha).sample(0)
    tol, center, objectives = 1e-6, np.median(sample.X, axis=0), []
    for _ in range(6):
        found = solve_l1(sample.X, center, n * sample.sigma**2, tol=tol)
        objectives.append(found.objective)
        center = np.average(sample.X, axis=0, weights=found.weights)
    assert np.all(np.diff(objectives) <= tol * n)
    assert objectives[-1] < objectives[0]
