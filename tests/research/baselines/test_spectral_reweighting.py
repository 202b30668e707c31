"""Spectral re-weighting: as little variance as the good rows have."""

import pytest
from sklearn.exceptions import ConvergenceWarning

from cases import cases
from inlier.research.baselines import SpectralReweighting
from reference import contaminated
from rivals import deviation

# -- the capped simplex ---------------------------------------------------------------------------


@cases("far", [0.5, 1.0, 3.0, 30.0])
@cases("step", [0.5, 1.0])
def test_spectral_reweighting_is_as_quiet_as_the_good_rows(far, step):
    X = contaminated(300, 20, 60, far=far)
    result = SpectralReweighting(alpha=0.2, step=step).fit(X).result_
    best = min(step.lambda_max for step in result.history)
    assert deviation(X, result.weights) ** 2 == pytest.approx(best, rel=1e-6)
    assert best <= 1.1 * deviation(X[60:]) ** 2


# -- where the authors' code fails ----------------------------------------------------------------


def test_spectral_reweighting_says_that_it_has_not_converged():
    with pytest.warns(ConvergenceWarning, match="Raise max_iter"):
        SpectralReweighting(alpha=0.2, max_iter=1).fit(contaminated(100, 5, 20))
