"""Entries that are missing or not finite: where they are, and what becomes of them."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from inlier._internal.typing import Array, Mask
from inlier.data.sources.base import Source, blocks_of, listed
from inlier.data.sources.location import Location

Missing = Literal["auto", "error", "drop", "impute-robust"]
SHOWN = 5


@dataclass(frozen=True)
class MissingCells:
    """Where entries are not finite."""

    rows: Array
    """How many there are in each row."""
    columns: Array
    """How many there are in each column."""
    first: list[tuple[int, int]]
    """Row and column of the first few."""
    infinite: tuple[int, int] | None
    """Row and column of the first that is infinite."""


def find_missing(X: Array | Source) -> MissingCells:
    """Find the entries that are not finite, block by block."""
    n, d = X.shape
    rows, columns = np.zeros(n, int), np.zeros(d, int)
    first: list[tuple[int, int]] = []
    infinite, start = None, 0
    for block in blocks_of(X) if np.dtype(X.dtype).kind == "f" else ():
        bad = ~np.isfinite(block)
        if bad.any():
            rows[start : start + len(block)] = bad.sum(axis=1)
            columns += bad.sum(axis=0)
            first += [(start + int(i), int(j)) for i, j in np.argwhere(bad)[: SHOWN - len(first)]]
            for i, j in np.argwhere(np.isinf(block))[: infinite is None]:
                infinite = (start + int(i), int(j))
        start += len(block)
    return MissingCells(rows, columns, first, infinite)


def handle_missing(
    X: Array | Source,
    found: MissingCells,
    missing: str,
    names: tuple[str, ...],
    location: Location,
) -> tuple[Array | Source, Mask, list[str]]:
    """Refuse gaps, leave them to the fit, drop their rows, or fill them with medians.

    Returns the table, which rows of the file are in the fit, and notes. A source has all rows.
    """
    n, d = X.shape
    rows, count = np.ones(n, np.bool_), int(found.columns.sum())
    if not count:
        return X, rows, []
    if missing == "error":
        raise _refusal(found, names, location)
    if missing == "drop":
        rows = found.rows == 0
        dropped = int(np.count_nonzero(~rows))
        note = f"{_dropped(dropped, n)}, because entries are missing or not finite."
        return X if isinstance(X, Source) else X[rows], rows, [note]
    if isinstance(X, Source):
        raise ValueError(
            f"{location}: entries are missing, and with missing={missing!r} the table is held in "
            f"memory, but is larger than the {location.max_bytes:,} bytes that are allowed. Use "
            "missing='drop', which needs no memory, or raise the limit, "
            f"{location.limit}={location.max_bytes}."
        )
    if missing == "auto":
        rows, notes = found.rows < d, []
        gaps = found.rows[rows]
        if empty := int(np.count_nonzero(~rows)):
            why = "it has no entry" if empty == 1 else "they have no entry"
            notes.append(f"{_dropped(empty, n)}, because {why}.")
        if left := int(gaps.sum()):
            notes.append(
                f"{left} {'entry is' if left == 1 else 'entries are'} missing, in "
                f"{np.count_nonzero(gaps)} of {len(gaps)} rows. Each row is judged by the entries "
                "that it has."
            )
        return X[rows], rows, notes
    X = X.copy()
    for column in np.flatnonzero(found.columns):
        gaps = ~np.isfinite(X[:, column])
        X[gaps, column] = np.median(X[~gaps, column])
    note = (
        f"{count} entries in {np.count_nonzero(found.rows)} rows were missing or not finite, and "
        "became the medians of their columns."
    )
    return X, rows, [note]


def _dropped(count: int, n: int) -> str:
    return f"{count} of {n} rows {'was' if count == 1 else 'were'} dropped"


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
