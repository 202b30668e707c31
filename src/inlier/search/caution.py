"""What may leave where nothing is assumed of the good rows: gross rows, and groups that are clear.

Good rows may be skewed, heavy-tailed, rounded, in different units and in classes. A row leaves for
what its own cells are, a group for being clear of the rest. All of it looks at a sample of the rows
on the host, in an order that does not depend on theirs, and finds rules that hold for all rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.special import bdtr

from inlier._internal.arrays import evenly_spaced, highest, like, median, namespace, on_host
from inlier._internal.typing import Array, Mask, Rows
from inlier._internal.validation import fit_generator
from inlier.data import Fences, Table
from inlier.data.medians import ascending_columns, median_distances, middles
from inlier.search import clear
from inlier.search.clear import (
    Clear,
    clearest,
    is_obvious,
    is_suspect,
    principal,
    principal_and_divided,
)
from inlier.search.gross import Rule, gross_rules, of_rows
from inlier.search.settings import SAMPLE
from inlier.search.symmetry import flat, lopsided


class RowSample(NamedTuple):
    """Some rows of a table on the host, in an order that does not depend on that of the table."""

    rows: Array
    """Their numbers."""
    values: Array
    """m x d, in double precision."""
    missing: Mask | None = None
    """m x d: which cells are filled, if some are."""

    @classmethod
    def of(cls, table: Table) -> RowSample | None:
        """Sample all rows, or as many as fit; None if these are too few to know the columns."""
        n, d = table.shape
        m = n if n * d <= SAMPLE.whole_cells else min(n, max(SAMPLE.rows, SAMPLE.cells // d))
        if n < SAMPLE.fewest_rows or m * d > SAMPLE.most_cells:
            return None
        # In the order in which the fit samples rows, if it has one already.
        order = table.order(fit_generator(0))
        rows = on_host(order) if m == n else evenly_spaced(order, m)
        missing = None if table.missing is None else table.missing[rows]
        return cls(rows, table.fetch(rows).astype(np.float64), missing)

    def among(self, kept: Rows, most: int) -> tuple[Array, Array]:
        """Return the numbers and values of kept rows of the sample, at most so many."""
        inside = self._among(kept, most)
        return self.rows[inside], self.values[inside]

    def on_their_own(self, kept: Rows, most: int) -> Array:
        """Return the values of such rows, with missing cells filled with their own medians.

        The median of all rows is no middle of some of them: a spike beside it looks like skewness.
        """
        inside = self._among(kept, most)
        values = self.values[inside]
        if self.missing is None:
            return values
        missing = self.missing[inside]
        for j in np.flatnonzero(missing.any(axis=0) & ~missing.all(axis=0)):
            gone = missing[:, j]
            values[gone, j] = median(values[~gone, j])
        return values

    def _among(self, kept: Rows, most: int) -> Array:
        inside = np.flatnonzero(on_host(namespace(kept).take(kept, like(self.rows, kept))))
        if len(inside) > most:
            inside = inside[np.linspace(0, len(inside) - 1, most).astype(np.intp)]
        return inside


def gross(table: Table, sample: RowSample) -> list[Rule]:
    """Find rules that tell gross rows from the others; two passes, if there is only a sample."""
    n, m = table.shape[0], len(sample.rows)
    with np.errstate(all="ignore"):
        if m == n:
            return gross_rules(sample.values, n)[0]
        factor = (n / m) ** (1.0 / SAMPLE.tail_index)
        # To sort thousands of columns takes the host longer than a pass takes a GPU.
        values = table.to_gpu(sample.values)
        reach = _reach(values, factor)
        values = namespace(values).concat([values, table.to_gpu(_beyond(table, reach))], axis=0)
        rules, kept = gross_rules(values, values.shape[0])
        rest = of_rows(values, kept) if rules else values
        return [_beyond_the_sample(rule, reach, rest, factor) for rule in rules]


def _reach(values: Rows, factor: float) -> Fences:
    """Bound what the columns of all rows can reach, given those of a sample."""
    ascending = ascending_columns(values)
    center = middles(ascending)
    ends = (on_host(ascending[:, -1]) - center, center - on_host(ascending[:, 0]))
    above, below = (np.where(end > 0.0, factor * end, np.inf) for end in ends)
    return Fences(center, median_distances(ascending, center), above, below)


def _beyond(table: Table, reach: Fences) -> Array:
    """Return the rows that lie farther out in some column."""
    far = table.measured(reach)
    xp = namespace(far)
    beyond = xp.nonzero(far > 1.0)[0]
    rows, far = on_host(beyond), on_host(xp.take(far, beyond))
    if len(rows) > SAMPLE.most_beyond:  # the farthest of them
        rows = rows[np.argsort(-far, kind="stable")[: SAMPLE.most_beyond]]
    return table.fetch(np.sort(rows)).astype(np.float64)


def _beyond_the_sample(rule: Rule, reach: Fences, kept: Rows, factor: float) -> Rule:
    """Widen a rule by what rows outside of the sample can reach."""
    measure = rule.measure
    if not isinstance(measure, Fences):
        return rule._replace(cut=max(rule.cut, factor * highest(measure(kept))))
    shift = reach.center - measure.center
    above = np.where(
        np.isfinite(measure.above), np.maximum(measure.above, reach.above + shift), np.inf
    )
    below = np.where(
        np.isfinite(measure.below), np.maximum(measure.below, reach.below - shift), np.inf
    )
    return rule._replace(measure=replace(measure, above=above, below=below))


def tested_rows(d: int) -> int:
    """Return how many rows the tests of symmetry use."""
    return int(np.clip(SAMPLE.tested_cells // d, clear.SETTINGS.sample, SAMPLE.tested_rows))


def is_class(group: Array, rest: Array) -> bool:
    """Return whether a group varies as the rest does in most columns: then it is a class."""
    varies = (np.ptp(rest, axis=0) > 0.0) & (np.ptp(group, axis=0) > 0.0)
    if len(group) < SAMPLE.fewest_rows or not varies.any():
        return False
    ratios = group[:, varies].var(axis=0) / rest[:, varies].var(axis=0)
    return bool(np.median(np.abs(np.log(ratios))) < np.log(SAMPLE.alike))


def is_noise(
    values: Array,
    n: int,
    n_kept: int,
    groups: Iterable[tuple[int, Array]],
    to_gpu: Callable[[Array], Rows] = np.asarray,
) -> bool:
    """Return whether the rows that would stay are noise about one center.

    `values` are those of the `n_kept` of n rows that would stay, or some of them. Of each group
    that would leave, `groups` has the number of rows and some of them. The tests run where
    `to_gpu` takes the values.
    """
    groups = list(groups)
    varies = np.ptp(values, axis=0) > 0.0
    d = int(varies.sum())
    if not d or n_kept < max(SAMPLE.enough_rows, SAMPLE.enough_cells / d):
        return False
    natural = n - n_kept > clear.SETTINGS.class_share * n
    if natural and d < clear.SETTINGS.class_columns:
        return False
    if any(bdtr(k, k + n_kept, 0.5) > SAMPLE.equal for k, _ in groups):
        return False
    if any(k > SAMPLE.class_share * n and is_class(rows, values) for k, rows in groups):
        return False
    # Rows with a rare code in a column are not bad for it, even if all of them would leave.
    code = values[0, ~varies]
    if any((rows[:, ~varies] != code).any(axis=1).sum() > len(rows) / 2 for _, rows in groups):
        return False
    tested = to_gpu(values[:, varies])
    with np.errstate(all="ignore"):
        if max(lopsided(tested), flat(tested, SAMPLE.flat_level)) > 1.0:
            return False
        turned, divided = principal_and_divided(tested)
        flatness = max(flat(turned, SAMPLE.flat_level), flat(divided, SAMPLE.divided_level))
        return max(lopsided(turned), flatness) <= 1.0


class ClearGroups(NamedTuple):
    """The groups that leave, those that are suspected, and whether there are several modes."""

    leaving: list[tuple[Clear, Array]]
    """Each with the numbers of the rows of the sample in which it was found."""
    suspected: list[tuple[Clear, Array]]
    several: bool


def clear_groups(
    rows: Array, values: Array, n: int, to_gpu: Callable[[Array], Rows] = np.asarray
) -> ClearGroups:
    """Find the groups that are clear of the rest.

    They all leave only if the rest is symmetric and has one mode; else only a few rows that are
    obvious. The others are suspected, unless the rows fall into several groups, of which none is
    more suspect than another. `rows` are the numbers of some rows and `values` their cells; n is
    how many there were before gross ones left, in proportion to these.
    """
    found: list[tuple[Clear, Array]] = []
    several = False
    with np.errstate(all="ignore"):
        for _ in range(clear.SETTINGS.rounds):
            varies = np.ptp(values, axis=0) > 0.0
            if len(values) < SAMPLE.fewest_rows or not varies.any():
                break
            group, several = clearest(to_gpu(values[:, varies]), n)
            if group is None:
                break
            members = group.members
            large = members.sum() > SAMPLE.class_share * n
            if large and is_class(values[members], values[~members]):
                several = True
                break
            direction = np.zeros(len(varies))
            direction[varies] = group.direction
            found.append((group._replace(direction=direction), rows))
            rows, values = rows[~group.members], values[~group.members]
        if not found:
            return ClearGroups([], [], several)
        gone = sum(int(group.members.sum()) for group, _ in found)
        turned = principal(to_gpu(values[:, np.ptp(values, axis=0) > 0.0]))
        several |= gone > clear.SETTINGS.few * n and flat(turned, SAMPLE.rest_level) > 1.0
        if not several and lopsided(turned, strict=False) <= 1.0:
            return ClearGroups(found, [], several)
    others = [i for i, (group, _) in enumerate(found) if not is_obvious(group, n)]
    first = others[0] if others else len(found)
    suspected = [] if several else found[first:]
    # One after the other: the next is clear only of what is left without the one before.
    unsure = [i for i, (group, _) in enumerate(suspected) if not is_suspect(group)]
    return ClearGroups(found[:first], suspected[: unsure[0] if unsure else None], several)
