"""Arrays in chunks, alone or in groups: Zarr and HDF5."""

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Any

from inlier.data.sources.base import SlicedSource, Source, opening, package, pick
from inlier.data.sources.content import ArrayContent, Format, ReadOptions
from inlier.data.sources.location import Location

HDF5_MAGIC = b"\x89HDF\r\n\x1a\n"
# One of these is in every folder of zarr.
ZARR_MARKS = ("zarr.json", ".zgroup", ".zarray")


def load_zarr(location: Location, options: ReadOptions) -> ArrayContent:
    """Open the array that is named, or the only one with two dimensions."""
    zarr = package("zarr", location.label)
    path = location.local_path
    broken = (OSError, ValueError, KeyError, zipfile.BadZipFile)
    with opening("a folder or a zip file of zarr", location.label, *broken):
        store: Any = str(path) if path.is_dir() else zarr.storage.ZipStore(path, mode="r")
        array = zarr.open(store, mode="r")
        tables = None if hasattr(array, "shape") else tables_of(array, options.key)
    if tables is not None:
        options = replace(options, key=pick(tables, options.key, location.label))
        array = array[options.key]
    _check_codecs(array, location)
    return ArrayContent(SlicedSource(lambda: nullcontext(array)), location, options)


def _check_codecs(array: Any, location: Location) -> None:
    """Refuse pickles, which run any code when they are decoded; old versions of zarr do so."""
    metadata = array.metadata
    codecs = (*(getattr(metadata, "filters", None) or ()), getattr(metadata, "compressor", None))
    if any(getattr(codec, "codec_id", None) == "pickle" for codec in codecs):
        raise ValueError(f"{location} holds pickled objects, which are not loaded.")


def load_hdf5(location: Location, options: ReadOptions) -> ArrayContent:
    """Open the dataset that is named, or the only one with two dimensions."""
    broken = (OSError, RuntimeError, KeyError)
    with opening("a whole HDF5 file", location.label, *broken), open_hdf5(location) as file:
        tables = tables_of(file, options.key)
    key = pick(tables, options.key, location.label)

    @contextmanager
    def dataset() -> Iterator[Any]:
        with open_hdf5(location) as file:
            yield file[key]

    return ArrayContent(SlicedSource(dataset), location, replace(options, key=key))


def open_hdf5(location: Location) -> Any:
    """Open an HDF5 file for reading."""
    return package("h5py", location.label).File(location.local_path, "r")


def of_chunks(X: Any, name: str) -> Source:
    """Read an array of zarr, a dataset of HDF5, or a group that holds just one."""
    array = X if hasattr(X, "shape") else X[pick(tables_of(X), None, name)]
    return SlicedSource(lambda: nullcontext(array))


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


ZARR = Format("Zarr", (".zarr", ".zarr.zip", ".zip"), load_zarr, ("key",))
HDF5 = Format(
    "HDF5", (".h5", ".hdf5", ".hdf"), load_hdf5, ("key",), lambda head: head.startswith(HDF5_MAGIC)
)
