"""The formats that can be read, and which of them a file has."""

from dataclasses import asdict

from inlier.data.sources import arrays, arrow, records, text
from inlier.data.sources.base import reading
from inlier.data.sources.content import Content, Format, ReadOptions
from inlier.data.sources.location import ZIP, Location

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
        if format.begins(head):
            return format
    if head.startswith(ZIP):
        raise ValueError(f"{location} is an archive of several files. Unpack it, and give one.")
    if b"\0" in head and not head.startswith(text.UTF16):
        raise ValueError(f"{location} is of no known format. Known are {KNOWN}.")
    if head.lstrip().startswith((b"{", b"[{")):
        return records.JSON
    return text.FORMAT


def load(location: Location, options: ReadOptions) -> Content:
    """Read a file in its format; raise if an option was given that the format does not have."""
    with reading(location.label):
        format = recognise(location)
        for name, value in asdict(options).items():
            if value is not None and name not in format.options:
                homes = " and ".join(other.name for other in FORMATS if name in other.options)
                raise ValueError(
                    f"{name}={value!r} is for {homes} files, but {location} is {format.name}. "
                    "Leave it out."
                )
        return format.load(location, options)
