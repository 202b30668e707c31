"""What the formats have in common: where bytes come from, and what a file holds."""

from __future__ import annotations

import gzip
import io
import os
import sys
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from inlier._internal.arrays import pieces
from inlier._internal.optional import optional
from inlier._internal.typing import Array, Mask
from inlier.data import is_external
from inlier.data.sources import open_source
from inlier.data.sources.base import opening

GZIP = b"\x1f\x8b"
HEAD = 1 << 12
# Of a block, to look through numbers without holding all of them.
BLOCK_BYTES = 1 << 23
# Of what is held as a whole, if nobody says otherwise: text takes three times as much to work on.
MOST_BYTES = 2 << 30
PIECE_BYTES = 1 << 20
# What the name of a column takes.
NAME_BYTES = 100


@dataclass(frozen=True)
class Place:
    """Where the bytes of a table are: in a file, or in memory if they came from a pipe.

    Attributes
    ----------
    path : Path or None
    data : bytes
        If there is no path.
    zipped : bool
        Whether gzip has to unpack the file.
    most : int
        So many bytes may be held as a whole, and no more.
    """

    path: Path | None
    data: bytes = b""
    zipped: bool = False
    most: int = MOST_BYTES

    @property
    def stamp(self) -> tuple[int, ...]:
        """Another one, if the file is changed."""
        if self.path is None or self.path.is_dir():
            return ()
        status = self.path.stat()
        return status.st_mtime_ns, status.st_size, status.st_ino

    def __str__(self) -> str:
        return "standard input" if self.path is None else repr(str(self.path))

    @property
    def suffixes(self) -> tuple[str, ...]:
        """The end of the name, and the last two together: `.zip` and `.zarr.zip`."""
        if self.path is None:
            return ()
        name = self.path.name.lower()
        ends = Path(name.removesuffix(".gz") if self.zipped else name).suffixes
        return ("".join(ends[-1:]), "".join(ends[-2:]))

    @property
    def plain(self) -> Path:
        """The path, for libraries that open files themselves."""
        if self.path is None or self.zipped:
            how = "Unpack it" if self.zipped else "Write it to a file"
            raise ValueError(f"{self} is of a format that is read from plain files only. {how}.")
        return self.path

    def open(self) -> BinaryIO:
        """The unpacked bytes, as a file."""
        if self.path is None:
            return io.BytesIO(self.data)
        return gzip.open(self.path) if self.zipped else open(self.path, "rb")  # type: ignore[return-value]

    def read(self, size: int = -1) -> bytes:
        """The first bytes, or all of them."""
        if self.path is None:
            return self.data if size < 0 else self.data[:size]
        if size < 0 and not self.zipped:
            self.check_size(self.path.stat().st_size)
        with (
            opening("a whole file of gzip", str(self), gzip.BadGzipFile, EOFError, zlib.error),
            self.open() as file,
        ):
            return file.read(size) if size >= 0 else self.drained(file)

    def drained(self, file: Any) -> bytes:
        """All that a stream has to give: it may have no end, or be packed very tightly."""
        out = io.BytesIO()
        while piece := file.read(PIECE_BYTES):
            self.check_size(out.tell() + len(piece), at_least=True)
            out.write(piece)
        return out.getvalue()

    def check_size(self, size: int, at_least: bool = False) -> None:
        """Raise if so many bytes are more than may be held as a whole."""
        if size > self.most:
            what = "more" if at_least else f"{size:,} bytes, which is more"
            raise ValueError(
                f"{self} has {what} than the {self.most:,} bytes that may be read into memory. "
                "Raise the limit with max_bytes=..."
            )

    @property
    def source(self) -> Any:
        """What pyarrow and numpy can open: the path, or the bytes."""
        return io.BytesIO(self.read()) if self.path is None or self.zipped else str(self.path)


