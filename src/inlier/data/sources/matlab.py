"""MATLAB files: the old format by SciPy, and version 7.3, which is HDF5."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from math import prod
from typing import Any

from inlier.data.sources.base import SlicedSource, opening, pick
from inlier.data.sources.chunked import open_hdf5, tables_of
from inlier.data.sources.content import ArrayContent, Format, ReadOptions
from inlier.data.sources.location import Location

MAGIC = b"MATLAB "
# By class; at least one for the others, such as text. The size of sparse matrices is not stored.
ENTRY_BYTES = {"double": 8, "single": 4, "int64": 8, "uint64": 8, "int32": 4, "uint32": 4}
ENTRY_BYTES |= {"int16": 2, "uint16": 2, "sparse": 0}
VERSION_73 = b"MATLAB 7.3"


def load(location: Location, options: ReadOptions) -> ArrayContent:
    """Open the matrix that is named, or the only one with rows and columns."""
    read = _load_73 if location.read(len(VERSION_73)) == VERSION_73 else _load_5
    key, matrix = read(location, options.key)
    return ArrayContent(matrix, location, replace(options, key=key))


def _load_5(location: Location, key: str | None) -> tuple[str, Any]:
    from scipy.io import loadmat, whosmat

    memory = location.path is None or location.gzipped
    raw = location.read() if memory else b""

    def file() -> Any:
        return io.BytesIO(raw) if memory else str(location.path)

    # SciPy has many ways to say that a file is broken.
    with opening("a MATLAB file", location.label, Exception):
        held = whosmat(file())
    location.check_size(sum(ENTRY_BYTES.get(kind, 1) * prod(shape) for _, shape, kind in held))
    with opening("a MATLAB file", location.label, Exception):
        found = loadmat(file())
    key = _picked(found, key, location)
    matrix = found[key]
    return key, matrix.toarray() if hasattr(matrix, "toarray") else matrix


def _load_73(location: Location, key: str | None) -> tuple[str, Any]:
    with opening("a MATLAB file", location.label, OSError), open_hdf5(location) as file:
        tables = {name: file[name] for name in tables_of(file) if not name.startswith("#")}
        words = (b"char", b"cell")
        found = {k: v for k, v in tables.items() if v.attrs.get("MATLAB_class") not in words}
        key = _picked(found, key, location)

    @contextmanager
    def transposed() -> Iterator[Any]:
        with open_hdf5(location) as file:
            yield Transposed(file[key])

    return key, SlicedSource(transposed)


class Transposed:
    """A dataset with its axes exchanged: matrices are stored by columns."""

    def __init__(self, dataset: Any) -> None:
        self.dataset = dataset
        self.shape, self.dtype = dataset.shape[::-1], dataset.dtype
        self.chunks = dataset.chunks and dataset.chunks[::-1]

    def __getitem__(self, key: tuple[slice, slice]) -> Any:
        return self.dataset[key[1], key[0]].T


def _picked(found: dict[str, Any], key: str | None, location: Location) -> str:
    """Pick a matrix; scalars and vectors, which have two dimensions too, only if asked for."""
    matrices = {
        name: item
        for name, item in found.items()
        if len(getattr(item, "shape", ())) == 2 and item.dtype.kind in "buif"
    }
    wide = [name for name, item in matrices.items() if min(item.shape) > 1]
    return pick(wide if key is None and len(wide) == 1 else matrices, key, location.label)


FORMAT = Format("MATLAB", (".mat",), load, ("key",), lambda head: head.startswith(MAGIC))
