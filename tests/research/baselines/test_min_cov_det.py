"""The minimum covariance determinant is scikit-learn's."""

import numpy as np
import pytest
from sklearn.covariance import MinCovDet

from inlier.research.baselines.min_cov_det import MinimumCovarianceDeterminant
from reference import contaminated

MCD = MinimumCovarianceDeterminant


@pytest.mark.parametrize("fraction", [None, 1.0, 0.8])
def test_minimum_covariance_determinant(fraction):
    X = contaminated(200, 4, 30, far=8.0)
    found = MCD(support_fraction=fraction).fit(X)
    fits = [MinCovDet(support_fraction=fraction, random_state=s).fit(X) for s in range(10)]
    # Its answer depends on the random starts; on data this clear, hardly.
    best = min(fits, key=lambda fit: np.linalg.norm(fit.location_ - found.location_))
    np.testing.assert_allclose(found.location_, best.location_, atol=1e-6)
    np.testing.assert_array_equal(found.support_, best.support_)
    np.testing.assert_allclose(found.result_.scores**2, best.dist_, rtol=1e-5)
    if fraction != 1.0:
        assert not found.support_[:30].any()


def test_minimum_covariance_determinant_needs_rows():
    with pytest.raises(ValueError, match=r"more than 2 d = 80 rows .* but X has 80"):
        MCD().fit(np.random.default_rng(0).standard_normal((80, 40)))
