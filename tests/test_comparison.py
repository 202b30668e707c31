"""`compare` against the estimators themselves, and what happens when things go wrong."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.covariance import EmpiricalCovariance

import inlier
from cases import cases
from inlier import compare
from inlier.comparison.run import carry_out, plan
from inlier.datasets import Sample, SettingB

MODEL = SettingB(n=60, d=5, alpha=0.2)
CHEAP = ["mean", "norm-trimmed-mean", "inlier-sigma"]


class Mean(BaseEstimator):
    """Counts its calls in a file, which works across processes."""

    def __init__(self, log=None, stop_at=None, shift=0.0):
        self.log = log
        self.stop_at = stop_at
        self.shift = shift

    def fit(self, X):
        if self.log is not None:
            with open(self.log, "a") as file:
                file.write("x")
            if os.path.getsize(self.log) == self.stop_at:
                raise KeyboardInterrupt
        self.location_ = X.mean(axis=0) + self.shift
        return self


class Hang(Mean):
    def fit(self, X):
        while True:
            pass


class Fail(Mean):
    def fit(self, X):
        raise ArithmeticError("no such luck")


class Crash(Mean):
    def fit(self, X):
        os._exit(3)


class Wrong(Mean):
    def fit(self, X):
        self.location_ = np.zeros(X.shape[1] + 1)


class Warns(Mean):
    def fit(self, X):
        import warnings

        warnings.warn("beware", UserWarning, stacklevel=2)
        return super().fit(X)


def without_seconds(comparison):
    fields = ("method", "trial", "seed", "status", "error", "exact", "removed", "passes", "message")
    return [
        (
            *(repr(getattr(r, name)) for name in fields),
            None if r.location is None else r.location.tobytes(),
        )
        for r in comparison.records
    ]


@pytest.fixture(scope="module")
def known():
    return compare(MODEL, CHEAP, trials=3, timeout=None, random_state=7)


@pytest.fixture(scope="module")
def unknown():
    return compare(MODEL.sample(0).X, CHEAP, timeout=None)


def test_errors_are_those_of_the_estimators(known):
    assert len(known.records) == 9 and known.truth_known
    for record in known.records:
        assert record.seed == 7 + record.trial
        sample = MODEL.sample(record.seed)
        told = {"alpha": sample.is_outlier.mean(), "sigma": sample.sigma}
        estimator = inlier.methods()[record.method].make(**told).fit(sample.X)
        good = sample.X[~sample.is_outlier].mean(axis=0)
        assert record.status == "ok"
        assert record.error == pytest.approx(np.linalg.norm(estimator.location_ - good), abs=1e-14)
        assert record.removed == (~estimator.support_).sum()
        assert record.exact == (
            set(np.flatnonzero(~estimator.support_)) == set(np.flatnonzero(sample.is_outlier))
        )
        assert record.passes == estimator.result_.n_passes
        assert record.seconds > 0.0


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


def test_the_same_with_workers(known):
    for n_jobs, timeout in ((2, 60.0), (1, 60.0)):
        again = compare(MODEL, CHEAP, trials=3, timeout=timeout, random_state=7, n_jobs=n_jobs)
        assert without_seconds(again) == without_seconds(known)


def test_all_methods_by_default():
    comparison = compare(MODEL, trials=1, timeout=None)
    assert comparison.methods == tuple(inlier.methods())


def test_faults_are_recorded_and_the_others_go_on():
    methods = {
        "hang": Hang(),
        "a": Mean(),
        "fail": Fail(),
        "crash": Crash(),
        "wrong": Wrong(),
        "warns": Warns(),
        "b": Mean(shift=1.0),
    }
    begin = time.monotonic()
    comparison = compare(MODEL, methods, trials=2, timeout=1.0, n_jobs=2)
    assert time.monotonic() - begin < 40.0
    by_name = {name: comparison.of(name) for name in methods}
    for name, status, text in (
        ("hang", "timeout", "1 seconds"),
        ("a", "ok", ""),
        ("fail", "failed", "ArithmeticError: no such luck"),
        ("crash", "failed", "exit code 3"),
        ("wrong", "failed", "location_ has shape (6,)"),
        ("warns", "ok", "beware"),
        ("b", "ok", ""),
    ):
        assert [r.trial for r in by_name[name]] == [0, 1]
        for record in by_name[name]:
            assert record.status == status
            assert text in record.message
            assert (record.location is None) == (status != "ok")
    assert {r.method for r in comparison.summary()[-4:]} == {"hang", "fail", "crash", "wrong"}
    shown = str(comparison)
    assert "2/2" in shown and "no such luck" in shown and "1 seconds" in shown


def test_here_faults_are_recorded_too():
    comparison = compare(MODEL, [Fail(), Wrong(), Mean()], trials=1, timeout=None)
    assert [r.status for r in comparison.records] == ["failed", "failed", "ok"]


def test_estimators_of_others():
    sample = MODEL.sample(3)
    comparison = compare(sample, EmpiricalCovariance(), timeout=None)
    (record,) = comparison.records
    assert comparison.methods == ("EmpiricalCovariance",)
    assert record.error == pytest.approx(np.linalg.norm(sample.X.mean(axis=0) - sample.mean))
    assert (record.passes, record.removed, record.exact, record.seed) == (None,) * 4


def test_store_refits_nothing(tmp_path):
    log, store = tmp_path / "log", tmp_path / "fits.db"
    methods = {"counted": Mean(log=str(log)), "fail": Fail(), "told": "norm-trimmed-mean"}
    first = compare(MODEL, methods, trials=2, timeout=None, store=store)
    assert log.read_text() == "xx"
    again = compare(MODEL, methods, trials=2, timeout=None, store=store)
    assert log.read_text() == "xx"
    assert without_seconds(again) == without_seconds(first)
    # What failed is tried again; the rest comes from the store.
    assert [r.seconds for r in again.of("told")] == [r.seconds for r in first.of("told")]
    assert [r.seconds for r in again.of("fail")] != [r.seconds for r in first.of("fail")]
    more = compare(MODEL, methods, trials=3, timeout=None, store=store)
    assert log.read_text() == "xxx"
    assert without_seconds(more)[:6] == without_seconds(first)
    # What is told belongs to the fit, as do the parameters and the data.
    compare(MODEL, methods, trials=2, timeout=None, store=store, alpha=0.3)
    assert log.read_text() == "xxx"
    with sqlite3.connect(store) as file:
        count = file.execute("SELECT method, COUNT(*) FROM fits GROUP BY method").fetchall()
    file.close()
    assert dict(count) == {"counted": 3, "fail": 3, "told": 5}
    other = {"counted": Mean(log=str(log), shift=1.0)}
    compare(MODEL, other, trials=1, timeout=None, store=store)
    compare(MODEL.sample(0), other, timeout=None, store=store)
    compare(MODEL.sample(1), other, timeout=None, store=store)
    compare(MODEL.sample(1).X, other, timeout=None, store=store)
    compare(MODEL.sample(1).X, other, timeout=None, store=store, trials=2)
    assert log.read_text() == "x" * 8


def test_timeouts_are_tried_again_with_more_time(tmp_path):
    store = tmp_path / "fits.db"
    methods = {"hang": Hang()}
    first = compare(MODEL, methods, trials=1, timeout=0.3, store=store)
    again = compare(MODEL, methods, trials=1, timeout=0.2, store=store)
    assert again.records[0].seconds == 0.3
    assert without_seconds(again) == without_seconds(first)
    longer = compare(MODEL, methods, trials=1, timeout=0.4, store=store)
    assert longer.records[0].seconds == 0.4


def test_interruption_leaves_a_store_to_go_on_with(tmp_path):
    log, store = tmp_path / "log", tmp_path / "fits.db"
    methods = [Mean(log=str(log), stop_at=3)]
    with pytest.raises(KeyboardInterrupt):
        compare(MODEL, methods, trials=4, timeout=None, store=store)
    compare(MODEL, methods, trials=4, timeout=None, store=store)
    assert log.read_text() == "x" * (2 + 1 + 2)


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_ctrl_c_ends_the_workers(tmp_path):
    script = tmp_path / "script.py"
    # No main guard: workers must not run the script again.
    script.write_text(
        """
