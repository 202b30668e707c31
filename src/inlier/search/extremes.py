"""Rules that separate extreme cells and rows from the others.

Works on a sample of the rows on the host, and finds rules that hold for all rows.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from typing import cast

import numpy as np

from inlier._internal.arrays import (
    ascending_columns,
    highest,
    median_distances,
    middles,
    namespace,
    of_columns,
    on_host,
)
from inlier._internal.typing import Array, Mask
from inlier.data import DenseTable, Fences, ManyCells, Table, set_aside
from inlier.search import thresholds
from inlier.search.cells import find_fences
from inlier.search.lengths import Rule, extreme_lengths
from inlier.search.sample import RowSample, size_of_sample


def extreme_rules(table: Table, sample: RowSample) -> list[Rule]:
    """Find rules that separate extreme rows from the others; two passes if rows were sampled.

    Where extreme cells were set aside, a row is removed if it has many; elsewhere if it has one.
    """
    many, ascending = table.many, table.ascending
    table.ascending = None  # as large as the sample, and needed no more
    with np.errstate(all="ignore"):
        if len(sample.rows) == table.shape[0]:
            values, missing = sample.values, sample.missing
            return find_extremes(values, ascending, missing, many, table.screened)[0]
        values, widened = _with_rows_beyond(table, sample)
        rules, kept = find_extremes(values, None, None, many, table.screened)
        return [
            rule if isinstance(rule.measure, ManyCells) else widened(rule, values[kept])
            for rule in rules
        ]


def without_extreme_cells(table: Table) -> Table:
    """Return an array in memory with its extreme cells set aside, any other table as it is.

    The cells of a row that has many stay: it is removed as a row.
    """
    X, n = table.array, table.shape[0]
    if X is None or n * table.shape[1] > thresholds.COPIED_CELLS:
        return table
    m, ascending = size_of_sample(table.shape), None
    if m == 0:
        return table
    with np.errstate(all="ignore"):
        if m == n:  # as they are: a copy of all rows in another order is not needed
            values = on_host(X).astype(np.float64, copy=False)
            if not np.isfinite(values).all():
                return table
            ascending = ascending_columns(values)
            fences, of_rows = find_fences(values, ascending, table.missing)
        else:
            sample = RowSample.of(copy(table))  # the order of the rows is left to the fit
            if sample is None or not np.isfinite(sample.values).all():
                return table
            values, widened = _with_rows_beyond(table, sample)
            fences, of_rows = (
                one
                and cast(Fences, widened(Rule(one, 1.0, 0.0), values[one(values) <= 1.0]).measure)
                for one in find_fences(values, ascending_columns(values), None)
            )
    table.screened = True
    many = None if of_rows is None else many_cells(of_rows)
    screened = cast(DenseTable, table)
    if fences is not None and len(found := cells_beyond(table, fences, many)):
        screened, columns = set_aside(screened, found, fences), np.unique(found[:, 1])
        if ascending is not None:
            changed = on_host(of_columns(screened._Y, columns)).astype(np.float64)
            ascending[columns] = ascending_columns(changed)
    screened.many, screened.ascending = many, ascending
    return screened


def cells_beyond(table: Table, fences: Fences, many: ManyCells | None = None) -> Array:
    """Return row and column of the cells to be set aside, k x 2: not those of rows with many."""
    with np.errstate(all="ignore"):
        sizes = table.measured(fences)
        rows = on_host(namespace(sizes).nonzero(sizes > 1.0)[0])
        values = table.fetch(rows).astype(np.float64)
        off = values - fences.center
        extreme = (off > fences.above) | (-off > fences.below)
        extreme[(many or many_cells(fences))(values) > 1.0] = False
    if table.missing is not None:
        extreme &= ~table.missing[rows]
    found = np.argwhere(extreme)
    found[:, 0] = rows[found[:, 0]]
    return found


def _with_rows_beyond(
    table: Table, sample: RowSample
) -> tuple[Array, Callable[[Rule, Array], Rule]]:
    """Add the rows that may be extreme to a sample; return also what widens a rule to all rows.

    These lie farther out in some column than a sample lets expect; only the farthest, if many do.
    """
    factor = (table.shape[0] / len(sample.rows)) ** (1.0 / thresholds.TAIL_INDEX)
    ascending = ascending_columns(sample.values)
    center = middles(ascending)
    ends = (ascending[:, -1] - center, center - ascending[:, 0])
    above, below = (np.where(end > 0.0, factor * end, np.inf) for end in ends)
    far = table.measured(Fences(center, median_distances(ascending, center), above, below))
    xp = namespace(far)
    beyond = xp.nonzero(far > 1.0)[0]
    rows, far = on_host(beyond), on_host(xp.take(far, beyond))
    rows = np.sort(rows[np.argsort(-far, kind="stable")[: thresholds.MOST_BEYOND]])
    values = np.concatenate([sample.values, table.fetch(rows).astype(np.float64)])
    return values, lambda rule, kept: _widened(rule, kept, factor)


def _widened(rule: Rule, kept: Array, factor: float) -> Rule:
    """Widen a rule by what good rows outside of the sample can reach, given the kept ones in it."""
    measure = rule.measure
    if not isinstance(measure, Fences):
        return rule._replace(cut=max(rule.cut, factor * highest(measure(kept))))
    # Of the values within the fences: those beyond may be bad, and would move them to any distance.
    off = kept - measure.center
    above, below = (
        np.where(np.isfinite(fence), np.maximum(fence, factor * farthest), np.inf)
        for fence, farthest in (
            (measure.above, off.max(axis=0, initial=0.0)),
            (measure.below, -off.min(axis=0, initial=0.0)),
        )
    )
    return rule._replace(measure=replace(measure, above=above, below=below))


def find_extremes(
    X: Array,
    ascending: Array | None,
    missing: Mask | None,
    many: ManyCells | None,
    screened: bool,
) -> tuple[list[Rule], Mask]:
    """Find rules that separate extreme rows from the others, and the mask of the rows to keep.

    X holds all rows, or a sample with all rows that may be extreme, and `ascending` its sorted
    columns, if they are known. The rules are in the order in which they apply: one for cells, if
    any, and some for lengths. If the table was `screened`, extreme cells were set aside, but for
    those of rows that have `many`.
    """
    ascending = ascending_columns(X) if ascending is None else ascending
    n = X.shape[0]
    kept = np.ones(n, dtype=np.bool_)
    rules: list[Rule] = []
    most = int(thresholds.FEW_SHARE * n) + 1
    if not screened and (found := find_fences(X, ascending, missing)[0]) is not None:
        outside = found(X) > 1.0
        if outside.sum() <= (1.0 - thresholds.KEPT_SHARE) * n:
            rules, kept = [Rule(found, 1.0, found.log_p)], ~outside
    for _ in range(thresholds.ROUNDS):
        R = X if kept.all() else X[kept]
        if len(R) < thresholds.FEWEST_ROWS:
            break
        if len(R) < n:
            ascending = ascending_columns(R)
        varies = ascending[:, -1] > ascending[:, 0]
        if not varies.any():
            break
        if not varies.all():
            R, ascending = np.ascontiguousarray(R[:, varies]), ascending[varies]
        lengths = extreme_lengths(R, ascending, varies, most)
        removed = np.zeros(len(R), dtype=np.bool_)
        for _, members in lengths:
            removed |= members
        if not removed.any() or kept.sum() - removed.sum() < thresholds.KEPT_SHARE * n:
            break
        rules += [rule for rule, _ in lengths]
        kept[kept] = ~removed
    if many is not None:
        # The lengths of all rows were looked at: they show rows of another kind best together.
        rule = Rule(many, 1.0, many.log_p)
        within = kept & (rule.measure(X) <= 1.0)
        if within.sum() >= thresholds.KEPT_SHARE * n:
            rules, kept = [rule, *rules], within
    return rules, kept


def many_cells(fences: Fences) -> ManyCells:
    """Return the measure of rows in which many cells are extreme."""
    d = len(fences.center)
    least = max(min(2.0, d), float(int(thresholds.MANY_CELLS * d)) + 1.0)
    return ManyCells(**vars(fences), least=least)
