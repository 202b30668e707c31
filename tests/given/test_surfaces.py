"""The command line and PyOD's detector take what is given, and say the same as `robust_mean`."""

import numpy as np
import pandas as pd
import pytest

from commands import fit_record, invoke
from inlier import robust_mean
from ordinary_tables import digits


@pytest.fixture(scope="module")
def frame():
    table, _ = digits()
    named = pd.DataFrame(table, columns=[f"p{j}" for j in range(64)])
    return named.assign(checked=["yes"] * 40 + ["no"] * (len(named) - 40))


@pytest.fixture(scope="module")
def file(frame, tmp_path_factory):
    path = tmp_path_factory.mktemp("given") / "digits.csv"
    frame.to_csv(path, index=False)
    return path


def kept(file, *options):
    return np.array(fit_record(file, "--exclude", "checked", *options)["fits"][0]["is_kept"])


def test_contamination_on_the_command_line(frame, file):
    expected = robust_mean(frame.filter(like="p").to_numpy(), contamination=0.26)
    np.testing.assert_array_equal(kept(file, "--contamination", "0.26"), expected.support)
    shown = " ".join(invoke("fit", file, "--contamination", "0.26").stdout.split())
    assert "at most 26% of the rows are bad" in shown and "farthest out of the others" in shown


def test_trusted_rows_of_a_column_and_of_a_file(frame, file, tmp_path):
    X = frame.filter(like="p").to_numpy()
    expected = robust_mean(X, trusted=np.arange(40)).support
    np.testing.assert_array_equal(kept(file, "--trusted", "checked"), expected)
    other = tmp_path / "checked.csv"
    frame[:40].to_csv(other, index=False)
    expected = robust_mean(X, trusted=X[:40]).support
    np.testing.assert_array_equal(kept(file, "--trusted", str(other)), expected)


def test_what_cannot_be_used_is_refused(frame, file, tmp_path):
    wrong = tmp_path / "wrong.csv"
    frame.assign(checked="perhaps").to_csv(wrong, index=False)
    other = tmp_path / "other.csv"
    frame[["p1", "p2"]].to_csv(other, index=False)
    for path, options, said in (
        (file, ["--contamination", "0.7"], "contamination must be"),
        (file, ["--trusted", "nobody"], "--trusted 'nobody'"),
        (wrong, ["--trusted", "checked"], "'perhaps'"),
        (file, ["--trusted", str(other)], "p0"),
        (
            file,
            ["--trusted", str(file), "--group-by", "checked"],
            "trusted rows are of one",
        ),
    ):
        done = invoke("fit", path, *options)
        assert done.exit_code == 2 and said in " ".join(done.stderr.split())


def test_the_detector_of_pyod_takes_both(frame):
    pytest.importorskip("pyod", reason='needs pip install "inlier[pyod]"')
    from inlier.pyod import RobustMeanDetector

    X = frame.filter(like="p").to_numpy()
    given = RobustMeanDetector(contamination=0.25).fit(X)
    assert given.labels_.sum() == round(0.25 * len(X)) and given.labels_[-60:].mean() > 0.9
    assert given.detector_.result_.message == robust_mean(X, contamination=0.25).message
    trusting = RobustMeanDetector().fit(X, trusted=np.arange(40))
    expected = robust_mean(X, trusted=np.arange(40)).support
    np.testing.assert_array_equal(trusting.labels_ == 0, expected)
