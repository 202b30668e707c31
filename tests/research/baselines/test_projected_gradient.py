"""Projected gradient: weights stay feasible and the variance falls."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from cases import cases
from inlier.research.baselines import ProjectedGradient, SpectralReweighting
from reference import contaminated
from rivals import deviation, shapes, told


@cases("method", [ProjectedGradient, SpectralReweighting])
@shapes([(200, 5), (400, 300), (30, 80)])
@cases("alpha", [0.05, 0.2, 0.4])
def test_weights_are_in_the_capped_simplex(method, shape, alpha):
    n = shape[0]
    X = contaminated(*shape, round(alpha * n), far=1.5)
    result = told(method, alpha).fit(X).result_
    w = result.weights / result.weights.sum()
    assert w.min() >= 0.0
    assert w.max() <= (1.0 + 1e-6) / (n - round(alpha * n))
    np.testing.assert_allclose(result.location, w @ X, atol=1e-9)


@shapes([(200, 5), (400, 300), (30, 80)])
def test_projected_gradient_never_raises_the_variance(shape):
    n_bad = shape[0] // 5
    X = contaminated(*shape, n_bad, far=1.0)
    result = ProjectedGradient(alpha=0.2).fit(X).result_
    variances = [step.lambda_max for step in result.history]
    assert len(variances) >= 3 and np.all(np.diff(variances) < 0.0)
    assert variances[0] < deviation(X) ** 2
    assert variances[-1] == pytest.approx(deviation(X, result.weights) ** 2, rel=2e-3)
    # Stationary points are about as good as the good rows.
    assert variances[-1] <= 1.2 * deviation(X[n_bad:]) ** 2


def test_projected_gradient_says_that_it_has_not_converged():
    with pytest.warns(ConvergenceWarning, match="Raise max_iter"):
        ProjectedGradient(alpha=0.2, max_iter=2).fit(contaminated(100, 5, 20))
