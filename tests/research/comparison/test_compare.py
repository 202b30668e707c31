"""`compare` and its list of methods, against the estimators themselves."""

import inspect
import re

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.covariance import EmpiricalCovariance

import inlier
from cases import cases
from contestants import (
    CHEAP,
    MODEL,
    SEVERAL,
    Exits,
    Fail,
    Impossible,
    Mean,
    Odd,
    Warns,
    Writes,
    WritesSparse,
    Wrong,
    without_seconds,
)
from inlier.l0 import Options
from inlier.research import baselines, compare
from inlier.research.baselines import BASELINES
from inlier.research.comparison import registry
from inlier.research.comparison.run import carry_out, plan
from inlier.research.datasets import Sample, SettingB


@pytest.fixture(scope="module")
def known():
    return compare(MODEL, CHEAP, trials=3, timeout=None, random_state=7)


@pytest.fixture(scope="module")
def unknown():
    return compare(MODEL.sample(0).X, CHEAP, timeout=None)


def test_errors_are_those_of_the_estimators(known):
    assert len(known.records) == 9 and known.truth_known
    for record in known.records.itertuples():
        assert record.seed == 7 + record.trial
        sample = MODEL.sample(record.seed)
        given = {"alpha": sample.is_outlier.mean(), "sigma": sample.sigma}
        estimator = inlier.research.methods()[record.method].make(**given).fit(sample.X)
        good = sample.X[~sample.is_outlier].mean(axis=0)
        assert record.status == "ok"
        assert record.error == pytest.approx(np.linalg.norm(estimator.location_ - good), abs=1e-14)
        assert record.removed == (~estimator.support_).sum()
        assert record.exact == np.array_equal(~estimator.support_, sample.is_outlier)
        result = estimator.result_
        assert record.passes == getattr(result, "details", result).n_passes
        assert record.seconds > 0.0


def test_tables_of_all_kinds_and_methods_of_others():
    X = MODEL.sample(0).X
    expected = X.mean(axis=0)
    for table in (X, X.tolist(), pd.DataFrame(X), sparse.csr_array(X)):
        (record,) = compare(table, "mean", timeout=None).records.itertuples()
        np.testing.assert_allclose(record.location, expected, atol=1e-12)
    (record,) = compare(X, EmpiricalCovariance(), timeout=None).records.itertuples()
    np.testing.assert_allclose(record.location, expected, atol=1e-12)
    assert all(pd.isna([record.passes, record.removed, record.exact, record.seed]))
    sample = Sample(np.vstack([np.eye(3), np.full((1, 3), 50.0)]), np.array([False] * 3 + [True]))
    (record,) = compare(sample, "norm-trimmed-mean", timeout=None).records.itertuples()
    assert record.exact and record.error < 1e-12
    assert compare(MODEL, trials=1, timeout=None).methods == list(inlier.research.methods())


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


def test_models_that_cannot_be_used():
    plans = [plan(MODEL, "mean", trials=1), plan(Impossible(), "mean", trials=1)]
    with pytest.raises(RuntimeError, match=r"Impossible\(\) cannot be drawn .* no rows left"):
        carry_out(plans, timeout=None)


# -- Several plans --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n_jobs", "timeout"), [(1, None), pytest.param(2, 60.0, marks=pytest.mark.slow)]
)
def test_several_plans_give_what_each_gives_alone(n_jobs, timeout):
    plans = [plan(data, methods, **more) for data, methods, more in SEVERAL]
    seen = []
    found = carry_out(plans, n_jobs=n_jobs, timeout=timeout, watch=lambda *e: seen.append(e))
    for (data, methods, more), together in zip(SEVERAL, found, strict=True):
        alone = compare(data, methods, timeout=None, **more)
        assert without_seconds(together) == without_seconds(alone)
        assert (together.data, together.note) == (alone.data, alone.note)
        assert together.truth_known == alone.truth_known
    total = sum(len(comparison.records) for comparison in found)
    assert [event[0] for event in seen] == list(range(total + 1))
    assert {event[1] for event in seen} == {total}
    assert {event[2] for event in seen} - {""} == {name for c in found for name in c.methods}


