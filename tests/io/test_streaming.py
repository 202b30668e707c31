"""Large files: `inlier fit` and `robust_mean` within a limit on the memory of the process."""

import gzip
import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from pyarrow import csv, parquet, table

import inlier
from inlier.data import Table
from inlier.io import read, write

# Of the peak resident memory, of which about 150 MB are imported packages.
LIMIT = 310 << 10  # kB
SHAPE = (30_000, 150)
PEAK = """
import atexit, sys

def peak():
    status = open("/proc/self/status").read()
    print(status.split("VmHWM:")[1].split()[0], file=sys.stderr)

atexit.register(peak)
"""
FIT = "from inlier.cli import main; main()"
ROBUST_MEAN = """
import json, inlier

result = inlier.robust_mean(inlier.open_table(sys.argv[1], memory=2**25), sigma=1.2)
fit = dict(is_kept=result.support.tolist(), mean=result.location.tolist())
print(json.dumps(dict(fits=[fit])))
"""


READ = """
from inlier.cli.fitting import row_names
from inlier.io import read

frame = read(sys.argv[1], max_bytes=10**7)
names = row_names(frame)
print(frame.X.shape[0], names[0], names[len(names) - 1])
"""


def process(code, *words):
    """A program that has ended, and its peak memory."""
    if sys.platform != "linux":
        pytest.skip("this system does not tell the peak memory of a process")
    threads = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PEAK + code, *map(str, words)],
        capture_output=True,
        text=True,
        timeout=600,
        env={**os.environ, **threads},
    )
    return done, int(done.stderr.split()[-1])


def run(code, *words):
    """The result of a fit, and the peak memory of its program."""
    done, peak = process(code, *words)
    assert done.returncode == 0, done.stderr
    (fit,) = json.loads(done.stdout)["fits"]
    return fit, peak


@pytest.fixture(scope="module")
def sample():
    X = np.random.default_rng(0).standard_normal(SHAPE).round(9)
    X[::10] += 2.0
    expected = inlier.robust_mean(X, sigma=1.2)
    assert not expected.support[::10].any()
    return X, expected


# Both formats, and both ways to a fit.
@pytest.mark.parametrize(("suffix", "by_command"), [(".csv", True), (".parquet", False)])
def test_a_fit_keeps_to_its_memory(sample, tmp_path, suffix, by_command):
    path = tmp_path / f"table{suffix}"
    X, expected = sample
    columns = table({f"c{j}": column for j, column in enumerate(X.T)})
    if suffix == ".csv":
        csv.write_csv(columns, path)
    else:
        parquet.write_table(columns, path, row_group_size=10_000)
    words = ("fit", path, "--sigma", "1.2", "--json", "-", "--max-bytes")
    fit, peak = run(FIT, *words, "32M") if by_command else run(ROBUST_MEAN, path)
    assert peak < LIMIT
    np.testing.assert_array_equal(fit["is_kept"], expected.support)
    np.testing.assert_allclose(fit["mean"], expected.location, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.parquet"])
def test_options_of_a_streamed_file(tmp_path, name):
    """Ids, groups, gaps and writing are those of a file that is loaded."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((500, 3)), columns=list("abc"))
    frame.insert(0, "id", [f"row {i}" for i in range(500)])
    frame["site"] = ["north", "south"] * 250
    frame.loc[[3, 77], "b"] = np.nan
    frame["w"] = rng.uniform(size=500)
    path = tmp_path / name
    (frame.to_parquet if name == "t.parquet" else frame.to_csv)(path, index=False)
    given = {"id_column": "id", "group_by": "site", "columns": ["c", "b"], "missing": "drop"}
    given["weights"] = "w"
    loaded, streamed = read(path, **given), read(path, max_bytes=1000, **given)
    assert isinstance(streamed.X, Table) and isinstance(loaded.X, np.ndarray)
    assert streamed.columns == loaded.columns and streamed.notes == loaded.notes
    for field in ("rows", "names", "groups", "weights"):
        np.testing.assert_array_equal(getattr(streamed, field), getattr(loaded, field))
    np.testing.assert_array_equal(loaded.weights, frame["w"].drop([3, 77]))
    np.testing.assert_array_equal(streamed.X.fetch(np.arange(498)), loaded.X)
    south = loaded.groups == "south"
    part = streamed.X.take(south)
    np.testing.assert_array_equal(part.fetch(np.arange(south.sum())), loaded.X[south])
    kept = rng.random(len(loaded.rows)) < 0.5
    for target in ("out.csv", "out.tsv", "out.parquet", "out.feather"):
        write(loaded, kept, tmp_path / f"loaded-{target}")
        write(streamed, kept, tmp_path / target)
        again = [read(tmp_path / f"{which}{target}", missing="auto") for which in ("loaded-", "")]
        np.testing.assert_array_equal(again[0].X, again[1].X)
        assert again[0].columns == again[1].columns == ("a", "b", "c", "w")
    for missing in ("auto", "impute-robust"):
        with pytest.raises(ValueError, match=rf"with missing='{missing}' .* Use missing='drop'"):
            read(path, max_bytes=1000, missing=missing)


@pytest.mark.parametrize(
    ("first", "rest"), [(b"", b"1," * 500_000), (b'a,b\n1,"', b"1,2\n" * 250_000)]
)
def test_a_record_that_does_not_fit_is_refused(tmp_path, first, rest):
    """A line without an end, and a quote that is not closed, in a small compressed file."""
    path = tmp_path / "t.csv.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(first)
        for _ in range(60):
            file.write(rest)
    done, peak = process(FIT, "fit", path, "--max-bytes", "10M")
    assert done.returncode == 2 and "a record of more than 1,048,576 bytes" in done.stderr
    assert peak < 180 << 10


def test_many_columns_that_do_not_fit_are_refused(tmp_path):
    (tmp_path / "t.csv").write_text((",".join(["1"] * 50_000) + "\n") * 3)
    with pytest.raises(ValueError, match="Raise the limit, max_bytes=10000000"):
        read(tmp_path / "t.csv", max_bytes=10**7)
    assert read(tmp_path / "t.csv").X.shape == (3, 50_000)


def test_short_rows_take_few_bytes_each(tmp_path):
    peaks = []
    for n in (10_000, 2_000_000):
        with gzip.open(tmp_path / "t.csv.gz", "wb", compresslevel=1) as file:
            file.write(b"1\n2\n" * (n // 2))
        done, peak = process(READ, tmp_path / "t.csv.gz")
        assert done.stdout.split() == [str(n), "row", "1", "row", str(n)]
        peaks.append(peak)
    assert (peaks[1] - peaks[0]) << 10 < 10**7 + 64 * 2_000_000
