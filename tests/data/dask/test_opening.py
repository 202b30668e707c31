"""What Dask holds, opened or refused."""

import subprocess
import sys

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

from cases import cases
from dask_cases import UNEVEN, real_numbers
from inlier.data.dask import open_dask


@cases(
    ("data", "message"),
    [
        (da.zeros(5), r"shape \(5,\)"),
        (da.zeros((5, 2, 2)), r"shape \(5, 2, 2\)"),
        (da.zeros((1, 4)), "at least 2 rows, but has 1"),
        (da.zeros((4, 0)), "at least 1 column"),
        (da.zeros((5, 2), dtype=complex), "complex128"),
        (da.from_array(np.array([["a", 1]] * 5, dtype=object), chunks=2), "object"),
        (dd.from_pandas(pd.DataFrame({"x": [1.0, 2], "y": ["a", "b"]}), npartitions=1), "'y'"),
        (dd.from_pandas(pd.DataFrame({"x": [1.0, 2]}), npartitions=1)["x"], "Series"),
    ],
)
def test_what_is_not_a_table_of_numbers_is_refused(data, message):
    with pytest.raises(ValueError, match=rf"X .*{message}"):
        open_dask(data)


def test_a_number_that_is_none_is_found():
    columns = {"a": pd.array([1, None, 3], dtype="Int64"), "b": [1.0, 2.0, 3.0]}
    with pytest.raises(ValueError, match="row 1, column 0"):
        open_dask(dd.from_pandas(pd.DataFrame(columns), npartitions=1))
    for bad in (np.nan, np.inf):
        X = real_numbers()
        X[[280, 150], [1, 4]] = bad
        with pytest.raises(ValueError, match=r"Z contains NaN.*row 150, column 4"):
            open_dask(da.from_array(X, chunks=UNEVEN), name="Z")


def test_a_client_is_a_client():
    with pytest.raises(ValueError, match="client must be"):
        open_dask(da.zeros((5, 2)), client=8786)


def test_without_the_package_the_message_says_what_to_install():
    code = "import sys; sys.modules['dask'] = None; import inlier.data.dask"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert 'pip install "inlier[dask]"' in done.stderr