def place_of(path: str | PathLike[str], most: int = MOST_BYTES) -> Place:
    """Where a path leads to; "-" is standard input, all of which is read."""
    if str(path) == "-":
        if sys.stdin is None:
            raise ValueError("standard input is closed: there is no table in it.")
        return _poured(sys.stdin.buffer, Place(None, most=most))
    found = Path(path)
    if not found.exists():
        raise FileNotFoundError(_nowhere(found))
    if found.is_dir():
        return Place(found, most=most)
    with open(found, "rb") as file:
        if not found.is_file():  # a pipe, which can be read once
            return _poured(file, Place(found, most=most))
        return Place(found, zipped=file.read(len(GZIP)) == GZIP, most=most)


def _nowhere(path: Path) -> str:
    """Why there is no file at a path."""
    if path.is_symlink():
        return f"{str(path)!r} is a link that leads to no file: {os.readlink(path)!r}."
    beside = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
    return f"{str(path)!r}: there is no such file.{close(path.name, beside)}"


def _poured(stream: Any, place: Place) -> Place:
    """What comes out of a pipe, unpacked."""
    data = place.drained(stream)
    if data.startswith(GZIP):
        with (
            opening("whole", str(place), gzip.BadGzipFile, EOFError, zlib.error),
            gzip.open(io.BytesIO(data)) as packed,
        ):
            data = place.drained(packed)
    return Place(None, data, most=place.most)


@dataclass(frozen=True)
class ReadOptions:
    """What was said, or found out, about how a file is to be read."""

    delimiter: str | None = None
    header: bool | None = None
    key: str | None = None
    table: str | None = None
    query: str | None = None
    na_values: tuple[str, ...] | None = None


class Content(ABC):
    """What a file holds: columns with names, some of which are numbers.

    Attributes
    ----------
    n : int
    names : tuple of str
    reasons : tuple of str
        For each column, why it is not used as numbers; empty if it is.
    options : Options
        With what was found out.
    notes : tuple of str
    schema : pyarrow.Schema or None
        Of a table with typed columns.
    """

    n: int
    names: tuple[str, ...]
    reasons: tuple[str, ...]
    options: ReadOptions
    notes: tuple[str, ...] = ()
    schema: Any = None

    @abstractmethod
    def numbers(self, columns: list[int]) -> Any:
        """Some columns as a table of floating point numbers, missing ones as NaN."""

    @abstractmethod
    def words(self, column: int) -> Array:
        """A column as text."""

    @abstractmethod
    def arrow(self, rows: Mask) -> Any:
        """All columns of some rows, as a `pyarrow.Table`."""


class ArrayContent(Content):
    """A two-dimensional array: of numpy, or one that is read where it is."""

    def __init__(self, array: Any, place: Place, options: ReadOptions) -> None:
        shape, dtype = tuple(array.shape or ()), np.dtype(array.dtype)
        if len(shape) != 2:
            raise ValueError(
                f"{place} must hold a table with rows and columns, but its array has shape "
                f"{shape}. Store it with two dimensions."
            )
        if dtype.kind not in "buif":
            raise ValueError(f"{place} must hold real numbers, but its array has dtype {dtype}.")
        # What an array is said to hold costs nothing to write.
        place.check_size(shape[1] * (dtype.itemsize + NAME_BYTES))
        self.array = array
        self.options = options
        self.n, d = shape
        self.names = tuple(f"x{j}" for j in range(d))
        self.reasons = ("",) * d

    def numbers(self, columns: list[int]) -> Any:
        """See `Content.numbers`. All of them are given as they are stored."""
        if columns == list(range(len(self.names))):
            return self.array if is_external(self.array) else in_memory(self.array)
        found = [block[:, columns] for block in blocks(self.array)]
        return in_memory(np.concatenate(found) if found else np.empty((0, len(columns))))

    def words(self, column: int) -> Array:
        """See `Content.words`. Whole numbers have no point."""
        found = [block[:, column] for block in blocks(self.array)]
        return np.array(
            [str(int(x)) if x % 1 == 0 else str(x) for part in found for x in part.tolist()], str
        )

    def kept(self, rows: Mask) -> Iterator[Array]:
        """Some rows, in blocks and in the dtype of the array."""
        start = 0
        for block in blocks(self.array):
            yield block[rows[start : start + len(block)]]
            start += len(block)

    def arrow(self, rows: Mask) -> Any:
        """See `Content.arrow`."""
        kept = np.concatenate(list(self.kept(rows)))
        # Of the floating point types, these two are known everywhere.
        odd = kept.dtype.kind == "f" and kept.dtype.itemsize not in (4, 8)
        dtype = np.dtype(np.float64) if odd else kept.dtype.newbyteorder("=")
        columns = np.ascontiguousarray(kept.T, dtype)
        return arrow().table(dict(zip(self.names, columns, strict=True)))