# -- Stores ---------------------------------------------------------------------------------------


def test_store_refits_nothing(tmp_path):
    log, store = tmp_path / "log", tmp_path / "fits"
    methods = {"counted": Mean(log=str(log)), "fail": Fail(), "given": "norm-trimmed-mean"}
    first = compare(MODEL, methods, trials=2, timeout=None, store=store)
    assert log.read_text() == "xx"
    again = compare(MODEL, methods, trials=2, timeout=None, store=store)
    assert log.read_text() == "xx"
    assert without_seconds(again) == without_seconds(first)
    # What failed is tried again; the rest comes from the store.
    same = again.records["seconds"] == first.records["seconds"]
    assert list(same) == [True, False, True] * 2
    more = compare(MODEL, methods, trials=3, timeout=None, store=store)
    assert log.read_text() == "xxx"
    assert without_seconds(more)[:6] == without_seconds(first)
    # The same draws under other numbers of the trial.
    later = compare(MODEL, methods, trials=2, timeout=None, store=store, random_state=1)
    assert list(later.records["trial"]) == [0] * 3 + [1] * 3 and log.read_text() == "xxx"
    # What is given belongs to the fit, as do the parameters and the data.
    compare(MODEL, methods, trials=2, timeout=None, store=store, alpha=0.3)
    assert log.read_text() == "xxx"
    other = {"counted": Mean(log=str(log), shift=1.0)}
    for data, trials in ((MODEL, 1), (MODEL.sample(0), 1), (MODEL.sample(1), 1)):
        compare(data, other, timeout=None, store=store, trials=trials)
    compare(MODEL.sample(1).X, other, timeout=None, store=store)
    compare(MODEL.sample(1).X, other, timeout=None, store=store, trials=2)
    assert log.read_text() == "x" * 8


def test_interruption_leaves_a_store_to_resume_from(tmp_path):
    log, store = tmp_path / "log", tmp_path / "fits"
    methods = [Mean(log=str(log), stop_at=3)]
    with pytest.raises(KeyboardInterrupt):
        compare(MODEL, methods, trials=4, timeout=None, store=store)
    compare(MODEL, methods, trials=4, timeout=None, store=store)
    assert log.read_text() == "x" * (2 + 1 + 2)


def test_a_file_is_no_store(tmp_path):
    file = tmp_path / "notes.txt"
    file.write_text("mine")
    with pytest.raises(ValueError, match="is a file: give the name of a folder"):
        compare(MODEL, "mean", trials=1, timeout=None, store=file)
    assert file.read_text() == "mine"


# -- Methods that misbehave -----------------------------------------------------------------------


def test_faults_are_recorded_and_the_others_continue():
    methods = {"a": Mean(), "fail": Fail(), "wrong": Wrong(), "warns": Warns(), "exits": Exits()}
    comparison = compare(MODEL, methods, trials=2, timeout=None)
    for name, status, text in (
        ("a", "ok", ""),
        ("fail", "failed", "ArithmeticError: no such luck"),
        ("wrong", "failed", "but has shape (6,)"),
        ("warns", "ok", "beware"),
        ("exits", "failed", "SystemExit: 2"),
    ):
        records = comparison.records[comparison.records["method"] == name]
        assert list(records["trial"]) == [0, 1] and list(records["status"]) == [status] * 2
        assert all(text in message for message in records["message"])
        assert all(records["location"].isna()) == (status != "ok")
    assert set(comparison.summary().index[-3:]) == {"fail", "wrong", "exits"}
    shown = str(comparison)
    assert "2/2" in shown and "fail: no answer in 2 of 2 trials: Arith" in shown
    assert "warns: warning in 2 of 2 trials: beware" in shown


