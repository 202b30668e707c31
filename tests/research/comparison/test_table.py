"""What a comparison states: summaries, distances, text, files and figures."""

import os
import subprocess

import numpy as np
import pytest

import inlier
from contestants import CHEAP, MODEL, Fail, Mean
from inlier.datasets import Sample, SettingB
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


def test_the_truth_stays_known_if_all_fail():
    comparison = compare(MODEL, [Fail()], trials=2, timeout=None)
    assert comparison.truth_known
    assert "error" in str(comparison).splitlines()[2]


def test_medians_remove_nothing_and_do_not_say_so():
    (record,) = compare(MODEL.sample(0), "coordinate-median", timeout=None).records
    assert record.removed is None and record.exact is None


def test_links_are_followed_and_pipes_written_to(known, tmp_path):
    target, link, pipe = tmp_path / "target.csv", tmp_path / "link.csv", tmp_path / "pipe"
    target.write_text("old")
    link.symlink_to(target)
    known.to_csv(link)
    assert link.is_symlink() and target.read_text().startswith("data,method")
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE) as reader:
        known.to_csv(pipe)
        assert reader.communicate()[0].startswith(b"data,method")
    for path in (tmp_path, tmp_path / "no" / "x.csv"):
        with pytest.raises(ValueError, match="folder"):
            known.to_csv(path)


def labels(axes):
    return [label.get_text() for label in axes.get_yticklabels()]


def test_plots(known, unknown, tmp_path):
    from matplotlib import pyplot

    for comparison in (known, unknown):
        for ending, start in (("png", b"\x89PNG"), ("svg", b"<?xml")):
            path = tmp_path / f"figure.{ending}"
            axes = comparison.plot(path).axes
            assert path.read_bytes().startswith(start)
        assert sorted(labels(axes[0])) == sorted(comparison.methods)
        assert "distance" in axes[0].get_xlabel()
    assert labels(known.plot(tmp_path / "a.png").axes[0]) == [row.method for row in known.summary()]
    clean = compare(SettingB(n=60, d=5, alpha=0.0), "mean", trials=2, timeout=None)
    assert clean.plot(tmp_path / "zero.png").axes[0].get_xlim()[0] < 0.0
    assert pyplot.get_fignums() == []
    shown = known.plot()
    assert pyplot.get_fignums() == [shown.number]
    pyplot.close(shown)


def test_faults_and_odd_names_are_shown(tmp_path):
    comparison = compare(MODEL, {"m|\n": Mean(), "$x^2_{$": Fail()}, trials=2, timeout=None)
    shown = labels(comparison.plot(tmp_path / "a.png").axes[0])
    assert shown == ["m|\n", r"\$x^2_{\$ (no answer)"]
    lines = str(comparison).splitlines()[2:6]
    assert {line.replace("\\|", "").count("|") for line in lines} == {10}
    compare(MODEL, Fail(), trials=1, timeout=None).plot(tmp_path / "b.png")
