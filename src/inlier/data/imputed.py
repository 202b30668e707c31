"""Arrays of which some cells are missing or set aside: they hold the medians of their columns."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from inlier._internal.arrays import (
    blocks_of,
    double,
    dtype_name,
    like,
    median,
    namespace,
    of_columns,
    on_host,
)
from inlier._internal.typing import Array, Mask
from inlier.data.arrays import DenseTable
from inlier.data.base import ColumnSums
from inlier.data.measures import Fences

# Columns or rows that a message lists.
NAMED = 5
NONE = np.empty(0, np.intp)
NO_CELLS = np.empty((0, 2), np.intp)


@dataclass(frozen=True, eq=False)
class Gaps:
    """Which cells do not count: missing ones, those set aside, and all of some columns."""

    fill: Array | None = field(default=None, repr=False)
    """The median of the cells that count in each column; None if these are still to be computed."""
    cells: Array = field(default_factory=lambda: NO_CELLS, repr=False)
    """k x 2: row and column of the extreme cells that were set aside."""
    values: Array = field(default_factory=lambda: NONE, repr=False)
    """k: what these cells held."""
    fences: Fences | None = field(default=None, repr=False)
    """Beyond which cells are extreme."""
    ignored: Array = field(default_factory=lambda: NONE, repr=False)
    """Columns that are ignored in the fit: so few rows have a value there that having one makes a
    row an outlier. All of their cells count as the median."""
    n_rows: int = 0
    counts: Array = field(default_factory=lambda: NONE, repr=False)
    """Numbers of missing cells by column."""
    all_missing: Array = field(default_factory=lambda: NONE, repr=False)
    """Columns without a value in any kept row of positive weight."""

    @property
    def n_set_aside(self) -> Array:
        """Numbers of cells by column that were set aside."""
        return np.bincount(self.cells[:, 1], minlength=len(self.counts))

    @property
    def mostly_missing(self) -> Array:
        """Columns of which more than half is missing."""
        return np.flatnonzero(2 * self.counts > self.n_rows)


class ImputedTable(DenseTable):
    """A numpy array of which some cells do not count: they hold the medians of their columns.

    So such a cell does not affect its row. It is missing, or an extreme cell that was set aside.
    All cells of the columns `ignored` are filled too. The table owns the array.
    """

    missing: Mask
    gaps: Gaps

    def __init__(self, Y: Array, missing: Mask, gaps: Gaps) -> None:
        super().__init__(Y)
        self.missing = missing
        n, d = self.shape
        counts = missing.sum(axis=0) - np.bincount(gaps.cells[:, 1], minlength=d)
        self.gaps = replace(gaps, n_rows=n, counts=counts)
        self.screened = gaps.fences is not None
        if len(gaps.ignored):  # never where the array is of another library
            self._cells = Y[:, gaps.ignored]  # a copy
            Y[:, gaps.ignored] = self.fill[gaps.ignored]

    @property
    def fill(self) -> Array:
        """What stands in the cells that do not count."""
        assert self.gaps.fill is not None
        return self.gaps.fill

    def ignoring(self, columns: Array) -> ImputedTable:
        """Return the table with more ignored columns; it takes over the array of this one."""
        if len(self.gaps.ignored):
            self._Y[:, self.gaps.ignored] = self._cells
        ignored = np.union1d(self.gaps.ignored, columns)
        return ImputedTable(self._Y, self.missing, replace(self.gaps, ignored=ignored))

    def observed_row(self, i: int) -> Array:
        """Return a row with its original cells, but for missing ones."""
        row_cells: Array = self._observed(slice(i, i + 1))[0]
        own = self.gaps.cells[:, 0] == i
        row_cells[self.gaps.cells[own, 1]] = self.gaps.values[own]
        return row_cells

    def observed_mean(self, weights: Array, center: Array) -> tuple[Array, Array]:
        """Compute the weighted mean of the observed cells of each column, and their weight.

        The weights of a mask are 1 and 0, and the total is a number of cells. A column without
        observed cells of positive weight has its median instead. One pass.
        """
        origin = self._observed_values(weights)
        sums = self.observed_sums(weights, origin)
        return origin + sums.drift / np.where(sums.mass > 0.0, sums.mass, 1.0), sums.mass

    def plain_mean(self, weights: Array, center: Array) -> Array:
        """Compute the weighted mean of all cells, also of those set aside, but missing ones."""
        mean, mass = self.observed_mean(weights, center)
        rows, columns = self.gaps.cells.T
        own = weights[rows].astype(np.float64)
        d = self.shape[1]
        mass = mass + np.bincount(columns, own, minlength=d)
        drift = np.bincount(columns, own * (self.gaps.values - mean[columns]), minlength=d)
        return np.asarray(mean + drift / np.where(mass > 0.0, mass, 1.0))

    def _observed_values(self, weights: Array) -> Array:
        """Return an observed cell of positive weight of each column, its median if there is none.

        Sums about it keep their digits: the median of a column may be one of few distant values.
        """
        values, unknown = self.fill.copy(), np.ones(self.shape[1], bool)
        for part in blocks_of(*self.shape):
            present = ~self.missing[part] & (weights[part] > 0.0)[:, None]
            found = np.flatnonzero(present.any(axis=0) & unknown)
            values[found] = self._observed(part)[present.argmax(axis=0)[found], found]
            unknown[found] = False
            if not unknown.any():
                break
        return values

    def _observed(self, part: slice) -> Array:
        """Return some rows in double precision, with the original cells of ignored columns."""
        rows: Array = on_host(self._Y[part, :]).astype(np.float64)
        if len(self.gaps.ignored):
            rows[:, self.gaps.ignored] = self._cells[part]
        return rows

    def observed_sums(self, weights: Array, center: Array) -> ColumnSums:
        """Compute weighted sums over the observed cells, one pass."""
        self.n_passes += 1
        n, d = self.shape
        weights = on_host(weights)
        squares, drift, mass, mass_squared = np.zeros((4, d))
        for part in blocks_of(n, d):
            inside = weights[part] > 0.0
            own = weights[part][inside].astype(np.float64)[:, None]
            present = ~self.missing[part][inside]
            offset = np.where(present, self._observed(part)[inside] - center, 0.0)
            weighted, masses = own * offset, own * present
            drift += weighted.sum(axis=0)
            with np.errstate(over="ignore", under="ignore"):
                squares += np.einsum("ij,ij->j", weighted, offset)
                mass += masses.sum(axis=0)
                mass_squared += np.einsum("ij,ij->j", masses, masses)
        return ColumnSums(center, squares, drift, mass, mass_squared)

    def observed_scales(self, scales: Array) -> Array:
        """Replace scales by the median absolute deviations of the observed cells, if not zero."""
        scales = scales.copy()
        for j in np.flatnonzero(self.missing.any(axis=0)):
            observed = on_host(self._Y[:, int(j)])[~self.missing[:, j]].astype(np.float64)
            scales[j] = median(np.abs(observed - self.fill[j])) or scales[j]
        return scales


def imputed(
    X: Any,
    missing: Mask,
    name: str,
    columns: tuple[str, ...] | None = None,
    gaps: Gaps = Gaps(),
) -> ImputedTable:
    """Copy an array and impute the cells that do not count; `name` and `columns` are for messages.

    Of the gaps what is missing beside the mask counts: by default nothing, and the medians of the
    present cells are imputed.
    """
    empty = np.flatnonzero(missing.all(axis=1))
    if len(empty):
        shown = ", ".join(str(i) for i in empty[:NAMED]) + (", ..." if empty[NAMED:].any() else "")
        rows = "rows" if len(empty) > 1 else "row"
        raise ValueError(
            f"{name} has no value at all in {rows} {shown} (counted from 0). Drop such rows: there "
            "is nothing to test them by."
        )
    fill, cells = gaps.fill, gaps.cells
    if fill is None:
        empty = np.flatnonzero(missing.all(axis=0))
        if len(empty):
            raise ValueError(
                f"{name} has no value at all in {listed_columns(empty, columns)}. Drop such "
                "columns: there is nothing to take a mean of."
            )
        fill = _medians(X, missing)
    if not dtype_name(X).startswith("float"):  # a median may be between two integers
        X = double(X)
    # Rounded to the precision of the data, so that subtracting it gives exact zeros.
    rounded = like(fill, X, X.dtype)
    values = NONE
    if len(cells):
        distinct, place = np.unique(cells[:, 0], return_inverse=True)
        values = on_host(namespace(X).take(X, like(distinct, X), axis=0))
        values = values[place, cells[:, 1]].astype(np.float64)
        missing = missing.copy()
        missing[cells[:, 0], cells[:, 1]] = True
    if isinstance(X, np.ndarray):
        Y = X.copy(order="K")
        np.copyto(Y, rounded, where=missing)
    else:  # of another library
        Y = namespace(X).where(like(missing, X), rounded, X)
    fill = on_host(rounded).astype(np.float64)
    return ImputedTable(Y, missing, replace(gaps, fill=fill, values=values))


def set_aside(table: DenseTable, cells: Array, fences: Fences) -> ImputedTable:
    """Return a copy of a table in memory in which these cells do not count."""
    X: Any = table._Y
    gaps = Gaps(fences.center) if table.gaps is None else table.gaps
    missing = np.zeros(X.shape, np.bool_) if table.missing is None else table.missing
    there = missing.copy()
    there[cells[:, 0], cells[:, 1]] = True
    fill, columns = np.array(gaps.fill), np.unique(cells[:, 1])
    fill[columns] = _medians(on_host(of_columns(X, columns)), there[:, columns])
    gaps = Gaps(fill, cells, fences=fences, ignored=gaps.ignored)
    return imputed(X, missing, "X", None, gaps)


def _medians(X: Array, missing: Mask) -> Array:
    """Compute the medians of the present cells of each column."""
    n, d = X.shape
    found = np.empty(d)
    for part in blocks_of(d, n):
        block, present = np.ascontiguousarray(X[:, part].T), ~missing[:, part].T
        found[part] = [median(x[mask]) for x, mask in zip(block, present, strict=True)]
    return found


def listed_columns(which: Array, columns: tuple[str, ...] | None) -> str:
    """List columns by name or, without names, by index."""
    names = [str(j) if columns is None else repr(columns[j]) for j in which[:NAMED].tolist()]
    what = "column" if len(which) == 1 else "columns"
    return f"{what} {', '.join(names)}{', ...' if len(which) > NAMED else ''}"
