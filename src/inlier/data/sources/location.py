"""Locations: where the bytes of a table are, and how many may be held in memory."""

import bz2
import gzip
import io
import lzma
import os
import sys
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO

from inlier.data.sources.base import arrow, close_matches

MAX_BYTES = 2 << 30
"""Default bound on what is held in memory as a whole."""
CHUNK_BYTES = 1 << 20
ZIP = b"PK\x03\x04"
# What compressed files begin with, their suffixes, and what opens them.
PACKED: dict[bytes, tuple[str, Callable[[Any], Any]]] = {
    b"\x1f\x8b": (".gz", gzip.open),
    b"BZh": (".bz2", bz2.open),
    b"\xfd7zXZ\0": (".xz", lzma.open),
    b"\x28\xb5\x2f\xfd": (".zst", lambda file: arrow().CompressedInputStream(file, "zstd")),
}


@dataclass(frozen=True)
class Location:
    """Where the bytes of a table are: in a file, or in memory if they came from a pipe."""

    path: Path | None
    label: str
    """What messages call it."""
    data: bytes = b""
    """If there is no path."""
    max_bytes: int = MAX_BYTES
    limit: str = "max_bytes"
    """Argument that sets the bound."""
    suffixes: tuple[str, ...] = ()
    """The last suffix, without that of compression, and the last two together."""
    unpack: Callable[[Any], Any] | None = None
    """Opens what is compressed."""

    def __str__(self) -> str:
        return self.label

    @property
    def stamp(self) -> tuple[int, ...]:
        """Modification time, size and inode; they change with the file."""
        if self.path is None or self.path.is_dir():
            return ()
        status = self.path.stat()
        return status.st_mtime_ns, status.st_size, status.st_ino

    @property
    def is_plain(self) -> bool:
        """Whether libraries can open the file themselves."""
        return self.path is not None and self.unpack is None

    @property
    def local_path(self) -> Path:
        """The path, for libraries that open files themselves."""
        if self.path is None or self.unpack is not None:
            how = "Write it to a file" if self.path is None else "Unpack it"
            raise ValueError(f"{self} is of a format that is read from plain files only. {how}.")
        return self.path

    def open(self) -> BinaryIO:
        """Open the decompressed bytes."""
        stored = io.BytesIO(self.data) if self.path is None else self.path
        if self.unpack is None:
            return stored if isinstance(stored, io.BytesIO) else open(stored, "rb")
        opened: BinaryIO = self.unpack(stored)
        return opened

    def read(self, size: int = -1) -> bytes:
        """Read the first bytes, or all of them, up to the bound."""
        with self.open() as file:
            return file.read(size) if size >= 0 else self.read_stream(file)

    def read_stream(self, file: Any) -> bytes:
        """Read a stream, which may have no end, up to the bound."""
        out = io.BytesIO()
        while chunk := file.read(CHUNK_BYTES):
            self.check_size(out.tell() + len(chunk), at_least=True)
            out.write(chunk)
        return out.getvalue()

    def check_size(self, size: int, at_least: bool = False) -> None:
        """Raise if so many bytes may not be held in memory."""
        if size > self.max_bytes:
            what = "more" if at_least else f"{size:,} bytes, which is more"
            raise ValueError(
                f"{self} has {what} than the {self.max_bytes:,} bytes that may be read into "
                f"memory. Raise the limit, {self.limit}={self.max_bytes}."
            )


def locate(
    path: str | PathLike[str],
    max_bytes: int = MAX_BYTES,
    label: str | None = None,
    limit: str = "max_bytes",
) -> Location:
    """Find the bytes of a path; "-" is standard input, which is read as a whole."""
    if str(path) == "-":
        if sys.stdin is None:
            raise ValueError("standard input is closed: there is no table in it.")
        pipe = Location(None, "standard input", max_bytes=max_bytes, limit=limit)
        return _unpacking(replace(pipe, data=pipe.read_stream(sys.stdin.buffer)), "")
    label = repr(os.fspath(path)) if label is None else label
    if "://" in str(path):
        raise ValueError(
            f"{label} is an address, and only files are read. Download it first, "
            "or pipe it into inlier fit -."
        )
    found = Path(path)
    location = Location(found, label, max_bytes=max_bytes, limit=limit)
    if found.is_dir():
        return location
    if not found.exists():
        raise FileNotFoundError(_not_found(found, label))
    if not found.is_file():  # a pipe, which can be read once
        location = replace(location, path=None, data=location.read())
    return _unpacking(location, found.name.lower())


def _unpacking(location: Location, name: str) -> Location:
    """Find out by its first bytes whether a file is compressed, and what it is inside."""
    unpack: Callable[[Any], Any] | None = None
    with location.open() as file:
        head = file.read(8)
        for magic, (suffix, opened) in PACKED.items():
            if head.startswith(magic):
                unpack, name = opened, name.removesuffix(suffix)
        if head.startswith(ZIP) and zipfile.is_zipfile(file):
            members = [one for one in zipfile.ZipFile(file).namelist() if not one.endswith("/")]
            # A table that was packed, and not one of the formats that are archives themselves.
            if len(members) == 1 and not members[0].endswith((".npy", "zarr.json", ".zarray")):
                unpack, name = partial(_member, members[0]), members[0].lower()
    ends = Path(name).suffixes
    return replace(location, suffixes=("".join(ends[-1:]), "".join(ends[-2:])), unpack=unpack)


def _member(name: str, archive: Any) -> Any:
    with zipfile.ZipFile(archive) as opened:  # what is open in it stays so
        return opened.open(name)


def split_key(path: str | PathLike[str]) -> tuple[str, str | None]:
    """Split "file.h5::table" into the path and the name of the array."""
    text = os.fspath(path)
    if os.path.exists(text):
        return text, None
    text, _, key = text.partition("::")
    return text, key or None


def _not_found(path: Path, label: str) -> str:
    if path.is_symlink():
        return f"{label} is a link that leads to no file: {os.readlink(path)!r}."
    siblings = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
    advice = close_matches(path.name, siblings) or " Give the path of a table."
    return f"{label}: there is no such file.{advice}"
