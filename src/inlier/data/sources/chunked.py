"""Arrays in chunks, alone or in groups: zarr and HDF5."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from inlier.data.sources.base import Source, opening, package
from inlier.data.sources.sliced import SlicedSource

HDF5 = (".h5", ".hdf5", ".hdf")


def open_zarr(path: Path, key: str, name: str) -> Source:
    """A folder of zarr, and which of its arrays."""
    zarr = package("zarr", name)
    with opening("a folder of zarr", name, OSError, ValueError):
        found = zarr.open(str(path), mode="r")
    return of_chunks(found[_key(found, key, name)] if key else found, name)


def open_hdf5(path: Path, key: str, name: str) -> Source:
    """An HDF5 file, and which of its datasets."""
    h5py = package("h5py", name)
    with opening("an HDF5 file", name, OSError), h5py.File(path, "r") as file:
        key = _key(file, key, name)

    @contextmanager
    def opened() -> Iterator[Any]:
        with h5py.File(path, "r") as file:
            yield file[key]

    return SlicedSource(opened)


def of_chunks(X: Any, name: str) -> Source:
    """An array of zarr, a dataset of HDF5, or a group that holds just one."""
    array = X if hasattr(X, "shape") else X[_key(X, "", name)]
    return SlicedSource(lambda: nullcontext(array))


def _key(group: Any, key: str, name: str) -> str:
    """Which table of a group is meant: the one that is named, or the only one."""
    if key and not hasattr(group, "shape") and _is_table(group.get(key)):
        return key
    tables = _tables(group)
    if key:
        raise ValueError(f"{name} has no table {key!r}, but {tables}.")
    if len(tables) != 1:
        raise ValueError(
            f"{name} is a group that holds {len(tables)} tables: {tables}. Name one of them, as in "
            "'file.h5::table'."
        )
    return tables[0]


def _tables(group: Any) -> list[str]:
    """The names of the tables in a group, and in the groups in it."""
    items: list[tuple[str, Any]] = []
    if hasattr(group, "visititems"):
        group.visititems(lambda key, item: items.append((key, item)))
    elif hasattr(group, "members"):
        items = list(group.members(max_depth=None))
    return sorted(key for key, item in items if _is_table(item))


def _is_table(item: Any) -> bool:
    return len(getattr(item, "shape", None) or ()) == 2
