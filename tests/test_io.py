"""Files in, files out: as other libraries read them, byte for byte again, and no surprises."""

import gzip
import io
import os
import pickle
import sqlite3
import sys
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.io

from inlier.io import FORMATS, TARGETS, check_target, read, write

pa = pytest.importorskip("pyarrow")
from pyarrow import feather, ipc, parquet  # noqa: E402

X = np.random.default_rng(0).normal(size=(7, 3))
NAMES = ("height", "weight", "age")
KEPT = np.array([1, 0, 1, 1, 0, 0, 1], bool)


class Bomb:
    """A pickle that leaves a trace if it is loaded."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


def text(folder: Path, content: str | bytes, name: str = "table.csv") -> Path:
    path = folder / name
    raw = content if isinstance(content, bytes) else content.encode()
    path.write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
    return path


def mixed() -> pd.DataFrame:
    """Columns of many types."""
    return pd.DataFrame(
        {
            "id": list("abcdefg"),
            "height": X[:, 0],
            "when": pd.date_range("2020-01-01", periods=7),
            "n": np.arange(7),
            "single": X[:, 1].astype(np.float32),
            "flag": [True, False] * 3 + [True],
        }
    )


# -- every format, as another library has written it -----------------------------------------------


def to_mat(path: Path, X: np.ndarray) -> None:
    from scipy.io import savemat

    savemat(path, {"table": X, "n": 7, "labels": np.ones((7, 1)), "text": "hello"})


def to_mat73(path: Path, X: np.ndarray) -> None:
    import h5py

    with h5py.File(path, "w", userblock_size=512) as file:
        file["table"] = X.T
        file["n"] = [[7.0]]
        file["text"] = np.array([[104], [105]], np.uint16)
        file["text"].attrs["MATLAB_class"] = np.bytes_("char")
    with open(path, "r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(512))


def to_hdf5(path: Path, X: np.ndarray) -> None:
    import h5py

    with h5py.File(path, "w") as file:
        file["inner/table"] = X
        file["ids"] = np.arange(len(X))


def to_zarr(path: Path, X: np.ndarray) -> None:
    import zarr

    store = zarr.storage.ZipStore(path, mode="w") if path.suffix == ".zip" else str(path)
    group = zarr.open_group(store, mode="w")
    group.create_array("table", shape=X.shape, chunks=(2, 2), dtype=X.dtype)[:] = X
    if path.suffix == ".zip":
        store.close()


def to_sqlite(path: Path, X: np.ndarray) -> None:
    with sqlite3.connect(path) as database:
        pd.DataFrame(X, columns=NAMES).to_sql("table", database, index=False)
    database.close()


def to_stream(path: Path, X: np.ndarray) -> None:
    table = pa.table(dict(zip(NAMES, X.T.copy(), strict=True)))
    with ipc.new_stream(path, table.schema) as stream:
        stream.write_table(table)


WRITERS = {
    "t.csv": lambda path, X: pd.DataFrame(X, columns=NAMES).to_csv(path, index=False),
    "t.CSV": lambda path, X: pd.DataFrame(X, columns=NAMES).to_csv(path, index=False),
    "t.csv.gz": lambda path, X: pd.DataFrame(X, columns=NAMES).to_csv(path, index=False),
    "t.tsv": lambda path, X: pd.DataFrame(X, columns=NAMES).to_csv(path, index=False, sep="\t"),
    "t.txt": np.savetxt,
    "t.parquet": lambda path, X: pd.DataFrame(X, columns=NAMES).to_parquet(path),
    "t.feather": lambda path, X: pd.DataFrame(X, columns=NAMES).to_feather(path),
    "t.arrow": to_stream,
    "t.npy": np.save,
    "t.npz": lambda path, X: np.savez(path, table=X, ids=np.arange(7)),
    "t.h5": to_hdf5,
    "t.zarr": to_zarr,
    "t.zarr.zip": to_zarr,
    "t.mat": to_mat,
    "t73.mat": to_mat73,
    "t.sqlite": to_sqlite,
}
TEXTS = ("t.csv", "t.CSV", "t.tsv", "t.txt")  # half of a text is a text
NAMED = (".csv", ".CSV", ".gz", ".tsv", ".parquet", ".feather", ".arrow", ".sqlite")


@pytest.fixture(params=WRITERS)
def file(request, tmp_path) -> Path:
    path = tmp_path / request.param
    WRITERS[request.param](path, X)
    return path


def test_every_format_gives_the_same_numbers(file):
    frame = read(file)
    np.testing.assert_array_equal(np.asarray(frame.X[:]), X)
    assert frame.X.dtype == np.float64
    assert frame.columns == (NAMES if file.suffix in NAMED else ("x0", "x1", "x2"))
    np.testing.assert_array_equal(frame.rows, np.arange(7))
    assert (frame.n_read, frame.n_imputed, frame.n_dropped) == (7, 0, 0)
    assert frame.names is None and frame.groups is None
    assert frame.notes == ()


def test_every_format_gives_columns_by_number(file):
    frame = read(file, columns=["2", 0], id_column="1")
    np.testing.assert_array_equal(frame.X, X[:, [2, 0]])
    np.testing.assert_allclose(frame.names.astype(float), X[:, 1])


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".feather", ".npy", ".npz", ".tsv.gz"])
def test_every_format_can_be_written_to_every_other(file, tmp_path, suffix):
    frame = read(file)
    write(frame, KEPT, tmp_path / f"out{suffix}")
    again = read(tmp_path / f"out{suffix}")
    np.testing.assert_array_equal(np.asarray(again.X[:]), X[KEPT])
    if suffix not in (".npy", ".npz") and file.suffix != ".txt":
        assert again.columns == frame.columns


@pytest.mark.parametrize("name", sorted(WRITERS.keys() - {"t.zarr", "t.zarr.zip", "t.arrow"}))
def test_a_file_without_a_suffix_is_recognised(tmp_path, name):
    WRITERS[name](tmp_path / name, X)
    (tmp_path / name).rename(tmp_path / "unnamed")
    np.testing.assert_array_equal(np.asarray(read(tmp_path / "unnamed").X[:]), X)


@pytest.mark.parametrize(
    "name", ["t.csv", "t.csv.gz", "t.txt", "t.npy", "t.npz", "t.parquet", "t.feather"]
)
def test_standard_input(tmp_path, monkeypatch, name):
    WRITERS[name](tmp_path / name, X)
    raw = (tmp_path / name).read_bytes()
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(raw)))
    frame = read("-")
    np.testing.assert_array_equal(frame.X, X)
    write(frame, KEPT, tmp_path / "out.csv")
    np.testing.assert_array_equal(read(tmp_path / "out.csv").X, X[KEPT])


def test_standard_input_of_a_database(tmp_path, monkeypatch):
    to_sqlite(tmp_path / "t.db", X)
    raw = io.BytesIO((tmp_path / "t.db").read_bytes())
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=raw))
    with pytest.raises(ValueError, match=r"^standard input is of a format .* Write it to a file"):
        read("-")


@pytest.mark.parametrize("name", ["t.npy", "t.h5", "t.zarr", "t.zarr.zip"])
def test_arrays_stay_in_their_files(tmp_path, name):
    WRITERS[name](tmp_path / name, X)
    kind = {".npy": "numpy", ".h5": "h5py"}.get(Path(name).suffix, "zarr")
    array = read(tmp_path / name).X
    assert type(array).__module__.startswith(kind)
    assert type(array) is not np.ndarray
    assert type(read(tmp_path / name, exclude=["x0"]).X) is np.ndarray


def test_formats_and_targets_are_for_messages():
    suffixes = [suffix for format in FORMATS for suffix in format.suffixes]
    assert len(suffixes) == len(set(suffixes))
    assert all(format.name for format in FORMATS)
    assert {".csv", ".csv.gz", ".parquet", ".npy"} < set(TARGETS)


# -- text ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|", " ", "   "])
@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_delimiters_and_headers_are_found(tmp_path, delimiter, header, end):
    rows = [[repr(x) for x in row] for row in X.tolist()]
    lines = [delimiter.join(row) for row in ([list(NAMES), *rows] if header else rows)]
    frame = read(text(tmp_path, end.join(lines), "table.txt"))
    np.testing.assert_array_equal(frame.X, X)
    assert frame.columns == (NAMES if header else ("x0", "x1", "x2"))
    for path, kept in (("all.txt", np.ones(7, bool)), ("some.txt", KEPT)):
        write(frame, kept, tmp_path / path)
        some = np.array(lines)[np.concatenate([np.ones(int(header), bool), kept])]
        assert (tmp_path / path).read_bytes().decode() == end.join(some)


@pytest.mark.parametrize(
    ("content", "columns", "header"),
    [
        ("a,b\n1,2\n3,4\n", ("a", "b"), None),
        ("1,2\n3,4\n", ("x0", "x1"), None),
        ("1,2\n3,4\n5,6\n", ("1", "2"), True),
        (",a\n0,2\n1,4\n", ("x0", "a"), None),
        ("name,2019\nu,1\nv,2\n", ("x1",), None),
        ("name,y\nu,1\nv,2\n", ("y",), None),
        ("u,1\nv,2\n", ("x1",), None),
        ("NA,2\n3,4\n5,6\n", ("x0", "x1"), None),
    ],
)
def test_headers(tmp_path, content, columns, header):
    frame = read(text(tmp_path, content), header=header, missing="impute-robust")
    assert frame.columns == columns


@pytest.mark.parametrize("kept", [np.ones(3, bool), np.array([True, False, True])])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("suffix", [".csv", ".csv.gz"])
def test_text_is_copied_byte_for_byte(tmp_path, kept, end, last, mark, suffix):
    records = [
        mark + b'"na,me", a ,note,<script>',
        b'"new\r\nline, and ""quotes""",1.50,2020-01-01,007',
        "Zürich, 2e0,,-0".encode(),
        b'5" pipe,+3,"",1_000'.replace(b"1_000", b"10"),
    ]
    raw = end.join(records) + (end if last else b"")
    frame = read(text(tmp_path, raw, f"t{suffix}"), id_column="na,me")
    assert frame.columns == ("a", "<script>")
    assert frame.names.tolist() == ['new\r\nline, and "quotes"', "Zürich", '5" pipe']
    np.testing.assert_array_equal(frame.X, [[1.5, 7], [2, 0], [3, 10]])
    write(frame, kept, tmp_path / f"out{suffix}")
    out = (tmp_path / f"out{suffix}").read_bytes()
    out = gzip.decompress(out) if suffix == ".csv.gz" else out
    chosen = [records[0]] + [r for r, k in zip(records[1:], kept, strict=True) if k]
    assert out == end.join(chosen) + (end if last else b"")


