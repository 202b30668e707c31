"""Locations: where the bytes of a table are, and how many may be held in memory."""

import gzip
import io
import os
import sys
import zlib
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO

from inlier.data.sources.base import close_matches, opening

GZIP = b"\x1f\x8b"
MAX_BYTES = 2 << 30
"""Default bound on what is held in memory as a whole."""
CHUNK_BYTES = 1 << 20


@dataclass(frozen=True)
class Location:
    """Where the bytes of a table are: in a file, or in memory if they came from a pipe."""

    path: Path | None
    label: str
    """What messages call it."""
    data: bytes = b""
    """If there is no path."""
    gzipped: bool = False
    max_bytes: int = MAX_BYTES
    limit: str = "max_bytes"
    """Argument that sets the bound."""

    @property
    def stamp(self) -> tuple[int, ...]:
        """Modification time, size and inode; they change with the file."""
        if self.path is None or self.path.is_dir():
            return ()
        status = self.path.stat()
        return status.st_mtime_ns, status.st_size, status.st_ino

    def __str__(self) -> str:
        return self.label

    @property
    def suffixes(self) -> tuple[str, ...]:
        """The last suffix, and the last two together: `.zip` and `.zarr.zip`."""
        if self.path is None:
            return ()
        name = self.path.name.lower()
        ends = Path(name.removesuffix(".gz") if self.gzipped else name).suffixes
        return ("".join(ends[-1:]), "".join(ends[-2:]))

    @property
    def local_path(self) -> Path:
        """The path, for libraries that open files themselves."""
        if self.path is None or self.gzipped:
            how = "Unpack it" if self.gzipped else "Write it to a file"
            raise ValueError(f"{self} is of a format that is read from plain files only. {how}.")
        return self.path

    def open(self) -> BinaryIO:
        """Open the decompressed bytes as a file."""
        if self.path is None:
            return io.BytesIO(self.data)
        return gzip.open(self.path) if self.gzipped else open(self.path, "rb")  # type: ignore[return-value]

    def read(self, size: int = -1) -> bytes:
        """Read the first bytes, or all of them."""
        if self.path is None:
            return self.data if size < 0 else self.data[:size]
        if size < 0 and not self.gzipped:
            self.check_size(self.path.stat().st_size)
        with self.decompressing(), self.open() as file:
            return file.read(size) if size >= 0 else self.read_stream(file)

    def decompressing(self) -> Any:
        """Name the file if gzip cannot decompress it."""
        errors = (gzip.BadGzipFile, EOFError, zlib.error)
        return opening("a whole file of gzip", self.label, *errors)

    def read_stream(self, file: Any) -> bytes:
        """Read a stream, which may have no end, up to the bound."""
        out = io.BytesIO()
        while chunk := file.read(CHUNK_BYTES):
            self.check_size(out.tell() + len(chunk), at_least=True)
            out.write(chunk)
        return out.getvalue()

    def fits(self, size: int) -> bool:
        """Whether so many bytes may be held in memory."""
        return size <= self.max_bytes

    def check_size(self, size: int, at_least: bool = False) -> None:
        """Raise if so many bytes may not be held in memory."""
        if not self.fits(size):
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
        return _read_pipe(sys.stdin.buffer, pipe)
    found = Path(path)
    label = repr(str(found)) if label is None else label
    location = Location(found, label, max_bytes=max_bytes, limit=limit)
    if not found.exists():
        raise FileNotFoundError(_not_found(found, label))
    if found.is_dir():
        return location
    with open(found, "rb") as file:
        if not found.is_file():  # a pipe, which can be read once
            return _read_pipe(file, location)
        gzipped = file.read(len(GZIP)) == GZIP
    return Location(found, label, gzipped=gzipped, max_bytes=max_bytes, limit=limit)


def split_key(path: str | PathLike[str]) -> tuple[str, str | None]:
    """Split "file.h5::table" into the path and the name of the array."""
    text = os.fspath(path)
    if "::" not in text or os.path.exists(text):
        return text, None
    text, _, key = text.partition("::")
    return text, key or None


def _not_found(path: Path, label: str) -> str:
    if path.is_symlink():
        return f"{label} is a link that leads to no file: {os.readlink(path)!r}."
    siblings = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
    advice = close_matches(path.name, siblings) or " Give the path of a table."
    return f"{label}: there is no such file.{advice}"


def _read_pipe(stream: Any, location: Location) -> Location:
    data = location.read_stream(stream)
    if data.startswith(GZIP):
        with location.decompressing(), gzip.open(io.BytesIO(data)) as packed:
            data = location.read_stream(packed)
    return Location(None, location.label, data, max_bytes=location.max_bytes, limit=location.limit)
