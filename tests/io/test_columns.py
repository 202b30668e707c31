"""Which columns of a file are used."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from file_writers import GENES, KEPT, mixed, numbers_of, text
from inlier.io import check_target, read, write


@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
def test_types(tmp_path, suffix):
    table = mixed()
    (table.to_parquet if suffix == ".parquet" else table.to_feather)(tmp_path / f"t{suffix}")
    frame = read(tmp_path / f"t{suffix}", id_column="id")
    assert frame.columns == ("height", "n", "single", "flag")
    assert frame.X.dtype == np.float64
    np.testing.assert_array_equal(numbers_of(frame), table[list(frame.columns)].to_numpy(float))
    assert frame.names.tolist() == list("abcdefg")
    assert frame.notes == ("Column 'when' was left out: it holds dates or times.",)
    single = read(tmp_path / f"t{suffix}", columns=["single"]).X
    assert single.dtype == np.float32
    write(frame, KEPT, tmp_path / "out.parquet")
    original = (parquet.read_table if suffix == ".parquet" else feather.read_table)(
        tmp_path / f"t{suffix}"
    )
    kept = original.filter(pa.array(KEPT))
    for out, reader in (("out.parquet", parquet.read_table), ("out.feather", feather.read_table)):
        write(frame, KEPT, tmp_path / out)
        written = reader(tmp_path / out)
        assert written.equals(kept)
        assert written.schema.equals(original.schema, check_metadata=True)
    pd.testing.assert_frame_equal(
        pd.read_parquet(tmp_path / "out.parquet"), table[KEPT].reset_index(drop=True)
    )


def test_more_types(tmp_path):
    columns = {
        "decimal": pa.array([Decimal("1.25"), None, Decimal("3.5")]),
        "null": pa.nulls(3),
        "half": pa.array(np.array([1, 2, 3], np.float16)),
        "category": pa.array(["u", "v", "u"]).dictionary_encode(),
        "list": pa.array([[1], [2], [3]]),
        "numbers as text": ["1", "2", "3"],
    }
    parquet.write_table(pa.table(columns), tmp_path / "t.parquet")
    frame = read(tmp_path / "t.parquet", missing="impute-robust", group_by="category")
    assert frame.columns == ("decimal", "half")
    np.testing.assert_array_equal(numbers_of(frame), [[1.25, 1], [2.375, 2], [3.5, 3]])
    assert frame.groups.tolist() == ["u", "v", "u"]
    said = " ".join(frame.notes)
    for part in ("'null'", "'list' was left out: it holds values of type list", "are numbers"):
        assert part in said
    with pytest.raises(ValueError, match=r"out.csv.* cannot hold the columns .* Write a .parquet"):
        check_target(frame, tmp_path / "out.csv")
    check_target(frame, tmp_path / "out.feather")


def test_the_index_of_pandas_is_no_column(tmp_path):
    table = pd.DataFrame({"a": [1.0, 2.0, 3.0]}, index=pd.Index([5, 6, 7], name="year"))
    table.to_parquet(tmp_path / "t.parquet")
    frame = read(tmp_path / "t.parquet")
    assert frame.columns == ("a",)
    assert frame.notes == ("Column 'year' was left out: it is the index of pandas.",)
    assert read(tmp_path / "t.parquet", columns=["year", "a"]).columns == ("year", "a")
    write(frame, np.array([True, False, True]), tmp_path / "out.parquet")
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "out.parquet"), table.iloc[[0, 2]])


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, ("gene_1", "gene_2", "age")),
        ({"columns": ["age", "gene_1"]}, ("age", "gene_1")),
        ({"columns": "gene_*"}, ("gene_1", "gene_2")),
        ({"columns": ["gene_?", "4"]}, ("gene_1", "gene_2", "age")),
        ({"exclude": ["gene_*"]}, ("age",)),
        ({"columns": ["gene_*"], "exclude": [1]}, ("gene_2",)),
        ({"id_column": "gene_1", "group_by": "id"}, ("gene_2", "age")),
    ],
)
def test_columns_are_chosen(tmp_path, given, expected):
    assert read(text(tmp_path, GENES), **given).columns == expected


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"columns": ["gene_3"]}, r"^columns='gene_3': .* Did you mean 'gene_\d'"),
        ({"exclude": ["ages"]}, r"^exclude='ages': .* Did you mean 'age'\?"),
        ({"id_column": "ids"}, r"^id_column='ids': there is no such column"),
        ({"group_by": "gene_?"}, r"^group_by='gene_\?' matches 2 columns"),
        ({"columns": ["7"]}, r"^columns='7': .* the columns 0 to 4"),
        ({"columns": [-1]}, r"^columns=-1: .* the columns 0 to 4"),
        ({"columns": ["x_*"]}, r"^columns='x_\*': there is no such"),
        ({"columns": ["id"]}, r"^columns='id' is .* it holds text"),
        ({"columns": ["age"], "id_column": "age"}, r"^columns='age' is .* it is the id_column"),
        ({"exclude": ["*"]}, r"has no column of numbers to use"),
        (
            {"missing": "ignore"},
            r"^missing must be one of 'error', 'auto', 'drop', 'impute-robust'",
        ),
        ({"key": "a"}, r"^key='a' is for .*HDF5.* files, but .* is delimited text"),
        ({"table": "a"}, r"^table='a' is for SQLite files"),
        ({"delimiter": ",,"}, r"^delimiter=',,' must be one character"),
    ],
)
def test_arguments_that_are_wrong(tmp_path, given, message):
    with pytest.raises(ValueError, match=message):
        read(text(tmp_path, GENES), **given)


def test_a_name_is_a_name_before_it_is_a_number(tmp_path):
    path = text(tmp_path, "1,0,*\n5,6,7\n8,9,10\n")
    frame = read(path, header=True, columns=["0", "*"])
    np.testing.assert_array_equal(numbers_of(frame), [[6, 7], [9, 10]])


AGES = [str(i) for i in range(1000)]
AGES[16], AGES[500] = "n/a?", "old"


@pytest.mark.parametrize(
    ("content", "notes"),
    [
        (
            "age,b,city\n" + "\n".join(f"{age},1,Rome" for age in AGES),
            (
                "Column 'city' was left out: it holds text.",
                "Column 'age' was left out: 2 of 1000 cells are no numbers, the first 'n/a?' in "
                "row 17.",
            ),
        ),
        (
            "a,b,c\n" + "1,2,3\n" * 4 + "x,x,3\n" + "1,2,3\n" * 15,
            (
                "2 columns were left out, because in each of them 1 of 20 cells is no number, the "
                "first 'x' in row 5: 'a', 'b'.",
            ),
        ),
        (
            ",".join(f"c{j}" for j in range(30)) + ("\n" + "x," * 29 + "1") * 2,
            (
                "29 columns were left out, because they hold text: 'c0', 'c1', 'c2', 'c3', 'c4', "
                "... (29 in all).",
            ),
        ),
    ],
    ids=["almost numbers", "alike", "text"],
)
def test_columns_that_are_left_out_are_named(tmp_path, content, notes):
    assert read(text(tmp_path, content)).notes == notes


def test_many_reasons_are_counted(tmp_path):
    rows = np.where(np.eye(30, 13) > 0, "x", "1")  # each column has its own row that is no number
    lines = "\n".join(",".join([*row, "1"]) for row in rows)
    notes = read(text(tmp_path, lines), header=False).notes
    assert len(notes) == 6 and notes[-1] == "13 columns were left out in all."
