"""The memory of a fit, measured on the process: what it takes beside the data."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from cases import cases

if not Path("/proc/self/clear_refs").exists():
    pytest.skip("the peak of a process is read from /proc", allow_module_level=True)

START = """
import sys
import numpy as np
from inlier import open_table, robust_mean


def kilobytes(field):
    with open("/proc/self/status") as status:
        return int(status.read().split(field + ":")[1].split()[0])


n, d, dtype, how = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
rng = np.random.default_rng(0)
options = {"sigma": 3.0} if how == "sigma" else {}
robust_mean(rng.standard_normal((200, 3)), **options)  # imports
"""

# What is resident: the pages of the array are before the fit.
ARRAY = """
X = rng.standard_normal((n, d), dtype=dtype)
if how == "bad":
    X[: n // 10] += 20.0
with open("/proc/self/clear_refs", "w") as peak:
    peak.write("5")
before = kilobytes("VmRSS")
result = robust_mean(X, **options)
assert result.support.sum() == n - (n // 10 if how == "bad" else 0)
print((kilobytes("VmHWM") - before) * 1024)
"""

# What is anonymous: the pages of a memory map belong to the file.
FILE = """
import threading

X = open_table(sys.argv[5], memory=int(sys.argv[6]))
before, seen, done = kilobytes("RssAnon"), [], threading.Event()


def watch():
    while not done.wait(0.001):
        seen.append(kilobytes("RssAnon"))


watcher = threading.Thread(target=watch)
watcher.start()
try:
    result = robust_mean(X, **options)
finally:
    done.set()
    watcher.join()
assert result.support.all()
print((max(seen) - before) * 1024)
"""


def peak_of(code: str, *arguments: object) -> float:
    command = [sys.executable, "-c", START + code, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    return float(done.stdout)


# A vector takes 8 bytes a row, and a search holds four of them, and the order of the rows. Beside
# them it has a sample of a million cells in several forms.
@cases(
    ("n", "d", "dtype", "how", "most"),
    [
        (2_000_000, 1, "float64", "nothing", 50),
        (2_000_000, 1, "float64", "sigma", 76),
        (2_000_000, 1, "float64", "bad", 72),
        (1_000_000, 5, "float32", "nothing", 70),
        (200_000, 50, "float64", "nothing", 300),
    ],
)
def test_a_fit_takes_a_few_vectors_beside_the_data(n, d, dtype, how, most):
    assert peak_of(ARRAY, n, d, dtype, how) / n <= most


@pytest.mark.slow
@cases(("n", "d"), [(2_000_000, 5), (1_000_000, 20)])
def test_a_fit_takes_three_times_the_memory_of_the_data(n, d):
    assert peak_of(ARRAY, n, d, "float64", "nothing") <= 2.0 * 8.0 * n * d


@pytest.mark.slow
@cases(("how", "most"), [("nothing", 64), ("sigma", 112)])
def test_a_fit_takes_few_bytes_a_row_beside_the_blocks_of_a_file(how, most, tmp_path):
    n, d, memory = 1_500_000, 20, 1 << 26
    path = tmp_path / "rows.npy"
    rows = np.lib.format.open_memmap(path, "w+", np.float64, (n, d))
    rng = np.random.default_rng(0)
    for start in range(0, n, 100_000):
        rows[start : start + 100_000] = rng.standard_normal((100_000, d))
    del rows
    assert (peak_of(FILE, n, d, "float64", how, path, memory) - memory) / n <= most
