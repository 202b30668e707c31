"""Files larger than memory: `inlier fit` and `robust_mean` within a limit on the process."""

import json
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from pyarrow import csv, parquet, table

import inlier
from inlier.data import Table
from inlier.io import read, write

# The data segment of a process that has imported everything is about 150 MB.
LIMIT = 420 << 20
SHAPE = (150_000, 60)
BOUNDED = """
    import resource, sys

    resource.setrlimit(resource.RLIMIT_DATA, ({limit}, {limit}))
    {code}
"""
FIT = "sys.argv[0] = 'inlier'; from inlier.cli import main; main()"
ROBUST_MEAN = """import json, inlier

    result = inlier.robust_mean(inlier.open_table(sys.argv[1], memory=2**26))
    fit = dict(is_kept=result.support.tolist(), mean=result.location.tolist())
    print(json.dumps(dict(fits=[fit])))
"""
LOADED = "from inlier.io import read; read(sys.argv[1])"


def bounded(code, *words):
    pytest.importorskip("resource")
    if sys.platform != "linux":
        pytest.skip("the limit holds on Linux only")
    program = textwrap.dedent(BOUNDED).format(limit=LIMIT, code=textwrap.dedent(code))
    threads = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program, *map(str, words)],
        capture_output=True,
        text=True,
        timeout=600,
        env={**os.environ, **threads},
    )


@pytest.fixture(scope="module")
def sample():
    rng = np.random.default_rng(0)
    X = rng.standard_normal(SHAPE).round(9)
    X[::10] += 2.0
    return X


@pytest.fixture(scope="module", params=[".csv", ".parquet"])
def large(request, sample, tmp_path_factory):
    """A table that takes more memory than the limit if it is loaded."""
    path = tmp_path_factory.mktemp("large") / f"table{request.param}"
    columns = table({f"c{j}": column for j, column in enumerate(sample.T)})
    (csv.write_csv if request.param == ".csv" else parquet.write_table)(columns, path)
    return path


def test_a_fit_keeps_to_its_memory(large, sample):
    loaded = bounded(LOADED, large)
    assert (loaded.returncode != 0 and "MemoryError" in loaded.stderr) or "realloc" in loaded.stderr
    expected = inlier.robust_mean(sample)
    assert not expected.support[::10].any()
    for code, words in (
        (FIT, ("fit", large, "--max-bytes", "64M", "--json", "-")),
        (ROBUST_MEAN, (large,)),
    ):
        done = bounded(code, *words)
        assert done.returncode == 0, done.stderr
        (fit,) = json.loads(done.stdout)["fits"]
        np.testing.assert_array_equal(fit["is_kept"], expected.support)
        np.testing.assert_allclose(fit["mean"], expected.location, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.parquet"])
def test_options_of_a_streamed_file(tmp_path, name):
    """Ids, groups, gaps and writing are those of a file that is loaded."""
    import pandas as pd

    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((500, 3)), columns=list("abc"))
    frame.insert(0, "id", [f"row {i}" for i in range(500)])
    frame["site"] = ["north", "south"] * 250
    frame.loc[[3, 77], "b"] = np.nan
    path = tmp_path / name
    (frame.to_parquet if name == "t.parquet" else frame.to_csv)(path, index=False)
    given = {"id_column": "id", "group_by": "site", "columns": ["c", "b"], "missing": "drop"}
    loaded, streamed = read(path, **given), read(path, max_bytes=1000, **given)
    assert isinstance(streamed.X, Table) and isinstance(loaded.X, np.ndarray)
    assert streamed.columns == loaded.columns and streamed.notes == loaded.notes
    for field in ("rows", "names", "groups"):
        np.testing.assert_array_equal(getattr(streamed, field), getattr(loaded, field))
    np.testing.assert_array_equal(streamed.head(600), loaded.X)
    south = np.flatnonzero(loaded.groups == "south")
    part = streamed.take(south)
    np.testing.assert_array_equal(part.some(np.arange(len(south))), loaded.X[south])
    kept = rng.random(len(loaded.rows)) < 0.5
    for target in ("out.csv", "out.tsv", "out.parquet", "out.feather"):
        write(loaded, kept, tmp_path / f"loaded-{target}")
        write(streamed, kept, tmp_path / target)
        again = [read(tmp_path / f"{which}{target}", missing="auto") for which in ("loaded-", "")]
        np.testing.assert_array_equal(again[0].X, again[1].X)
        assert again[0].columns == again[1].columns == ("a", "b", "c")
    for missing in ("auto", "impute-robust"):
        with pytest.raises(ValueError, match=rf"with missing='{missing}' .* Use missing='drop'"):
            read(path, max_bytes=1000, missing=missing)