def test_a_file_may_be_replaced_by_its_good_rows(tmp_path):
    path = text(tmp_path, "a;b\n1;x\n2;y\n3;z\n")
    write(read(path), np.array([True, False, True]), path)
    assert path.read_text() == "a;b\n1;x\n3;z\n"
    assert os.listdir(tmp_path) == ["table.csv"]


def test_another_delimiter(tmp_path):
    path = text(tmp_path, 'a;b;c\n1.50;"x;y";\n2;"t\tt";007\n')
    write(read(path, columns=["a"]), np.ones(2, bool), tmp_path / "out.tsv")
    assert (tmp_path / "out.tsv").read_text() == 'a\tb\tc\n1.50\tx;y\t\n2\t"t\tt"\t007\n'


def test_text_becomes_typed_columns(tmp_path):
    path = text(tmp_path, "a,b,c,d\n1,1.5,x,True\n2,,y,False\n3,2.5,z,True\n")
    write(read(path, exclude=["b"]), np.array([True, True, False]), tmp_path / "out.parquet")
    assert parquet.read_table(tmp_path / "out.parquet").to_pylist() == [
        {"a": 1, "b": 1.5, "c": "x", "d": True},
        {"a": 2, "b": None, "c": "y", "d": False},
    ]


@pytest.mark.parametrize(
    ("encoding", "note"),
    [("utf-8", None), ("utf-8-sig", None), ("latin-1", "Latin-1"), ("utf-16", "UTF-16")],
)
def test_encodings(tmp_path, encoding, note):
    content = "größe;ort\n1;Köln\n2;Århus\n"
    frame = read(text(tmp_path, content.encode(encoding)), group_by="ort")
    assert frame.columns == ("größe",)
    assert frame.groups.tolist() == ["Köln", "Århus"]
    assert (frame.notes == ()) if note is None else note in frame.notes[0]
    write(frame, np.ones(2, bool), tmp_path / "out.csv")
    written = "utf-8" if encoding == "utf-16" else encoding
    assert (tmp_path / "out.csv").read_bytes() == content.encode(written)


