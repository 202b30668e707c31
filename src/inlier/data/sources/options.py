"""How a file is to be read, and why its columns are not used as numbers."""

from collections.abc import Sequence
from dataclasses import dataclass

from inlier._internal.validation import check_whole

DELIMITER_NAMES = {"tab": "\t", "\\t": "\t", "space": " ", "comma": ",", "semicolon": ";"}


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
            if mark is not None and (len(mark) != 1 or mark.isalnum() or mark in "+-"):
                raise ValueError(f"{name}={mark!r} must be one mark, such as '.' or ','.")
        if decimal is not None and decimal == thousands:
            raise ValueError(f"decimal={decimal!r} and thousands={thousands!r} must differ.")
        if self.table is not None and self.query is not None:
            raise ValueError(f"table={self.table!r} and a query were both given: leave one out.")


@dataclass(frozen=True)
class Reason:
    """Why a column is not used as numbers: what it holds instead."""

    what: str
    example: str = ""
    """Shown if it is the only such column."""
    malformed: bool = False
    """It holds numbers, but for a few cells."""
    doubtful: bool = False
    """It holds numbers that can be read in two ways."""


TEXT = Reason("text")
LABELS = Reason("the labels of the rows")
