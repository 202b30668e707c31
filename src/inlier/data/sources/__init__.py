"""Readers of files, one for each format, and the rows that they give."""

import os
from typing import Any

import numpy as np

from inlier.data.sources import arrays, arrow
from inlier.data.sources.base import Source, as_source
from inlier.data.sources.content import ReadOptions
from inlier.data.sources.formats import load
from inlier.data.sources.location import MAX_BYTES, Location, locate, split_key

__all__ = ["Source", "open_source"]


def open_source(X: Any, name: str, max_bytes: int = MAX_BYTES) -> Source:
    """Open a path, a memory map, or an object of zarr, h5py or pyarrow; see `open_file`.

    Files larger than `max_bytes` are streamed, or refused where their format cannot be.
    """
    if isinstance(X, str | os.PathLike):
        text, key = split_key(X)
        location = locate(text, max_bytes, f"{name}={text!r}", "memory")
        return load(location, ReadOptions(key=key)).source(str(location))
    if isinstance(X, np.memmap):
        return as_source(X)
    library = type(X).__module__.partition(".")[0]
    if library == "pyarrow":
        return arrow.of_arrow(X, name, Location(None, name, max_bytes=max_bytes, limit="memory"))
    if library in ("zarr", "h5py"):
        return arrays.of_chunks(X, name)
    raise TypeError(
        f"{name} must be a path, a memory map, or data of zarr, h5py or pyarrow, but is of type "
        f"{type(X).__name__}."
    )
