"""Arrays with missing cells, each of which counts as the median of its column."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from inlier._internal.arrays import pieces
from inlier._internal.typing import Array, Mask
from inlier.data.arrays import DenseTable
from inlier.data.finite import check_finite

# Cells that are looked at in one go.
ELEMENTS = 1 << 22
# Columns that a message names.
NAMED = 5
NONE = np.empty(0, np.intp)


@dataclass(frozen=True, eq=False)
class Gaps:
    """How many cells of each column are missing, and what they count as.

    Attributes
    ----------
    n_rows : int
    counts : int array of shape (d,)
    fill : array of shape (d,)
        The median of the cells that the column has.
    aside : int array
        Columns by which no row is judged: so few rows have a value there that they stood out for
        having one. All of their cells count as the median.
    unknown : int array
        The columns of which no kept row has a cell.
    """

    n_rows: int
    counts: Array = field(repr=False)
    fill: Array = field(repr=False)
    aside: Array = field(default_factory=lambda: NONE, repr=False)
    unknown: Array = field(default_factory=lambda: NONE, repr=False)

    @property
    def mostly(self) -> Array:
        """The columns of which more than half is missing."""
        return np.flatnonzero(2 * self.counts > self.n_rows)

    def note(self, columns: tuple[str, ...] | None) -> str:
        """What a reader of the result has to know."""
        n, k = int(self.counts.sum()), int(np.count_nonzero(self.counts))
        cells = "1 missing cell" if n == 1 else f"{n} missing cells"
        verb, own = ("counts", "its") if n == 1 else ("count", "their")
        note = (
            f"{cells} (in {k} column{'s' * (k > 1)}) {verb} as the median of {own} column in the "
            "certificate; each mean is over the rows that have the cell."
        )
        if len(self.mostly):
            note += f" More than half is missing in {listed_columns(self.mostly, columns)}."
        if len(self.aside):
            note += (
                f" No row is judged by {listed_columns(self.aside, columns)}: most rows with a "
                "value there would have gone."
            )
        if len(self.unknown):
            note += (
                f" No kept row has a value in {listed_columns(self.unknown, columns)}: the mean "
                "there is the median of all rows."
            )
        return note


class FilledTable(DenseTable):
    """A numpy array whose missing cells hold the medians of their columns.

    So a missing cell says nothing about its row. The array is a copy, which nobody else has.

    Parameters
    ----------
    Y : array of shape (n, d)
        Filled.
    missing : boolean array of shape (n, d)
        Which cells are.
    fill : array of shape (d,)
        What they are filled with, in double precision.
    aside : int array
        Columns by which no row is to be judged: filled as a whole.
    """

    def __init__(self, Y: Array, missing: Mask, fill: Array, aside: Array = NONE) -> None:
        super().__init__(Y)
        self.missing, self.fill, self.aside = missing, fill, aside
        self._counts = missing.sum(axis=0)
        self._cells = Y[:, aside]  # a copy
        Y[:, aside] = fill[aside]

    @property
    def gaps(self) -> Gaps:
        """How many cells of each column are missing."""
        return Gaps(self.shape[0], self._counts, self.fill, self.aside)

    def without(self, columns: Array) -> FilledTable:
        """The table with no row judged by these columns either; this one is of no use any more."""
        self._Y[:, self.aside] = self._cells
        return FilledTable(self._Y, self.missing, self.fill, np.union1d(self.aside, columns))

    def cells(self, row: int) -> Array:
        """A row with all cells that it has."""
        cells: Array = self._Y[row].astype(np.float64)
        cells[self.aside] = self._cells[row]
        return cells

    def known(self, kept: Mask) -> tuple[Array, Array]:
        """The mean of each column over some rows that have the cell, and how many these are.

        Where there is none the mean is the median of the column. In one pass.
        """
        _, drift, counts = self.sums(kept)
        return self.fill + drift / np.maximum(counts, 1), counts

    def sums(self, kept: Mask) -> tuple[Array, Array, Array]:
        """Of the cells that some rows have, about what the others are filled with, by column.

        The sum of their squares, their sum, and how many they are. In one pass.
        """
        self.n_passes += 1
        n, d = self.shape
        squares, drift, counts = np.zeros(d), np.zeros(d), np.zeros(d, np.intp)
        for part in pieces(n, max(1, ELEMENTS // d)):
            inside = kept[part]
            # A missing cell is what is taken off, so that it adds nothing.
            offset = self._Y[part][inside].astype(np.float64, copy=False) - self.fill
            offset[:, self.aside] = self._cells[part][inside] - self.fill[self.aside]
            drift += offset.sum(axis=0)
            with np.errstate(over="ignore", under="ignore"):
                squares += np.einsum("ij,ij->j", offset, offset)
            counts += np.count_nonzero(~self.missing[part][inside], axis=0)
        return squares, drift, counts

    def deviation_from_median(self, j: int) -> float:
        """The median absolute deviation of the cells that a column has."""
        there = self._Y[~self.missing[:, j], j].astype(np.float64)  # of no column set aside
        return middle(np.abs(there - self.fill[j]))


def find_missing(X: Array, name: str) -> Mask | None:
    """Which cells of an array are NaN; None if none is. Infinity is an error.

    Parameters
    ----------
    X : array of shape (n, d)
    name : str
        What messages call it.
    """
    if X.dtype.kind != "f":
        return None
    found: Mask | None = None
    for part in pieces(X.shape[0], max(1, ELEMENTS // X.shape[1])):
        block = X[part]
        with np.errstate(over="ignore", invalid="ignore"):
            if np.isfinite(block.sum()):  # cheap, and a proof
                continue
        empty = np.isnan(block)
        check_finite(np.where(empty, 0.0, block), name, part.start)
        if empty.any():
            found = np.zeros(X.shape, np.bool_) if found is None else found
            found[part] = empty
    return found


def filled(
    X: Array,
    missing: Mask,
    name: str,
    columns: tuple[str, ...] | None = None,
    fill: Array | None = None,
    aside: Array = NONE,
) -> FilledTable:
    """A copy of an array with something in the place of each missing cell.

    Parameters
    ----------
    X : array of shape (n, d)
    missing : boolean array of shape (n, d)
        Which cells are.
    name : str
        What messages call it.
    columns : tuple of str, optional
        The names of the columns.
    fill : array of shape (d,), optional
        What to fill in; by default the median of the cells that the column has.
    aside : int array
        Columns that are filled as a whole.
    """
    _check_rows(missing, name)
    if fill is None:
        nowhere = np.flatnonzero(missing.all(axis=0))
        if len(nowhere):
            raise ValueError(
                f"{name} has no value at all in {listed_columns(nowhere, columns)}. Leave such "
                "columns out: there is nothing to take a mean of."
            )
        fill = _medians(X, missing)
    # In the precision of the data, so that what is filled in can be taken off without a rest.
    rounded = fill.astype(X.dtype)
    Y = X.copy(order="K")
    np.copyto(Y, rounded, where=missing)
    return FilledTable(Y, missing, rounded.astype(np.float64), aside)


def _check_rows(missing: Mask, name: str) -> None:
    """Of a row without any cell nobody can say whether it is good."""
    empty = np.flatnonzero(missing.all(axis=1))
    if len(empty):
        shown = ", ".join(str(i) for i in empty[:NAMED]) + (", ..." if empty[NAMED:].any() else "")
        rows = "rows" if len(empty) > 1 else "row"
        raise ValueError(
            f"{name} has no value at all in {rows} {shown} (counted from 0). Leave such rows out: "
            "there is nothing to judge them by."
        )


def _medians(X: Array, missing: Mask) -> Array:
    """Of the cells that each column has."""
    n, d = X.shape
    found = np.empty(d)
    for part in pieces(d, max(1, ELEMENTS // n)):
        block, there = np.ascontiguousarray(X[:, part].T), ~missing[:, part].T
        found[part] = [middle(x[here]) for x, here in zip(block, there, strict=True)]
    return found


def middle(x: Array) -> float:
    """The median of some numbers."""
    places = [(len(x) - 1) // 2, len(x) // 2]
    low, high = np.partition(x, places)[places].astype(np.float64)
    # Halved before they are added, because the sum of large numbers may be none.
    return float(low / 2.0 + high / 2.0)


def listed_columns(which: Array, columns: tuple[str, ...] | None) -> str:
    """Columns in a sentence: by their names or, where they have none, their numbers."""
    names = [str(j) if columns is None else repr(columns[j]) for j in which[:NAMED].tolist()]
    what = "column" if len(which) == 1 else "columns"
    return f"{what} {', '.join(names)}{', ...' if len(which) > NAMED else ''}"