def test_semicolons_with_decimal_commas_are_not_taken_for_commas(tmp_path):
    frame = read(text(tmp_path, "a;b\n1,5;2,5\n3,5;4,5\n"))
    np.testing.assert_array_equal(frame.X, [[1.5, 2.5], [3.5, 4.5]])


def test_names_that_are_the_same(tmp_path):
    frame = read(text(tmp_path, "a,a,a.1,a\n1,2,3,4\n5,6,7,8\n"))
    assert frame.columns == ("a", "a.2", "a.1", "a.3")
    assert "told apart: 'a.2', 'a.3'" in frame.notes[0]
    assert read(text(tmp_path, "a,a\n1,2\n3,4\n")).columns == ("a", "a.1")


def test_lines_that_end_in_a_delimiter(tmp_path):
    for content in ("a,b,\n1,2,\n3,4,\n", "1,2,\n3,4,\n"):
        frame = read(text(tmp_path, content))
        np.testing.assert_array_equal(frame.X, [[1, 2], [3, 4]])
        assert "end in a delimiter" in " ".join(frame.notes)


def test_blank_lines_are_no_records(tmp_path):
    frame = read(text(tmp_path, "\na,b\n\n1,2\n\n\n3,4\n5,6\n\n"))
    np.testing.assert_array_equal(frame.X, [[1, 2], [3, 4], [5, 6]])
    write(frame, np.array([False, True, True]), tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == "a,b\n3,4\n5,6\n"


def test_a_late_cell_is_no_surprise(tmp_path):
    n = 200_000  # several of pyarrow's blocks
    lines = [f"{i},{i / 2}" for i in range(n)]
    lines[-3] = f"{n - 3},oops"
    frame = read(text(tmp_path, "a,b\n" + "\n".join(lines)))
    assert frame.columns == ("a",)
    said = f"1 of {n} cells is no number, the first 'oops' in row {n - 2}"
    assert frame.notes == (f"Column 'b' was left out: {said}.",)


def test_records_longer_than_a_block(tmp_path):
    wide = np.arange(20_000.0).reshape(2, -1)
    path = text(tmp_path, "\n".join(",".join(map(str, row)) for row in wide))
    np.testing.assert_array_equal(read(path).X, wide)
    long = "y" * (3 << 20)
    frame = read(text(tmp_path, f'a,b\n1,x\n2,"{long}"\n'), id_column="b")
    assert frame.names[1] == long


def test_long_cells_are_copied(tmp_path):
    cell = "x" * 300_000
    path = text(tmp_path, f"id,a\n{cell},1\nb,2\n{cell},3\n")
    write(read(path), np.array([True, False, True]), tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == f"id,a\n{cell},1\n{cell},3\n"


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
    np.testing.assert_array_equal(frame.X, expected.to_numpy(float))
    np.testing.assert_array_equal(frame.rows, expected.index)
    assert frame.columns == tuple(expected.columns)


# -- which columns ---------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
def test_types(tmp_path, suffix):
    table = mixed()
    (table.to_parquet if suffix == ".parquet" else table.to_feather)(tmp_path / f"t{suffix}")
    frame = read(tmp_path / f"t{suffix}", id_column="id")
    assert frame.columns == ("height", "n", "single", "flag")
    assert frame.X.dtype == np.float64
    np.testing.assert_array_equal(frame.X, table[list(frame.columns)].to_numpy(float))
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
    np.testing.assert_array_equal(frame.X, [[1.25, 1], [2.375, 2], [3.5, 3]])
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


def test_a_folder_of_parquet_files(tmp_path):
    for i, part in enumerate(np.array_split(X, 3)):
        pd.DataFrame(part, columns=NAMES).to_parquet(tmp_path / f"{i}.parquet")
    np.testing.assert_array_equal(read(tmp_path).X, X)


GENES = "id,gene_1,gene_2,gene_name,age\nu,1,2,x,3\nv,4,5,y,6\n"


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
        ({"columns": ["gene_3"]}, r"^columns names column 'gene_3', .* Did you mean 'gene_\d'"),
        ({"exclude": ["ages"]}, r"^exclude names column 'ages', .* Did you mean 'age'\?"),
        ({"id_column": "ids"}, r"^id_column names column 'ids'"),
        ({"group_by": "gene_?"}, r"^group_by='gene_\?' stands for 2 columns"),
        ({"columns": ["7"]}, r"^columns names column 7, but .* the columns 0 to 4"),
        ({"columns": [-1]}, r"^columns names column -1"),
        ({"columns": ["x_*"]}, r"^columns names column 'x_\*'"),
        ({"columns": ["id"]}, r"^columns names 'id', .* it holds text"),
        ({"columns": ["age"], "id_column": "age"}, r"^columns names 'age', .* it is the id_column"),
        ({"exclude": ["*"]}, r"has no column of numbers to use"),
        (
            {"missing": "ignore"},
            r"^missing must be one of 'error', 'auto', 'drop', 'impute-robust'",
        ),
        ({"key": "a"}, r"^key='a' is for .*HDF5.* files, but .* is delimited text"),
        ({"table": "a"}, r"^table='a' is for SQLite files"),
        ({"delimiter": ",,"}, r"^delimiter must be one character"),
    ],
)
def test_arguments_that_are_wrong(tmp_path, given, message):
    with pytest.raises(ValueError, match=message):
        read(text(tmp_path, GENES), **given)


