"""Every format is read as other libraries read it, within limits."""

import gzip
import io
import pickle
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.io

from file_writers import GENES, KEPT, NAMES, WRITERS, X, numbers_of, text
from inlier.data import Table
from inlier.io import read, write

pa = pytest.importorskip("pyarrow")


class Bomb:
    """A pickle that leaves a trace if it is loaded."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


TEXTS = ("t.csv", "t.CSV", "t.tsv", "t.txt")  # half of a text is a text


NAMED = (".csv", ".CSV", ".gz", ".tsv", ".parquet", ".feather", ".arrow", ".sqlite")


STREAMED = ("t.csv", "t.csv.gz", "t.txt", "t.parquet", "t.feather", "t.arrow")


@pytest.fixture(params=[*WRITERS, *(f"streamed {name}" for name in STREAMED)])
def file(request, tmp_path, monkeypatch) -> Path:
    name = request.param.removeprefix("streamed ")
    if name != request.param:
        monkeypatch.setattr("inlier.data.sources.content.COPIES", 1 << 60)
    WRITERS[name](tmp_path / name, X)
    return tmp_path / name


def test_every_format_gives_the_same_numbers(file):
    frame = read(file)
    np.testing.assert_array_equal(numbers_of(frame), X)
    assert frame.X.dtype == np.float64
    assert frame.columns == (NAMES if file.suffix in NAMED else ("x0", "x1", "x2"))
    np.testing.assert_array_equal(frame.rows, np.arange(7))
    assert (frame.n_read, frame.n_imputed, frame.n_dropped) == (7, 0, 0)
    assert frame.names is None and frame.groups is None and frame.notes == ()
    by_number = read(file, columns=["2", 0], id_column="1")
    np.testing.assert_array_equal(numbers_of(by_number), X[:, [2, 0]])
    np.testing.assert_allclose(by_number.names.astype(float), X[:, 1])


def test_every_format_can_be_written_to_every_other(file, tmp_path):
    frame = read(file)
    for suffix in (".csv", ".parquet", ".feather", ".npy", ".tsv.gz"):
        write(frame, KEPT, tmp_path / f"out{suffix}")
        again = read(tmp_path / f"out{suffix}")
        np.testing.assert_array_equal(numbers_of(again), X[KEPT])
        if suffix != ".npy" and file.suffix != ".txt":
            assert again.columns == frame.columns


@pytest.mark.parametrize("name", sorted(WRITERS.keys() - {"t.zarr", "t.zarr.zip", "t.arrow"}))
def test_a_file_without_a_suffix_is_recognised(tmp_path, name):
    WRITERS[name](tmp_path / name, X)
    (tmp_path / name).rename(tmp_path / "unnamed")
    np.testing.assert_array_equal(numbers_of(read(tmp_path / "unnamed")), X)


@pytest.mark.parametrize(
    "name", ["t.csv", "t.csv.gz", "t.txt", "t.npy", "t.npz", "t.parquet", "t.feather", "t.sqlite"]
)
def test_standard_input(tmp_path, monkeypatch, name):
    WRITERS[name](tmp_path / name, X)
    raw = (tmp_path / name).read_bytes()
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(raw)))
    if name == "t.sqlite":
        with pytest.raises(ValueError, match=r"^standard input is .* Write it to a file"):
            read("-")
        return
    frame = read("-")
    np.testing.assert_array_equal(numbers_of(frame), X)
    write(frame, KEPT, tmp_path / "out.csv")
    np.testing.assert_array_equal(numbers_of(read(tmp_path / "out.csv")), X[KEPT])


@pytest.mark.parametrize("name", ["t.npy", "t.h5", "t.zarr", "t.zarr.zip", "t73.mat"])
def test_large_arrays_stay_in_their_files(tmp_path, monkeypatch, name):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "nowhere"))
    WRITERS[name](tmp_path / name, X)
    frame = read(tmp_path / name, max_bytes=400)
    assert isinstance(frame.X, Table) and isinstance(read(tmp_path / name).X, np.ndarray)
    np.testing.assert_array_equal(numbers_of(frame), X)


def test_a_folder_of_parquet_files(tmp_path):
    for i, part in enumerate(np.array_split(X, 3)):
        pd.DataFrame(part, columns=NAMES).to_parquet(tmp_path / f"{i}.parquet")
    np.testing.assert_array_equal(numbers_of(read(tmp_path)), X)


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
        found = numbers_of(read(tmp_path / name))
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
    np.testing.assert_array_equal(numbers_of(read(tmp_path / "both.npz")), X)
    assert not trace.exists()


def test_paths_that_lead_nowhere(tmp_path):
    text(tmp_path, GENES)
    with pytest.raises(FileNotFoundError, match=r"no such file. Did you mean 'table.csv'\?"):
        read(tmp_path / "tabel.csv")
    with pytest.raises(ValueError, match="is a folder, and neither"):
        read(tmp_path)
    (tmp_path / "strange").write_bytes(b"\x7fELF\0\0\0\0")
    with pytest.raises(ValueError, match=r"is of no known format. Known are delimited text \(.csv"):
        read(tmp_path / "strange")


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
        ("t.npy.gz", {}),
        ("t.npz", {}),
        ("t.npz", {"key": "table"}),
        ("t.mat", {}),
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
    else:
        WRITERS[name](path, zeros)
    with pytest.raises(ValueError, match=rf"{name}' has .*more than the .* max_bytes=2300000\.$"):
        read(path, max_bytes=2_300_000, **options)
    assert read(path, max_bytes=1 << 27, **options).X.shape == (200_000, 3)


def test_an_array_is_named_and_is_a_table(tmp_path):
    path = tmp_path / "t.npz"
    np.savez(path, a=X, b=X[:, :2], c=X[0])
    for key, message in (
        (None, "holds 2 tables: 'a', 'b'. Name one with key="),
        ("d", "has no such table, but 'a', 'b'"),
        ("c", r"rows and columns, but has shape \(3,\)"),
    ):
        with pytest.raises(ValueError, match=message):
            read(path, key=key)
    np.testing.assert_array_equal(numbers_of(read(path, key="b")), X[:, :2])
