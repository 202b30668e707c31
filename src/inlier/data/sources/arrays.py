"""Arrays: NumPy files and archives, Zarr, HDF5 and MATLAB. Nothing is unpickled."""

import io
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from math import prod
from typing import Any

import numpy as np

from inlier._internal.typing import Array
from inlier.data.sources.base import Source, as_source, package, pick, reading
from inlier.data.sources.location import Location
from inlier.data.sources.options import ReadOptions

MATLAB_73 = b"MATLAB 7.3"
# One of these is in every folder of zarr.
ZARR_MARKS = ("zarr.json", ".zgroup", ".zarray")
# Classes of MATLAB that hold no numbers.
NOT_NUMBERS = ("char", "cell", "struct", "object", "function", "opaque", "unknown")
ENTRY_BYTES = 8


def load_npy(location: Location, options: ReadOptions) -> Source:
    """Open a .npy file; one that is compressed or comes from a pipe is loaded."""

    @contextmanager
    def mapped() -> Iterator[Any]:
        # Again for each pass: it is checked that the file is whole.
        with reading(location.label), np.errstate(over="ignore"):
            array = np.load(location.local_path, mmap_mode="r", allow_pickle=False)
        yield array

    if location.is_plain:
        return Source(mapped)
    return as_source(np.lib.format.read_array(io.BytesIO(location.read()), allow_pickle=False))


def load_npz(location: Location, options: ReadOptions) -> Source:
    """Read the array that is named, or the only one with two dimensions."""
    tables, pickled = {}, False
    with location.open() as file:
        members = zipfile.ZipFile(file).infolist()
        sizes = {item.filename.removesuffix(".npy"): item.file_size for item in members}
        names = [options.key] if options.key in sizes else list(sizes)
        location.check_size(sum(sizes[name] for name in names))
        file.seek(0)
        archive = np.load(file)
        for name in names:
            try:
                array = archive[name]
            except ValueError as error:
                if "allow_pickle" not in str(error):
                    raise
                pickled = True
            else:
                if array.ndim == 2 or name == options.key:
                    tables[name] = array
    if pickled and not tables:
        raise ValueError(f"{location} holds only pickled objects, which are not loaded.")
    return as_source(tables[pick(tables, options.key, location.label)])


def load_zarr(location: Location, options: ReadOptions) -> Source:
    """Open the array that is named, or the only one with two dimensions."""
    zarr = package("zarr")
    path = location.local_path
    store: Any = str(path) if path.is_dir() else zarr.storage.ZipStore(path, mode="r")
    array = the_table(zarr.open(store, mode="r"), location.label, options.key)
    # Pickles run any code when they are decoded; old versions of zarr do so.
    about = array.metadata
    codecs = (*(getattr(about, "filters", None) or ()), getattr(about, "compressor", None))
    if any(getattr(codec, "codec_id", None) == "pickle" for codec in codecs):
        raise ValueError(f"{location} holds pickled objects, which are not loaded.")
    return as_source(array)


def load_hdf5(location: Location, options: ReadOptions) -> Source:
    """Open the dataset that is named, or the only one with two dimensions."""
    with _open_hdf5(location) as file:
        key = the_table(file, location.label, options.key).name
    return _dataset(location, key, lambda dataset: dataset)


def _open_hdf5(location: Location) -> Any:
    return package("h5py").File(location.local_path, "r")


def _dataset(location: Location, key: str, view: Callable[[Any], Any]) -> Source:
    @contextmanager
    def opened() -> Iterator[Any]:
        with _open_hdf5(location) as file:
            yield view(file[key])

    return Source(opened)


def the_table(group: Any, name: str, key: str | None = None) -> Any:
    """Return the array of Zarr or HDF5 that is named, or the only one with two dimensions."""
    if hasattr(group, "shape"):
        return group
    arrays = arrays_in(group)
    return group[pick((k for k, X in arrays.items() if X.ndim == 2 or k == key), key, name)]


def arrays_in(group: Any) -> dict[str, Any]:
    """Return the arrays in a group and its groups."""
    items: dict[str, Any] = {}
    if hasattr(group, "visititems"):
        group.visititems(items.__setitem__)
    else:
        items = dict(group.members(max_depth=None))
    return {key: item for key, item in items.items() if getattr(item, "shape", None) is not None}


def load_matlab(location: Location, options: ReadOptions) -> Source:
    """Open the matrix that is named, or the only one with rows and columns.

    The old format is loaded by SciPy; version 7.3 is HDF5.
    """
    if location.read(len(MATLAB_73)) == MATLAB_73:
        with _open_hdf5(location) as file:
            found = {
                key: (X.shape, X.attrs.get("MATLAB_class", b"").decode())
                for key, X in arrays_in(file).items()
                if key[0] != "#" and X.ndim == 2
            }
        return _dataset(location, _matrix(found, location, options), Transposed)
    matlab: Any = import_module("scipy.io")
    with location.open() as stream:
        found = {name: (shape, kind) for name, shape, kind in matlab.whosmat(stream)}
    key = _matrix(found, location, options)
    location.check_size(ENTRY_BYTES * prod(found[key][0]))
    with location.open() as stream:
        matrix = matlab.loadmat(stream, variable_names=[key])[key]
    return as_source(matrix.toarray() if hasattr(matrix, "toarray") else matrix)


def _matrix(
    found: dict[str, tuple[tuple[int, ...], str]], location: Location, options: ReadOptions
) -> str:
    """Name the matrix to load; scalars and vectors, which are matrices too, only if asked for."""
    shapes = {name: shape for name, (shape, kind) in found.items() if kind not in NOT_NUMBERS}
    wide = [name for name, shape in shapes.items() if len(shape) == 2 and min(shape) > 1]
    return pick(wide if options.key is None and wide else shapes, options.key, location.label)


class Transposed:
    """A dataset with its axes exchanged: matrices of MATLAB are stored by columns."""

    def __init__(self, dataset: Any) -> None:
        self.dataset = dataset
        self.shape, self.dtype = dataset.shape[::-1], dataset.dtype
        self.chunks = dataset.chunks and dataset.chunks[::-1]

    def __getitem__(self, key: tuple[slice, slice]) -> Array:
        block: Array = self.dataset[key[1], key[0]].T
        return block
