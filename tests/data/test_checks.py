"""Each kind of data is opened by the table that knows it, named, and checked."""

from datetime import time

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

from cases import cases
from clear_samples import NO_TABLES
from inlier import RobustMean, robust_mean
from inlier.data import as_table, open_table
from inlier.data.arrays import DenseTable
from inlier.data.checks import is_external, named_table
from inlier.data.files import FileTable
from inlier.data.sparse import SparseTable
from inlier.research.baselines import CoordinateMedian

X = np.arange(12.0).reshape(4, 3)


def test_every_kind_has_its_table(tmp_path):
    np.save(tmp_path / "t.npy", X)
    mapped = np.load(tmp_path / "t.npy", mmap_mode="r")
    for data, kind in (
        (X, DenseTable),
        (sp.csr_array(X), SparseTable),
        (tmp_path / "t.npy", FileTable),
        (str(tmp_path / "t.npy"), FileTable),
        (mapped, FileTable),
    ):
        table = as_table(data)
        assert type(table) is kind and table.shape == (4, 3)
        assert is_external(data) is (kind is FileTable)
        np.testing.assert_array_equal(table.fetch(np.array([2, 0])), X[[2, 0]])


def test_what_is_in_memory_is_not_opened():
    for data in (X, X.tolist(), pd.DataFrame(X), sp.csr_array(X)):
        with pytest.raises(ValueError, match=r"^data is a \w+, which is in memory already"):
            open_table(data, name="data")


def named(data, **names):
    return named_table(as_table(X), data, **names)


def test_where_names_come_from():
    found = named(X)
    assert found.columns is None and found.names is None and found.shape == (4, 3)
    frame = pd.DataFrame(X, columns=["a", 2, "c"], index=["p", "q", "r", "s"])
    found = named(frame)
    assert found.columns == ("a", "2", "c") and found.names.tolist() == ["p", "q", "r", "s"]
    assert named(pd.DataFrame(X)).names is None  # an index that counts names no row
    polars = named(pl.DataFrame(X, schema=["a", "b", "c"]))
    assert polars.columns == ("a", "b", "c") and polars.names is None
    assert named(pa.table(dict(zip("abc", X.T, strict=True)))).columns == ("a", "b", "c")
    found = named(frame, columns=list("xyz"), names=[1, 2, 3, 4])
    assert found.columns == ("x", "y", "z") and found.names.tolist() == ["1", "2", "3", "4"]


def test_names_of_another_number_are_refused():
    with pytest.raises(ValueError, match=r"^columns must have a name for each of the 3 columns"):
        named(X, columns=["a"])
    with pytest.raises(ValueError, match=r"^names must have a name for each of the 4 rows.*has 2"):
        named(X, names=["a", "b"])


DAYS = pd.date_range("2020-01-01", periods=4)
AGES = DAYS - DAYS[0]
TIMES = {
    "datetime64[ns]": DAYS.astype("datetime64[ns]"),
    "datetime64[us]": DAYS.astype("datetime64[us]"),
    "with a time zone": DAYS.tz_localize("UTC"),
    "timedelta64[ns]": AGES.astype("timedelta64[ns]"),
    "periods": DAYS.to_period("D"),
    "categories": pd.Categorical(DAYS),
    "dates of Python": DAYS.date,
    "times of Python": np.array([time(hour) for hour in range(4)], object),
    "durations of numpy": np.array([np.timedelta64(i, "s") for i in range(4)], object),
    "Arrow timestamp": pd.Series(DAYS).astype("timestamp[us][pyarrow]"),
    "Arrow duration": pd.Series(AGES).astype("duration[us][pyarrow]"),
    "Arrow date32": pd.Series(DAYS).astype("date32[pyarrow]"),
}


FITS = [robust_mean, RobustMean().fit, CoordinateMedian().fit]


@cases("fit", FITS)
@cases("kind", TIMES)
def test_times_in_pandas_are_no_numbers(kind, fit):
    """One column of microseconds since 1970 would drown all others."""
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0, 5.0], "when": TIMES[kind]})
    for table in (frame, frame[["when"]]):
        with pytest.raises(ValueError, match=r"^X must .*other types: 'when'.*select_dtypes"):
            fit(table)
    advised = frame.select_dtypes("number", exclude="timedelta")  # as the message has it
    assert list(advised.columns) == ["x"]


