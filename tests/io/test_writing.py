"""Kept rows are written unchanged."""

import os

import numpy as np
import pytest

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


def test_arrow_files_of_polars(tmp_path):
    pl = pytest.importorskip("polars")
    path = tmp_path / "pl.arrow"
    pl.DataFrame({"x": [1.0, 2.0, 3.0], "name": ["a", "b", "c"]}).write_ipc(path)
    frame = read(path)
    write(frame, np.array([True, False, True]), tmp_path / "out.parquet")
    assert pl.read_parquet(tmp_path / "out.parquet")["name"].to_list() == ["a", "c"]
