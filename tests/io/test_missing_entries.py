"""Entries that are missing or not finite."""

import re

import numpy as np
import pytest

from cases import cases
from file_writers import WRITERS, X, numbers_of, text
from inlier.io import read, write

GAPS = "a,b,c\n1,2,3\n,5,6\n7,NA,inf\n10,11,12\n13,null,15\n"


def test_missing_values_are_an_error(tmp_path):
    with pytest.raises(ValueError) as caught:
        read(text(tmp_path, GAPS))
    assert (
        "4 entries are missing or not finite, in 3 of 5 rows and 3 of 3 columns: row 2, column "
        "'a'; row 3, column 'b'; row 3, column 'c'; row 5, column 'b'. Use missing='auto'"
    ) in str(caught.value)
    assert "missing='drop'" in str(caught.value)
    assert "missing='impute-robust'" in str(caught.value)


@pytest.mark.parametrize(
    ("content", "missing", "said"),
    [
        ("a,b\n1,2\n,3\n4,inf\n5,6\n", "auto", "row 3, column 'b' is infinite. Use missing='drop'"),
        ("a,b\n1,\n3,4\n,6\n", "drop", "at least 2 rows without missing values, but has 1"),
        ("a,b\n,\n,NA\n,\n", "drop", "no column of numbers to use"),
        ("a,b\n,\n,NA\n,\n", "impute-robust", "no column of numbers to use"),
        ("a,b,c\n1,,3\n4,,\n5,,7\n", "error", "Nothing is in 'b': exclude it"),
    ],
)
def test_what_cannot_be_fitted_is_refused(tmp_path, content, missing, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        read(text(tmp_path, content), missing=missing)


def test_missing_values_stay(tmp_path):
    content = "a,b,c\n1,,\n,,\n3,4,\n5,nan,\n"
    frame = read(text(tmp_path, content), missing="auto")
    np.testing.assert_array_equal(numbers_of(frame), [[1, np.nan], [3, 4], [5, np.nan]])
    assert frame.columns == ("a", "b")
    assert frame.rows.tolist() == [0, 2, 3]
    assert (frame.n_read, frame.n_dropped, frame.n_imputed) == (4, 1, 0)
    assert frame.notes[-3:] == (
        "Left out, because no entry is a finite number: 'c'.",
        "1 of 4 rows was dropped, because it has no entry.",
        "2 entries are missing, in 2 of 3 rows. Each row is judged by the entries that it has.",
    )


def test_rows_with_missing_values_are_dropped(tmp_path):
    frame = read(text(tmp_path, GAPS), missing="drop", id_column="a")
    np.testing.assert_array_equal(numbers_of(frame), [[2, 3], [5, 6], [11, 12]])
    assert frame.rows.tolist() == [0, 1, 3]
    assert frame.names.tolist() == ["1", "", "10"]
    assert (frame.n_read, frame.n_dropped, frame.n_imputed) == (5, 2, 0)
    assert "2 of 5 rows were dropped" in frame.notes[-1]
    write(frame, np.array([True, False, True]), tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == "a,b,c\n1,2,3\n10,11,12\n"


def test_missing_values_become_medians(tmp_path):
    frame = read(text(tmp_path, GAPS), missing="impute-robust")
    np.testing.assert_array_equal(
        numbers_of(frame), [[1, 2, 3], [8.5, 5, 6], [7, 5, 9], [10, 11, 12], [13, 5, 15]]
    )
    assert (frame.n_read, frame.n_dropped, frame.n_imputed) == (5, 0, 4)
    assert "4 entries in 3 rows" in frame.notes[-1]
    write(frame, np.ones(5, bool), tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == GAPS, "what was imputed is not written"


@cases("name", ["t.npy", "t.h5", "t.parquet"])
@cases("dtype", [np.float32, np.float64])
def test_missing_values_of_arrays(tmp_path, name, dtype):
    holes = X.astype(dtype)
    holes[2, 1] = holes[5, 0] = np.nan
    WRITERS[name](tmp_path / name, holes)
    frame = read(tmp_path / name, missing="drop")
    assert frame.X.dtype == dtype
    np.testing.assert_array_equal(numbers_of(frame), np.delete(holes, [2, 5], axis=0))