@pytest.mark.parametrize("fit", FITS)
def test_times_in_arrays_are_no_numbers(fit, tmp_path):
    for column in (DAYS.to_numpy(), AGES.to_numpy()):
        array = np.stack([column, column], axis=1)
        np.save(tmp_path / "times.npy", array)
        for X in (array, array.astype("M8[s]" if array.dtype.kind == "M" else "m8[s]")):
            with pytest.raises(ValueError, match=r"^X must hold real numbers, but has dtype"):
                fit(X)
        with pytest.raises(ValueError, match=r"must hold real numbers, but has dtype"):
            fit(np.load(tmp_path / "times.npy", mmap_mode="r"))
        pairs = [[1.0, entry] for entry in column]
        objects = np.array(pairs, object)
        for X in (pairs, objects):
            with pytest.raises(ValueError, match=r"^X must hold .* dates or times in column 1"):
                fit(X)


@cases("fit", FITS)
@cases("kind", [pa.timestamp("us"), pa.timestamp("ns", "UTC"), pa.date32(), pa.date64(),
                pa.time32("s"), pa.time64("us"), pa.duration("us"), pa.string()])  # fmt: skip
def test_times_and_text_in_arrow_are_no_numbers(kind, fit, tmp_path):
    small = kind in (pa.date32(), pa.time32("s"))
    when = pa.array([0, 86_400_000] if not small else [0, 1], pa.int32() if small else pa.int64())
    table = pa.table({"x": [1.0, 2.0], "when": when.cast(kind)})
    pq.write_table(table, tmp_path / "times.parquet")
    for X in (table, tmp_path / "times.parquet"):
        with pytest.raises(ValueError, match=r"real numbers, but .*column 'when' .*Select"):
            fit(X)


def test_truth_values_and_nullable_columns_are_numbers():
    plain = np.array([[1.0, 1, 0], [2.0, 0, 1], [3.0, 1, 2], [5.0, 0, 3]])
    columns = {"x": plain[:, 0], "flag": plain[:, 1].astype(bool), "n": np.arange(4)}
    kinds = (
        {},
        {"flag": "boolean", "n": "Int64"},
        {"flag": "bool[pyarrow]", "n": "int64[pyarrow]"},
        {"n": "category"},
    )
    for frame in (*(pd.DataFrame(columns).astype(kind) for kind in kinds), pl.DataFrame(columns)):
        found, expected = robust_mean(frame).location, robust_mean(plain).location
        np.testing.assert_array_equal(np.ravel(found), expected)
        model = RobustMean().fit(frame)
        np.testing.assert_array_equal(model.location_, robust_mean(plain).location)


ONE_COLUMN = ("one dimension", "a series", "a list")


@cases("name", [name for name in NO_TABLES if name not in ONE_COLUMN])
def test_what_is_no_table_is_refused(name):
    with pytest.raises(ValueError, match=r"\bX\b"):
        robust_mean(NO_TABLES[name], sigma=1.0, missing="error")


@pytest.mark.parametrize(
    ("X", "said"),
    [
        (None, r"is of type NoneType. Pass an array"),
        ({"a": [1, 2]}, r"is of type dict. Pass pandas.DataFrame\(X\)"),
        (iter([[1, 2]]), r"Pass list\(X\)"),
        ([[1, 2], [3]], "row 0 has 2 cells, and row 1 has 1"),
        ([[1, 2]], "but has 1 row and 2 columns"),
        (pd.DataFrame({"a": ["1", "2"], "b": [3, 4]}), "columns of other types: 'a'"),
        (pl.DataFrame({"a": ["1.234", "2"], "b": [3, 4]}), "columns of other types: 'a'"),
    ],
)
def test_what_is_no_table_is_named(X, said):
    with pytest.raises(ValueError, match=said):
        robust_mean(X)


def test_a_column_of_text_is_refused_with_an_example(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\nx,1\ny,2\n")
    with pytest.raises(ValueError, match=r"'a' does not: it holds text such as 'x'\. Select"):
        open_table(tmp_path / "t.csv")


def test_a_file_of_another_shape_is_named(tmp_path):
    np.save(tmp_path / "cube.npy", np.zeros((2, 3, 4)))
    with pytest.raises(ValueError, match=r"cube\.npy' must be a table .* has shape \(2, 3, 4\)"):
        open_table(tmp_path / "cube.npy")
