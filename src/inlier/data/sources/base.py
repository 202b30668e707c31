"""Sources of rows that are read in blocks, and what the errors of all formats have in common."""

import tempfile
import weakref
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from difflib import get_close_matches
from typing import Any

import numpy as np

from inlier._internal.arrays import pieces
from inlier._internal.optional import optional
from inlier._internal.typing import Array

# A block of rows that is looked through or copied.
BLOCK_BYTES = 1 << 23
# Rows that are read together where they are not stored in chunks.
NEAR_ROWS = 1 << 10


class Source:
    """Rows of an array that can be sliced: of Zarr and HDF5, a memory map, an array in memory.

    `opened` returns a context in which the array is open.
    """

    columns: tuple[str, ...] | None = None
    """The names of the columns, if the file has them."""

    def __init__(self, opened: Callable[[], AbstractContextManager[Any]]) -> None:
        self.opened = opened
        with opened() as X:
            self.shape: tuple[int, ...] = tuple(X.shape or ())
            self.dtype: np.dtype[Any] = np.dtype(X.dtype).newbyteorder("=")
            # A shard of zarr holds many chunks, and is stored as a whole.
            stored = getattr(X, "shards", None) or getattr(X, "chunks", None)
        self.stored = tuple(map(int, stored)) if stored and len(stored) == 2 else (1, 1)
        """Rows and columns of a stored chunk, which can only be read as a whole."""

    def blocks(self, height: int) -> Generator[Array]:
        """Yield all rows in order, in blocks of at most so many rows.

        The caller owns the block. What was opened is closed with the generator.
        """
        for rows in pieces(self.shape[0], height):
            with self.opened() as X:  # again: what is mapped would stay resident
                block = self._sliced(X, rows, slice(None))
            yield block

    def some(self, rows: Array, columns: slice) -> Array:
        """Return a few rows, at least one, by their numbers, which increase.

        Those of one stored chunk are read together.
        """
        piece = self.stored[0] if self.stored[0] > 1 else NEAR_ROWS
        borders = np.flatnonzero(np.diff(rows // piece)) + 1
        spans, found = np.split(rows, borders), []
        row = self.shape[1] * self.dtype.itemsize
        for part in pieces(len(spans), max(1, BLOCK_BYTES // (piece * row))):
            with self.opened() as X:  # again, as in `blocks`
                for near in spans[part]:
                    first, last = int(near[0]), int(near[-1])
                    found.append(self._sliced(X, slice(first, last + 1), columns)[near - first])
        return np.concatenate(found)

    def _sliced(self, X: Any, rows: slice, columns: slice) -> Array:
        # Of an array in memory this would be a view; of a map it is read now.
        copy = isinstance(X, np.ndarray) or None
        return np.array(X[rows, columns], self.dtype, copy=copy)


def as_source(X: Any) -> Source:
    """Read an array in memory, or one that is open, as a source."""
    return Source(lambda: nullcontext(X))


def spooled(blocks: Iterable[Array], d: int, dtype: np.dtype[Any]) -> Source:
    """Write rows once to a temporary file without a name, which goes with what is returned."""
    n = 0
    file = tempfile.TemporaryFile(prefix="inlier-")  # noqa: SIM115 - closed with the source
    try:
        for block in blocks:
            file.write(np.ascontiguousarray(block, dtype).data)
            n += len(block)
        file.flush()
    except OSError as error:
        raise OSError(
            f"The numbers could not be written to a temporary file in {tempfile.gettempdir()!r}: "
            f"{error.strerror}. Set TMPDIR to another folder."
        ) from None
    source = Source(lambda: nullcontext(np.memmap(file, dtype, "r", shape=(n, d))))
    weakref.finalize(source, file.close)
    return source


def blocks_of(X: Array | Source) -> Iterator[Array]:
    """Yield the rows of an array or a source in order."""
    n, d = X.shape
    height = max(1, BLOCK_BYTES // max(1, d * X.dtype.itemsize))
    if isinstance(X, Source):
        yield from X.blocks(height)
    else:
        yield from (X[rows] for rows in pieces(n, height))


def package(module: str, extra: str = "files") -> Any:
    """Import a module that reads or writes some format."""
    return optional(module, "To read or write such a file", extra)


def arrow(module: str = "pyarrow") -> Any:
    """Import a module of pyarrow."""
    return package(module, "cli")


@contextmanager
def reading(label: str) -> Iterator[None]:
    """Name the file, whatever error a library raises: broken files break them in many ways."""
    try:
        yield
    except Exception as error:
        known = isinstance(error, ImportError) or getattr(error, "filename", None)
        if known or label in str(error):
            raise
        kind = MemoryError if isinstance(error, MemoryError) else ValueError
        said = str(error).rstrip(".")
        raise kind(f"{label} could not be read: {said}. It may be damaged.") from None


def pick(found: Iterable[str], key: str | None, name: str, argument: str = "key") -> str:
    """Return the table of a file that is named, or the only one."""
    names = sorted(found)
    if key is not None and key not in names:
        raise ValueError(
            f"{argument}={key!r}: {name} has no such table, but {listed(names) or 'none'}."
            f"{close_matches(key, names)}"
        )
    if key is None and len(names) != 1:
        if not names:
            raise ValueError(f"{name} holds no table.")
        path = f", or as in 'file::{names[0]}'" if argument == "key" else ""
        raise ValueError(
            f"{name} holds {len(names)} tables: {listed(names)}. Name one with "
            f"{argument}={names[0]!r}{path}."
        )
    return names[0] if key is None else key


def close_matches(name: str, names: Iterable[str]) -> str:
    """Ask for the names that one may be a misspelling of."""
    near = get_close_matches(name, list(names), n=3)
    return f" Did you mean {' or '.join(map(repr, near))}?" if near else ""


def listed(names: Iterable[str]) -> str:
    """List up to ten names, or the first five and their number."""
    shown = [repr(name) for name in names]
    if len(shown) <= 10:
        return ", ".join(shown)
    return f"{', '.join(shown[:5])}, ... ({len(shown)} in all)"
