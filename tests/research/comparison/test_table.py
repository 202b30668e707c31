"""What a comparison states: summaries, distances, text, files and figures."""

import numpy as np
import pytest

import inlier
from contestants import CHEAP, MODEL, Fail, Mean
from inlier.datasets import Sample
from inlier.research import compare


@pytest.fixture(scope="module")
def known():
    return compare(MODEL, CHEAP, trials=3, timeout=None, random_state=7)


@pytest.fixture(scope="module")
def unknown():
    return compare(MODEL.sample(0).X, CHEAP, timeout=None)


def test_summary(known):
    rows = known.summary()
    assert [row.error for row in rows] == sorted(row.error for row in rows)
    assert {row.method for row in rows} == set(CHEAP)
    for row in rows:
        errors = [r.error for r in known.records if r.method == row.method]
        assert row.error == pytest.approx(np.mean(errors))
        assert row.error_se == pytest.approx(np.std(errors, ddof=1) / np.sqrt(3))
        assert row.worst == max(errors)
        assert (row.trials, row.failures) == (3, 0)


def test_a_data_frame_has_a_line_for_each_fit(known):
    frame = known.to_pandas()
    assert list(frame["error"]) == [record.error for record in known.records]
    assert list(frame["method"]) == [record.method for record in known.records]
    assert frame["passes"].dtype == "Int64" and frame["exact"].dtype == "boolean"


def test_odd_names_do_not_break_the_table():
    comparison = compare(MODEL, {"m|\n": Mean(), "$x^2_{$": Fail()}, trials=2, timeout=None)
    lines = str(comparison).splitlines()[2:6]
    assert {line.replace("\\|", "").count("|") for line in lines} == {10}


def test_distances(known, unknown):
    names, matrix = known.distances()
    for i, a in enumerate(names):
        for j, b in enumerate(names):
            pairs = zip(known.of(a), known.of(b), strict=True)
            mean = np.mean([np.linalg.norm(x.location - y.location) for x, y in pairs])
            assert matrix[i, j] == pytest.approx(mean)
    partial = compare(MODEL, [Fail(), Mean()], trials=2, timeout=None)
    np.testing.assert_array_equal(partial.distances()[1], [[np.nan, np.nan], [np.nan, 0.0]])
    assert all(np.isnan(record.error) for record in unknown.records)
    assert not unknown.truth_known


def test_without_truth(unknown):
    X = MODEL.sample(0).X
    result = inlier.robust_mean(X)
    for record in unknown.records:
        told = {"alpha": (~result.support).mean(), "sigma": result.sigma}
        estimator = inlier.research.methods()[record.method].make(**told).fit(X)
        np.testing.assert_array_equal(record.location, estimator.location_)
        assert record.exact is None
    assert "as found by robust_mean" in unknown.note
    assert "to others" in str(unknown) and "error" not in str(unknown)
    given = compare(X, CHEAP, timeout=None, alpha=0.25, sigma=2.0, trials=2)
    assert "alpha = 0.25 and sigma = 2" in given.note
    assert "the same in all 2 trials" in given.note
    assert given.of("norm-trimmed-mean")[0].removed == 15


# -- methods and files that misbehave -------------------------------------------------------------


@pytest.mark.parametrize("far", [1e13, 1e300])
def test_methods_that_are_carried_away_do_not_hide_the_errors_of_others(far):
    X = np.random.default_rng(0).standard_normal((50, 5))
    bad = np.arange(50) < 5
    X[bad] = far
    comparison = compare(Sample(X, bad), ["mean", "krum", "norm-trimmed-mean"], timeout=None)
    errors = {r.method: r.error for r in comparison.records}
    assert errors["norm-trimmed-mean"] == 0.0
    assert 0.1 < errors["krum"] < 10.0
    # A tenth of the rows, each with sqrt(5) times the distance.
    assert errors["mean"] == pytest.approx(0.1 * np.sqrt(5.0) * far, rel=1e-3)
    assert [row.method for row in comparison.summary()] == ["norm-trimmed-mean", "krum", "mean"]


def test_the_truth_stays_known_if_all_fail():
    comparison = compare(MODEL, [Fail()], trials=2, timeout=None)
    assert comparison.truth_known
    assert "error" in str(comparison).splitlines()[2]


def test_medians_remove_nothing_and_do_not_say_so():
    (record,) = compare(MODEL.sample(0), "coordinate-median", timeout=None).records
    assert record.removed is None and record.exact is None
