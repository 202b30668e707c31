"""Fits and what is measured of them; in processes of their own, faults, time limits and ends."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from contestants import (
    MODEL,
    Crash,
    Exits,
    Fail,
    Hang,
    Mean,
    Odd,
    Warns,
    Writes,
    WritesSparse,
    Wrong,
)
from inlier.research import compare
from inlier.research.datasets import Sample


def test_zero_is_rounding_of_the_rows_wherever_they_lie():
    sample = MODEL.sample(0)
    for shift in (0.0, 1e6):
        moved = Sample(sample.X + shift, sample.is_outlier)
        methods = {"near": Mean(shift=1e-6), "exact": "inlier-sigma"}
        clean = Sample(moved.X[~sample.is_outlier], np.zeros(48, dtype=bool))
        near, exact = compare(clean, methods, timeout=None).records
        assert near.error == pytest.approx(1e-6 * np.sqrt(5.0), rel=1e-2)
        assert exact.error == 0.0


@pytest.mark.parametrize("timeout", [None, 20.0])
def test_nobody_can_change_the_rows_of_the_next_method(timeout):
    X = MODEL.sample(0).X
    before = X.copy()
    comparison = compare(X, {"writes": Writes(), "mean": Mean()}, timeout=timeout)
    writes, mean = comparison.records
    assert writes.status == "failed" and "read-only" in writes.message
    assert np.array_equal(X, before)
    np.testing.assert_allclose(mean.location, before.mean(axis=0))


def test_nobody_can_change_a_sparse_table():
    X = sparse.csr_array(MODEL.sample(0).X)
    before = X.toarray()
    compare(X, {"writes": WritesSparse(), "mean": "mean"}, timeout=None)
    assert np.array_equal(X.toarray(), before)


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


def test_a_fit_that_exits_has_failed():
    comparison = compare(MODEL.sample(0), {"exits": Exits(), "m": Mean()}, timeout=None)
    assert [r.status for r in comparison.records] == ["failed", "ok"]


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
model = inlier.research.datasets.SettingB(n=60, d=5, alpha=0.2)
done = inlier.research.compare(model, [Quick()], trials=2)
print(*(record.status for record in done.records), flush=True)
inlier.research.compare(model, [Quick(), Hang()], trials=1, store="fits.db")
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
    out, err = process.communicate(timeout=120)
    assert out.split() == ["once", "ok", "ok"], err
    assert "KeyboardInterrupt" in err
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)
    file = sqlite3.connect(tmp_path / "fits.db")
    assert file.execute("SELECT method, status FROM fits").fetchall() == [("Quick", "ok")]
    file.close()


def test_what_cannot_be_sent():
    method = Mean(log=(i for i in range(3)))
    with pytest.raises(ValueError, match="cannot be sent to another process"):
        compare(MODEL, {"generator": method}, trials=1)


# -- methods and files that misbehave -------------------------------------------------------------


ORPHANS = """
import inlier
class Spin:
    def fit(self, X):
        while True:
            pass
model = inlier.research.datasets.SettingB(n=20, d=3, alpha=0.1)
inlier.research.compare(model, [Spin()], trials=1, timeout=1000.0, progress=True)
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
