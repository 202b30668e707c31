"""`RobustCovariance`: the truth, MinCovDet, and equivariance."""

import numpy as np
import pytest
from sklearn.covariance import EmpiricalCovariance, MinCovDet

from cases import cases
from covariances import clean, contaminated, relative_error
from inlier import RobustCovariance

SPREAD = contaminated("spread", 600, 5, 0.2)


@cases(("n", "d"), [(500, 5), (1000, 100)])
@cases("how", ["cluster", "pair", "spread"])
def test_near_the_truth_as_the_minimum_covariance_determinant_is(n, d, how):
    sample = contaminated(how, n, d, 0.2)

    def error(model, X):
        return relative_error(model.fit(X).covariance_, sample.covariance)

    good = error(EmpiricalCovariance(), sample.X[~sample.bad])
    assert error(EmpiricalCovariance(), sample.X) > 5.0
    assert error(RobustCovariance(), sample.X) < 1.3 * good
    if d == 5:
        assert error(MinCovDet(random_state=0), sample.X) < 0.5


@cases("kind", ["Gaussian", "t5", "multivariate t5", "lognormal", "uniform"])
@cases(("n", "d"), [(200, 4), (300, 40), (30, 50)])
def test_clean_rows_have_their_plain_covariance(kind, n, d):
    X = clean(kind, n, d, np.random.default_rng(1))
    model, plain = RobustCovariance().fit(X), EmpiricalCovariance().fit(X)
    assert model.support_.all()
    np.testing.assert_allclose(model.covariance_, plain.covariance_, atol=1e-12)
    np.testing.assert_allclose(model.location_, plain.location_, atol=1e-12)
    np.testing.assert_allclose(model.precision_, plain.precision_, rtol=1e-6, atol=1e-9)


def test_it_is_the_plain_covariance_of_the_support():
    model = RobustCovariance().fit(SPREAD.X)
    assert 50 < (~model.support_).sum() < 200
    plain = EmpiricalCovariance().fit(SPREAD.X[model.support_])
    np.testing.assert_allclose(model.covariance_, plain.covariance_, atol=1e-12)
    np.testing.assert_allclose(model.location_, plain.location_, atol=1e-12)
    np.testing.assert_allclose(model.mahalanobis(SPREAD.X), plain.mahalanobis(SPREAD.X))
    np.testing.assert_allclose(model.dist_, plain.mahalanobis(SPREAD.X))
    np.testing.assert_allclose(model.score(SPREAD.X), plain.score(SPREAD.X))
    truth = SPREAD.covariance
    np.testing.assert_allclose(model.error_norm(truth), plain.error_norm(truth))
    without = RobustCovariance(store_precision=False).fit(SPREAD.X)
    assert without.precision_ is None
    np.testing.assert_allclose(without.get_precision(), model.precision_)


def test_affine_equivariance():
    rng = np.random.default_rng(0)
    A, b = rng.standard_normal((5, 5)), rng.standard_normal(5)
    for how in ("pair", "spread"):
        sample = contaminated(how, 600, 5, 0.2)
        plain = RobustCovariance().fit(sample.X)
        moved = RobustCovariance().fit(sample.X @ A.T + b)
        # Which directions are tried first depends on the coordinates; a row at the edge may too.
        assert np.mean(plain.support_ != moved.support_) < 0.005
        shifted = RobustCovariance().fit(sample.X + 1e6)
        np.testing.assert_allclose(shifted.covariance_, plain.covariance_, rtol=1e-5)
        expected = A @ plain.covariance_ @ A.T
        assert relative_error(moved.covariance_, expected) < 0.03


def test_what_is_assumed():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((800, 4))
    X[:160] *= 4.0
    assert RobustCovariance(assume="nothing").fit(SPREAD.X).support_.all()
    assert RobustCovariance().fit(X).covariance_.trace() > 10.0
    assert 3.5 < RobustCovariance(assume="gaussian").fit(X).covariance_.trace() < 4.7
    with pytest.raises(ValueError, match="assume must be one of"):
        RobustCovariance(assume="elliptical").fit(X)
