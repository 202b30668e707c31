"""Readers of files, by libraries, and the rows that they give."""

import os
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from inlier.data.sources import arrays, arrow, records, text
from inlier.data.sources.base import Source, as_source, reading
from inlier.data.sources.content import Content
from inlier.data.sources.location import MAX_BYTES, ZIP, Location, locate, split_key
from inlier.data.sources.options import ReadOptions

__all__ = ["FORMATS", "Source", "load", "open_source"]


@dataclass(frozen=True)
class Format:
    """A format that can be read."""

    name: str
    suffixes: tuple[str, ...]
    """Of its files, in lower case."""
    load: Callable[[Location, ReadOptions], Content | Source]
    options: tuple[str, ...] = ()
    """Fields of `ReadOptions` that the format has."""
    magic: bytes = b"(?!)"
    """A pattern of the first bytes of such a file."""


MARKS = ("decimal", "thousands", "na_values")
TEXT = Format(
    "delimited text",
    (".csv", ".tsv", ".tab", ".txt", ".dat"),
    text.load,
    ("delimiter", "header", "skip", *MARKS),
)
PARQUET = Format("Parquet", arrow.PARQUET_SUFFIXES, arrow.load_parquet, ("na_values",), b"PAR1")
ZARR = Format("Zarr", (".zarr", ".zarr.zip"), arrays.load_zarr, ("key",))
FORMATS: tuple[Format, ...] = (
    TEXT,
    PARQUET,
    Format(
        "Arrow or Feather",
        (".arrow", ".feather", ".ipc"),
        arrow.load_ipc,
        ("na_values",),
        arrow.IPC_MAGIC,
    ),
    Format(
        "JSON",
        (".json", ".jsonl", ".ndjson"),
        records.load_json,
        MARKS,
        rb"\s*(\{|\[\s*[{\[])",
    ),
    Format(
        "spreadsheet",
        (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"),
        records.load_spreadsheet,
        ("table", "header", "skip", *MARKS),
        rb"PK\x03\x04.*xl/",
    ),
    Format(
        "SQLite",
        (".db", ".sqlite", ".sqlite3"),
        records.load_sqlite,
        ("table", "query", *MARKS),
        rb"SQLite format 3\0",
    ),
    Format(
        "DuckDB",
        (".duckdb", ".ddb"),
        records.load_duckdb,
        ("table", "query", *MARKS),
        b".{8}DUCK",
    ),
    Format("Stata or SPSS", (".dta", ".sav", ".zsav"), records.load_statistics, ("na_values",)),
    Format("NumPy", (".npy",), arrays.load_npy, magic=rb"\x93NUMPY"),
    Format("NumPy archive", (".npz",), arrays.load_npz, ("key",), rb"PK\x03\x04.{,500}\.npy"),
    Format("HDF5", (".h5", ".hdf5", ".hdf"), arrays.load_hdf5, ("key",), rb"\x89HDF\r\n\x1a\n"),
    ZARR,
    Format("MATLAB", (".mat",), arrays.load_matlab, ("key",), rb"MATLAB "),
)
"""The formats that can be read, with their suffixes; text may be compressed."""

HEAD = 1 << 12


def open_source(X: Any, name: str, max_bytes: int = MAX_BYTES) -> Source:
    """Open a path, a memory map, or an object of zarr, h5py or pyarrow; see `open_file`.

    Files larger than `max_bytes` are streamed, or refused where their format cannot be.
    """
    if isinstance(X, str | os.PathLike):
        path, key = split_key(X)
        location = locate(path, max_bytes, f"{name}={path!r}", "memory")
        found = _load(location, ReadOptions(key=key))
        return found if isinstance(found, Source) else found.source(str(location))
    if isinstance(X, np.memmap):
        return as_source(X)
    library = type(X).__module__.partition(".")[0]
    if library == "pyarrow":
        return arrow.of_arrow(X, name, Location(None, name, max_bytes=max_bytes, limit="memory"))
    if library in ("zarr", "h5py"):
        return as_source(arrays.the_table(X, name))
    raise TypeError(
        f"{name} must be a path, a memory map, or data of zarr, h5py or pyarrow, but is of type "
        f"{type(X).__name__}."
    )


def load(location: Location, options: ReadOptions) -> Content:
    """Read the columns of a file; raise if its format does not have an option that was given."""
    found = _load(location, options)
    return found if isinstance(found, Content) else Content.of_array(found, location, options)


def _load(location: Location, options: ReadOptions) -> Content | Source:
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
            return ZARR
        if arrow.parquet_files(location.path):
            return PARQUET
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
        known = ", ".join(f"{format.name} ({' '.join(format.suffixes)})" for format in FORMATS)
        raise ValueError(f"{location} is of no known format. Known are {known}.")
    return TEXT
