"""Rows that were not in the fit: how far out a good one may lie, by the rows that were kept.

If the m farthest of n values exceed u, and their tail falls with any power, the logarithms of their
ratios to u are exponential, with the sum S. One more value lies beyond a with the chance ::

    (m + 1) / (n + 1) (1 + log(a / u) / S)^-m

which needs no estimate of the power. So each side of each column has a fence, and the robust
distance, which sees a row as a whole, has one too. No fence lies within the rows that were kept, so
the verdict on these stays what it was.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from inlier._internal.arrays import (
    ascending_columns,
    median_distances,
    middles,
    on_host,
)
from inlier._internal.numbers import TINY
from inlier._internal.typing import Array, Mask, Rows
from inlier.data import Fences, Measure, Place, Table, as_table
from inlier.results.cells import Cell, extreme_cells
from inlier.results.explanation import Contribution, Explanation, Parts, explanations, parts_by
from inlier.results.outlyingness import RobustDistance, outlyingness, sample_of
from inlier.search import thresholds
from inlier.search.extremes import cells_beyond
from inlier.verdict import Group, GroupRule, Multiplier

if TYPE_CHECKING:
    from inlier.results.result import RobustMeanResult

# Chance that a good row is called bad: half of it for its cells, half for the row as a whole.
LEVEL = 1e-3
# That show how far out a row may lie as a whole: more show it no better, and take their time.
MOST_ROWS = 4000
ROWS_PER_COLUMN = 10
# What decides about a row that is good, and one that is bad.
CELL = "no cell farther out than its column reaches", "a cell farther out than its column reaches"
WHOLE = "no farther out as a whole than the others", "farther out as a whole than the others"
# Of a distance, relative to it.
ROUNDING = 1e-9
# The tail has at least this index, as strongly as if so many more values had shown it.
_, _, PRIOR = thresholds.EXTREME


@dataclass(frozen=True, eq=False)
class NewRows:
    """What decides about new rows: the rule of the fit, and how far out its kept rows lie."""

    distance: RobustDistance
    rules: tuple[Multiplier | GroupRule, ...]
    """Those of the fit. A row is bad if one of them says so, ..."""
    fences: Fences | None = None
    """or a cell lies beyond them, ..."""
    farthest: float = np.inf
    """or its robust distance is larger."""
    of_fit: Fences | None = None
    """Fences of the fit, beyond which cells were set aside."""
    set_aside: Array = field(default_factory=lambda: np.empty((0, 2)))
    """k x 2: column and value of these cells."""

    @classmethod
    def of(cls, result: RobustMeanResult) -> NewRows:
        """Find what decides, from the kept rows; two passes, if only some of them are measured."""
        table, distance = result._known_data(), result._robust_distance
        rule, kept = result._rule, on_host(result.support)
        rules: tuple[Multiplier | GroupRule, ...] = (rule,)
        if not (isinstance(rule, Multiplier) and rule.directions is None):
            # A row that exceeds the budget on its own is bad too; no kept row does.
            known = result.certificate
            allowed = max(known.budget, known.lambda_max)
            rules = (rule, Multiplier.of_budget(known.mean, allowed, rule.metric))
        found, gaps = cls(distance, rules), table.gaps
        if gaps is not None and len(gaps.cells):
            pairs = np.unique(np.stack([gaps.cells[:, 1], gaps.values], axis=1), axis=0)
            found = replace(found, of_fit=gaps.fences, set_aside=pairs)
        if result._verdict.given or kept.sum() < thresholds.FEWEST_ROWS:
            return found
        rows = sample_of(table, kept)
        fences = _fences(rows, None if gaps is None else gaps.fill, found.of_fit)
        farthest = np.inf
        if len(rows) >= thresholds.FEWEST_LENGTHS:
            # Each half in the metric of the other: rows lie nearer in a metric of their own.
            step = 2 * max(1, len(rows) // max(MOST_ROWS, ROWS_PER_COLUMN * rows.shape[1]))
            halves = rows[::step], rows[1::step]
            far = [
                RobustDistance.of(half).distances(as_table(other))
                for half, other in (halves, halves[::-1])
            ]
            farthest = float(_reach(np.sort(np.concatenate(far))[None], LEVEL / 2.0)[0])
            inside = distance.distances(table) if len(rows) < kept.sum() else None
            inside = distance.distances(as_table(rows)) if inside is None else on_host(inside)[kept]
            farthest = max(farthest, float(inside.max()) * (1.0 + ROUNDING))
        if len(rows) < kept.sum():
            fences = _around(fences, table, kept)
        if np.isfinite([fences.above, fences.below]).all():  # which say more than the budget
            rules = tuple(rule for rule in rules if isinstance(rule, GroupRule))
        return replace(found, rules=rules, fences=fences, farthest=farthest)

    def known_cells(self, table: Table) -> Array:
        """Return the cells with a value that was set aside in the fit, k x 2: row and column.

        Such as a code for a missing value. As in the fit, none of a row with many extreme cells.
        """
        if self.of_fit is None:
            return np.empty((0, 2), np.intp)
        cells = cells_beyond(table, self.of_fit)
        rows, place = np.unique(cells[:, 0], return_inverse=True)
        values = table.fetch(rows)[place, cells[:, 1]].astype(np.float64)
        known = np.zeros(len(cells), dtype=np.bool_)
        for j in np.unique(cells[:, 1]):
            own = cells[:, 1] == j
            known[own] = np.isin(values[own], self.set_aside[self.set_aside[:, 0] == j, 1])
        return np.asarray(cells[known])

    def outlyingness(self, table: Table) -> Rows:
        """Compute the outlyingness of each row: above 1 for bad ones."""
        far = self.distance.distances(table)
        bad = far > self.farthest
        for rule in self.rules:
            bad = bad | (rule.scores(table) > rule.threshold)
        if self.fences is not None:
            bad = bad | (table.measured(self.fences) > 1.0)
        return outlyingness(far, bad)

    def explain(self, table: Table) -> tuple[Explanation, ...]:
        """Explain the verdict on each row by the level that decides about it."""
        n, fences = table.shape[0], self.fences
        cells: tuple[Cell, ...] = ()
        if fences is not None:
            rows = np.flatnonzero(on_host(table.measured(fences)) > 1.0)
            place = Place(np.stack([fences.center, fences.center]), None)
            beyond = Group("cells", rows, place, 1.0, 0, 0.0, 0.0, measure=fences)
            cells = extreme_cells([beyond], table)

        def decisive(i: int, values: Array) -> Parts:
            parts = []
            if fences is not None:
                part = fences.parts(values)
                parts.append(_of_level(CELL, part, fences))
            parts += [parts_by(rule, values) for rule in self.rules]
            if np.isfinite(self.farthest):
                measure, reach = self.distance.measure, self.distance.typical * self.farthest
                part = measure.parts(values) / reach**2
                parts.append(_of_level(WHOLE, part, measure))
            share = [part.contributions.sum() / part.threshold for part in parts]
            beyond = [part for part, own in zip(parts, share, strict=True) if own > 1.0]
            return beyond[0] if beyond else parts[int(np.argmax(share))]

        return tuple(explanations(table, np.arange(n), cells, decisive))


def _of_level(names: tuple[str, str], parts: Array, measure: Measure) -> Parts:
    score = float(parts.sum())
    why = (Contribution(names[score > 1.0], score),)
    return Parts(why, parts, measure.center, 1.0)


def _fences(rows: Array, center: Array | None, of_fit: Fences | None) -> Fences:
    """Bound the cells of a good row, by n x d rows that were kept; not beyond fences of the fit."""
    ascending = ascending_columns(rows)
    center = middles(ascending) if center is None else center
    d, unit = len(center), median_distances(ascending, center)
    off = ascending - center[:, None]
    both = None
    reach = []
    for side in (off, -off[:, ::-1]):
        level = LEVEL / (4.0 * d)
        own = _reach(side, level)
        few = (side > 0.0).sum(axis=1) <= thresholds.FEWEST_VALUES
        if few.any():  # too few have a tail of their own
            both = np.sort(np.abs(off), axis=1) if both is None else both
            own[few] = np.maximum(_reach(both[few], level), side[few, -1])
        reach.append(own)
    if of_fit is not None:  # in the units of its center
        shift = of_fit.center - center
        reach[0] = np.minimum(reach[0], of_fit.above + shift)
        reach[1] = np.minimum(reach[1], of_fit.below - shift)
    return Fences(center, unit, reach[0], reach[1])


def _reach(ascending: Array, level: float) -> Array:
    """Return what one more of the values of each row exceeds with this chance; not below them all.

    Infinite where too few are positive.
    """
    n, row = ascending.shape[1], np.arange(len(ascending))
    number = (ascending > 0.0).sum(axis=1)
    m = np.maximum(np.sqrt(number).astype(np.intp), thresholds.FEWEST_VALUES)
    m = np.minimum(m, np.maximum(number - 1, 1))
    with np.errstate(divide="ignore"):
        logs = np.log(np.maximum(ascending[:, : -int(m.max()) - 2 : -1], TINY))
    u = logs[row, m]
    total = np.cumsum(logs, axis=1)[row, m - 1] - m * u + PRIOR / thresholds.TAIL_INDEX
    with np.errstate(over="ignore"):
        beyond = np.exp(u + total * (((m + 1) / ((n + 1) * level)) ** (1.0 / (m + PRIOR)) - 1.0))
    beyond = np.maximum(beyond, ascending[:, -1])
    return np.where(number > thresholds.FEWEST_VALUES, beyond, np.inf)


def _around(fences: Fences, table: Table, kept: Mask) -> Fences:
    """Widen fences that were found by some of the kept rows to all of them; one pass."""
    rows = np.flatnonzero(on_host(table.measured(fences) > 1.0) & kept)
    if not len(rows):
        return fences
    off = table.fetch(rows).astype(np.float64) - fences.center
    above, below = (
        np.maximum(fences.above, off.max(axis=0)),
        np.maximum(fences.below, -off.min(axis=0)),
    )
    return replace(fences, above=above, below=below)
