"""Entries that are missing or not finite: where they are, and what becomes of them."""

from dataclasses import dataclass

import numpy as np

from inlier._internal.typing import Array, Mask
from inlier.data.sources.base import SelectedColumns, Source, listed
from inlier.data.sources.content import blocks_of, in_memory
from inlier.data.sources.location import Location

CHOICES = ("error", "auto", "drop", "impute-robust")
SHOWN = 5
# Memory for an entry of a table with gaps: the table, what is fitted, and where the gaps are.
ENTRY_BYTES = 17


@dataclass(frozen=True)
class MissingCells:
    """Where entries are not finite."""

    rows: Mask  # which rows have one
    columns: Array  # how many there are in each column
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
    n_imputed: int
    notes: tuple[str, ...]


def find_missing(X: Array | Source) -> MissingCells:
    """Find the entries that are not finite, block by block."""
    n, d = X.shape
    rows, columns = np.zeros(n, bool), np.zeros(d, int)
    first: list[tuple[int, int]] = []
    infinite: tuple[int, int] | None = None
    start = 0
    for block in blocks_of(X) if np.dtype(X.dtype).kind == "f" else ():
        bad = ~np.isfinite(block)
        if bad.any():
            rows[start : start + len(block)] = bad.any(axis=1)
            columns += bad.sum(axis=0)
            places = np.argwhere(bad)[: SHOWN - len(first)]
            first.extend((start + int(i), int(j)) for i, j in places)
            if infinite is None and len(places := np.argwhere(np.isinf(block))):
                infinite = (start + int(places[0, 0]), int(places[0, 1]))
        start += len(block)
    return MissingCells(rows, columns, first, infinite)


def handle_missing(
    X: Array | Source, missing: str, names: tuple[str, ...], location: Location
) -> CompleteTable:
    """Refuse gaps, leave them to the fit, drop their rows, or fill them with medians."""
    n, d = X.shape
    found = find_missing(X)
    if not found.rows.any():
        return CompleteTable(X, np.arange(d), np.ones(n, bool), 0, ())
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
        X = SelectedColumns(X, columns.tolist()) if isinstance(X, Source) else X[:, columns]
        found = find_missing(X)
    if missing == "drop":
        complete = ~found.rows
        if count := int(found.rows.sum()):
            notes.append(
                f"{count} of {n} rows were dropped, because entries are missing or not finite."
            )
        kept = X if isinstance(X, Source) else X[complete]
        return CompleteTable(kept, columns, complete, 0, tuple(notes))
    X = _loaded(X, missing, location)
    bad = ~np.isfinite(X)
    rows: Mask = np.ones(n, bool)
    n_imputed: int = 0
    if missing == "auto":
        rows = np.logical_not(bad.all(axis=1))
        X = X[rows]
        notes += _notes(bad, rows)
    else:
        X = X.copy()
        for column in np.flatnonzero(bad.any(axis=0)):
            gaps = bad[:, column]
            X[gaps, column] = np.median(X[~gaps, column])
        n_imputed = int(np.count_nonzero(bad))
        if n_imputed > 0:
            notes.append(
                f"{n_imputed} entries in {int(bad.any(axis=1).sum())} rows were missing or not "
                "finite, and became the medians of their columns."
            )
    return CompleteTable(X, columns, rows, n_imputed, tuple(notes))


def _loaded(X: Array | Source, missing: str, location: Location) -> Array:
    """Load a table, whose gaps are filled in memory only."""
    if isinstance(X, Source) and not location.fits(size := ENTRY_BYTES * X.shape[0] * X.shape[1]):
        raise ValueError(
            f"{location}: entries are missing, and with missing={missing!r} the table is held in "
            f"memory, which takes {size:,} bytes, more than the {location.max_bytes:,} that are "
            "allowed. Use missing='drop', which needs no memory, or raise the limit, "
            f"{location.limit}={location.max_bytes}."
        )
    return in_memory(X)


def _notes(bad: Mask, rows: Mask) -> list[str]:
    """Describe gaps that stay, and rows that are nothing but gaps."""
    notes = []
    if empty := len(rows) - int(rows.sum()):
        notes.append(f"{empty} of {len(rows)} rows were dropped, because they have no entry.")
    if count := int(bad[rows].sum()):
        are = "entry is" if count == 1 else "entries are"
        notes.append(
            f"{count} {are} missing, in {int(bad[rows].any(axis=1).sum())} of {int(rows.sum())} "
            "rows. Each row is judged by the entries that it has."
        )
    return notes


def _refusal(found: MissingCells, names: tuple[str, ...], location: Location) -> ValueError:
    count, n = int(found.columns.sum()), len(found.rows)
    places = "; ".join(f"row {i + 1}, column {names[j]!r}" for i, j in found.first)
    more = "; ..." if count > len(found.first) else ""
    empty = [names[j] for j in np.flatnonzero(found.columns == n)]
    are = "entry is" if count == 1 else "entries are"
    return ValueError(
        f"{location}: {count} {are} missing or not finite, in {int(found.rows.sum())} of {n} "
        f"rows and {np.count_nonzero(found.columns)} of {len(names)} columns: {places}{more}. Use "
        "missing='auto' to judge each row by the entries that it has, missing='drop' to leave "
        "these rows out, or missing='impute-robust' to put the median of the column in their place."
        + (f" Nothing is in {listed(empty)}: exclude it." if empty else "")
    )
