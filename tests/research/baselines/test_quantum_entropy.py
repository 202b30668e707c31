"""Quantum entropy scores against the formula as printed."""

import numpy as np
import pytest
import scipy.linalg

from cases import cases
from inlier.research.baselines import IterativeFiltering, QuantumEntropy
from reference import contaminated
from rivals import choice, deviation, fitted, told

# -- passes and history ---------------------------------------------------------------------------


@choice([told(QuantumEntropy), told(IterativeFiltering, removal="random")])
def test_filters_stop_at_the_first_variance_within_the_limit(method):
    X = contaminated(200, 5, 20, far=1.5)
    sigma = deviation(X[20:])
    result = fitted(method, X, sigma).result_
    # Of these two the weights are 0 or 1, so the rows that are left are known from the history.
    n_left = np.array([len(X) - step.h_sum for step in result.history])
    assert n_left[0] == 200 and n_left[-1] == result.support.sum() and np.all(np.diff(n_left) < 0)
    np.testing.assert_allclose([step.budget for step in result.history], n_left * sigma**2)
    over = [step.lambda_max > step.budget for step in result.history]
    assert over == [True] * result.n_iter + [False]
    first, last = result.history[0].lambda_max, result.history[-1].lambda_max
    assert first == pytest.approx(200 * deviation(X) ** 2)
    assert last == pytest.approx(n_left[-1] * deviation(X[result.support]) ** 2)


# -- quantum entropy ------------------------------------------------------------------------------


def entropy_scores(X, beta):
    """Equation (3) as printed, with a covariance of norm 1."""
    away = X - X.mean(axis=0)
    covariance = away.T @ away
    U = scipy.linalg.expm(beta * covariance / np.linalg.norm(covariance, 2))
    return np.einsum("ij,jk,ik->i", away, U / np.trace(U), away)


def after_one_round(X, n_bad, **parameters):
    """The scores of the first round: after it just the good rows are left."""
    sigma = 1.01 * deviation(X[n_bad:])
    found = QuantumEntropy(sigma, batch=n_bad / len(X), **parameters).fit(X)
    assert found.n_iter_ == 1 and not found.support_[:n_bad].any()
    return found.result_.scores


@cases("beta", [0.1, 1.0, 4.0, 30.0])
@cases("d", [1, 3, 40])
def test_que_scores(beta, d):
    X = contaminated(100, d, 10, far=5.0) + 3.0
    np.testing.assert_allclose(
        after_one_round(X, 10, beta=beta), entropy_scores(X, beta), rtol=1e-8
    )


def test_que_goes_from_the_distance_to_the_top_eigenvector():
    X = contaminated(100, 6, 10, far=5.0)
    away = X - X.mean(axis=0)
    np.testing.assert_allclose(
        after_one_round(X, 10, beta=1e-9), (away**2).sum(axis=1) / 6, rtol=1e-6
    )
    top = np.linalg.svd(away, full_matrices=False)[2][0]
    np.testing.assert_allclose(
        after_one_round(X, 10, beta=100.0), (away @ top) ** 2, rtol=1e-6, atol=1e-9
    )


@cases("beta", [0.5, 4.0, 20.0])
def test_que_sketches_are_near_the_formula(beta):
    # Not with the seed of the sketches: these would then be the rows themselves.
    X = contaminated(400, 280, 40, seed=1, far=2.0)
    exact = entropy_scores(X, beta)
    sketched = after_one_round(X, 40, beta=beta, n_sketches=1000)
    # Each is a sum of a thousand squares: a standard error of sqrt(2 / 1000) = .045.
    assert np.abs(sketched / exact - 1.0).max() <= 5.0 * 0.045
    few = after_one_round(X, 40, beta=beta)
    assert np.corrcoef(few, exact)[0, 1] > 0.95
