"""Contents of a file: named columns, those of numbers and the others."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from inlier._internal.arrays import working_precision
from inlier._internal.typing import Array, Mask
from inlier._internal.validation import check_whole
from inlier.data.sources.base import Source, arrow, as_source, listed, spooled
from inlier.data.sources.location import Location

# A table that is loaded is held as an array, and in what a fit makes of it.
COPIES = 4
DELIMITER_NAMES = {"tab": "\t", "\\t": "\t", "space": " ", "comma": ",", "semicolon": ";"}
# Rows of a table that is written.
TABLE_BYTES = 1 << 26


@dataclass(frozen=True)
class ReadOptions:
    """How a file is to be read: given, or detected."""

    delimiter: str | None = None
    header: bool | None = None
    skip: int | None = None
    """Lines at the top of a text that are left out."""
    decimal: str | None = None
    thousands: str | None = None
    na_values: Sequence[str] | None = None
    """Additional markers of missing values; numbers are compared as numbers."""
    key: str | None = None
    """Array in a .npz, .mat, HDF5 or Zarr file."""
    table: str | None = None
    """Table in a database, or sheet."""
    query: str | None = None
    """SELECT statement."""

    def __post_init__(self) -> None:
        """Check the marks, and what excludes each other."""
        delimiter, decimal, thousands = self.delimiter, self.decimal, self.thousands
        object.__setattr__(self, "na_values", tuple(self.na_values or ()) or None)
        if self.skip is not None:
            check_whole(self.skip, "skip", at_least=0)
        if delimiter is not None:
            delimiter = DELIMITER_NAMES.get(delimiter, delimiter)
            if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n':
                raise ValueError(f"delimiter={delimiter!r} must be one character such as ','.")
            object.__setattr__(self, "delimiter", delimiter)
        for name, mark in (("decimal", decimal), ("thousands", thousands)):
            if mark is not None and (len(mark) != 1 or mark.isalnum() or mark in "+-^\\]"):
                raise ValueError(f"{name}={mark!r} must be one mark, such as '.' or ','.")
        if decimal is not None and decimal == thousands:
            raise ValueError(f"decimal={decimal!r} and thousands={thousands!r} must differ.")
        if self.table is not None and self.query is not None:
            raise ValueError(f"table={self.table!r} and a query were both given: leave one out.")


@dataclass(frozen=True)
class Reason:
    """Why a column is not used as numbers, in words for one column and for several."""

    one: str
    many: str
    malformed: bool = False
    """It holds numbers, but for a few cells."""
    doubtful: bool = False
    """It holds numbers that can be read in two ways."""

    def such_as(self, cell: str) -> "Reason":
        """Return the same with an example, which is shown of one column only."""
        return replace(self, one=f"{self.one} such as {cell!r}")


def holds(what: str, **kind: bool) -> Reason:
    """Return the reason that a column holds something else."""
    return Reason(f"it holds {what}", f"they hold {what}", **kind)


TEXT = holds("text")
LABELS = Reason("it has the labels of the rows", "they have the labels of the rows")


class Content(ABC):
    """Named columns of a file, some of which are numbers. It is read again whenever asked."""

    n: int
    names: tuple[str, ...]
    reasons: tuple[Reason | None, ...]
    """For each column, why it is not used as numbers."""
    location: Location
    options: ReadOptions
    """With what was detected."""
    notes: tuple[str, ...] = ()
    label: int | None = None
    """The column with the labels of the rows, such as the index of a data frame."""
    schema: Any = None
    """Of pyarrow, if the columns have types."""
    unseen: Collection[str] = ()
    """Markers of missing values that occur nowhere, once the numbers were read."""
    first_line: int | None = None
    """The line of a text in which the first row is."""

    @abstractmethod
    def blocks(self, columns: list[int]) -> tuple[np.dtype[Any], Iterator[Array]]:
        """Return the dtype of some columns, and yield their numbers in blocks of rows."""

    @abstractmethod
    def batches(self, columns: list[int]) -> Iterator[Any]:
        """Yield some columns in record batches of pyarrow."""

    def numbers(self, columns: list[int]) -> Array | Source:
        """Return some columns as floating point numbers, or as a source; missing is NaN."""
        stored, blocks = self.blocks(columns)
        dtype = working_precision(stored.newbyteorder("=").name)
        if not self.location.fits(COPIES * self.n * len(columns) * dtype.itemsize):
            return spooled(blocks, len(columns), dtype)
        out, start = np.empty((self.n, len(columns)), dtype), 0
        for block in blocks:
            out[start : start + len(block)] = block
            start += len(block)
        return out

    def cells(self, columns: list[int]) -> Iterator[Any]:
        """Yield some columns as they are stored."""
        return self.batches(columns)

    def words(self, column: int) -> Array:
        """Return a column as text, in which what is missing is empty."""
        return np.concatenate([_words(batch.column(0)) for batch in self.cells([column])])

    def decimal(self, column: int) -> str:
        """Return the decimal mark of a column of text."""
        return "."

    def source(self, name: str) -> Source:
        """Return all columns as a source, but those with the labels of the rows."""
        for column, reason in zip(self.names, self.reasons, strict=True):
            if reason is not None and reason is not LABELS:
                raise ValueError(
                    f"{name} must hold real numbers, but column {column!r} does not: {reason.one}. "
                    "Select or encode the numeric columns first."
                )
        X = self.numbers([j for j, reason in enumerate(self.reasons) if reason is None])
        return X if isinstance(X, Source) else as_source(X)


@dataclass(frozen=True)
class Format:
    """A format that can be read."""

    name: str
    suffixes: tuple[str, ...]
    """Of its files, in lower case."""
    load: Callable[[Location, ReadOptions], Content]
    options: tuple[str, ...] = ()
    """Fields of `ReadOptions` that the format has."""
    magic: bytes = b"(?!)"
    """A pattern of the first bytes of such a file."""


def gathered(batches: Iterator[Any], rows: Mask) -> Iterator[Any]:
    """Yield some rows of small batches in larger tables, at least one."""
    pa = arrow()
    held: list[Any] = []
    start = 0
    for batch in batches:
        kept = batch.filter(pa.array(rows[start : start + len(batch)]))
        start += len(batch)
        if held and sum(part.nbytes for part in (*held, kept)) > TABLE_BYTES:
            yield pa.Table.from_batches(held)
            held = []
        held.append(kept)
    yield pa.Table.from_batches(held)


def _words(cells: Any) -> Array:
    try:
        found = cells.cast(arrow().string()).to_pylist()
    except arrow().ArrowException:  # lists and the like
        found = [None if cell is None else str(cell) for cell in cells.to_pylist()]
    return np.array(["" if cell is None else cell for cell in found], object)


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
                unique = f"{name}.{seen[name]}"
            taken.add(unique)
        seen.setdefault(name, 0)
        out.append(unique)
    changed = [new for old, new in zip(names, out, strict=True) if old != new]
    notes = (f"Columns of the same name were renamed: {listed(changed)}.",) if changed else ()
    return tuple(out), notes
