"""Contents of a file: named columns, those of numbers and the others."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from enum import Enum, auto
from functools import cached_property
from typing import Any

import numpy as np

from inlier._internal.arrays import pieces
from inlier._internal.typing import Array, Mask
from inlier.data.sources.base import SelectedColumns, SlicedSource, Source, arrow, listed
from inlier.data.sources.location import Location

# A block of rows that is looked through or copied.
BLOCK_BYTES = 1 << 23
# Memory for the name of a column.
NAME_BYTES = 100


@dataclass(frozen=True)
class ReadOptions:
    """How a file is to be read: given, or detected."""

    delimiter: str | None = None
    header: bool | None = None
    key: str | None = None
    table: str | None = None
    query: str | None = None
    na_values: tuple[str, ...] | None = None


class ReasonKind(Enum):
    """Kinds of columns that are not used as numbers."""

    TEXT = auto()
    MALFORMED = auto()
    """Numbers, but for a few cells."""
    INDEX = auto()
    """The index of a data frame, used if it is asked for."""
    OTHER = auto()


@dataclass(frozen=True)
class Reason:
    """Why a column is not used as numbers, in words for one column and for several."""

    kind: ReasonKind
    one: str
    many: str


def holds(what: str, kind: ReasonKind = ReasonKind.OTHER) -> Reason:
    """Return the reason that a column holds something else."""
    return Reason(kind, f"it holds {what}", f"they hold {what}")


TEXT = holds("text", ReasonKind.TEXT)
INDEX = Reason(ReasonKind.INDEX, "it is the index of pandas", "they are the index of pandas")


class Content(ABC):
    """Named columns of a file, some of which are numbers."""

    n: int
    names: tuple[str, ...]
    reasons: tuple[Reason | None, ...]
    """For each column, why it is not used as numbers."""
    options: ReadOptions
    """With what was detected."""
    notes: tuple[str, ...] = ()
    schema: Any = None
    """Of pyarrow, if the columns have types."""

    @abstractmethod
    def numbers(self, columns: list[int]) -> Array | Source:
        """Return some columns as floating point numbers, or as a source; missing is NaN."""

    @abstractmethod
    def words(self, column: int) -> Array:
        """Return a column as text."""

    @abstractmethod
    def tables(self, rows: Mask) -> Iterator[Any]:
        """Yield all columns of some rows, as one `pyarrow.Table` or several."""

    def arrays(self, rows: Mask) -> tuple[np.dtype[Any], Iterator[Array]]:
        """Return the dtype, and some rows of all columns in blocks."""
        X = self.numbers(list(range(len(self.names))))
        return np.dtype(X.dtype), _filtered(X, rows)

    def source(self, name: str) -> Source:
        """Return all columns as a source; the index of a data frame is left out."""
        for column, reason in zip(self.names, self.reasons, strict=True):
            if reason is not None and reason is not INDEX:
                raise ValueError(
                    f"{name} must hold real numbers, but column {column!r} does not: {reason.one}. "
                    "Select or encode the numeric columns first."
                )
        X = self.numbers([j for j, reason in enumerate(self.reasons) if reason is None])
        return X if isinstance(X, Source) else as_source(X)


class ArrayContent(Content):
    """A two-dimensional array, in memory or read block by block."""

    def __init__(self, array: Array | Source, location: Location, options: ReadOptions) -> None:
        shape, dtype = tuple(array.shape), np.dtype(array.dtype)
        if len(shape) != 2:
            raise ValueError(
                f"{location} must hold a table with rows and columns, but its array has shape "
                f"{shape}. Store it with two dimensions."
            )
        if dtype.kind not in "buif":
            raise ValueError(f"{location} must hold real numbers, but its array has dtype {dtype}.")
        self.array = array
        self.options = options
        self.n, self._d = shape
        self._location = location

    @cached_property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]
        """Names by number; a header may announce any number of columns."""
        self._location.check_size(self._d * (self.array.dtype.itemsize + NAME_BYTES))
        return tuple(f"x{j}" for j in range(self._d))

    @property
    def reasons(self) -> tuple[Reason | None, ...]:  # type: ignore[override]
        """All columns are used."""
        return (None,) * int(self._d)

    def source(self, name: str) -> Source:
        return self.array if isinstance(self.array, Source) else as_source(self.array)

    def numbers(self, columns: list[int]) -> Array | Source:
        """Return some columns; what is stored in a file stays there."""
        every = columns == list(range(len(self.names)))
        if isinstance(self.array, Source):
            return self.array if every else SelectedColumns(self.array, columns)
        return in_memory(self.array if every else self.array[:, columns])

    def words(self, column: int) -> Array:
        """Return a column as text, whole numbers without a point."""
        values = (x for block in blocks_of(self.array) for x in block[:, column].tolist())
        return np.array([str(int(x)) if x % 1 == 0 else str(x) for x in values], str)

    def arrays(self, rows: Mask) -> tuple[np.dtype[Any], Iterator[Array]]:
        """Return some rows in the dtype of the file."""
        return np.dtype(self.array.dtype), _filtered(self.array, rows)

    def tables(self, rows: Mask) -> Iterator[Any]:
        dtype, blocks = self.arrays(rows)
        # Of the floating point types, these two are known everywhere.
        odd = dtype.kind == "f" and dtype.itemsize not in (4, 8)
        dtype = np.dtype(np.float64) if odd else dtype.newbyteorder("=")
        for block in blocks:
            columns = np.ascontiguousarray(block.T, dtype)
            yield arrow().table(dict(zip(self.names, columns, strict=True)))


@dataclass(frozen=True)
class Format:
    """A format that can be read."""

    name: str
    suffixes: tuple[str, ...]
    """Of its files, in lower case."""
    load: Callable[[Location, ReadOptions], Content]
    options: tuple[str, ...] = ()
    """Fields of `ReadOptions` that the format has."""
    begins: Callable[[bytes], bool] = lambda head: False
    """Whether these are the first bytes of such a file."""


@contextmanager
def reading(location: Location, format: Format) -> Iterator[None]:
    """Name the file, whatever error a library raises: broken files break them in many ways."""
    try:
        yield
    except Exception as error:
        ours = type(error) is ValueError or isinstance(error, ImportError)
        if ours or getattr(error, "filename", None):
            raise
        if isinstance(error, MemoryError):
            raise MemoryError(f"{location} does not fit into memory. {error}".strip()) from None
        raise ValueError(
            f"{location} could not be read as {format.name}: {error}. It may be damaged."
        ) from None


def as_source(X: Array) -> Source:
    """Read an array in memory as a source."""
    return SlicedSource(lambda: nullcontext(X))


def blocks_of(X: Array | Source) -> Iterator[Array]:
    """Yield the rows of an array or a source in order."""
    n, d = X.shape
    height = max(1, BLOCK_BYTES // max(1, d * X.dtype.itemsize))
    if isinstance(X, Source):
        yield from X.blocks(height)
    else:
        yield from (X[rows] for rows in pieces(n, height))


def _filtered(X: Array | Source, rows: Mask) -> Iterator[Array]:
    start = 0
    for block in blocks_of(X):
        yield block[rows[start : start + len(block)]]
        start += len(block)


def in_memory(X: Array | Source) -> Array:
    """Return an array: single precision stays, everything else becomes double."""
    dtype = np.float32 if np.dtype(X.dtype).newbyteorder("=") == np.float32 else np.float64
    if not isinstance(X, Source):
        return np.ascontiguousarray(X, dtype)
    out, start = np.empty(X.shape, dtype), 0
    for block in blocks_of(X):
        out[start : start + len(block)] = block
        start += len(block)
    return out


def distinct(names: list[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Make names differ, such as "a" and "a.1"; and a note if they did not."""
    out: list[str] = []
    taken = set(names)
    seen: dict[str, int] = {}
    for name in names:
        unique = name
        if name in seen:
            while unique in taken:
                seen[name] += 1
                unique = f"{name}.{seen[name] - 1}"
            taken.add(unique)
        else:
            seen[name] = 1
        out.append(unique)
    changed = [new for old, new in zip(names, out, strict=True) if old != new]
    notes = (f"Columns of the same name were renamed: {listed(changed)}.",) if changed else ()
    return tuple(out), notes
