"""Entries that are missing or not finite: where they are, and what becomes of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from inlier._internal.typing import Array, Mask
from inlier.io.base import Place, blocks, in_memory, listed

CHOICES = ("error", "auto", "drop", "impute-robust")
SHOWN = 5


@dataclass(frozen=True)
class MissingCells:
    """Where entries are not finite.

    Attributes
    ----------
    rows : Mask
        Which rows have one.
    columns : Array
        How many there are in each column.
    first : list of tuple
        Row and column of the first few.
    """

    rows: Mask
    columns: Array
    first: list[tuple[int, int]]


@dataclass(frozen=True)
class CompleteTable:
    """A table that can be fitted, which columns and rows of the old one it has, and what was done.

    There are gaps in it only if they were to stay.
    """

    X: Any
    columns: Array
    rows: Mask
    n_imputed: int
    notes: tuple[str, ...]


def look(X: Any) -> MissingCells:
    """Go through a table block by block; what is stored in a file stays there."""
    n, d = X.shape
    gaps = MissingCells(np.zeros(n, bool), np.zeros(d, int), [])
    if np.dtype(X.dtype).kind != "f":
        return gaps
    start = 0
    for block in blocks(X):
        bad = ~np.isfinite(block)
        if bad.any():
            gaps.rows[start : start + len(block)] = bad.any(axis=1)
            gaps.columns[:] += bad.sum(axis=0)
            if len(gaps.first) < SHOWN:
                places = np.argwhere(bad)[: SHOWN - len(gaps.first)]
                gaps.first.extend((start + int(i), int(j)) for i, j in places)
        start += len(block)
    return gaps


def settle(X: Any, missing: str, names: tuple[str, ...], place: Place) -> CompleteTable:
    """Refuse gaps, leave them to the fit, drop their rows, or fill them with medians."""
    n, d = X.shape
    gaps = look(X)
    if not gaps.rows.any():
        return CompleteTable(X, np.arange(d), np.ones(n, bool), 0, ())
    if missing == "error":
        raise ValueError(_message(gaps, names, place))
    notes = []
    if missing == "auto":
        _check_infinite(X, names, place)
    columns = np.flatnonzero(gaps.columns < n)
    if len(columns) < d:
        empty = [names[j] for j in np.flatnonzero(gaps.columns == n)]
        notes.append(f"Left out, because no entry is a finite number: {listed(empty)}.")
        if not len(columns):
            raise ValueError(f"{place} has no column of numbers to use. {notes[0]}")
    X = in_memory(X)[:, columns]  # a copy, which may be filled
    bad = ~np.isfinite(X)
    rows = np.ones(n, bool)
    n_imputed = 0
    if missing == "auto":
        rows = ~bad.all(axis=1)
        X = X[rows]
        notes += _notes(bad, rows)
    elif missing == "drop":
        rows = ~bad.any(axis=1)
        X = X[rows]
        if count := n - int(rows.sum()):
            notes.append(
                f"{count} of {n} rows were dropped, because entries are missing or not finite."
            )
    else:
        for j in np.flatnonzero(bad.any(axis=0)):
            X[bad[:, j], j] = np.median(X[~bad[:, j], j])
        if n_imputed := int(bad.sum()):
            notes.append(
                f"{n_imputed} entries in {int(bad.any(axis=1).sum())} rows were missing or not "
                "finite, and became the medians of their columns."
            )
    return CompleteTable(X, columns, rows, n_imputed, tuple(notes))


def _notes(bad: Mask, rows: Mask) -> list[str]:
    """What there is to say about gaps that stay, and rows that are nothing but gaps."""
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


def _check_infinite(X: Any, names: tuple[str, ...], place: Place) -> None:
    """An infinity is no gap: somebody wrote it."""
    start = 0
    for block in blocks(X):
        places = np.argwhere(np.isinf(block))
        if len(places):
            i, j = (int(x) for x in places[0])
            raise ValueError(
                f"{place}: the entry in row {start + i + 1}, column {names[j]!r} is infinite. Use "
                'missing="drop" to leave such rows out, or missing="impute-robust" to put the '
                "median of the column in its place."
            )
        start += len(block)


def _message(gaps: MissingCells, names: tuple[str, ...], place: Place) -> str:
    count, n = int(gaps.columns.sum()), len(gaps.rows)
    places = "; ".join(f"row {i + 1}, column {names[j]!r}" for i, j in gaps.first)
    more = "; ..." if count > len(gaps.first) else ""
    empty = [names[j] for j in np.flatnonzero(gaps.columns == n)]
    are = "entry is" if count == 1 else "entries are"
    nothing = f" Nothing is in {listed(empty)}: exclude it." if empty else ""
    return (
        f"{place}: {count} {are} missing or not finite, in {int(gaps.rows.sum())} of {n} "
        f"rows and {np.count_nonzero(gaps.columns)} of {len(names)} columns: {places}{more}. Use "
        'missing="auto" to judge each row by the entries that it has, missing="drop" to leave '
        'these rows out, or missing="impute-robust" to put the median of the column in their '
        f"place.{nothing}"
    )
