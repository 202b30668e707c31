"""NumPy files and archives, memory maps, and temporary files of numbers."""

import io
import math
import mmap
import os
import tempfile
import weakref
import zipfile
import zlib
from collections.abc import Generator, Iterable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from inlier._internal.arrays import pieces
from inlier._internal.typing import Array
from inlier.data.sources.base import SlicedSource, Source, opening, pick
from inlier.data.sources.content import ArrayContent, Format, ReadOptions
from inlier.data.sources.location import Location

MAGIC, ARCHIVE_MAGIC = b"\x93NUMPY", b"PK\x03\x04"


def load(location: Location, options: ReadOptions) -> ArrayContent:
    """Open a .npy file; one that is compressed or comes from a pipe is loaded. Never unpickle."""
    if location.path is not None and not location.gzipped:
        return ArrayContent(open_npy(location.path, location.label), location, options)
    raw = io.BytesIO(location.read())
    with opening("a file of numpy.save", location.label, ValueError, OSError):
        return ArrayContent(np.lib.format.read_array(raw, allow_pickle=False), location, options)


class RawSource(Source):
    """Contiguous rows of a file, as numpy writes them.

    They are read, not mapped: a map costs a page fault for each page, and its pages stay resident.
    """

    def __init__(
        self, path: Path, shape: tuple[int, ...], dtype: np.dtype[Any], offset: int
    ) -> None:
        self.path, self.shape, self.dtype, self.offset = path, shape, dtype, offset

    def blocks(self, height: int) -> Generator[Array]:
        n, d = self.shape
        with open(self.path, "rb", buffering=0) as file:
            file.seek(self.offset)
            for rows in pieces(n, height):
                yield self._filled(file, np.empty((rows.stop - rows.start, d), self.dtype))

    def some(self, rows: Array, columns: slice) -> Array:
        d = self.shape[1]
        start, stop, _ = columns.indices(d)
        out = np.empty((len(rows), stop - start), self.dtype)
        with open(self.path, "rb", buffering=0) as file:
            for row, values in zip(rows.tolist(), out, strict=True):
                file.seek(self.offset + (row * d + start) * self.dtype.itemsize)
                self._filled(file, values)
        return out

    def _filled(self, file: Any, block: Array) -> Array:
        raw = block.reshape(-1).view(np.uint8)
        while len(raw):  # no system reads more than 2 GB at once
            read = file.readinto(raw)
            if not read:
                raise ValueError(f"{str(self.path)!r} has become shorter since it was opened.")
            raw = raw[read:]
        return block


class SpooledSource(RawSource):
    """Rows that were written once to a temporary file, which is removed with this object."""

    def __init__(self, blocks: Iterable[Array], d: int, dtype: np.dtype[Any]) -> None:
        handle, path = tempfile.mkstemp(prefix="inlier-", suffix=".raw")
        self._remove = weakref.finalize(self, Path(path).unlink, missing_ok=True)
        n = 0
        try:
            with open(handle, "wb") as file:
                for block in blocks:
                    file.write(np.ascontiguousarray(block, dtype).data)
                    n += len(block)
        except BaseException as error:
            self._remove()
            if isinstance(error, OSError):
                raise OSError(
                    f"The numbers could not be written to a temporary file in "
                    f"{tempfile.gettempdir()!r}: {error.strerror}. Set TMPDIR to another folder."
                ) from None
            raise
        super().__init__(Path(path), (n, d), dtype, 0)


def open_npy(path: Path, name: str) -> Source:
    """Open a file of `numpy.save`."""
    with opening("a file of numpy.save", name, ValueError), open(path, "rb") as file:
        version = np.lib.format.read_magic(file)
        if version not in ((1, 0), (2, 0)):
            raise ValueError(f"version {version} of the format is for named columns only.")
        first = version == (1, 0)
        header = (
            np.lib.format.read_array_header_1_0 if first else np.lib.format.read_array_header_2_0
        )
        shape, in_columns, dtype = header(file)
        offset = file.tell()
    if any(length < 0 for length in shape):
        raise ValueError(f"{name} is damaged: its array has shape {shape}. Write it again.")
    needed, size = offset + math.prod(shape) * dtype.itemsize, path.stat().st_size
    if size < needed and not dtype.hasobject:
        raise ValueError(
            f"{name} is cut off: {needed} bytes are announced, and {size} are there. Write it "
            "again."
        )
    if in_columns and len(shape) == 2:
        return SlicedSource(
            lambda: nullcontext(np.memmap(path, dtype, "r", offset, shape, order="F"))
        )
    return RawSource(path, shape, dtype, offset)


def of_map(X: np.memmap[Any, Any]) -> Source:
    """Read a memory map through its file, if that is certain to hold the same numbers."""
    # A part of a map keeps its file's name, but not where in the file it begins, and a map that
    # is copied as it is written to (mode "c") differs from its file.
    whole = isinstance(X.base, mmap.mmap) and X.flags.c_contiguous and X.mode != "c"
    if whole and X.filename is not None and os.path.isfile(X.filename):
        path = Path(X.filename)
        if path.stat().st_size >= X.offset + X.nbytes:
            return RawSource(path, X.shape, X.dtype, X.offset)
    return SlicedSource(lambda: nullcontext(X))


def load_archive(location: Location, options: ReadOptions) -> ArrayContent:
    """Read the array that is named, or the only one with two dimensions. Nothing is unpickled."""
    tables: dict[str, Array] = {}
    pickled = []
    broken = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError)
    kind = "a file of numpy.savez"
    with opening(kind, location.label, *broken):
        if location.read(len(ARCHIVE_MAGIC)) != ARCHIVE_MAGIC:
            raise ValueError("it does not begin as one.")
        with location.open() as file, zipfile.ZipFile(file) as archive:
            sizes = {
                item.filename.removesuffix(".npy"): item.file_size for item in archive.infolist()
            }
    location.check_size(sizes.get(options.key, 0) if options.key else sum(sizes.values()))
    with (
        opening(kind, location.label, *broken),
        location.open() as file,
        np.load(file, allow_pickle=False) as found,
    ):
        for name in found.files:
            if options.key not in (None, name):
                tables[name] = np.empty(0)
                continue
            try:
                array = found[name]
            except ValueError as error:
                if "pickle" not in str(error) and "Object" not in str(error):
                    raise
                pickled.append(name)
                continue
            if getattr(array, "ndim", 0) == 2 or options.key == name:
                tables[name] = array
    if not tables or options.key in pickled:
        objects = ", but pickled objects, which are not loaded" if pickled else ""
        raise ValueError(f"{location} holds no array with two dimensions{objects}.")
    key = pick(tables, options.key, location.label)
    return ArrayContent(np.asanyarray(tables[key]), location, replace(options, key=key))


FORMAT = Format("NumPy", (".npy",), load, begins=lambda head: head.startswith(MAGIC))
ARCHIVE = Format(
    "NumPy archive",
    (".npz",),
    load_archive,
    ("key",),
    lambda head: head.startswith(ARCHIVE_MAGIC) and b".npy" in head[:512],
)