import os, time, inlier
class Quick:
    def fit(self, X): self.location_ = X.mean(axis=0)
class Hang:
    def fit(self, X):
        with open("pid", "w") as file: file.write(str(os.getpid()))
        while True: time.sleep(0.01)
print("once")
model = inlier.datasets.SettingB(n=60, d=5, alpha=0.2)
done = inlier.compare(model, [Quick()], trials=2, n_jobs=2)
print(*(record.status for record in done.records), flush=True)
inlier.compare(model, [Quick(), Hang()], trials=1, store="fits.db")
"""
    )
    process = subprocess.Popen(
        [sys.executable, script.name],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    pid = tmp_path / "pid"
    deadline = time.monotonic() + 40.0
    while not (pid.exists() and pid.read_text()) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert out.split() == ["once", "ok", "ok"], err
    assert "KeyboardInterrupt" in err
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)
    file = sqlite3.connect(tmp_path / "fits.db")
    assert file.execute("SELECT method, status FROM fits").fetchall() == [("Quick", "ok")]
    file.close()


def test_foreign_files_are_left_alone(tmp_path):
    text = tmp_path / "notes.txt"
    text.write_text("not a store")
    database = tmp_path / "other.db"
    with sqlite3.connect(database) as file:
        file.execute("CREATE TABLE fits (key TEXT)")
    file.close()
    for path in (text, database):
        before = path.read_bytes()
        with pytest.raises(ValueError, match=r"is not a store of inlier\.compare"):
            compare(MODEL, "mean", trials=1, timeout=None, store=path)
        assert path.read_bytes() == before
    with pytest.raises(ValueError, match="is a folder"):
        compare(MODEL, "mean", trials=1, timeout=None, store=tmp_path)
    with pytest.raises(ValueError, match="there is no folder"):
        compare(MODEL, "mean", trials=1, timeout=None, store=tmp_path / "no" / "fits.db")


def test_csv_round_trip(known, tmp_path):
    pandas = pytest.importorskip("pandas")
    path = tmp_path / "table.csv"
    known.to_csv(path)
    frame = known.to_pandas()
    read = pandas.read_csv(path, keep_default_na=True).astype(frame.dtypes.to_dict())
    read["message"] = read["message"].fillna("").where(read["message"] != "nan", "")
    pandas.testing.assert_frame_equal(read, frame)
    assert list(tmp_path.iterdir()) == [path]
    assert list(frame["error"]) == [record.error for record in known.records]


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
        estimator = inlier.methods()[record.method].make(**told).fit(X)
        np.testing.assert_array_equal(record.location, estimator.location_)
        assert record.exact is None
    assert "as found by robust_mean" in unknown.note
    assert "to others" in str(unknown) and "error" not in str(unknown)
    given = compare(X, CHEAP, timeout=None, alpha=0.25, sigma=2.0, trials=2)
    assert "alpha = 0.25 and sigma = 2" in given.note
    assert "the same in all 2 trials" in given.note
    assert given.of("norm-trimmed-mean")[0].removed == 15


def test_tables_of_all_kinds():
    pandas = pytest.importorskip("pandas")
    X = MODEL.sample(0).X
    expected = X.mean(axis=0)
    for table in (X, X.tolist(), pandas.DataFrame(X), sparse.csr_array(X)):
        (record,) = compare(table, "mean", timeout=None).records
        np.testing.assert_allclose(record.location, expected, atol=1e-12)


def test_samples_without_a_model():
    sample = Sample(np.vstack([np.eye(3), np.full((1, 3), 50.0)]), np.array([False] * 3 + [True]))
    (record,) = compare(sample, "norm-trimmed-mean", timeout=None).records
    assert record.exact and record.error < 1e-12


def test_plots(known, unknown, tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    for name, comparison in (("known", known), ("unknown", unknown)):
        for ending, start in (("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")):
            path = tmp_path / f"{name}.{ending}"
            figure = comparison.plot(path)
            assert path.read_bytes().startswith(start)
        axes = figure.axes[0]
        labels = [label.get_text() for label in axes.get_yticklabels()]
        assert sorted(labels) == sorted(comparison.methods)
        if comparison is known:
            assert labels == [row.method for row in comparison.summary()]
        assert "distance" in axes.get_xlabel()
    assert "seconds" in known.plot(tmp_path / "again.png").axes[1].get_xlabel()
    clean = compare(SettingB(n=60, d=5, alpha=0.0), "mean", trials=2, timeout=None)
    ticks = clean.plot(tmp_path / "zero.png").axes[0].get_xticklabels()
    assert [tick.get_text() for tick in ticks] == ["0"]
    from matplotlib import pyplot

    assert pyplot.get_fignums() == []
    shown = known.plot()
    assert pyplot.get_fignums() == [shown.number]
    pyplot.close(shown)


def test_plots_with_faults(tmp_path):
    pytest.importorskip("matplotlib")
    comparison = compare(MODEL, [Mean(), Fail()], trials=2, timeout=None)
    labels = comparison.plot(tmp_path / "a.png").axes[0].get_yticklabels()
    assert [label.get_text() for label in labels] == ["Mean", "Fail (no answer)"]
    compare(MODEL, Fail(), trials=1, timeout=None).plot(tmp_path / "b.png")


def test_silent_unless_asked(capfd):
    compare(MODEL, "mean", trials=1)
    assert capfd.readouterr() == ("", "")
    compare(MODEL, ["mean", Mean()], trials=2, timeout=None, progress=True)
    out, err = capfd.readouterr()
    assert out == "" and "compare 1/4  Mean" in err and err.endswith("\r")


@dataclass(frozen=True)
class Impossible:
    def sample(self, random_state):
        raise LookupError("no rows left")


class Nameless:
    def sample(self, random_state):
        return MODEL.sample(random_state)


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


def test_models_that_cannot_be_used(tmp_path):
    for timeout in (None, 10.0):
        with pytest.raises(RuntimeError, match="LookupError: no rows left"):
            compare(Impossible(), "mean", trials=1, timeout=timeout)
    with pytest.raises(ValueError, match="its repr does not say"):
        compare(Nameless(), "mean", trials=1, timeout=None, store=tmp_path / "fits.db")


def test_what_cannot_be_sent():
    method = Mean(log=(i for i in range(3)))
    with pytest.raises(ValueError, match="cannot be sent to another process"):
        compare(MODEL, {"generator": method}, trials=1)


# -- methods and files that misbehave -------------------------------------------------------------


@pytest.mark.parametrize("far", [1e13, 1e300])
def test_methods_that_are_carried_away_do_not_hide_the_errors_of_others(far, tmp_path):
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
    comparison.plot(tmp_path / "errors.svg")


def test_zero_is_rounding_of_the_rows_wherever_they_lie():
    sample = MODEL.sample(0)
    for shift in (0.0, 1e6):
        moved = Sample(sample.X + shift, sample.is_outlier)
        methods = {"near": Mean(shift=1e-6), "exact": "inlier-sigma"}
        clean = Sample(moved.X[~sample.is_outlier], np.zeros(48, dtype=bool))
        near, exact = compare(clean, methods, timeout=None).records
        assert near.error == pytest.approx(1e-6 * np.sqrt(5.0), rel=1e-2)
        assert exact.error == 0.0


class Writes(Mean):
    def fit(self, X):
        X -= 1.0
        return super().fit(X)


@pytest.mark.parametrize("timeout", [None, 20.0])
def test_nobody_can_change_the_rows_of_the_next_method(timeout):
    X = MODEL.sample(0).X
    before = X.copy()
    comparison = compare(X, {"writes": Writes(), "mean": Mean()}, timeout=timeout)
    writes, mean = comparison.records
    assert writes.status == "failed" and "read-only" in writes.message
    assert np.array_equal(X, before)
    np.testing.assert_allclose(mean.location, before.mean(axis=0))


class WritesSparse(Mean):
    def fit(self, X):
        X.data[:] = 0.0
        self.location_ = np.zeros(X.shape[1])


def test_nobody_can_change_a_sparse_table():
    X = sparse.csr_array(MODEL.sample(0).X)
    before = X.toarray()
    compare(X, {"writes": WritesSparse(), "mean": "mean"}, timeout=None)
    assert np.array_equal(X.toarray(), before)


class Odd(Mean):
    def __init__(self, location=None, support=None):
        self.location = location
        self.support = support

    def fit(self, X):
        if self.location is not None:
            self.location_ = self.location
        if self.support is not None:
            self.support_ = self.support


@pytest.mark.parametrize(
    ("location", "said"),
    [
        (None, "missing"),
        ("abc", "shape"),
        (3.0, "shape"),
        (np.full(5, 1j), "complex"),
        (np.full(5, np.nan), "NaN"),
        ([[1.0], [1.0, 2.0]], "inhomogeneous"),
    ],
)
def test_answers_that_are_none(location, said):
    odd, mean = compare(MODEL.sample(0), {"odd": Odd(location), "m": Mean()}, timeout=None).records
    assert odd.status == "failed" and said in odd.message
    assert mean.status == "ok"


class Exits(Mean):
    def fit(self, X):
        sys.exit(2)


def test_a_fit_that_exits_has_failed():
    comparison = compare(MODEL.sample(0), {"exits": Exits(), "m": Mean()}, timeout=None)
    assert [r.status for r in comparison.records] == ["failed", "ok"]


def test_warnings_stand_below_the_table():
    text = str(compare(MODEL, [Warns(), Mean()], trials=3, timeout=None))
    assert "Warns: warning in 3 of 3 trials: beware" in text


def test_the_truth_stays_known_if_all_fail():
    comparison = compare(MODEL, [Fail()], trials=2, timeout=None)
    assert comparison.truth_known
    assert "error" in str(comparison).splitlines()[2]


def test_names_that_are_no_markup(tmp_path):
    comparison = compare(MODEL, {"$x^2_{$": "mean", "a|b\n": Mean()}, trials=2, timeout=None)
    assert all(line.count("|") == 9 for line in str(comparison).splitlines()[2:6])
    comparison.plot(tmp_path / "names.png")


def test_damaged_stores(tmp_path):
    whole, cut = tmp_path / "whole.db", tmp_path / "cut.db"
    compare(MODEL, ["mean"], trials=2, timeout=None, store=whole)
    cut.write_bytes(whole.read_bytes()[:5000])
    for store in (cut, 5, b"bytes.db"):
        with pytest.raises(ValueError, match="store"):
            compare(MODEL, ["mean"], trials=2, timeout=None, store=store)
    assert cut.stat().st_size == 5000


def test_links_are_followed_and_other_files_written_to(tmp_path):
    comparison = compare(MODEL, ["mean"], trials=1, timeout=None)
    target, link, pipe = tmp_path / "target.csv", tmp_path / "link.csv", tmp_path / "pipe"
    target.write_text("old")
    link.symlink_to(target)
    comparison.to_csv(link)
    assert link.is_symlink() and target.read_text().startswith("data,method")
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE) as reader:
        comparison.to_csv(pipe)
        assert reader.communicate()[0].startswith(b"data,method")
    for path in (tmp_path, tmp_path / "no" / "x.csv"):
        with pytest.raises(ValueError, match="folder"):
            comparison.to_csv(path)


ORPHANS = """
import inlier
class Spin:
    def fit(self, X):
        while True:
            pass
