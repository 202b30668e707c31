"""Readers of files, by libraries, and the rows that they give."""

import os
import re
from dataclasses import asdict
from typing import Any

import numpy as np

from inlier.data.sources import arrays, arrow, records, text
from inlier.data.sources.base import Source, as_source, reading
from inlier.data.sources.content import Content, Format, ReadOptions
from inlier.data.sources.location import MAX_BYTES, ZIP, Location, locate, split_key

__all__ = ["FORMATS", "Source", "load", "open_source"]

FORMATS: tuple[Format, ...] = (
    text.FORMAT,
    arrow.PARQUET,
    arrow.IPC,
    records.JSON,
    records.SPREADSHEET,
    records.SQLITE,
    records.DUCKDB,
    records.STATISTICS,
    arrays.NPY,
    arrays.NPZ,
    arrays.HDF5,
    arrays.ZARR,
    arrays.MATLAB,
)
"""The formats that can be read, with their suffixes; text may be compressed."""

HEAD = 1 << 12
KNOWN = ", ".join(f"{format.name} ({' '.join(format.suffixes)})" for format in FORMATS)


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


def load(location: Location, options: ReadOptions) -> Content:
    """Read a file in its format; raise if an option was given that the format does not have."""
    with reading(location.label):
        format = recognise(location)
        for name, value in asdict(options).items():
            if value is not None and name not in format.options:
                homes = ", ".join(other.name for other in FORMATS if name in other.options)
                raise ValueError(
                    f"{name}={value!r} is for {homes} files, but {location} is {format.name}. "
                    "Leave it out."
                )
        return format.load(location, options)


def recognise(location: Location) -> Format:
    """Return the format of a file: by its suffix, or else by its first bytes."""
    if location.path is not None and location.path.is_dir():
        if any((location.path / mark).exists() for mark in arrays.ZARR_MARKS):
            return arrays.ZARR
        if arrow.parquet_files(location.path):
            return arrow.PARQUET
        raise ValueError(
            f"{location} is a folder, and neither of zarr nor of Parquet files. Give a file in it."
        )
    for suffix in reversed(location.suffixes):
        for format in FORMATS:
            if suffix in format.suffixes:
                return format
    head = location.read(HEAD)
    for format in FORMATS:
        if re.match(format.magic, head, re.DOTALL):
            return format
    if head.startswith(ZIP):
        raise ValueError(f"{location} is an archive of several files. Unpack it, and give one.")
    if b"\0" in head and not head.startswith(text.UTF16):
        raise ValueError(f"{location} is of no known format. Known are {KNOWN}.")
    return text.FORMAT
