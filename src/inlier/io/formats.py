"""Which formats there are, and which of them a file has."""

from __future__ import annotations

from dataclasses import asdict

from inlier.io import hdf5, ipc, matlab, npy, npz, parquet, sqlite, text, zarr
from inlier.io.base import HEAD, Format, Place, ReadOptions

FORMATS: tuple[Format, ...] = (
    text.FORMAT,
    parquet.FORMAT,
    ipc.FORMAT,
    npy.FORMAT,
    npz.FORMAT,
    hdf5.FORMAT,
    zarr.FORMAT,
    matlab.FORMAT,
    sqlite.FORMAT,
)
"""The formats that can be read, with their suffixes; text may be packed by gzip."""

KNOWN = ", ".join(f"{format.name} ({' '.join(format.suffixes)})" for format in FORMATS)


def recognise(place: Place) -> Format:
    """The format of a file: by its name, or else by its first bytes."""
    if place.path is not None and place.path.is_dir():
        if any((place.path / mark).exists() for mark in zarr.MARKS):
            return zarr.FORMAT
        if parquet.parts_of(place.path):
            return parquet.FORMAT
        raise ValueError(
            f"{place} is a folder, and neither of zarr nor of Parquet files. Give a file in it."
        )
    for suffix in reversed(place.suffixes):
        for format in FORMATS:
            if suffix in format.suffixes:
                return format
    head = place.read(HEAD)
    for format in FORMATS:
        if format.begins(head):
            return format
    if b"\0" in head and not head.startswith(text.WIDE):
        raise ValueError(
            f"{place} is of no known format. Known are {KNOWN}. Save a spreadsheet as CSV."
        )
    return text.FORMAT


def check_options(options: ReadOptions, format: Format, place: Place) -> None:
    """Raise if something was said about the file that has no meaning for its format."""
    for name, value in asdict(options).items():
        if value is not None and name not in format.options:
            homes = " and ".join(other.name for other in FORMATS if name in other.options)
            raise ValueError(
                f"{name}={value!r} is for {homes} files, but {place} is {format.name}. Leave it "
                "out."
            )
