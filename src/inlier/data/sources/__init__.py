"""Readers of files, by libraries, and the rows that they give."""

import os
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from inlier._internal.validation import check_rows_of_numbers
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
    load: Callable[[Location, ReadOptions], Content | Source]
    suffixes: str
    """Of its files, in lower case."""
    options: str = ""
    """Fields of `ReadOptions` that the format has."""
    magic: bytes = b"(?!)"
    """A pattern of the first bytes of such a file."""


MARKS = "decimal thousands na_values"
TABLES = f"table query {MARKS}"
STYLES = f"delimiter header skip {MARKS}"
SHEETS = f"table header skip {MARKS}"
TEXT = Format("delimited text", text.load, ".csv .tsv .tab .txt .dat", STYLES)
PARQUET = Format("Parquet", arrow.load_parquet, ".parquet .pq", "na_values", b"PAR1")
ZARR = Format("Zarr", arrays.load_zarr, ".zarr .zarr.zip", "key")
FORMATS: tuple[Format, ...] = (
    TEXT,
    PARQUET,
    Format("Arrow or Feather", arrow.load_ipc, ".arrow .feather .ipc", "na_values", arrow.MAGIC),
    Format("JSON", records.load_json, ".json .jsonl .ndjson", MARKS, rb"\s*(\{|\[\s*[{\[])"),
    Format(
        "spreadsheet",
        records.load_spreadsheet,
        ".xlsx .xlsm .xlsb .xls .ods",
        SHEETS,
        rb"PK\x03\x04.*xl/",
    ),
    Format("SQLite", records.load_sqlite, ".db .sqlite .sqlite3", TABLES, rb"SQLite format 3\0"),
    Format("DuckDB", records.load_duckdb, ".duckdb .ddb", TABLES, b".{8}DUCK"),
    Format("Stata or SPSS", records.load_statistics, ".dta .sav .zsav", "na_values"),
    Format("NumPy", arrays.load_npy, ".npy", magic=rb"\x93NUMPY"),
    Format("NumPy archive", arrays.load_npz, ".npz", "key", rb"PK\x03\x04.{,500}\.npy"),
    Format("HDF5", arrays.load_hdf5, ".h5 .hdf5 .hdf", "key", rb"\x89HDF\r\n\x1a\n"),
    ZARR,
    Format("MATLAB", arrays.load_matlab, ".mat", "key", rb"MATLAB "),
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
        found = found if isinstance(found, Source) else found.source(str(location))
        check_rows_of_numbers(found, str(location), stored=True)
        return found
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
            if value is not None and name not in format.options.split():
                homes = ", ".join(other.name for other in FORMATS if name in other.options.split())
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
            if suffix in format.suffixes.split():
                return format
    head = location.read(HEAD)
    for format in FORMATS:
        if re.match(format.magic, head, re.DOTALL):
            return format
    if head.startswith(ZIP):
        raise ValueError(f"{location} is an archive of several files. Unpack it, and give one.")
    if b"\0" in head and not head.startswith(text.UTF16):
        known = ", ".join(f"{format.name} ({format.suffixes})" for format in FORMATS)
        raise ValueError(f"{location} is of no known format. Known are {known}.")
    return TEXT