def test_a_name_is_a_name_before_it_is_a_number(tmp_path):
    path = text(tmp_path, "1,0,*\n5,6,7\n8,9,10\n")
    frame = read(path, header=True, columns=["0", "*"])
    np.testing.assert_array_equal(frame.X, [[6, 7], [9, 10]])


def test_columns_that_are_almost_numbers(tmp_path):
    ages = [str(i) for i in range(1000)]
    ages[16], ages[500] = "n/a?", "old"
    path = text(tmp_path, "age,b,city\n" + "\n".join(f"{age},1,Rome" for age in ages))
    frame = read(path)
    assert frame.notes == (
        "Column 'city' was left out: it holds text.",
        "Column 'age' was left out: 2 of 1000 cells are no numbers, the first 'n/a?' in row 17.",
    )
    with pytest.raises(ValueError, match=r"columns names 'age'.*2 of 1000 cells are no numbers"):
        read(path, columns=["age"])


def test_columns_that_are_alike_share_a_note(tmp_path):
    rows = ["1,2,3"] * 20
    rows[4] = "x,x,3"
    (note,) = read(text(tmp_path, "a,b,c\n" + "\n".join(rows))).notes
    said = "in each of them 1 of 20 cells is no number, the first 'x' in row 5: 'a', 'b'."
    assert note == f"2 columns were left out, because {said}"


def test_many_columns_of_text(tmp_path):
    header = ",".join(f"c{j}" for j in range(30))
    row = ",".join(["x"] * 29 + ["1"])
    (note,) = read(text(tmp_path, f"{header}\n{row}\n{row}\n")).notes
    assert note.startswith("29 columns were left out, because they hold text: 'c0', 'c1'")
    assert note.endswith("'c4', ... (29 in all).")


# -- missing values --------------------------------------------------------------------------------

GAPS = "a,b,c\n1,2,3\n,5,6\n7,NA,inf\n10,11,12\n13,null,15\n"


def test_missing_values_are_an_error(tmp_path):
    with pytest.raises(ValueError) as caught:
        read(text(tmp_path, GAPS))
    assert (
        "4 entries are missing or not finite, in 3 of 5 rows and 3 of 3 columns: row 2, column "
        "'a'; row 3, column 'b'; row 3, column 'c'; row 5, column 'b'. Use missing=\"auto\""
    ) in str(caught.value)
    assert 'missing="drop"' in str(caught.value)
    assert 'missing="impute-robust"' in str(caught.value)


def test_missing_values_stay(tmp_path):
    content = "a,b,c\n1,,\n,,\n3,4,\n5,nan,\n"
    frame = read(text(tmp_path, content), missing="auto")
    np.testing.assert_array_equal(frame.X, [[1, np.nan], [3, 4], [5, np.nan]])
    assert frame.columns == ("a", "b")
    assert frame.rows.tolist() == [0, 2, 3]
    assert (frame.n_read, frame.n_dropped, frame.n_imputed) == (4, 1, 0)
    assert frame.notes[-3:] == (
        "Left out, because no entry is a finite number: 'c'.",
        "1 of 4 rows were dropped, because they have no entry.",
        "2 entries are missing, in 2 of 3 rows. Each row is judged by the entries that it has.",
    )


