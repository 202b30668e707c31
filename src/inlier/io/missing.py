"""Entries that are missing or not finite: where they are, and what becomes of them."""

from dataclasses import dataclass, replace

import numpy as np

from inlier._internal.typing import Array, Mask
from inlier.data.sources.base import Source, blocks_of, listed, spooled
from inlier.data.sources.location import Location

CHOICES = ("error", "auto", "drop", "impute-robust")
SHOWN = 5


@dataclass(frozen=True)
class MissingCells:
    """Where entries are not finite."""

    rows: Array  # how many there are in each row
    columns: Array  # and in each column
    first: list[tuple[int, int]]  # row and column of the first few
    first_infinite: tuple[int, int] | None = None


@dataclass(frozen=True)
class CompleteTable:
    """A table that can be fitted, which columns and rows of the file it has, and what was done.

    It has gaps only with `missing="auto"`. A source has all rows of the file.
    """

    X: Array | Source
    columns: Array
    rows: Mask
    n_imputed: int = 0
    notes: tuple[str, ...] = ()


def find_missing(X: Array | Source) -> MissingCells:
    """Find the entries that are not finite, block by block."""
    n, d = X.shape
    rows, columns = np.zeros(n, int), np.zeros(d, int)
    first: list[tuple[int, int]] = []
    infinite: list[tuple[int, int]] = []
    start = 0
    for block in blocks_of(X) if np.dtype(X.dtype).kind == "f" else ():
        bad = ~np.isfinite(block)
        if bad.any():
            rows[start : start + len(block)] = bad.sum(axis=1)
            columns += bad.sum(axis=0)
            for found, cells in ((first, bad), (infinite, np.isinf(block))):
                places = np.argwhere(cells)[: SHOWN - len(found)]
                found.extend((start + int(i), int(j)) for i, j in places)
        start += len(block)
    return MissingCells(rows, columns, first, infinite[0] if infinite else None)


def handle_missing(
    X: Array | Source, missing: str, names: tuple[str, ...], location: Location
) -> CompleteTable:
    """Refuse gaps, leave them to the fit, drop their rows, or fill them with medians."""
    n, d = X.shape
    found = find_missing(X)
    if not found.first:
        return CompleteTable(X, np.arange(d), np.ones(n, bool))
    if missing == "error":
        raise _refusal(found, names, location)
    if missing == "auto" and found.first_infinite is not None:
        i, j = found.first_infinite
        raise ValueError(
            f"{location}: the entry in row {i + 1}, column {names[j]!r} is infinite. Use "
            "missing='drop' to leave such rows out, or missing='impute-robust' to put the median "
            "of the column in its place."
        )
    notes = []
    columns = np.flatnonzero(found.columns < n)
    if len(columns) < d:
        empty = [names[j] for j in np.flatnonzero(found.columns == n)]
        notes.append(f"Left out, because no entry is a finite number: {listed(empty)}.")
        if not len(columns):
            raise ValueError(f"{location} has no column of numbers to use. {notes[0]}")
        own = (block[:, columns] for block in blocks_of(X))
        X = spooled(own, len(columns), X.dtype) if isinstance(X, Source) else X[:, columns]
        found = find_missing(X)
    table = CompleteTable(X, columns, np.ones(n, bool), notes=tuple(notes))
    if not found.first:
        return table
    if missing == "drop":
        return _dropped(table, found)
    if isinstance(X, Source):
        raise ValueError(
            f"{location}: entries are missing, and with missing={missing!r} the table is held in "
            f"memory, but is larger than the {location.max_bytes:,} bytes that are allowed. Use "
            "missing='drop', which needs no memory, or raise the limit, "
            f"{location.limit}={location.max_bytes}."
        )
    return _with_gaps(table, X, found) if missing == "auto" else _imputed(table, X)


def _dropped(table: CompleteTable, found: MissingCells) -> CompleteTable:
    """Leave out the rows with gaps."""
    rows, X = found.rows == 0, table.X
    count, n = np.count_nonzero(~rows), len(rows)
    note = f"{count} of {n} rows were dropped, because entries are missing or not finite."
    X = X if isinstance(X, Source) else X[rows]
    return replace(table, X=X, rows=rows, notes=(*table.notes, note))


def _with_gaps(table: CompleteTable, X: Array, found: MissingCells) -> CompleteTable:
    """Leave out the rows that are nothing but gaps."""
    rows, notes = found.rows < X.shape[1], [*table.notes]
    gaps = found.rows[rows]
    if empty := np.count_nonzero(~rows):
        notes.append(f"{empty} of {len(rows)} rows were dropped, because they have no entry.")
    if count := int(gaps.sum()):
        notes.append(
            f"{count} {'entry is' if count == 1 else 'entries are'} missing, in "
            f"{np.count_nonzero(gaps)} of {len(gaps)} rows. Each row is judged by the entries that "
            "it has."
        )
    return replace(table, X=X[rows], rows=rows, notes=tuple(notes))


def _imputed(table: CompleteTable, X: Array) -> CompleteTable:
    """Put medians in place of the gaps."""
    bad, X = ~np.isfinite(X), X.copy()
    for column in np.flatnonzero(bad.any(axis=0)):
        gaps = bad[:, column]
        X[gaps, column] = np.median(X[~gaps, column])
    count = int(np.count_nonzero(bad))
    note = (
        f"{count} entries in {int(bad.any(axis=1).sum())} rows were missing or not finite, and "
        "became the medians of their columns."
    )
    return replace(table, X=X, n_imputed=count, notes=(*table.notes, note))


def _refusal(found: MissingCells, names: tuple[str, ...], location: Location) -> ValueError:
    count, n = int(found.columns.sum()), len(found.rows)
    places = "; ".join(f"row {i + 1}, column {names[j]!r}" for i, j in found.first)
    more = "; ..." if count > len(found.first) else ""
    empty = [names[j] for j in np.flatnonzero(found.columns == n)]
    are = "entry is" if count == 1 else "entries are"
    return ValueError(
        f"{location}: {count} {are} missing or not finite, in {np.count_nonzero(found.rows)} of "
        f"{n} rows and {np.count_nonzero(found.columns)} of {len(names)} columns: {places}{more}. "
        "Use missing='auto' to judge each row by the entries that it has, missing='drop' to leave "
        "these rows out, or missing='impute-robust' to put the median of the column in their place."
        + (f" Nothing is in {listed(empty)}: exclude it." if empty else "")
    )