@dataclass(frozen=True)
class Format:
    """A format that can be read.

    Attributes
    ----------
    name : str
        What people call it.
    suffixes : tuple of str
        How the names of its files end, in lower case.
    load : callable
        Reads a file.
    options : tuple of str
        Which fields of `ReadOptions` are about this format.
    begins : callable
        Whether these are the first bytes of such a file.
    """

    name: str
    suffixes: tuple[str, ...]
    load: Callable[[Place, ReadOptions], Content]
    options: tuple[str, ...] = ()
    begins: Callable[[bytes], bool] = lambda head: False


@contextmanager
def reading(place: Place, format: Format) -> Iterator[None]:
    """Name the file, whatever a library has to say about it: broken files break them in many ways.

    A plain `ValueError` is one of ours, and says so already.
    """
    try:
        yield
    except Exception as error:
        ours = type(error) is ValueError or isinstance(error, ImportError)
        if ours or getattr(error, "filename", None):
            raise
        if isinstance(error, MemoryError):
            raise MemoryError(f"{place} does not fit into memory. {error}".strip()) from None
        raise ValueError(
            f"{place} could not be read as {format.name}: {error}. It may be damaged."
        ) from None


@dataclass(frozen=True)
class Original:
    """The file that a table was read from, to write its rows untouched."""

    format: Format
    place: Place
    options: ReadOptions
    names: tuple[str, ...]
    reasons: tuple[str, ...]
    schema: Any
    answer: Content | None = None
    """What a query gave: it may give something else the next time."""

    def load(self) -> Content:
        """Read it again: nobody has to hold the text of a file while its numbers are at work."""
        if self.answer is not None:
            return self.answer
        with reading(self.place, self.format):
            return self.format.load(self.place, self.options)


def arrow(module: str = "pyarrow") -> Any:
    """A module of pyarrow."""
    return optional(module, "To read or write such a file", "cli")


def blocks(X: Any) -> Iterator[Array]:
    """The rows of an array in order, wherever it is."""
    n, d = X.shape
    height = max(1, BLOCK_BYTES // max(1, d * X.dtype.itemsize))
    if is_external(X):
        yield from open_source(X, "X").blocks(height)
    else:
        yield from (X[rows] for rows in pieces(n, height))


def in_memory(X: Any) -> Array:
    """As an array: single precision stays, everything else becomes double."""
    dtype = np.float32 if np.dtype(X.dtype).newbyteorder("=") == np.float32 else np.float64
    return np.ascontiguousarray(X[:], dtype)


def picked(found: Iterable[str], key: str | None, place: Place, argument: str = "key") -> str:
    """Which of the tables in a file is meant: the one that is named, or the only one."""
    names = sorted(found)
    if key is not None:
        if key not in names:
            raise ValueError(
                f"{argument}={key!r}: {place} has no such table, but {listed(names) or 'none'}."
                f"{close(key, names)}"
            )
        return key
    if len(names) != 1:
        what = f"{len(names)} tables: {listed(names)}. Name one" if names else "no table"
        raise ValueError(f"{place} holds {what}{f' with {argument}=...' if names else ''}.")
    return names[0]


def close(name: str, names: Iterable[str]) -> str:
    """A question, if a name looks like a slip of the pen."""
    near = get_close_matches(name, list(names), n=3)
    return f" Did you mean {' or '.join(map(repr, near))}?" if near else ""


def listed(names: Iterable[str]) -> str:
    """Names for a sentence: up to ten, or the first five and how many there are."""
    shown = [repr(name) for name in names]
    if len(shown) <= 10:
        return ", ".join(shown)
    return f"{', '.join(shown[:5])}, ... ({len(shown)} in all)"
