"""`compare` against the estimators themselves, and what it refuses."""

import numpy as np
import pytest
from sklearn.covariance import EmpiricalCovariance

import inlier
from cases import cases
from contestants import CHEAP, MODEL, Mean, without_seconds
from inlier.research import compare
from inlier.research.datasets import SettingB


def test_errors_are_those_of_the_estimators(known):
    assert len(known.records) == 9 and known.truth_known
    for record in known.records:
        assert record.seed == 7 + record.trial
        sample = MODEL.sample(record.seed)
        told = {"alpha": sample.is_outlier.mean(), "sigma": sample.sigma}
        estimator = inlier.research.methods()[record.method].make(**told).fit(sample.X)
        good = sample.X[~sample.is_outlier].mean(axis=0)
        assert record.status == "ok"
        assert record.error == pytest.approx(np.linalg.norm(estimator.location_ - good), abs=1e-14)
        assert record.removed == (~estimator.support_).sum()
        assert record.exact == (
            set(np.flatnonzero(~estimator.support_)) == set(np.flatnonzero(sample.is_outlier))
        )
        assert record.passes == estimator.result_.n_passes
        assert record.seconds > 0.0


def test_the_same_with_workers(known):
    again = compare(MODEL, CHEAP, trials=3, timeout=60.0, random_state=7, n_jobs=2)
    assert without_seconds(again) == without_seconds(known)


def test_all_methods_by_default():
    comparison = compare(MODEL, trials=1, timeout=None)
    assert comparison.methods == tuple(inlier.research.methods())


def test_estimators_of_others():
    sample = MODEL.sample(3)
    comparison = compare(sample, EmpiricalCovariance(), timeout=None)
    (record,) = comparison.records
    assert comparison.methods == ("EmpiricalCovariance",)
    assert record.error == pytest.approx(np.linalg.norm(sample.X.mean(axis=0) - sample.mean))
    assert (record.passes, record.removed, record.exact, record.seed) == (None,) * 4


@cases(
    ("data", "arguments", "message"),
    [
        (MODEL, {"methods": ["inlier-sigmo"]}, "Did you mean 'inlier-sigma'"),
        (MODEL, {"methods": "zzz"}, "There are inlier"),
        (MODEL, {"methods": []}, "methods is empty"),
        (MODEL, {"methods": [Mean(), Mean()]}, "'Mean' more than once"),
        (MODEL, {"methods": [Mean]}, r"give an instance, Mean\(...\)"),
        (MODEL, {"methods": [3]}, "neither a name"),
        (MODEL, {"trials": 0}, "trials must be a whole number >= 1"),
        (MODEL, {"n_jobs": 0}, "n_jobs must be .* -1 stands for all cores"),
        (MODEL, {"timeout": -1.0}, "timeout must be .* None for no limit"),
        (MODEL, {"alpha": 0.6}, "alpha must be"),
        (MODEL, {"sigma": 0.0}, "sigma must be"),
        (MODEL, {"random_state": -1}, "random_state must be"),
        (SettingB, {}, "data is the class SettingB"),
        ([1.0, 2.0], {}, "data must be a table"),
        (np.array([[np.nan, 1.0], [0.0, 1.0]]), {}, "data contains NaN"),
    ],
)
def test_bad_input(data, arguments, message):
    with pytest.raises(ValueError, match=message):
        compare(data, **{"timeout": None, "methods": "mean", **arguments})


# -- methods and files that misbehave -------------------------------------------------------------


def test_a_word_about_columns_in_other_units():
    X = np.random.default_rng(0).standard_normal((60, 3))
    assert "columns" not in compare(X, "mean", timeout=None).note
    assert "Some columns vary" in compare(X * [1.0, 1e4, 1.0], "mean", timeout=None).note


# -- Many comparisons with the same workers -------------------------------------------------------


def test_silent_unless_asked(capfd):
    compare(MODEL, "mean", trials=1)
    assert capfd.readouterr() == ("", "")
    compare(MODEL, ["mean", Mean()], trials=2, timeout=None, progress=True)
    out, err = capfd.readouterr()
    assert out == "" and "compare 1/4  Mean" in err and err.endswith("\r")
