"""Which columns of a file are used."""

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from file_writers import GENES, numbers_of, text
from inlier.io import check_target, read


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
    for part in ("'null'", "'list' was left out: it holds values of type list", "as text'"):
        assert part in said
    with pytest.raises(ValueError, match=r"out.csv.* cannot hold the columns .* Write a .parquet"):
        check_target(frame, tmp_path / "out.csv")
    check_target(frame, tmp_path / "out.feather")


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
        (
            {"columns": ["age"], "id_column": "age"},
            r"^columns='age' is .* it holds what is given as id_column",
        ),
        ({"exclude": ["*"]}, r"has no column of numbers to use"),
        (
            {"missing": "ignore"},
            r"^missing must be one of 'auto', 'error', 'drop', 'impute-robust'",
        ),
        ({"key": "a"}, r"^key='a' is for .*HDF5.* files, but .* is delimited text"),
        ({"table": "a"}, r"^table='a' is for .*SQLite.* files"),
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
                "Column 'city' was left out: it holds text such as 'Rome'.",
                "Column 'age' was left out: it holds 2 cells that are no numbers among 1000, the "
                "first 'n/a?' in row 17.",
            ),
        ),
        (
            "a,b,c\n" + "1,2,3\n" * 4 + "x,x,3\n" + "1,2,3\n" * 15,
            (
                "2 columns were left out, because they hold 1 cell that is no number among 20, the "
                "first 'x' in row 5: 'a', 'b'.",
            ),
        ),
        (
            "a,b\n" + "1,-\n2,5\n3,6\n" * 4,
            (
                "Column 'b' was left out: it holds 4 cells that are no numbers among 12, the first "
                "'-' in row 1.",
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
    ids=["almost numbers", "alike", "a marker", "text"],
)
def test_columns_that_are_left_out_are_named(tmp_path, content, notes):
    assert read(text(tmp_path, content)).notes == notes


def test_many_reasons_are_counted(tmp_path):
    rows = np.where(np.eye(30, 13) > 0, "x", "1")  # each column has its own row that is no number
    lines = "\n".join(",".join([*row, "1"]) for row in rows)
    notes = read(text(tmp_path, lines), header=False).notes
    assert len(notes) == 6 and notes[-1] == "13 columns were left out in all."