def test_infinity_is_no_missing_value(tmp_path):
    path = text(tmp_path, "a,b\n1,2\n,3\n4,inf\n5,6\n")
    with pytest.raises(ValueError, match=r"row 3, column 'b' is infinite\. Use missing=\"drop\""):
        read(path, missing="auto")


def test_rows_with_missing_values_are_dropped(tmp_path):
    frame = read(text(tmp_path, GAPS), missing="drop", id_column="a")
    np.testing.assert_array_equal(frame.X, [[2, 3], [5, 6], [11, 12]])
    assert frame.rows.tolist() == [0, 1, 3]
    assert frame.names.tolist() == ["1", "", "10"]
    assert (frame.n_read, frame.n_dropped, frame.n_imputed) == (5, 2, 0)
    assert "2 of 5 rows were dropped" in frame.notes[-1]
    write(frame, np.array([True, False, True]), tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == "a,b,c\n1,2,3\n10,11,12\n"


def test_missing_values_become_medians(tmp_path):
    frame = read(text(tmp_path, GAPS), missing="impute-robust")
    np.testing.assert_array_equal(
        frame.X, [[1, 2, 3], [8.5, 5, 6], [7, 5, 9], [10, 11, 12], [13, 5, 15]]
    )
    assert (frame.n_read, frame.n_dropped, frame.n_imputed) == (5, 0, 4)
    assert "4 entries in 3 rows" in frame.notes[-1]
    write(frame, np.ones(5, bool), tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == GAPS, "what was imputed is not written"


@pytest.mark.parametrize("missing", ["drop", "impute-robust"])
def test_a_column_without_any_value(tmp_path, missing):
    path = text(tmp_path, "a,b,c\n1,,3\n4,,\n5,,7\n")
    frame = read(path, missing=missing)
    assert frame.columns == ("a", "c")
    assert "no entry is a finite number: 'b'" in frame.notes[0]
    assert len(frame.X) == (2 if missing == "drop" else 3)
    with pytest.raises(ValueError, match="Nothing is in 'b': exclude it"):
        read(path)
    with pytest.raises(ValueError, match="no column of numbers to use"):
        read(text(tmp_path, "a,b\n,\n,NA\n,\n"), missing=missing)


@pytest.mark.parametrize("name", ["t.npy", "t.h5", "t.zarr", "t.mat", "t.parquet", "t.sqlite"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_missing_values_of_arrays(tmp_path, name, dtype):
    holes = X.astype(dtype)
    holes[2, 1] = holes[5, 0] = np.nan
    WRITERS[name](tmp_path / name, holes)
    with pytest.raises(ValueError, match=r"2 entries .* row 3, column '(x1|weight)'; row 6"):
        read(tmp_path / name)
    frame = read(tmp_path / name, missing="drop")
    assert frame.X.dtype == (np.float64 if name == "t.sqlite" else dtype)
    np.testing.assert_array_equal(frame.X, np.delete(holes, [2, 5], axis=0))
    filled = read(tmp_path / name, missing="impute-robust").X
    assert filled[2, 1] == np.nanmedian(holes[:, 1])
    assert np.isnan(holes[2, 1])


# -- arrays ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["f4", ">f8", "i2", "bool", "f2"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_keep_their_dtype(tmp_path, dtype, order):
    table = np.asarray(X > 0 if dtype == "bool" else 10 * X).astype(dtype, order=order)
    np.save(tmp_path / "t.npy", table)
    frame = read(tmp_path / "t.npy")
    write(frame, KEPT, tmp_path / "out.npy")
    np.save(tmp_path / "expected.npy", np.ascontiguousarray(table[KEPT]))
    assert (tmp_path / "out.npy").read_bytes() == (tmp_path / "expected.npy").read_bytes()
    write(frame, KEPT, tmp_path / "out.csv")
    np.testing.assert_allclose(
        pd.read_csv(tmp_path / "out.csv").to_numpy(float), table[KEPT].astype(float), rtol=1e-6
    )
    np.savez(tmp_path / "t.npz", table=table)
    write(read(tmp_path / "t.npz"), KEPT, tmp_path / "out.npz")
    with np.load(tmp_path / "out.npz") as written:
        assert written.files == ["table"]
        np.testing.assert_array_equal(written["table"], table[KEPT])
        assert written["table"].dtype == dtype


def test_whole_numbers_are_double(tmp_path):
    np.savez(tmp_path / "t.npz", (10 * X).astype(np.int8))
    assert read(tmp_path / "t.npz").X.dtype == np.float64


@pytest.mark.parametrize("suffix", [".npz", ".h5", ".zarr", ".mat"])
def test_which_array(tmp_path, suffix):
    path = tmp_path / f"t{suffix}"
    if suffix == ".npz":
        np.savez(path, a=X, b=X[:, :2], c=X[0])
    elif suffix == ".mat":
        from scipy.io import savemat

        savemat(path, {"a": X, "b": X[:, :2]})
    elif suffix == ".h5":
        import h5py

        with h5py.File(path, "w") as file:
            file["a"], file["b"], file["c"] = X, X[:, :2], X[0]
    else:
        import zarr

        group = zarr.open_group(path, mode="w")
        for key, values in {"a": X, "b": X[:, :2]}.items():
            group.create_array(key, shape=values.shape, dtype=values.dtype)[:] = values
    with pytest.raises(ValueError, match=r"holds 2 tables: 'a', 'b'. Name one with key="):
        read(path)
    with pytest.raises(ValueError, match=r"^key='d': .* has no such table, but 'a', 'b'"):
        read(path, key="d")
    np.testing.assert_array_equal(np.asarray(read(path, key="b").X[:]), X[:, :2])
    if suffix in (".npz", ".h5"):
        with pytest.raises(ValueError, match=r"rows and columns, but its array has shape \(3,\)"):
            read(path, key="c")


# -- SQLite ----------------------------------------------------------------------------------------


STRANGE = 'people"; DROP TABLE "other'


@pytest.fixture
def database(tmp_path) -> Path:
    path = tmp_path / "t #1?.db"
    connection = sqlite3.connect(path)
    quoted = '"{}"'.format(STRANGE.replace('"', '""'))
    columns = 'name TEXT, age INT, "<script>" REAL, code TEXT, raw BLOB, mixed'
    connection.execute(f"CREATE TABLE {quoted} ({columns})")
    connection.executemany(
        f"INSERT INTO {quoted} VALUES (?, ?, ?, ?, ?, ?)",
        [
            ("u", 1, 0.5, "007", b"0", 1),
            ("v", 2, 1.5, "008", b"1", ""),
            ("w", 3, 2.0, "9", None, 2),
        ],
    )
    connection.execute("CREATE TABLE other (a REAL)")
    connection.executemany("INSERT INTO other VALUES (?)", [(1,), (2,), (None,)])
    connection.commit()
    connection.close()
    return path


def test_tables_of_a_database(database, tmp_path):
    with pytest.raises(ValueError, match=r"holds 2 tables: 'other', .* Name one with table="):
        read(database)
    frame = read(database, table=STRANGE, id_column="name", exclude="mixed")
    assert frame.columns == ("age", "<script>")
    np.testing.assert_array_equal(frame.X, [[1, 0.5], [2, 1.5], [3, 2]])
    said = " ".join(frame.notes)
    assert "'code' was left out: it holds text, although its cells are numbers" in said
    assert "'raw' was left out: it holds values of type binary" in said
    write(frame, np.array([True, False, True]), tmp_path / "out.parquet")
    written = parquet.read_table(tmp_path / "out.parquet").to_pylist()
    assert [row["code"] for row in written] == ["007", "9"]
    with pytest.raises(ValueError, match=r"1 entry is missing.* row 2, column 'mixed'"):
        read(database, table=STRANGE)


@pytest.mark.parametrize("table", ['other"; DROP TABLE other; --', "other; DROP TABLE other", ""])
def test_a_table_name_is_no_statement(database, table):
    before = database.read_bytes()
    with pytest.raises(ValueError, match=r"^table=.* has no such table"):
        read(database, table=table)
    assert database.read_bytes() == before


def test_queries(database, tmp_path):
    frame = read(database, query="SELECT a, 2 * a AS b FROM other WHERE a IS NOT NULL")
    assert frame.columns == ("a", "b")
    np.testing.assert_array_equal(frame.X, [[1, 2], [2, 4]])
    before = database.read_bytes()
    for query in (
        "DROP TABLE other",
        "DELETE FROM other",
        "SELECT 1; DROP TABLE other",
        f"ATTACH '{tmp_path / 'new.db'}' AS new",
        "nonsense",
    ):
        with pytest.raises(ValueError, match=r"^query=.* could not be read from"):
            read(database, query=query)
    assert database.read_bytes() == before
    assert not (tmp_path / "new.db").exists()
    with pytest.raises(ValueError, match="table and query were both given"):
        read(database, table="other", query="SELECT 1")


# -- files that are broken, hostile, or something else ---------------------------------------------


@pytest.mark.parametrize(
    "name",
    [*(n for n in WRITERS if n.lower() not in ("t.csv", "t.zarr")), "t.zip", "t.db"],
)
@pytest.mark.parametrize("raw", [b"", b"something else, and long enough for any header" * 9])
def test_files_that_are_something_else(tmp_path, name, raw):
    (tmp_path / name).write_bytes(raw)
    with pytest.raises(ValueError, match=rf"^'.*{name}'"):
        read(tmp_path / name)


@pytest.mark.parametrize("name", [n for n in WRITERS if n not in (*TEXTS, "t.zarr")])
@pytest.mark.parametrize("part", [0.2, 0.5, 0.95])
def test_files_that_are_cut_off(tmp_path, name, part):
    WRITERS[name](tmp_path / name, X)
    raw = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(raw[: int(part * len(raw))])
    try:  # the end of a file may hold nothing
        found = np.asarray(read(tmp_path / name).X[:])
    except ValueError as error:
        assert name in str(error)
    else:
        np.testing.assert_array_equal(found, X)


def test_pickles_are_not_loaded(tmp_path):
    trace = tmp_path / "trace"
    bomb = np.array([[Bomb(trace), 1], [2, 3]], object)
    np.save(tmp_path / "t.npy", bomb, allow_pickle=True)
    np.savez(tmp_path / "t.npz", X=bomb)
    np.savez(tmp_path / "both.npz", X=bomb, Y=X)
    (tmp_path / "raw.npy").write_bytes(pickle.dumps(Bomb(trace)))
    (tmp_path / "raw.npz").write_bytes(pickle.dumps(Bomb(trace)))
    (tmp_path / "t.npy.gz").write_bytes(gzip.compress((tmp_path / "t.npy").read_bytes()))
    for name in ("t.npy", "t.npz", "raw.npy", "raw.npz", "t.npy.gz"):
        with pytest.raises(ValueError, match=name):
            read(tmp_path / name)
    with pytest.raises(ValueError, match="pickled objects, which are not loaded"):
        read(tmp_path / "both.npz", key="X")
    np.testing.assert_array_equal(read(tmp_path / "both.npz").X, X)
    assert not trace.exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("\n\n  \n", "is empty"),
        ("a,b\n", "at least 2 rows, but has 0"),
        ("a,b\n1,2\n", "at least 2 rows, but has 1"),
        ("a,b\n1,2\n3\n4,5\n", "line 3 has 1 cells, but the first record has 2"),
        ('a,b\n"1\n",2\n3,4,5\n', "line 4 has 3 cells"),
        ("a b\n1 2\n\n3\n", "line 4 has 1 cells"),
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


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros(5), r"shape \(5,\)"),
        (np.zeros((2, 3, 4)), r"shape \(2, 3, 4\)"),
        (np.zeros((1, 3)), "at least 2 rows, but has 1"),
        (np.zeros((0, 3)), "at least 2 rows, but has 0"),
        (np.zeros((3, 0)), "no column of numbers"),
        (np.zeros((3, 2), complex), "real numbers, but its array has dtype complex128"),
        (np.full((3, 2), "a"), "real numbers"),
    ],
)
def test_arrays_that_are_no_tables(tmp_path, array, message):
    np.save(tmp_path / "t.npy", array)
    with pytest.raises(ValueError, match=message) as caught:
        read(tmp_path / "t.npy")
    assert "t.npy" in str(caught.value)


def test_too_few_rows_are_left(tmp_path):
    with pytest.raises(ValueError, match="at least 2 rows without missing values, but has 1"):
        read(text(tmp_path, "a,b\n1,\n3,4\n,6\n"), missing="drop")


def test_paths_that_lead_nowhere(tmp_path):
    text(tmp_path, GENES)
    with pytest.raises(FileNotFoundError, match=r"no such file. Did you mean 'table.csv'\?"):
        read(tmp_path / "tabel.csv")
    with pytest.raises(ValueError, match="is a folder, and neither"):
        read(tmp_path)
    (tmp_path / "strange.xlsx").write_bytes(b"PK\x03\x04\0\0\0\0")
    with pytest.raises(ValueError, match=r"is of no known format. Known are delimited text \(.csv"):
        read(tmp_path / "strange.xlsx")


@pytest.mark.parametrize(
    ("package", "name"),
    [("pyarrow", "t.csv"), ("pyarrow", "t.parquet"), ("h5py", "t.h5"), ("zarr", "t.zarr")],
)
def test_a_missing_package_names_the_extra(tmp_path, monkeypatch, package, name):
    WRITERS[name](tmp_path / name, X)
    monkeypatch.setitem(sys.modules, package, None)
    extra = "cli" if package == "pyarrow" else "files"
    with pytest.raises(ImportError, match=rf'{package} is needed: pip install "inlier\[{extra}\]"'):
        read(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("t.csv.gz", {}),
        ("t.npy.gz", {}),
        ("t.npz", {}),
        ("t.npz", {"key": "table"}),
        ("t.mat", {}),
        ("t.parquet", {}),
        ("t.feather", {}),
        ("t.csv", {}),
        ("t.sqlite", {}),
    ],
)
def test_no_more_is_read_than_allowed(tmp_path, name, options):
    """What is packed tightly is measured unpacked."""
    zeros = np.zeros((200_000, 3))
    zeros[0] = 1.0
    path = tmp_path / name
    if name == "t.npz":
        np.savez_compressed(path, table=zeros)
    elif name == "t.mat":
        scipy.io.savemat(path, {"table": zeros}, do_compression=True)
    elif name == "t.npy.gz":
        np.save(tmp_path / "plain.npy", zeros)
        path.write_bytes(gzip.compress((tmp_path / "plain.npy").read_bytes()))
    elif name == "t.feather":
        pd.DataFrame(zeros, columns=NAMES).to_feather(path, compression="zstd")
    elif name == "t.parquet":
        pd.DataFrame(zeros, columns=NAMES).to_parquet(path, compression="gzip")
    else:
        WRITERS[name](path, zeros)
    unpacked = {"t.parquet": 1000, "t.csv": 2_000_000}.get(name, 2_300_000)  # Parquet counts runs
    with pytest.raises(ValueError, match=rf"{name}' has .*more than the .* max_bytes=\.\.\.$"):
        read(path, max_bytes=unpacked, **options)
    assert read(path, max_bytes=1 << 27, **options).X.shape == (200_000, 3)


