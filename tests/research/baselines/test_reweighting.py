"""Weights of least variance against cvxpy, and projections onto the capped simplex."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from cases import cases
from inlier.research.baselines import ChengDiakonikolasGe, ProjectedGradient, SpectralReweighting
from inlier.research.baselines.reweighting import nearest_distribution, nearest_point
from reference import contaminated
from rivals import deviation, told


@st.composite
def points(draw):
    n = draw(st.integers(2, 12))
    # Whole numbers: many ties.
    values = draw(
        st.one_of(
            st.lists(st.integers(-2, 3), min_size=n, max_size=n),
            st.lists(st.floats(-2.0, 3.0), min_size=n, max_size=n),
        )
    )
    return np.array(values, dtype=float), draw(st.floats(1.0, n)) / n


@settings(max_examples=60)
@given(points())
def test_nearest_point(drawn):
    w, cap = drawn
    found = nearest_point(w, cap)
    assert found.sum() == pytest.approx(1.0, abs=1e-9)
    assert found.min() >= 0.0 and found.max() <= cap
    # It is nearest if and only if all entries inside the bounds moved by the same, those at 0 by
    # less and those at the cap by more.
    moved, near = w - found, 1e-9
    at_most = moved[found < cap - near].max(initial=-np.inf)
    assert at_most <= moved[found > near].min() + near


@settings(max_examples=60)
@given(points())
def test_nearest_distribution(drawn):
    w, cap = np.exp(drawn[0]), drawn[1]
    found = nearest_distribution(w, cap)
    assert found.sum() == pytest.approx(1.0, abs=1e-9)
    assert found.min() >= 0.0 and found.max() <= cap * (1.0 + 1e-12)
    # It is nearest if and only if all entries below the cap grew by the same factor, and those at
    # the cap by no more.
    grown = found / w
    below = grown[found < cap * (1.0 - 1e-9)]
    if below.size:
        np.testing.assert_allclose(below, below[0], rtol=1e-9)
        assert grown.max() <= below[0] * (1.0 + 1e-9)


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
    assert result.converged
    # The rows that hold most of their weight are no worse than the best weights by much.
    assert deviation(X[result.support]) ** 2 <= 1.4 * smallest_variance(X, result.location, 34.0)


@cases(
    ("method", "message"),
    [
        (told(ChengDiakonikolasGe, 0.2, max_iter=1), "still moving after 1 steps"),
        (told(ProjectedGradient, 0.2, max_iter=2), "still falling after 2 steps"),
        (told(SpectralReweighting, 0.2, max_iter=1), "still falling after 1 steps"),
    ],
)
def test_a_method_that_has_not_converged_warns(method, message):
    with pytest.warns(ConvergenceWarning, match=message):
        method.fit(contaminated(100, 5, 20))


@cases("method", [ProjectedGradient, SpectralReweighting])
@cases("shape", [(200, 5), (400, 300), (30, 80)])
@cases("alpha", [0.05, 0.2, 0.4])
def test_weights_are_in_the_capped_simplex(method, shape, alpha):
    n = shape[0]
    X = contaminated(*shape, round(alpha * n), far=1.5)
    result = told(method, alpha).fit(X).result_
    w = result.weights / result.weights.sum()
    assert w.min() >= 0.0
    assert w.max() <= (1.0 + 1e-6) / (n - round(alpha * n))
    np.testing.assert_allclose(result.location, w @ X, atol=1e-9)


@cases("shape", [(200, 5), (400, 300), (30, 80)])
def test_projected_gradient_lowers_the_variance_to_that_of_the_good_rows(shape):
    n_bad = shape[0] // 5
    X = contaminated(*shape, n_bad, far=1.0)
    result = ProjectedGradient(alpha=0.2).fit(X).result_
    variance, good = deviation(X, result.weights) ** 2, deviation(X[n_bad:]) ** 2
    # Stationary points are about as good as the good rows.
    assert variance < 0.9 * deviation(X) ** 2 and variance <= 1.2 * good


@cases("far", [0.5, 1.0, 3.0, 30.0])
@cases("step", [0.5, 1.0])
def test_spectral_reweighting_is_as_quiet_as_the_good_rows(far, step):
    X = contaminated(300, 20, 60, far=far)
    result = told(SpectralReweighting, 0.2, step=step).fit(X).result_
    assert deviation(X, result.weights) ** 2 <= 1.1 * deviation(X[60:]) ** 2
