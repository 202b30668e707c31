"""Fits in processes of their own: time limits, crashes, interruptions."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from contestants import MODEL, Crash, Fail, Hang, Mean, without_seconds
from inlier.research import compare


@pytest.mark.slow
def test_a_fit_that_takes_too_long_is_stopped():
    found = compare(MODEL, {"hang": Hang(), "mean": Mean()}, trials=1, timeout=0.5)
    hang, mean = found.records.itertuples()
    assert (hang.status, mean.status) == ("timeout", "ok")
    assert hang.seconds == 0.5 and hang.message == "stopped after 0.5 seconds"


@pytest.mark.slow
def test_faults_are_recorded_and_not_stored(tmp_path):
    store = tmp_path / "fits"
    methods = {"hang": Hang(), "crash": Crash(), "fail": Fail(), "mean": Mean()}
    found = compare(MODEL, methods, trials=1, timeout=0.5, n_jobs=2, store=store)
    assert list(found.records["status"]) == ["timeout", "failed", "failed", "ok"]
    _, crash, fail, _ = found.records.itertuples()
    assert "exit code 3" in crash.message and "no such luck" in fail.message
    again = compare(MODEL, methods, trials=1, timeout=0.5, n_jobs=2, store=store)
    assert without_seconds(again) == without_seconds(found)
    assert again.records["seconds"][3] == found.records["seconds"][3]
    assert len(list(store.rglob("output.pkl"))) == 1


def test_what_cannot_be_sent():
    method = Mean(log=(i for i in range(3)))
    with pytest.raises(ValueError, match="cannot be sent to another process"):
        compare(MODEL, {"generator": method}, trials=1)


# No main guard: workers must not run the script again.
SCRIPT = """
import os, inlier
class Quick:
    def fit(self, X): self.location_ = X.mean(axis=0)
class Spin:
    def fit(self, X):
        with open("pid", "w") as file: file.write(str(os.getpid()))
        while True: pass
print("once", flush=True)
model = inlier.research.datasets.SettingB(n=60, d=5, alpha=0.2)
inlier.research.compare(model, [Quick(), Spin()], trials=1, timeout=1000.0, store="fits")
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="sends signals, looks at /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_workers_end_with_their_parent(tmp_path, number):
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        pid = tmp_path / "pid"
        deadline = time.monotonic() + 60.0
        while not (pid.exists() and pid.read_text()) and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(number)
        out, err = process.communicate(timeout=120)
    assert out == b"once\n"
    assert number == signal.SIGKILL or b"KeyboardInterrupt" in err
    deadline = time.monotonic() + 20.0
    while os.path.exists(f"/proc/{pid.read_text()}") and time.monotonic() < deadline:
        time.sleep(0.2)
    assert not os.path.exists(f"/proc/{pid.read_text()}")
    # What was done is in the store.
    assert len(list((tmp_path / "fits").rglob("output.pkl"))) == 1
