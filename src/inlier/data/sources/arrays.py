"""Arrays: NumPy files and archives, Zarr, HDF5 and MATLAB. Nothing is unpickled."""

import io
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from importlib import import_module
from math import prod
from typing import Any

import numpy as np

from inlier._internal.typing import Array
from inlier.data.sources.base import (
    SlicedSource,
    Source,
    arrow,
    as_source,
    blocks_of,
    check_table,
    package,
    pick,
    reading,
)
from inlier.data.sources.content import COPIES, Content, Format, ReadOptions, Reason
from inlier.data.sources.location import Location

MATLAB_73 = b"MATLAB 7.3"
# One of these is in every folder of zarr.
ZARR_MARKS = ("zarr.json", ".zgroup", ".zarray")
# Memory for the name of a column.
NAME_BYTES = 100
# Bytes of an entry by class of MATLAB; a sparse matrix is loaded as a dense one.
ENTRY_BYTES = {"double": 8, "single": 4, "int64": 8, "uint64": 8, "int32": 4, "uint32": 4}
ENTRY_BYTES |= {"int16": 2, "uint16": 2, "int8": 1, "uint8": 1, "logical": 1, "sparse": 8}


class ArrayContent(Content):
    """A two-dimensional array, which is read block by block."""

    def __init__(self, array: Source, location: Location, options: ReadOptions) -> None:
        check_table(array, location.label)
        self.array, self.location, self.options = array, location, options
        self.n, self._d = array.shape

    @cached_property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        """Names by number; a header may announce any number of columns."""
        self.location.check_size(self._d * (self.array.dtype.itemsize + NAME_BYTES))
        return tuple(f"x{j}" for j in range(self._d))

    @property
    def reasons(self) -> tuple[Reason | None, ...]:  # type: ignore[override]
        """All columns are used."""
        return (None,) * len(self.names)

    def source(self, name: str) -> Source:
        """Return the array, which stays where it is."""
        return self.array

    def blocks(self, columns: list[int]) -> tuple[np.dtype[Any], Iterator[Array]]:
        every = columns == list(range(self._d))
        blocks = blocks_of(self.array)
        return self.array.dtype, (block if every else block[:, columns] for block in blocks)

    def numbers(self, columns: list[int]) -> Array | Source:
        """Return an array; all columns stay where they are if they do not fit into memory."""
        large = not self.location.fits(COPIES * self.n * self._d * self.array.dtype.itemsize)
        if large and columns == list(range(self._d)):
            return self.array
        return super().numbers(columns)

    def batches(self, columns: list[int]) -> Iterator[Any]:
        dtype, blocks = self.blocks(columns)
        # Of the floating point types, these two are known everywhere.
        odd = dtype.kind == "f" and dtype.itemsize not in (4, 8)
        dtype = np.dtype(np.float64) if odd else dtype.newbyteorder("=")
        for block in blocks:
            arrays = [arrow().array(column) for column in np.ascontiguousarray(block.T, dtype)]
            yield arrow().record_batch(arrays, names=[self.names[j] for j in columns])


def load_npy(location: Location, options: ReadOptions) -> ArrayContent:
    """Open a .npy file; one that is compressed or comes from a pipe is loaded."""

    @contextmanager
    def mapped() -> Iterator[Any]:
        # Again for each pass: it is checked that the file is whole.
        with reading(location.label), np.errstate(over="ignore"):
            array = np.load(location.local_path, mmap_mode="r", allow_pickle=False)
        yield array

    if location.path is not None and location.unpack is None:
        return ArrayContent(SlicedSource(mapped), location, options)
    array = np.lib.format.read_array(io.BytesIO(location.read()), allow_pickle=False)
    return ArrayContent(as_source(array), location, options)


def load_npz(location: Location, options: ReadOptions) -> ArrayContent:
    """Read the array that is named, or the only one with two dimensions."""
    with location.open() as file:
        archive = zipfile.ZipFile(file)
        names = {name.removesuffix(".npy"): name for name in archive.namelist()}
        shapes = {key: _npy_header(archive, name) for key, name in names.items()}
    found = [
        key
        for key, (shape, dtype) in shapes.items()
        if key == options.key or (len(shape) == 2 and not dtype.hasobject)
    ]
    if not found and any(dtype.hasobject for _, dtype in shapes.values()):
        raise ValueError(f"{location} holds only pickled objects, which are not loaded.")
    key = pick(found, options.key, location.label)
    shape, dtype = shapes[key]
    if dtype.hasobject:
        raise ValueError(f"key={key!r}: {location} holds pickled objects, which are not loaded.")
    location.check_size(prod(shape) * dtype.itemsize)
    with location.open() as file:
        array = np.load(file)[key]
    return ArrayContent(as_source(array), location, replace(options, key=key))


def _npy_header(archive: zipfile.ZipFile, name: str) -> tuple[tuple[int, ...], np.dtype[Any]]:
    with archive.open(name) as file:
        first = np.lib.format.read_magic(file) == (1, 0)
        form = np.lib.format
        header = form.read_array_header_1_0 if first else form.read_array_header_2_0
        shape, _, dtype = header(file)
    return shape, dtype


