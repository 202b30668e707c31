"""The formats that can be read, and which of them a file has."""

from dataclasses import asdict

from inlier.data.sources import arrow, chunked, matlab, npy, sqlite, text
from inlier.data.sources.content import Format, ReadOptions
from inlier.data.sources.location import Location

FORMATS: tuple[Format, ...] = (
    text.FORMAT,
    arrow.PARQUET,
    arrow.IPC,
    npy.FORMAT,
    npy.ARCHIVE,
    chunked.HDF5,
    chunked.ZARR,
    matlab.FORMAT,
    sqlite.FORMAT,
)
"""The formats that can be read, with their suffixes; text may be compressed by gzip."""

HEAD = 1 << 12
KNOWN = ", ".join(f"{format.name} ({' '.join(format.suffixes)})" for format in FORMATS)


def recognise(location: Location) -> Format:
    """Return the format of a file: by its suffix, or else by its first bytes."""
    if location.path is not None and location.path.is_dir():
        if any((location.path / mark).exists() for mark in chunked.ZARR_MARKS):
            return chunked.ZARR
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
    if b"\0" in head and not head.startswith(text.UTF16):
        raise ValueError(
            f"{location} is of no known format. Known are {KNOWN}. Save a spreadsheet as CSV."
        )
    return text.FORMAT


def check_options(options: ReadOptions, format: Format, location: Location) -> None:
    """Raise if an option was given that the format does not have."""
    for name, value in asdict(options).items():
        if value is not None and name not in format.options:
            homes = " and ".join(other.name for other in FORMATS if name in other.options)
            raise ValueError(
                f"{name}={value!r} is for {homes} files, but {location} is {format.name}. Leave it "
                "out."
            )