@cases(
    ("location", "said"),
    [
        (None, "location_"),
        ("abc", "shape"),
        (3.0, "shape"),
        (np.full(5, 1j), "complex"),
        (np.full(5, np.nan), "NaN"),
        ([[1.0], [1.0, 2.0]], "inhomogeneous"),
    ],
)
def test_answers_that_are_none(location, said):
    (odd,) = compare(MODEL.sample(0), {"odd": Odd(location)}, timeout=None).records.itertuples()
    assert odd.status == "failed" and said in odd.message


def test_no_method_can_change_the_rows_of_the_next():
    X = MODEL.sample(0).X
    before = X.copy()
    writes, mean = compare(
        X, {"writes": Writes(), "mean": Mean()}, timeout=None
    ).records.itertuples()
    assert writes.status == "failed" and "read-only" in writes.message
    np.testing.assert_allclose(mean.location, before.mean(axis=0))
    table = sparse.csr_array(X)
    compare(table, {"writes": WritesSparse(), "mean": "mean"}, timeout=None)
    assert np.array_equal(table.toarray(), before) and np.array_equal(X, before)


def test_zero_is_rounding_error_wherever_the_rows_lie():
    sample = MODEL.sample(0)
    for shift in (0.0, 1e6):
        clean = Sample(sample.inliers + shift, np.zeros(48, dtype=bool))
        methods = {"near": Mean(shift=1e-6), "exact": "inlier-sigma"}
        near, exact = compare(clean, methods, timeout=None).records.itertuples()
        assert near.error == pytest.approx(1e-6 * np.sqrt(5.0), rel=1e-2)
        assert exact.error == 0.0


def test_summary(known):
    summary, by_method = known.summary(), known.records.groupby("method")["error"]
    assert set(summary.index) == set(CHEAP) and summary["error"].is_monotonic_increasing
    for name, row in summary.iterrows():
        errors = by_method.get_group(name).to_numpy()
        assert row.error == pytest.approx(np.mean(errors))
        assert row.error_se == pytest.approx(np.std(errors, ddof=1) / np.sqrt(3))
        assert row.worst == max(errors)
        assert (row.trials, row.failures, row.timeouts) == (3, 0, 0)


def test_odd_names_do_not_break_the_table():
    comparison = compare(MODEL, {"m|\n": Mean(), "$x^2_{$": Fail()}, trials=2, timeout=None)
    head, one, other = str(comparison).splitlines()[2:5]
    assert len(head) == len(one) == len(other) and len(head.split()) == 10


def test_distances(known, unknown):
    matrix = known.distances()
    located = known.records.pivot(index="trial", columns="method", values="location")
    for a in CHEAP:
        for b in CHEAP:
            apart = [np.linalg.norm(x - y) for x, y in zip(located[a], located[b], strict=True)]
            assert matrix.loc[a, b] == pytest.approx(np.mean(apart))
    partial = compare(MODEL, [Fail(), Mean()], trials=2, timeout=None)
    np.testing.assert_array_equal(partial.distances(), [[np.nan, np.nan], [np.nan, 0.0]])
    assert unknown.records["error"].isna().all() and not unknown.truth_known


def test_without_truth(unknown):
    X = MODEL.sample(0).X
    result = inlier.robust_mean(X)
    for record in unknown.records.itertuples():
        told = {"alpha": (~result.support).mean(), "sigma": result.sigma}
        estimator = inlier.research.methods()[record.method].make(**told).fit(X)
        np.testing.assert_array_equal(record.location, estimator.location_)
        assert pd.isna(record.exact)
    apart = unknown.distances()
    nearest = [apart[name].drop(name).median() for name in unknown.methods]
    assert sorted(nearest) == list(unknown.summary()["distance"])
    assert "as found by robust_mean" in unknown.note
    assert "to others" in str(unknown) and "error" not in str(unknown)
    given = compare(X, CHEAP, timeout=None, alpha=0.25, sigma=2.0, trials=2)
    assert "alpha = 0.25 and sigma = 2" in given.note
    assert "the same in all 2 trials" in given.note
    assert given.summary()["removed"]["norm-trimmed-mean"] == 15


