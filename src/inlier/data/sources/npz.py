"""Files of `numpy.savez`: arrays with names."""

from __future__ import annotations

import zipfile
import zlib
from dataclasses import replace

import numpy as np

from inlier._internal.typing import Array
from inlier.data.sources.base import opening, pick
from inlier.data.sources.content import ArrayContent, Format, ReadOptions
from inlier.data.sources.location import Location

MAGIC = b"PK\x03\x04"


def load(location: Location, options: ReadOptions) -> ArrayContent:
    """Read the array that is named, or the only one with two dimensions. Nothing is unpickled."""
    tables: dict[str, Array] = {}
    pickled = []
    broken = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError)
    kind = "a file of numpy.savez"
    with opening(kind, location.label, *broken):
        if location.read(len(MAGIC)) != MAGIC:
            raise ValueError("it does not begin as one.")
        with location.open() as file, zipfile.ZipFile(file) as archive:
            sizes = {
                item.filename.removesuffix(".npy"): item.file_size for item in archive.infolist()
            }
    location.check_size(sizes.get(options.key, 0) if options.key else sum(sizes.values()))
    with (
        opening(kind, location.label, *broken),
        location.open() as file,
        np.load(file, allow_pickle=False) as found,
    ):
        for name in found.files:
            if options.key not in (None, name):
                tables[name] = np.empty(0)
                continue
            try:
                array = found[name]
            except ValueError as error:
                if "pickle" not in str(error) and "Object" not in str(error):
                    raise
                pickled.append(name)
                continue
            if getattr(array, "ndim", 0) == 2 or options.key == name:
                tables[name] = array
    if not tables or options.key in pickled:
        objects = ", but pickled objects, which are not loaded" if pickled else ""
        raise ValueError(f"{location} holds no array with two dimensions{objects}.")
    key = pick(tables, options.key, location.label)
    return ArrayContent(np.asanyarray(tables[key]), location, replace(options, key=key))


FORMAT = Format(
    "NumPy archive",
    (".npz",),
    load,
    ("key",),
    lambda head: head.startswith(MAGIC) and b".npy" in head[:512],
)
