"""Delimited text, loaded and streamed."""

import csv
import gzip
import io
import os

import numpy as np
import pandas as pd
import pytest

from counting import counting_calls
from file_writers import GENES, KEPT, NAMES, X, numbers_of, text
from inlier.data import Table
from inlier.io import read, write


@pytest.fixture(params=["loaded", "streamed"], autouse=True)
def how(request, monkeypatch):
    """Texts are loaded or, as if they were too large for that, streamed."""
    if request.param == "streamed":
        monkeypatch.setattr("inlier.data.sources.content.COPIES", 1 << 60)
    return request.param


def test_what_is_streamed_leaves_no_file_behind(tmp_path, how, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    frame = read(text(tmp_path, GENES))
    assert isinstance(frame.X, Table) is (how == "streamed")
    assert os.listdir(tmp_path / "temporary") == []


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|", " ", "   "])
@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_delimiters_and_headers_are_found(tmp_path, delimiter, header, end):
    rows = [[repr(x) for x in row] for row in X.tolist()]
    lines = [delimiter.join(row) for row in ([list(NAMES), *rows] if header else rows)]
    frame = read(text(tmp_path, end.join(lines), "table.txt"))
    np.testing.assert_array_equal(numbers_of(frame), X)
    assert frame.columns == (NAMES if header else ("x0", "x1", "x2"))
    write(frame, KEPT, tmp_path / "some.txt")
    some = np.array(lines)[np.concatenate([np.ones(int(header), bool), KEPT])]
    written = (tmp_path / "some.txt").read_bytes().decode()
    assert written == "".join(f"{line.replace('   ', ' ')}\n" for line in some)


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("suffix", [".csv", ".csv.gz"])
def test_cells_are_written_as_they_were(tmp_path, end, last, mark, suffix):
    records = [
        mark + b'"na,me", a ,note,<script>',
        b'"new\r\nline, and ""quotes""",1.50,2020-01-01,007',
        "Zürich, 2e0,,-0".encode(),
        b'"=5"" pipe",+3,"a\rb",10',
    ]
    raw = end.join(records) + (end if last else b"")
    frame = read(text(tmp_path, raw, f"t{suffix}"), id_column="na,me")
    assert frame.columns == ("a", "<script>")
    assert frame.names.tolist() == ['new\r\nline, and "quotes"', "Zürich", '=5" pipe']
    np.testing.assert_array_equal(numbers_of(frame), [[1.5, 7], [2, 0], [3, 10]])
    write(frame, np.array([True, False, True]), tmp_path / f"out{suffix}")
    out = (tmp_path / f"out{suffix}").read_bytes()
    out = gzip.decompress(out) if suffix == ".csv.gz" else out
    assert list(csv.reader(io.StringIO(out.decode(), newline=""))) == [
        ["na,me", "a", "note", "<script>"],
        ['new\r\nline, and "quotes"', "1.50", "2020-01-01", "007"],
        ['=5" pipe', "+3", "a\rb", "10"],
    ]


def test_empty_cells_between_spaces(tmp_path):
    """Several spaces are one delimiter."""
    frame = read(text(tmp_path, 'a b c\n1 "" x\n2 5 y\n3 6 z\n', "t.txt"), columns="a")
    write(frame, np.array([True, True, False]), tmp_path / "out.txt")
    assert (tmp_path / "out.txt").read_text() == "a b c\n1 nan x\n2 5 y\n"


def test_a_file_may_be_replaced_by_its_good_rows(tmp_path):
    path = text(tmp_path, "a;b\n1;x\n2;y\n3;z\n")
    write(read(path), np.array([True, False, True]), path)
    assert path.read_text() == "a;b\n1;x\n3;z\n"
    assert os.listdir(tmp_path) == ["table.csv"]


@pytest.mark.parametrize(
    ("encoding", "note"),
    [("utf-8", None), ("utf-8-sig", None), ("latin-1", "Latin-1"), ("utf-16", None)],
)
def test_encodings(tmp_path, encoding, note):
    content = "größe;ort\n1;Köln\n2;Århus\n"
    frame = read(text(tmp_path, content.encode(encoding)), group_by="ort")
    assert frame.columns == ("größe",)
    assert frame.groups.tolist() == ["Köln", "Århus"]
    assert (frame.notes == ()) if note is None else note in frame.notes[0]
    write(frame, np.ones(2, bool), tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_bytes() == content.encode()


def test_names_that_are_the_same(tmp_path):
    frame = read(text(tmp_path, "a,a,a.1,a\n1,2,3,4\n5,6,7,8\n"))
    assert frame.columns == ("a", "a.2", "a.1", "a.3")
    assert "renamed: 'a.2', 'a.3'" in frame.notes[0]
    assert read(text(tmp_path, "a,a\n1,2\n3,4\n")).columns == ("a", "a.1")


def test_columns_that_pandas_numbered(tmp_path):
    for options in ({}, {"index_label": "site"}, {"index": False}):
        pd.DataFrame(X + 0.5).to_csv(tmp_path / "t.csv", **options)
        frame = read(tmp_path / "t.csv", columns=["0", "1", "2"])
        np.testing.assert_array_equal(numbers_of(frame), X + 0.5)
    for rows in ("0,1\n2,3\n", "0,1,2\n7,-8,9\n"):  # not sure
        whole = np.loadtxt(rows.splitlines(), delimiter=",")
        np.testing.assert_array_equal(numbers_of(read(text(tmp_path, rows))), whole)


def test_lines_that_end_in_a_delimiter(tmp_path):
    for content in ("a,b,\n1,2,\n3,4,\n", "1,2,\n3,4,\n"):
        frame = read(text(tmp_path, content))
        np.testing.assert_array_equal(numbers_of(frame), [[1, 2], [3, 4]])
        assert "end in a delimiter" in " ".join(frame.notes)


def test_records_longer_than_a_block(tmp_path):
    wide = np.arange(20_000.0).reshape(2, -1)
    path = text(tmp_path, "\n".join(",".join(map(str, row)) for row in wide))
    np.testing.assert_array_equal(numbers_of(read(path)), wide)
    long = "y" * (3 << 20)
    frame = read(text(tmp_path, f'a,b\n1,x\n2,"{long}"\n'), id_column="b")
    assert frame.names[1] == long
    write(frame, np.array([False, True]), tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == f"a,b\n2,{long}\n"


def test_as_pandas_reads_it(tmp_path):
    rng = np.random.default_rng(1)
    table = pd.DataFrame(rng.normal(size=(300, 5)), columns=list("abcde"))
    table["whole"] = rng.integers(-(10**6), 10**6, 300)
    table["text"] = "x"
    table["bool"] = rng.random(300) < 0.5
    table.loc[rng.random(300) < 0.1, "c"] = np.nan
    table.to_csv(tmp_path / "t.csv", index=False)
    frame = read(tmp_path / "t.csv", missing="drop")
    expected = table.drop(columns="text").dropna()
    np.testing.assert_array_equal(numbers_of(frame), expected.to_numpy(float))
    np.testing.assert_array_equal(frame.rows, expected.index)
    assert frame.columns == tuple(expected.columns)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("\n\n  \n", "is empty"),
        ("a,b\n", "at least 2 rows, but has 0"),
        ("a,b\n1,2\n", "at least 2 rows, but has 1"),
        ("a,b\n1,2\n3\n4,5\n", "line 3 has 1 cell,?, but the first record has 2"),
        ('a,b\n"1\n",2\n3,4,5\n', "line 4 has 3 cells"),
        ("a b\n1 2\n\n3\n", "line 4 has 1 cell,?"),
        ("a,b\nx,y\nu,v\n", "no column of numbers to use. 2 columns"),
        ("a\nx\ny\n", "no column of numbers to use. Column 'a' was left out: it holds text"),
        (b"a,b\n1,2\n\0\0,4\n", "is not delimited text: there are zero bytes"),
        ("a,b\n1,\n,2\n", "missing"),
    ],
)
def test_texts_without_a_table(tmp_path, content, message):
    with pytest.raises(ValueError, match=message) as caught:
        read(text(tmp_path, content))
    assert "table.csv" in str(caught.value)


def test_hexadecimal_codes_are_text(tmp_path):
    (tmp_path / "t.csv").write_text("code,x\n" + "0x1f,1\n0X2A,2\n31,3\n" * 2)
    frame = read(tmp_path / "t.csv")
    assert frame.columns == ("x",) and "'code'" in frame.notes[0]


def test_many_columns_take_few_calls_each(tmp_path):
    """Of every type, with missing cells; as pandas reads them."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((5, 3000)).round(3).astype(str)
    X[:, 1000:2000] = rng.integers(0, 99, (5, 1000)).astype(str)
    X[2, [7, 1500]], X[:, 2005], X[3, 2006], X[1, 2999] = "NA", "true", "9" * 19, " 7 "
    np.savetxt(tmp_path / "t.csv", X, fmt="%s", delimiter=",")
    with counting_calls() as counted:
        frame = read(tmp_path / "t.csv", header=False, missing="drop")
    assert counted[0] < 150 * 3000
    expected = pd.read_csv(tmp_path / "t.csv", header=None).astype(float).dropna()
    np.testing.assert_array_equal(numbers_of(frame), expected)


def test_a_text_that_is_skipped_as_a_whole(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n3,4\n")
    with pytest.raises(ValueError, match=r"^.*t\.csv' is empty below line skip=9: there"):
        read(tmp_path / "t.csv", skip=9)