# -- methods and files that misbehave -------------------------------------------------------------


@pytest.mark.parametrize("far", [1e13, 1e300])
def test_methods_that_are_carried_away_do_not_hide_the_errors_of_others(far):
    X = np.random.default_rng(0).standard_normal((50, 5))
    bad = np.arange(50) < 5
    X[bad] = far
    comparison = compare(Sample(X, bad), ["mean", "krum", "norm-trimmed-mean"], timeout=None)
    errors = comparison.records.set_index("method")["error"]
    assert errors["norm-trimmed-mean"] == 0.0
    assert 0.1 < errors["krum"] < 10.0
    # A tenth of the rows, each with sqrt(5) times the distance.
    assert errors["mean"] == pytest.approx(0.1 * np.sqrt(5.0) * far, rel=1e-3)
    assert list(comparison.summary().index) == ["norm-trimmed-mean", "krum", "mean"]


def test_the_truth_stays_known_if_all_fail():
    comparison = compare(MODEL, [Fail()], trials=2, timeout=None)
    assert comparison.truth_known
    assert "error" in str(comparison).splitlines()[2]


def test_medians_remove_nothing_and_do_not_say_so():
    (record,) = compare(MODEL.sample(0), "coordinate-median", timeout=None).records.itertuples()
    assert pd.isna(record.removed) and pd.isna(record.exact)


OURS = ["inlier", "inlier-sigma", "paper-l1", "paper-lp"]
METHODS = registry.methods()
each_entry = cases("entry", METHODS.values())
GIVEN = {"alpha": 0.125, "sigma": 2.5}


def test_all_methods_are_listed_ours_first():
    assert list(METHODS) == [*OURS, *(method.name for method in BASELINES)]
    assert len(METHODS) == len(OURS) + len(BASELINES)  # a name twice would hide one of them
    assert inlier.research.methods is registry.methods
    written = {
        value
        for name in ("simple", "filters", "reweighting", "few_rows")
        for value in vars(getattr(baselines, name)).values()
        if inspect.isclass(value) and getattr(value, "name", None)
    }
    assert written <= set(BASELINES)


@each_entry
def test_just_what_is_needed_is_given(entry):
    estimator = entry.make(**GIVEN)
    expected = clone(entry.estimator()).get_params() | entry.fixed
    expected |= {name: GIVEN[name] for name in entry.needs}
    assert type(estimator) is entry.estimator and estimator.get_params() == expected
    if "random_state" in expected:
        assert entry.make(**GIVEN, random_state=17).random_state == 17
    with pytest.raises(TypeError, match=r"colour|takes no arguments"):
        entry.make(**GIVEN, colour="red")


def test_what_a_name_fixes_can_be_overruled():
    assert METHODS["paper-l1"].make(sigma=1.0).l0.surrogate == "l1"
    other = Options(surrogate="reweighted-l2")
    assert METHODS["paper-l1"].make(sigma=1.0, l0=other).l0 is other


@cases("method", BASELINES)
def test_sources_and_own_parameters_are_documented(method):
    text = inspect.getdoc(method)
    own = set(inspect.signature(method).parameters) - {"alpha", "sigma", "random_state"}
    assert own == set(re.findall(r"^(\w+) : ", text, re.MULTILINE))
    if method.name != "mean":
        references = text.partition("References\n")[2]
        assert re.search(r"\((1[89]|20)\d\d\)", references)
        # The registry names the same first author.
        if method.paper != "folklore":
            assert re.split(r"[ ,(]", method.paper)[0] in references