@pytest.mark.parametrize("max_bytes", [0, -1, 1.5, "1G", None, True])
def test_the_limit_is_a_whole_number(tmp_path, max_bytes):
    with pytest.raises(ValueError, match="max_bytes must be a whole number >= 1"):
        read(text(tmp_path, GENES), max_bytes=max_bytes)


def test_a_large_file_with_nothing_in_it(tmp_path):
    """Text that no disk holds; and an array whose rows are as wide."""
    with open(tmp_path / "sparse.csv", "wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(ValueError, match=r"sparse.csv' has 1,099,511,627,776 bytes, which is more"):
        read(tmp_path / "sparse.csv")
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "wide.h5", "w") as file:
        file.create_dataset("table", (2, 1 << 40), "f4", chunks=(1, 1 << 10))
    with pytest.raises(ValueError, match=r"wide.h5' has .* bytes, which is more"):
        read(tmp_path / "wide.h5")


# -- writing ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("out.h5", r"^path=.* ends in '.h5', which cannot be written. Choose one of .csv"),
        ("out", r"ends in ''"),
        ("out.parquet.gz", r"only text is packed by gzip"),
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


@pytest.mark.parametrize("kept", [np.ones(3, bool), np.ones(2), np.ones((2, 1), bool)])
def test_kept_is_a_mask(tmp_path, kept):
    frame = read(text(tmp_path, GENES))
    with pytest.raises(ValueError, match=r"^kept must be a mask of 2 rows, but has shape"):
        write(frame, kept, tmp_path / "out.csv")


