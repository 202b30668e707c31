"""HDF5: datasets, alone or in groups."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from inlier.data.sources.base import opening, package
from inlier.data.sources.chunked import HDF5
from inlier.io.base import ArrayContent, Format, Place, ReadOptions, picked

MAGIC = b"\x89HDF\r\n\x1a\n"


def load(place: Place, options: ReadOptions) -> ArrayContent:
    """Open the dataset that is named, or the only one with two dimensions; nothing is read yet."""
    h5py = package("h5py", str(place))
    path = place.plain
    with opening("a whole HDF5 file", str(place), Exception):
        file = h5py.File(path, "r")
        found = datasets(file, options.key)
    key = picked(found, options.key, place)
    return ArrayContent(file[key], place, replace(options, key=key))


def datasets(file: Any, key: str | None = None) -> list[str]:
    """The names of the tables in a file and in its groups, and the one that is asked for."""
    found: list[str] = []

    def visit(name: str, item: Any) -> None:
        if len(getattr(item, "shape", None) or ()) == 2 and isinstance(name, str):
            found.append(name)

    file.visititems(visit)
    if key is not None and key not in found and hasattr(file.get(key), "shape"):
        found.append(key)
    return found


FORMAT = Format("HDF5", HDF5, load, ("key",), lambda head: head.startswith(MAGIC))
