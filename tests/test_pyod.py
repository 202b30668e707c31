"""The detector for PyOD: what PyOD's tests ask of each of its detectors, with the real PyOD."""

import importlib
import pickle
import sys

import numpy as np
import pytest
from sklearn.base import clone, is_outlier_detector
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score

pytest.importorskip("pyod", reason='needs pip install "inlier[pyod]"')

from pyod.models.base import BaseDetector
from pyod.models.knn import KNN
from pyod.utils.data import generate_data

from cases import cases
from inlier import robust_mean
from inlier.pyod import RobustMeanDetector

X_TRAIN, X_TEST, Y_TRAIN, Y_TEST = generate_data(
    n_train=200, n_test=100, n_features=2, contamination=0.1, random_state=42
)
BY_DEFAULT = RobustMeanDetector().fit(X_TRAIN)
GIVEN = RobustMeanDetector(contamination=0.1).fit(X_TRAIN)
BOTH = [BY_DEFAULT, GIVEN]


@cases("detector", BOTH)
def test_what_a_fit_sets(detector):
    assert isinstance(detector, BaseDetector) and is_outlier_detector(detector)
    assert detector.decision_scores_.shape == detector.labels_.shape == (200,)
    assert set(detector.labels_) <= {0, 1}
    assert np.isfinite(detector.threshold_)
    assert np.isfinite(detector._mu) and detector._sigma > 0.0
    np.testing.assert_array_equal(detector.labels_, detector.decision_scores_ > detector.threshold_)
    assert roc_auc_score(Y_TRAIN, detector.decision_scores_) >= 0.8


@pytest.mark.filterwarnings("ignore")
def test_by_default_the_labels_are_the_rows_that_were_removed():
    for given in ({}, {"sigma": 0.5}):
        detector, result = RobustMeanDetector(**given).fit(X_TRAIN), robust_mean(X_TRAIN, **given)
        assert result.outliers.size
        np.testing.assert_array_equal(detector.labels_ == 1, ~result.support)
        np.testing.assert_array_equal(detector.decision_scores_, result._outlyingness)
        assert detector.threshold_ == 1.0


def test_with_contamination_the_threshold_is_that_of_pyod():
    knn = KNN(contamination=0.1)
    knn.decision_scores_ = GIVEN.decision_scores_
    knn._process_decision_scores()
    assert GIVEN.threshold_ == knn.threshold_ and GIVEN.labels_.sum() == 20
    np.testing.assert_array_equal(GIVEN.labels_, knn.labels_)


@cases("detector", BOTH)
def test_scores_and_labels_of_new_rows(detector):
    scores = detector.decision_function(X_TEST)
    assert scores.shape == (100,)
    assert roc_auc_score(Y_TEST, scores) >= 0.8
    np.testing.assert_array_equal(detector.predict(X_TEST) == 1, scores > detector.threshold_)
    np.testing.assert_array_equal(detector.predict(X_TRAIN), detector.labels_)
    copy = pickle.loads(pickle.dumps(detector))
    np.testing.assert_array_equal(copy.decision_function(X_TEST), scores)
    np.testing.assert_allclose(detector.decision_function(X_TRAIN), detector.decision_scores_)


def test_clone_and_parameters():
    detector = RobustMeanDetector(contamination=0.2, sigma=3.0, random_state=7)
    assert detector.get_params() == {
        "contamination": 0.2,
        "sigma": 3.0,
        "assume": "auto",
        "scatter": "auto",
        "random_state": 7,
    }
    copy = clone(detector)
    assert copy is not detector and copy.get_params() == detector.get_params()
    assert detector.set_params(contamination=None).contamination is None
    assert "sigma=3.0" in repr(detector)
    # Without it, the fit finds it, and the next fit does so again.
    assert BY_DEFAULT.contamination == BY_DEFAULT.labels_.mean() > 0.0
    assert clone(BY_DEFAULT).contamination is BY_DEFAULT.get_params()["contamination"] is None
    again = clone(BY_DEFAULT).fit(X_TRAIN[Y_TRAIN == 1]).fit(X_TRAIN)
    np.testing.assert_array_equal(again.labels_, BY_DEFAULT.labels_)


def test_rows_without_outliers_have_none():
    clean = np.random.default_rng(0).standard_normal((100, 3))
    detector = RobustMeanDetector().fit(clean)
    assert not detector.labels_.any() and not detector.predict(clean).any()
    assert (detector.predict_confidence(clean) == 1.0).all()


@pytest.mark.parametrize("wrong", [0.0, 0.6, -0.1])
def test_wrong_contamination_is_refused(wrong):
    with pytest.raises(ValueError, match="contamination must be in"):
        RobustMeanDetector(contamination=wrong)


def test_before_a_fit_nothing_is_known():
    for ask in ("predict", "decision_function", "predict_proba", "predict_confidence"):
        with pytest.raises(NotFittedError):
            getattr(RobustMeanDetector(), ask)(X_TEST)


def test_without_pyod_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyod.models.base", None)
    monkeypatch.delitem(sys.modules, "inlier.pyod")
    with pytest.raises(ImportError, match=r"inlier\[pyod\]"):
        importlib.import_module("inlier.pyod")


@cases("wrong", ["a", [0.1], 0, 1, True])
def test_a_fraction_that_is_none_is_named(wrong):
    with pytest.raises(ValueError, match="contamination must be"):
        RobustMeanDetector(contamination=wrong).fit(X_TRAIN)