@pytest.mark.parametrize("target", ["out.csv", "out.parquet", "out.tsv"])
def test_a_file_that_has_changed(tmp_path, target):
    path = text(tmp_path, GENES)
    frame = read(path)
    path.write_text(GENES + "w,7,8,z,9\n")
    with pytest.raises(ValueError, match=r"table.csv' (had 2 rows|has changed)"):
        write(frame, np.ones(2, bool), tmp_path / target)
    assert os.listdir(tmp_path) == ["table.csv"]


def test_packed_text_is_the_same_each_time(tmp_path):
    frame = read(text(tmp_path, GENES))
    for name in ("a.csv.gz", "b.csv.gz"):
        write(frame, np.ones(2, bool), tmp_path / name)
    packed = (tmp_path / "a.csv.gz").read_bytes()
    assert packed == (tmp_path / "b.csv.gz").read_bytes()
    assert gzip.decompress(packed).decode() == GENES


def test_decimal_commas(tmp_path):
    path = tmp_path / "german.csv"
    path.write_text("a;b;c\n1,5;2;x\n-0,25;3;y\n1e3;4;z\n;5;w\n")
    frame = read(path, missing="drop")
    expected = pd.read_csv(path, sep=";", decimal=",").dropna()[["a", "b"]]
    np.testing.assert_array_equal(frame.X, expected.to_numpy())
    assert any("decimal points in 'a'" in note for note in frame.notes)
    write(frame, np.ones(3, bool), tmp_path / "clean.csv")
    assert (tmp_path / "clean.csv").read_text() == "a;b;c\n1,5;2;x\n-0,25;3;y\n1e3;4;z\n"


