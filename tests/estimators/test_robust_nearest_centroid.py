"""The classifier: scikit-learn's checks, and scikit-learn's own nearest centroid of clean rows."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.neighbors import NearestCentroid

from inlier import RobustNearestCentroid
from scikit_learn import documents_everything, passes_all_checks

RNG = np.random.default_rng(0)
CENTERS = np.array([[0.0, 0.0, 0.0], [6.0, 0.0, 0.0], [0.0, 6.0, 0.0]])
Y = np.repeat([0, 1, 2], 80)
X = CENTERS[Y] + RNG.standard_normal((240, 3))
BAD = np.arange(240) % 80 < 8
DIRTY = np.where(BAD[:, None], X + np.array([0.0, 0.0, 300.0]), X)
DIRTY[:8] = [300.0, 300.0, 0.0]
NAMES = np.array(["a", "b", "c"])


@pytest.mark.parametrize("given", [{"sigma": 2.0}, pytest.param({}, marks=pytest.mark.slow)])
def test_scikit_learn_checks(given):
    passes_all_checks(RobustNearestCentroid(**given))


def test_bad_rows_do_not_move_the_centroids():
    model = RobustNearestCentroid().fit(DIRTY, NAMES[Y])
    np.testing.assert_array_equal(model.support_, ~BAD)
    clean = NearestCentroid().fit(X[~BAD], NAMES[Y[~BAD]])
    np.testing.assert_allclose(model.centroids_, clean.centroids_, atol=1e-10)
    np.testing.assert_array_equal(model.predict(X), clean.predict(X))
    assert model.score(X, NAMES[Y]) > 0.98 > 0.8 > NearestCentroid().fit(DIRTY, Y).score(X, Y)
    documents_everything(model)


def test_decision_function():
    model = RobustNearestCentroid().fit(X, Y)
    far = np.square(X[:, None] - model.centroids_).sum(axis=2)
    np.testing.assert_allclose(model.decision_function(X), -far, atol=1e-9)
    two = RobustNearestCentroid().fit(X[Y < 2], Y[Y < 2])
    seen = two.decision_function(X)
    assert seen.shape == (240,)
    np.testing.assert_array_equal(two.predict(X), (seen > 0.0).astype(int))


def test_a_class_too_small_to_tell_has_its_plain_mean():
    rows = np.concatenate([X[:80], [[50.0, 0.0, 0.0]], [[0.0, 80.0, 0.0], [0.0, 90.0, 0.0]]])
    y = np.repeat([0, 1, 2], [80, 1, 2])
    model = RobustNearestCentroid().fit(rows, y)
    np.testing.assert_allclose(model.centroids_[1:], [[50.0, 0.0, 0.0], [0.0, 85.0, 0.0]])
    assert model.support_[80:].all()


def test_sparse_rows():
    model = RobustNearestCentroid().fit(sp.csr_array(DIRTY), Y)
    expected = RobustNearestCentroid().fit(DIRTY, Y)
    np.testing.assert_allclose(model.centroids_, expected.centroids_, atol=1e-9)
    np.testing.assert_array_equal(model.predict(sp.csc_array(X)), expected.predict(X))
    one = RobustNearestCentroid().fit(sp.csr_array(X[:81]), Y[:81])
    np.testing.assert_allclose(one.centroids_[1], X[80])
