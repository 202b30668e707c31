"""MATLAB files: the old format by SciPy, and version 7.3, which is HDF5."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import Any

from inlier.data.sources.base import opening, package
from inlier.io.base import ArrayContent, Format, Place, ReadOptions, picked
from inlier.io.hdf5 import datasets

MAGIC = b"MATLAB "
# By class; of the others, such as text, at least one. Sparse matrices say nothing of their size.
ENTRY_BYTES = {"double": 8, "single": 4, "int64": 8, "uint64": 8, "int32": 4, "uint32": 4}
ENTRY_BYTES |= {"int16": 2, "uint16": 2, "sparse": 0}
VERSION_73 = b"MATLAB 7.3"


def load(place: Place, options: ReadOptions) -> ArrayContent:
    """Read the matrix that is named, or the only one with rows and columns."""
    read = _of_73 if place.read(len(VERSION_73)) == VERSION_73 else _of_5
    key, matrix = read(place, options.key)
    return ArrayContent(matrix, place, replace(options, key=key))


def _of_5(place: Place, key: str | None) -> tuple[str, Any]:
    from scipy.io import loadmat, whosmat

    # SciPy has many ways to say that a file is broken.
    with opening("a MATLAB file", str(place), Exception):
        held = whosmat(place.source)
    place.check_size(sum(ENTRY_BYTES.get(kind, 1) * prod(shape) for _, shape, kind in held))
    with opening("a MATLAB file", str(place), Exception):
        found = loadmat(place.source)
    key = _picked(found, key, place)
    matrix = found[key]
    return key, matrix.toarray() if hasattr(matrix, "toarray") else matrix


def _of_73(place: Place, key: str | None) -> tuple[str, Any]:
    """Matrices are stored by columns, which HDF5 takes for rows."""
    h5py = package("h5py", str(place))
    path = place.plain
    with opening("a MATLAB file", str(place), OSError), h5py.File(path, "r") as file:
        tables = {name: file[name] for name in datasets(file) if not name.startswith("#")}
        words = (b"char", b"cell")
        found = {k: v for k, v in tables.items() if v.attrs.get("MATLAB_class") not in words}
        key = _picked(found, key, place)
        return key, found[key][:].T


def _picked(found: dict[str, Any], key: str | None, place: Place) -> str:
    """Scalars and vectors have two dimensions too. They are no tables unless asked for."""
    matrices = {name: item for name, item in found.items() if _is_matrix(item)}
    wide = [name for name, item in matrices.items() if min(item.shape) > 1]
    return picked(wide if key is None and len(wide) == 1 else matrices, key, place)


def _is_matrix(item: Any) -> bool:
    return len(getattr(item, "shape", ())) == 2 and item.dtype.kind in "buif"


FORMAT = Format("MATLAB", (".mat",), load, ("key",), lambda head: head.startswith(MAGIC))