def test_thousands_are_no_decimals(tmp_path):
    path = tmp_path / "thousands.csv"
    path.write_text("a;b\n1,234,567;2\n2,345,678;3\n")
    frame = read(path)
    assert frame.columns == ("b",)


def test_what_may_be_thousands_is_not_guessed(tmp_path):
    path = tmp_path / "pay.tsv"
    path.write_text("pay\trate\n52,103\t857\n48,310\t1,022\n")
    with pytest.raises(ValueError, match="may be decimal points or thousands"):
        read(path)


def test_other_words_for_missing(tmp_path):
    path = tmp_path / "words.csv"
    path.write_text("a,b\n1,2\nERR,3\n4,-999\n5,6\n")
    assert read(path).columns == ("b",)
    frame = read(path, na_values=["ERR", "-999"], missing="drop")
    np.testing.assert_array_equal(frame.X, [[1.0, 2.0], [5.0, 6.0]])


def test_a_query_is_asked_once(tmp_path):
    path = tmp_path / "t.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE t (a REAL)")
        database.executemany("INSERT INTO t VALUES (?)", [(float(i),) for i in range(50)])
        database.commit()
    frame = read(path, query="SELECT a FROM t ORDER BY random()")
    kept = frame.X[:, 0] < 10.0
    write(frame, kept, tmp_path / "out.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), frame.X[kept])


def test_a_file_that_was_changed_is_not_written(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a\n1\n2\n3\n")
    frame = read(path)
    path.write_text("a\n7\n8\n9\n")
    os.utime(path, ns=(1, 1))
    with pytest.raises(ValueError, match="has changed since it was read"):
        write(frame, np.ones(3, bool), tmp_path / "out.csv")


def test_arrow_files_of_polars(tmp_path):
    pl = pytest.importorskip("polars")
    path = tmp_path / "pl.arrow"
    pl.DataFrame({"x": [1.0, 2.0, 3.0], "name": ["a", "b", "c"]}).write_ipc(path)
    frame = read(path)
    write(frame, np.array([True, False, True]), tmp_path / "out.parquet")
    assert pl.read_parquet(tmp_path / "out.parquet")["name"].to_list() == ["a", "c"]


def test_what_is_private_stays_private(tmp_path):
    path, out = tmp_path / "a.csv", tmp_path / "out.csv"
    path.write_text("a\n1\n2\n3\n")
    out.write_text("")
    out.chmod(0o600)
    write(read(path), np.ones(3, bool), out)
    assert out.stat().st_mode & 0o777 == 0o600
