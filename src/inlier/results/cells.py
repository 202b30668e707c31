"""Extreme cells: how far out for their column, which slip would explain them, and its repair."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from inlier._internal.arrays import blocks_of, evenly_spaced, on_host
from inlier._internal.numbers import TINY
from inlier._internal.typing import Array
from inlier.data import Fences, Gaps, Table
from inlier.data.imputed import NO_CELLS
from inlier.data.measures import MEDIAN_SIZE
from inlier.verdict import Group

# Cells that are listed, and rows that tell what is usual, at most.
MOST_CELLS, MOST_SAMPLED = 1 << 18, 2000
# A value is usual for a column within this many median absolute deviations of its median, four
# standard deviations of a Gaussian; one at half of that is ordinary.
USUAL, ORDINARY = 6.0, 3.0
# Of few far cells in a row, each may be a slip; a row with more is of another kind, unless one slip
# explains them all.
FAR_SHARE, ALIKE_SHARE, MOST_ALIKE = 0.25, 0.5, 10
# A value that occurs this often among the extreme cells of a column looks like a code.
REPEATED = 3
# And this share of them has it.
CODE_SHARE = 1.0 / 3.0
# A slip in more columns is named once.
MOST_COLUMNS = 3
# In a row with more extreme cells, some two of them look swapped by chance.
MOST_SWAPPED = 10
# Powers of ten by which a number may be misplaced.
POWERS = (1, 2, 3, -1, -2, -3)
# A slip is sure if it is a hundred times as likely as any other, with usual values Gaussian: the
# difference of squares, in standard deviations.
SURELY = 2.0 * float(np.log(100.0))
CODE, POINT = "a code for a missing value", "a misplaced decimal point"


class Unit(NamedTuple):
    """Values that are `factor` times the usual, and what they and the usual ones may be in."""

    factor: float
    large: str
    small: str
    hints: str
    """Words in the name of a column that is in one of the two."""


UNITS = (
    Unit(2.20462, "pounds", "kilograms", "kg kilogram kilograms weight mass lb lbs pounds"),
    Unit(2.54, "centimetres", "inches", "cm height length width waist in inch inches"),
    Unit(25.4, "millimetres", "inches", "mm rain rainfall inch inches"),
    Unit(30.48, "centimetres", "feet", "cm height ft feet"),
    Unit(7.50062, "mmHg", "kilopascals", "mmhg kpa pressure bp sbp dbp systolic diastolic"),
)
TEMPERATURE = "c f temp temperature celsius fahrenheit"


class Slip(NamedTuple):
    """What would explain an extreme cell."""

    what: str = ""
    """How the value compares with the usual ones; empty if the value itself says it."""
    like: str = ""
    """What makes such a value; empty if nothing is known that does."""
    repair: float | None = None
    """The value that was meant, not a number if there is none; None if that is not sure."""

    def __str__(self) -> str:
        return ", ".join(filter(None, (self.what, self.like and f"like {self.like}")))


NO_SLIP = Slip()


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
    slip: Slip = NO_SLIP
    """What would explain the value, and what was meant."""
    set_aside: bool = False
    """Whether only the cell was set aside; otherwise its row was removed, or it was kept, and seems
    to be swapped with a cell that was not."""
    label: str = ""
    """What its row is called, if rows have names."""

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
        return "; ".join(filter(None, (text, str(self.slip), "set aside" * self.set_aside)))

    def __str__(self) -> str:
        return f"{self.label or f'row {self.row}'}: {self.name}{self.words}"


class Reason(NamedTuple):
    """Extreme cells that one slip would explain, of a column or of several."""

    where: str
    slip: Slip
    cells: Sequence[Cell]

    def __str__(self) -> str:
        values = sorted({cell.value for cell in self.cells})
        what = self.slip.what or f"{values[0]:.6g}"
        if len(values) > 1 and not self.slip.what:
            what = f"between {values[0]:.4g} and {values[-1]:.4g}"
        like = f", like {self.slip.like}" if self.slip.like else ", far out"
        return f"{len(self.cells):,} x {what} in {self.where}{like}"


def reasons(cells: Iterable[Cell]) -> list[Reason]:
    """Group extreme cells by slip and column, the most frequent first.

    A slip that explains cells of many columns, such as those of a whole row, is named once.
    """
    by_slip: dict[Slip, dict[tuple[str, float | None], list[Cell]]] = {}
    for cell in cells:
        own = by_slip.setdefault(cell.slip._replace(repair=None), {})
        code = cell.value if cell.slip.like == CODE else None
        own.setdefault((cell.name, code), []).append(cell)
    found = []
    for slip, columns in by_slip.items():
        if len(columns) > MOST_COLUMNS and slip.what:
            together = [cell for own in columns.values() for cell in own]
            found.append(Reason(f"{len(columns)} columns", slip, together))
        else:
            found += [Reason(name, slip, own) for (name, _), own in columns.items()]
    return sorted(found, key=lambda one: -len(one.cells))


def extreme_cells(groups: Sequence[Group], table: Table) -> tuple[Cell, ...]:
    """List the extreme cells that were set aside, and those of removed rows, by row."""
    gaps = table.gaps or Gaps()
    measures = (gaps.fences, *(one.measure for one in groups if one.metric is None))
    fences = next((one for one in measures if isinstance(one, Fences)), None)
    if fences is None:
        if not groups:
            return ()
        fences = _usual(groups, table)
    places, values = [gaps.cells], [gaps.values]
    n_aside, separated = len(gaps.cells), set()
    crowded, of_crowded = [NO_CELLS], [np.empty(0)]
    for group in groups:
        rows = np.sort(on_host(group.rows))[: max(1, MOST_CELLS // table.shape[1])]
        own = table.fetch(rows).astype(np.float64)
        off, far, most = own - fences.center, USUAL * fences.unit, FAR_SHARE * table.shape[1]
        extreme = np.abs(off) > np.where(far > 0.0, far, np.inf)
        if isinstance(group.measure, Fences) and group.metric is None:
            extreme, most = (off > fences.above) | (-off > fences.below), np.inf
        else:
            separated |= set(rows.tolist())
        if table.missing is not None:
            extreme &= ~table.missing[rows]
        counts = extreme.sum(axis=1)
        some = counts <= max(1.0, most)
        many = counts <= min(ALIKE_SHARE * table.shape[1], MOST_ALIKE)
        kinds = ((some, places, values), (many & ~some, crowded, of_crowded))
        for chosen, listed, with_values in kinds:
            found = np.argwhere(extreme & chosen[:, None])
            listed.append(np.stack([rows[found[:, 0]], found[:, 1]], axis=1))
            with_values.append(own[tuple(found.T)])
    place, value = np.concatenate(places), np.concatenate(values)
    partners, others, rivals = _swapped(place, value, fences, table)
    place, value = np.concatenate([place, partners]), np.concatenate([value, others])
    cells = _cells(place, value, rivals, separated, fences, table.columns)
    more = np.concatenate(crowded), np.concatenate(of_crowded)
    cells += _alike(_cells(*more, {}, separated, fences, table.columns))
    labels = [_label(table, cell.row) for cell in cells]
    cells = [replace(cell, set_aside=i < n_aside, label=labels[i]) for i, cell in enumerate(cells)]
    return tuple(sorted(cells[:MOST_CELLS], key=lambda cell: (cell.row, cell.column)))


def _alike(cells: list[Cell]) -> list[Cell]:
    """Return the cells of rows in which one slip, of unit or decimal point, explains them all."""
    slips = defaultdict(set)
    for cell in cells:
        slips[cell.row].add(cell.slip.what)
    return [cell for cell in cells if cell.slip.what and len(slips[cell.row]) == 1]


def _label(table: Table, row: int) -> str:
    """Return what a row is called; empty if rows have no names."""
    label = "" if table.index is None else table.index[row]
    return label if isinstance(label, str) else f"row {label}"


def _swapped(
    places: Array, values: Array, fences: Fences, table: Table
) -> tuple[Array, Array, dict[tuple[int, int], float]]:
    """Find cells of kept rows that seem swapped with an extreme neighbour.

    They are not usual in their column, but in that of the neighbour, as the neighbour is in theirs.
    Return their places, k x 2, and values. Return also by place how far out the two cells of the
    best swap within the row would be, in squares, beyond what its other cell is now.
    """
    d, found = table.shape[1], {}
    rivals: dict[tuple[int, int], float] = {}
    unit = np.where(fences.unit > 0.0, fences.unit, TINY)
    for part in blocks_of(len(places), d):
        (rows, columns), own = places[part].T, values[part]
        distinct, at = np.unique(rows, return_inverse=True)
        near = table.fetch(distinct).astype(np.float64)[at]
        with np.errstate(over="ignore", invalid="ignore"):
            there = np.abs(own[:, None] - fences.center) / unit
            here = np.abs(near - fences.center[columns, None]) / unit[columns, None]
            now = np.abs(near - fences.center) / unit
            cost = there**2 + here**2 - now**2
        cost[np.isnan(cost)] = np.inf
        cost[np.arange(len(rows)), columns] = np.inf
        listed = map(tuple, places[part].tolist())
        rivals |= dict(zip(listed, cost.min(axis=1).tolist(), strict=True))
        for i, k in np.argwhere((there <= USUAL) & (here <= USUAL) & (now > USUAL)).tolist():
            if abs(k - columns[i]) == 1:
                found[int(rows[i]), k] = float(near[i, k])
    found = {place: value for place, value in found.items() if place not in rivals}
    partners = np.array(list(found), np.intp).reshape(-1, 2)
    return partners, np.array(list(found.values()), float), rivals


def _usual(groups: Iterable[Group], table: Table) -> Fences:
    """Return the medians of the columns, and their units, by some rows that are in no group."""
    kept = np.ones(table.shape[0], np.bool_)
    for group in groups:
        kept[on_host(group.rows)] = False
    rows = np.flatnonzero(kept)
    rows = evenly_spaced(rows, min(len(rows), MOST_SAMPLED))
    values = table.fetch(rows).astype(np.float64)
    center = np.median(values, axis=0)
    unit = np.median(np.abs(values - center), axis=0)
    return Fences(center, unit, USUAL * unit, USUAL * unit)


def _cells(
    places: Array,
    values: Array,
    rivals: dict[tuple[int, int], float],
    separated: set[int],
    fences: Fences,
    columns: tuple[str, ...] | None,
) -> list[Cell]:
    """Return cells by their places, k x 2, with the slips that would explain them.

    `rivals` tells by place how far out a swap would leave cells; some rows were removed because
    they are `separated`.
    """
    by_column, by_row = defaultdict(list), defaultdict(list)
    pairs = zip(places.tolist(), values.tolist(), strict=True)
    listed = [(row, j, value) for (row, j), value in pairs]
    for row, j, value in listed:
        by_column[j].append(value)
        by_row[row].append((j, value))
    slips = {
        j: _slips(own, named(columns, j), float(fences.center[j]), float(fences.unit[j]))
        for j, own in by_column.items()
    }
    found = []
    for row, j, value in listed:
        center, unit = float(fences.center[j]), float(fences.unit[j])
        slip = slips[j][value]
        if slip.like == CODE and row in separated and not _is_code(value, center):
            slip = NO_SLIP  # a group of rows may have a value in common
        if slip.like != CODE:
            rival = rivals.get((row, j), np.inf)
            if slip.repair is not None and not _surely(abs(slip.repair - center) / unit, rival):
                slip = slip._replace(repair=None)
            if 1 < len(by_row[row]) <= MOST_SWAPPED:
                slip = _swap(j, value, by_row[row], fences, columns) or slip
        times = abs(value - center) / unit if unit > 0.0 else np.inf
        found.append(Cell(row, j, named(columns, j), value, center, times, slip))
    return found


def named(columns: tuple[str, ...] | None, i: int) -> str:
    """Return the name of a column."""
    return f"x{i}" if columns is None else columns[i]


def cells_of(cells: Iterable[Cell], row: int) -> tuple[Cell, ...]:
    """Return the extreme cells of one row, the farthest out first."""
    return tuple(sorted((c for c in cells if c.row == row), key=lambda cell: -cell.times))


def _swap(
    j: int,
    value: float,
    cells: list[tuple[int, float]],
    fences: Fences,
    columns: tuple[str, ...] | None,
) -> Slip | None:
    """Return with which of the extreme cells of its row a cell is swapped; None if with none."""

    def usual(value: float, column: int) -> bool:
        return bool(abs(value - fences.center[column]) <= USUAL * fences.unit[column])

    for k, other in cells:
        if k != j and usual(value, k) and usual(other, j):
            repair = other if abs(k - j) == 1 else None  # neighbours
            return Slip(f"a usual value of {named(columns, k)}", "swapped cells", repair)
    return None


def _slips(values: list[float], name: str, center: float, unit: float) -> dict[float, Slip]:
    """Return the simplest slip that would explain each of the extreme values of a column."""
    hints = set(re.findall(r"[a-z]+", re.sub(r"([a-z])([A-Z])", r"\1 \2", name).lower()))
    number = Counter(values)
    scaled = {value: _scaled(value, hints, center, unit) for value in number}
    distinct = Counter(slip.what for slip, _ in scaled.values())
    cells = Counter(scaled[value][0].what for value in values)
    found = {}
    for value, (slip, hinted) in scaled.items():
        if not hinted and cells[slip.what] < REPEATED:  # one of many factors fits any value
            slip = NO_SLIP
        # One of many that occur often is a round number.
        often = number[value] >= max(REPEATED, CODE_SHARE * len(values))
        repeated = often and (not slip.what or distinct[slip.what] < 2)
        if repeated or _is_code(value, center):
            slip = Slip("", CODE, np.nan)
        found[value] = slip
    return found


def _surely(size: float, rival: float) -> bool:
    """Return whether a value is surely meant: its distance, and the square of that of a rival."""
    return rival - size**2 >= SURELY / MEDIAN_SIZE**2


def _is_code(value: float, center: float) -> bool:
    """Return whether a value far from all others is a usual code: -1, -99, -999, 999, 9999, ..."""
    digits = f"{abs(value):.0f}"
    nines = (
        value == round(value) and set(digits) == {"9"} and len(digits) >= (3 if value > 0 else 2)
    )
    return nines or (value == -1.0 and center > 0.0)


def _scaled(value: float, hints: set[str], center: float, unit: float) -> tuple[Slip, bool]:
    """Return the slip in sign, decimal point or unit that would explain a value.

    Return also whether it is plausible for a single value: units of which the name of the column
    says nothing are not.
    """

    def far(repaired: float) -> float:
        return abs(repaired - center) / unit if unit > 0.0 else np.inf

    if far(-value) <= USUAL:
        return Slip("the usual with the other sign", "a wrong sign"), True
    if far(0.0) <= ORDINARY:  # in such a column any value is usual, if it is divided by enough
        return NO_SLIP, True
    points: list[Slip] = []
    hinted: list[Slip] = []
    units: list[Slip] = []
    for power in POWERS:
        size = f"{10 ** abs(power):,}"
        what = f"about {size} times the usual" if power > 0 else f"about 1/{size} of the usual"
        points.append(Slip(what, POINT, float(f"{value / 10.0**power:.12g}")))
    for factor, large, small, words in UNITS:
        both = [
            Slip(f"about {factor:.5g} times the usual", large, float(f"{value / factor:.6g}")),
            Slip(f"about 1/{factor:.5g} of the usual", small, float(f"{value * factor:.6g}")),
        ]
        (hinted if hints & set(words.split()) else units).extend(both)
    both = [
        Slip("about 1.8 times the usual + 32", "Fahrenheit", float(f"{(value - 32.0) / 1.8:.6g}")),
        Slip("the usual less 32, over 1.8", "Celsius", float(f"{value * 1.8 + 32.0:.6g}")),
    ]
    (hinted if hints & set(TEMPERATURE.split()) else units).extend(both)
    plausible = [*points, *hinted]
    for slips, single in ((plausible, True), ([] if hinted else units, False)):
        sizes = [far(slip.repair or 0.0) for slip in slips]
        nearest = np.argsort(sizes, kind="stable").tolist()
        if nearest and sizes[nearest[0]] <= USUAL:
            best, size = slips[nearest[0]], sizes[nearest[0]]
            rival = min(far(0.0), sizes[nearest[1]])
            sure = size <= ORDINARY and _surely(size, rival**2)
            if sure or single:
                return (best if sure else best._replace(repair=None)), single
    return NO_SLIP, True
