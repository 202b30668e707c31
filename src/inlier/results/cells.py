"""Extreme cells in words: how far out for their column, and which slip would explain them."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from inlier._internal.arrays import on_host
from inlier._internal.typing import Array
from inlier.data import Fences, Table
from inlier.verdict import Group

# Rows whose cells are listed, at most.
MOST_ROWS = 1000
# A value is usual for a column within this many median absolute deviations of its median: four
# standard deviations of a Gaussian.
USUAL = 6.0
# Powers of ten by which a number may be misplaced.
POWERS = (1, 2, 3, -1, -2, -3)
# A value that occurs this often among the extreme cells of a column looks like a code.
REPEATED = 3
# In a row with more extreme cells, some two of them look swapped by chance.
MOST_SWAPPED = 10


@dataclass(frozen=True)
class Cell:
    """An extreme cell."""

    row: int
    column: int
    name: str
    """Of the column."""
    value: float
    median: float
    """Of the column."""
    times: float
    """Distance from the median, over the median distance in the column; infinite in a column of
    which most values are one."""
    slip: str = ""
    """What would explain the value, in words; empty if nothing does."""
    set_aside: bool = False
    """Whether only the cell was set aside; otherwise its row was removed."""

    @property
    def about(self) -> str:
        """How many times the usual distance it is: two digits are enough."""
        return f"{float(f'{self.times:.2g}'):,.15g}" if np.isfinite(self.times) else "∞"

    @property
    def words(self) -> str:
        """What there is to say about it, after the name of its column."""
        far = f"about {self.about} times the column's usual distance from its median"
        if not np.isfinite(self.times):
            far = "in a column of which most values are the median"
        text = f" = {self.value:.6g}, {far} {self.median:.6g}"
        return "; ".join(filter(None, (text, self.slip, "set aside" * self.set_aside)))

    def __str__(self) -> str:
        return f"{self.name}{self.words}"


def extreme_cells(groups: Iterable[Group], table: Table) -> tuple[Cell, ...]:
    """List the extreme cells that were set aside, and those of rows removed for them, by row."""
    cells: list[Cell] = []
    known = [group.measure for group in groups if group.metric is None]
    removed = [on_host(group.rows) for group in groups if group.metric is None]
    if table.gaps is not None and len(table.gaps.cells):
        known.append(table.gaps.fences)
        removed.append(np.unique(table.gaps.cells[:, 0]))
    for fences, rows in zip(known, removed, strict=True):
        if not isinstance(fences, Fences):
            continue
        aside = fences is table.fences
        rows = np.sort(rows)[:MOST_ROWS]
        if aside:
            values = np.stack([table.observed_row(row) for row in rows])
        else:
            values = table.fetch(rows).astype(np.float64)
        off = values - fences.center
        extreme = (off > fences.above) | (-off > fences.below)
        if table.missing is not None:
            extreme &= table.missing[rows] == aside
        places = [np.flatnonzero(row).tolist() for row in extreme]
        repeated = Counter((j, values[i, j]) for i, found in enumerate(places) for j in found)
        for i, found in enumerate(places):
            partners = found if len(found) <= MOST_SWAPPED else ()
            for j in found:
                value, median = float(values[i, j]), float(fences.center[j])
                with np.errstate(divide="ignore"):
                    times = float(abs(off[i, j]) / fences.unit[j])
                slip = _slip(values[i], j, repeated[j, value], partners, fences, table.columns)
                name = named(table.columns, j)
                cells.append(Cell(int(rows[i]), j, name, value, median, times, slip, aside))
    return tuple(sorted(cells, key=lambda cell: (cell.row, cell.column)))


def named(columns: tuple[str, ...] | None, i: int) -> str:
    """Return the name of a column."""
    return f"x{i}" if columns is None else columns[i]


def cells_of(cells: Iterable[Cell], row: int) -> tuple[Cell, ...]:
    """Return the extreme cells of one row, the farthest out first."""
    return tuple(sorted((c for c in cells if c.row == row), key=lambda cell: -cell.times))


def _slip(
    row: Array,
    j: int,
    same: int,
    partners: Sequence[int],
    fences: Fences,
    columns: tuple[str, ...] | None,
) -> str:
    """Return the simplest slip that would explain an extreme cell.

    Its value is that of `same` extreme cells of the column; `partners` are the columns with which
    it may be swapped.
    """

    def usual(value: float, column: int) -> bool:
        return bool(abs(value - fences.center[column]) <= USUAL * fences.unit[column])

    value = float(row[j])
    if same >= REPEATED:
        return f"it occurs {same} times, like a code for a missing value"
    for other in partners:
        if other != j and usual(value, other) and usual(float(row[other]), j):
            return f"it would be usual in {named(columns, other)}: the two look swapped"
    if usual(-value, j):
        return "with the other sign it would be usual"
    for power in POWERS:
        if usual(value / 10.0**power, j):
            size = "large" if power > 0 else "small"
            return f"it looks {10 ** abs(power):,} times too {size}"
    return ""
