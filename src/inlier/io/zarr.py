"""Zarr: a folder or a zip file of chunks."""

from __future__ import annotations

import zipfile
from dataclasses import replace
from typing import Any

from inlier.data.sources.base import opening, package
from inlier.io.base import ArrayContent, Format, Place, ReadOptions, picked

# One of these is in every folder of zarr.
MARKS = ("zarr.json", ".zgroup", ".zarray")


def load(place: Place, options: ReadOptions) -> ArrayContent:
    """Open the array that is named, or the only one with two dimensions; nothing is read yet."""
    zarr = package("zarr", str(place))
    path = place.plain
    broken = (OSError, ValueError, KeyError, zipfile.BadZipFile)
    with opening("a folder or a zip file of zarr", str(place), *broken):
        store: Any = str(path) if path.is_dir() else zarr.storage.ZipStore(path, mode="r")
        found = zarr.open(store, mode="r")
        if hasattr(found, "shape"):
            return ArrayContent(found, place, options)
        members = dict(found.members(max_depth=None))
    tables = [name for name, item in members.items() if len(getattr(item, "shape", ())) == 2]
    if options.key in members and hasattr(members[options.key], "shape"):
        tables.append(options.key)
    key = picked(set(tables), options.key, place)
    return ArrayContent(members[key], place, replace(options, key=key))


FORMAT = Format("Zarr", (".zarr", ".zarr.zip", ".zip"), load, ("key",))
