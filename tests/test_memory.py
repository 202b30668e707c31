"""The memory of a fit, measured on the process: what it takes beside the data."""

import subprocess
import sys
from pathlib import Path

import pytest

from cases import cases

if not Path("/proc/self/clear_refs").exists():
    pytest.skip("the peak of a process is read from /proc", allow_module_level=True)

CODE = """
import sys
import numpy as np
from inlier import robust_mean

n, d, dtype, how = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
rng = np.random.default_rng(0)
options = {"sigma": 3.0} if how == "sigma" else {}
robust_mean(rng.standard_normal((200, 3)), **options)  # imports
X = rng.standard_normal((n, d), dtype=dtype)
if how == "bad":
    X[: n // 10] += 20.0


def kilobytes(field):
    with open("/proc/self/status") as status:
        return int(status.read().split(field + ":")[1].split()[0])


with open("/proc/self/clear_refs", "w") as peak:
    peak.write("5")
before = kilobytes("VmRSS")
result = robust_mean(X, **options)
assert result.support.sum() == n - (n // 10 if how == "bad" else 0)
print((kilobytes("VmHWM") - before) * 1024 / n)
"""


def bytes_per_row(n: int, d: int, dtype: str, how: str) -> float:
    command = [sys.executable, "-c", CODE, str(n), str(d), dtype, how]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    return float(done.stdout)


# A vector takes 8 bytes a row; projections onto all of up to 8 directions as many times as many.
@cases(
    ("n", "d", "dtype", "how", "most"),
    [
        (2_000_000, 1, "float64", "nothing", 90),
        (2_000_000, 1, "float64", "sigma", 86),
        (2_000_000, 1, "float64", "bad", 115),
        (1_000_000, 5, "float32", "nothing", 140),
        (200_000, 50, "float64", "nothing", 560),
    ],
)
def test_a_fit_takes_a_few_vectors_beside_the_data(n, d, dtype, how, most):
    assert bytes_per_row(n, d, dtype, how) <= most
