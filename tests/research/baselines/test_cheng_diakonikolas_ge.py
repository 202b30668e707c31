"""The weights of least variance, against cvxpy."""

import cvxpy as cp
import pytest
from sklearn.exceptions import ConvergenceWarning

from cases import cases
from inlier.research.baselines import ChengDiakonikolasGe
from reference import contaminated
from rivals import deviation


def smallest_variance(X, center, mass):
    """min lambda_max( sum_i w_i a_i a_i^T ) / mass over 0 <= w <= 1 that sum to the mass."""
    w, away = cp.Variable(len(X), nonneg=True), X - center
    moment = away.T @ cp.diag(w) @ away
    problem = cp.Problem(
        cp.Minimize(cp.lambda_max((moment + moment.T) / 2.0) / mass), [cp.sum(w) == mass, w <= 1.0]
    )
    return problem.solve(solver="CLARABEL")


@cases("seed", range(6))
def test_cdg_minimises_the_variance(seed):
    X = contaminated(40, 3, 6, seed, far=(1.0, 2.0, 5.0)[seed % 3])
    result = ChengDiakonikolasGe(alpha=0.15).fit(X).result_
    last = result.history[-1]
    mass = len(X) - last.h_sum
    assert result.converged and mass == pytest.approx(34.0, abs=1.0)
    best = smallest_variance(X, result.location, mass)
    # The weights are nearly optimal, and the center is nearly that of the answer.
    assert 0.97 * best <= last.lambda_max / mass <= 1.08 * best
    # The rows that hold most of their weight are no worse than the best weights by much.
    assert deviation(X[result.support]) ** 2 <= 1.4 * smallest_variance(X, result.location, 34.0)


def test_cdg_says_that_it_has_not_converged():
    with pytest.warns(ConvergenceWarning, match="Raise max_iter, or tol"):
        ChengDiakonikolasGe(alpha=0.2, max_iter=1).fit(contaminated(100, 5, 20))