def load_zarr(location: Location, options: ReadOptions) -> ArrayContent:
    """Open the array that is named, or the only one with two dimensions."""
    zarr = package("zarr")
    path = location.local_path
    store: Any = str(path) if path.is_dir() else zarr.storage.ZipStore(path, mode="r")
    array = zarr.open(store, mode="r")
    if not hasattr(array, "shape"):
        key = pick(tables_of(array, options.key), options.key, location.label)
        options, array = replace(options, key=key), array[key]
    # Pickles run any code when they are decoded; old versions of zarr do so.
    about = array.metadata
    codecs = (*(getattr(about, "filters", None) or ()), getattr(about, "compressor", None))
    if any(getattr(codec, "codec_id", None) == "pickle" for codec in codecs):
        raise ValueError(f"{location} holds pickled objects, which are not loaded.")
    return ArrayContent(as_source(array), location, options)


def load_hdf5(location: Location, options: ReadOptions) -> ArrayContent:
    """Open the dataset that is named, or the only one with two dimensions."""
    with open_hdf5(location) as file:
        key = pick(tables_of(file, options.key), options.key, location.label)
    return ArrayContent(_dataset(location, key), location, replace(options, key=key))


def open_hdf5(location: Location) -> Any:
    """Open an HDF5 file for reading."""
    return package("h5py").File(location.local_path, "r")


def _dataset(location: Location, key: str, transposed: bool = False) -> Source:
    @contextmanager
    def opened() -> Iterator[Any]:
        with open_hdf5(location) as file:
            yield Transposed(file[key]) if transposed else file[key]

    return SlicedSource(opened)


class Transposed:
    """A dataset with its axes exchanged: matrices of MATLAB are stored by columns."""

    def __init__(self, dataset: Any) -> None:
        self.dataset = dataset
        self.shape, self.dtype = dataset.shape[::-1], dataset.dtype
        self.chunks = dataset.chunks and dataset.chunks[::-1]

    def __getitem__(self, key: tuple[slice, slice]) -> Array:
        block: Array = self.dataset[key[1], key[0]].T
        return block


def of_chunks(X: Any, name: str) -> Source:
    """Read an array of zarr, a dataset of HDF5, or a group that holds just one."""
    return as_source(X if hasattr(X, "shape") else X[pick(tables_of(X), None, name)])


def tables_of(group: Any, key: str | None = None) -> list[str]:
    """List the tables in a group and its groups, and the array that is asked for."""
    items: list[tuple[str, Any]] = []
    if hasattr(group, "visititems"):
        group.visititems(lambda name, item: items.append((name, item)))
    else:
        items = list(group.members(max_depth=None))
    shapes = {name: getattr(item, "shape", None) for name, item in items}
    return [
        name
        for name, shape in shapes.items()
        if shape is not None and (len(shape) == 2 or name == key)
    ]


def load_matlab(location: Location, options: ReadOptions) -> ArrayContent:
    """Open the matrix that is named, or the only one with rows and columns.

    The old format is loaded by SciPy; version 7.3 is HDF5.
    """
    matlab: Any = import_module("scipy.io")

    new = location.read(len(MATLAB_73)) == MATLAB_73
    sizes: dict[str, int] = {}
    if new:
        with open_hdf5(location) as file:
            tables = {name: file[name] for name in tables_of(file) if name[0] != "#"}
            kinds = {name: item.attrs.get("MATLAB_class") for name, item in tables.items()}
            numbers = [name for name, kind in kinds.items() if kind not in (b"char", b"cell")]
            shapes = {name: tables[name].shape for name in numbers}
    else:
        with location.open() as stream:
            held = [one for one in matlab.whosmat(stream) if one[2] in ENTRY_BYTES]
        shapes = {name: shape for name, shape, _ in held}
        sizes = {name: ENTRY_BYTES[kind] * prod(shape) for name, shape, kind in held}
    wide = [name for name, shape in shapes.items() if len(shape) == 2 and min(shape) > 1]
    # Scalars and vectors, which have two dimensions too, only if asked for.
    key = pick(wide if options.key is None and wide else shapes, options.key, location.label)
    options = replace(options, key=key)
    if new:
        return ArrayContent(_dataset(location, key, transposed=True), location, options)
    location.check_size(sizes[key])
    with location.open() as stream:
        matrix = matlab.loadmat(stream, variable_names=[key])[key]
    dense = matrix.toarray() if hasattr(matrix, "toarray") else matrix
    return ArrayContent(as_source(dense), location, options)


NPY = Format("NumPy", (".npy",), load_npy, magic=rb"\x93NUMPY")
NPZ = Format("NumPy archive", (".npz",), load_npz, ("key",), rb"PK\x03\x04.{,500}\.npy")
ZARR = Format("Zarr", (".zarr", ".zarr.zip"), load_zarr, ("key",))
HDF5 = Format("HDF5", (".h5", ".hdf5", ".hdf"), load_hdf5, ("key",), rb"\x89HDF\r\n\x1a\n")
MATLAB = Format("MATLAB", (".mat",), load_matlab, ("key",), rb"MATLAB ")