model = inlier.datasets.SettingB(n=20, d=3, alpha=0.1)
inlier.compare(model, [Spin()], trials=1, timeout=1000.0, progress=True)
"""


def children_of(pid):
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                after_name = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:  # it has just ended
                continue
            if int(after_name[1]) == pid:
                found.append(entry.name)
    return found


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at /proc")
def test_workers_do_not_outlive_their_parent():
    with subprocess.Popen([sys.executable, "-c", ORPHANS], stderr=subprocess.PIPE) as parent:
        seen = b""
        while b"Spin" not in seen:  # the progress line says that the fit has begun
            seen += parent.stderr.read(1)
        children = children_of(parent.pid)
        assert children
        parent.kill()
        parent.stderr.close()
    deadline = time.monotonic() + 20.0
    alive = set(children)
    while alive and time.monotonic() < deadline:
        time.sleep(0.2)
        alive = {pid for pid in alive if os.path.exists(f"/proc/{pid}/cmdline")}
    assert not alive


def test_a_word_about_columns_in_other_units():
    X = np.random.default_rng(0).standard_normal((60, 3))
    assert "columns" not in compare(X, "mean", timeout=None).note
    assert "Some columns vary" in compare(X * [1.0, 1e4, 1.0], "mean", timeout=None).note


def test_medians_remove_nothing_and_do_not_say_so():
    (record,) = compare(MODEL.sample(0), "coordinate-median", timeout=None).records
    assert record.removed is None and record.exact is None


# -- Many comparisons with the same workers -------------------------------------------------------

SEVERAL = [
    (MODEL, CHEAP, {"trials": 2}),
    (SettingB(n=40, d=3, alpha=0.1), {"m": Mean(), "told": "norm-trimmed-mean"}, {"trials": 3}),
    (MODEL.sample(5), ["mean", "inlier"], {}),
    (MODEL.sample(5).X, ["mean", "norm-trimmed-mean"], {"alpha": 0.1, "trials": 2}),
    (MODEL, [Fail(), Mean()], {"trials": 2, "random_state": 9}),
    (MODEL, CHEAP, {"trials": 2}),  # the first once more
]


@pytest.fixture(scope="module")
def one_by_one():
    return [compare(data, how, timeout=None, **more) for data, how, more in SEVERAL]


@pytest.mark.parametrize(("n_jobs", "timeout"), [(1, None), (1, 60.0), (2, None), (2, 60.0)])
def test_several_plans_give_what_each_gives_alone(one_by_one, n_jobs, timeout):
    plans = [plan(data, methods, **more) for data, methods, more in SEVERAL]
    told = []
    found = carry_out(
        plans, n_jobs=n_jobs, timeout=timeout, watch=lambda *event: told.append(event)
    )
    assert len(found) == len(SEVERAL)
    for alone, together in zip(one_by_one, found, strict=True):
        assert without_seconds(together) == without_seconds(alone)
        assert (together.data, together.note) == (alone.data, alone.note)
        assert together.truth_known == alone.truth_known
    total = sum(p.n_fits for p in plans)
    assert total == sum(len(comparison.records) for comparison in found)
    done = [event[0] for event in told]
    # It never goes back, and ends when all is done.
    assert done == sorted(done) and (done[0], done[-1]) == (0, total)
    assert {event[1] for event in told} == {total}
    assert {event[2] for event in told} - {""} == {r.method for c in found for r in c.records}


def test_several_plans_share_a_store(one_by_one, tmp_path):
    chosen = [i for i in range(len(SEVERAL)) if i != 4]  # what failed would be tried again
    plans = [plan(SEVERAL[i][0], SEVERAL[i][1], **SEVERAL[i][2]) for i in chosen]
    total = sum(p.n_fits for p in plans)
    for begin in (0, total):
        told = []
        found = carry_out(
            plans,
            timeout=None,
            store=tmp_path / "fits.db",
            watch=lambda done, *_, told=told: told.append(done),
        )
        assert (told[0], told[-1]) == (begin, total)
        for i, comparison in zip(chosen, found, strict=True):
            assert without_seconds(comparison) == without_seconds(one_by_one[i])
    # `compare` finds there what a plan has left.
    again = compare(*SEVERAL[0][:2], **SEVERAL[0][2], timeout=None, store=tmp_path / "fits.db")
    assert [r.seconds for r in again.records] == [r.seconds for r in found[-1].records]


def test_plans_say_what_is_to_be_done():
    planned = plan(MODEL, CHEAP, trials=4, random_state=3)
    assert planned.n_fits == 12 and planned.seeds == (3, 4, 5, 6)
    assert [contender.name for contender in planned.contenders] == CHEAP
    assert plan(MODEL, "mean").n_fits == 20 and plan(MODEL.sample(0), "mean").seeds == (None,)
    assert carry_out([]) == []
    for options in ({"n_jobs": 0}, {"timeout": 0.0}):
        with pytest.raises(ValueError, match=next(iter(options))):
            carry_out([planned], **options)


def test_a_model_that_cannot_be_used_is_named_among_others():
    plans = [plan(MODEL, "mean", trials=1), plan(Impossible(), "mean", trials=1)]
    for timeout in (None, 10.0):
        with pytest.raises(RuntimeError, match=r"Impossible\(\) cannot be had: .* no rows left"):
            carry_out(plans, timeout=timeout)
