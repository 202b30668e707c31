"""Kept rows are written unchanged, but for cells that are left empty."""

import os

import numpy as np
import pandas as pd
import pytest

from cases import cases
from file_writers import GENES, text
from inlier.io import check_target, read, write


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("out.h5", r"^path=.* ends in '.h5', which cannot be written. Choose one of .csv"),
        ("out", r"ends in ''"),
        ("out.parquet.gz", r"only text is compressed by gzip"),
        ("out.npy", r"numbers only, but .* has other columns too: 'id', 'gene_name'"),
        ("none/out.csv", r"there is no folder"),
        ("", r"is a folder"),
    ],
)
def test_targets_that_cannot_be_written(tmp_path, name, message):
    frame = read(text(tmp_path, GENES))
    for call in (
        lambda: check_target(frame, tmp_path / name),
        lambda: write(frame, np.ones(2, bool), tmp_path / name),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    assert os.listdir(tmp_path) == ["table.csv"]


def test_kept_is_a_mask(tmp_path):
    frame = read(text(tmp_path, GENES))
    for kept in (np.ones(3, bool), np.ones(2), np.ones((2, 1), bool)):
        with pytest.raises(ValueError, match=r"^kept must be a mask of 2 rows, but has shape"):
            write(frame, kept, tmp_path / "out.csv")


@pytest.mark.parametrize("target", ["out.csv", "out.parquet", "out.tsv"])
@pytest.mark.parametrize("changed", [GENES + "w,7,8,z,9\n", GENES.replace("1,2", "7,8")])
def test_a_file_that_has_changed_is_not_written(tmp_path, target, changed):
    path = text(tmp_path, GENES)
    frame = read(path)
    path.write_text(changed)
    os.utime(path, ns=(1, 1))
    with pytest.raises(ValueError, match=r"table.csv' has changed since it was read"):
        write(frame, np.ones(2, bool), tmp_path / target)
    assert os.listdir(tmp_path) == ["table.csv"]


def numbers_of(path):
    if path.suffix == ".npy":
        return np.load(path)
    if path.suffix == ".parquet":
        return pd.read_parquet(path).to_numpy()
    return pd.read_csv(path, sep={".tsv": "\t", ".txt": " "}.get(path.suffix, ",")).to_numpy()


@cases("target", ["out.csv", "out.tsv", "out.parquet", "out.npy", "out.txt"])
@cases("source", ["in.csv", "in.parquet", "in.npy", "in.txt"])
@cases("dtype", [float, int])
def test_cells_that_are_left_empty(tmp_path, dtype, source, target):
    X = np.arange(60).reshape(20, 3).astype(dtype)
    frame = pd.DataFrame(X, columns=list("abc"))
    path = tmp_path / source
    if path.suffix == ".npy":
        np.save(path, X)
    elif path.suffix == ".parquet":
        pa = pytest.importorskip("pyarrow")
        fields = [pa.field(name, pa.from_numpy_dtype(X.dtype), nullable=False) for name in "abc"]
        table = pa.Table.from_pandas(frame, pa.schema(fields, {"made": "by hand"}))
        pytest.importorskip("pyarrow.parquet").write_table(table, path)
    else:
        frame.to_csv(path, sep=" " if path.suffix == ".txt" else ",", index=False)
    if target == "out.txt" and source != "in.txt":
        return
    kept = np.arange(20) % 3 > 0
    read_in = read(path, columns=None if source == "in.npy" else ["b", "c"])
    first = 0 if source == "in.npy" else 1
    empty = np.array([[4, 1], [6, 0], [19, 0], [19, 1]])
    write(read_in, kept, tmp_path / target, empty)
    expected = X.astype(float)
    expected[empty[:, 0], empty[:, 1] + first] = np.nan
    np.testing.assert_array_equal(numbers_of(tmp_path / target), expected[kept])
    if (source, target) == ("in.parquet", "out.parquet"):
        schema = pytest.importorskip("pyarrow.parquet").read_schema(tmp_path / target)
        assert schema.metadata[b"made"] == b"by hand" and schema.types == table.schema.types


def test_a_record_with_an_empty_cell_keeps_its_text(tmp_path):
    path = tmp_path / "in.csv"
    lines = ['name;x;"y"', '"a;1";1;2', '"é ""b""";3;4', "c;5;6"]
    path.write_bytes("\r\n".join(lines).encode("latin-1"))
    write(read(path), np.ones(3, bool), tmp_path / "out.csv", np.array([[1, 0], [2, 1]]))
    lines = ["name;x;y", '"a;1";1;2', '"é ""b""";;4', "c;5;"]
    assert (tmp_path / "out.csv").read_text("utf-8").splitlines() == lines


def test_arrow_files_of_polars(tmp_path):
    pl = pytest.importorskip("polars")
    path = tmp_path / "pl.arrow"
    pl.DataFrame({"x": [1.0, 2.0, 3.0], "name": ["a", "b", "c"]}).write_ipc(path)
    frame = read(path)
    write(frame, np.array([True, False, True]), tmp_path / "out.parquet")
    assert pl.read_parquet(tmp_path / "out.parquet")["name"].to_list() == ["a", "c"]
