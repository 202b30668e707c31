"""Rows in the order in which they are trimmed: those that a fit has removed, then from outside in.

The distance is that of Mahalanobis in the units of the data, with center and covariance of the kept
rows in the middle, by concentration steps with the shrinkage of Ledoit and Wolf. In the units of
the columns, as `RobustMeanResult.ranking` has them, directions in which rows hardly vary count as
much as those in which the mean can be off, and the mean has a larger error for a given fraction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from inlier._internal.arrays import column_medians, on_host, pieces
from inlier._internal.typing import Array, Mask
from inlier.data import Ellipsoid, Place, Table, as_table
from inlier.linalg.whitening import Concentrated, concentrated
from inlier.results.outlyingness import measured, sample_of
from inlier.verdict import Group

if TYPE_CHECKING:
    from inlier.results.result import RobustMeanResult

# Sizes that differ by less than this part of themselves are equal up to rounding: which of such
# rows comes first would depend on their order in the table.
EQUAL = 1e-9
# Rows that are summed at once have this many weights.
WEIGHTS = 1 << 27


@dataclass(frozen=True, eq=False)
class Trimming:
    """The order of the rows of a result, and what trimming them does to the mean."""

    result: RobustMeanResult
    table: Table
    """In the metric of the result, if it has one."""
    measure: Ellipsoid
    sizes: Array
    """Of the rows by the measure, n, on the host."""
    rows: Array
    """Those that the fit has removed, by their score, and then the others from outside in."""
    n_found: int
    """Rows that the fit has removed."""

    @classmethod
    def of(
        cls, result: RobustMeanResult, measure: Ellipsoid | None = None, never: Mask | None = None
    ) -> Trimming:
        """Measure all rows of a result; two passes, and a sample.

        Parameters
        ----------
        result : RobustMeanResult
            The answer to start from.
        measure : Ellipsoid, optional
            Another one than that of the kept rows in the middle.
        never : bool array of shape (n,), optional
            Rows that are not trimmed, whatever their size.
        """
        table = as_table(result._known_data()).with_new_counter()
        if (metric := result._rule.metric) is not None:
            table = table.in_metric(metric)
        support = on_host(result.support)
        if measure is None:
            measure = middle(table, support)
        sizes = on_host(measured(table, measure)).astype(np.float64)
        order = np.argsort(-sizes, kind="stable")
        if never is not None:
            order = order[~never[order]]
        gone = ~support[order]
        found = order[gone]
        if len(found):  # the surest first
            found = found[np.argsort(-on_host(result.scores)[found], kind="stable")]
        rows = np.concatenate([found, order[~gone]])
        return cls(result, table, measure, sizes, rows, len(found))

    @cached_property
    def center(self) -> Array:
        """A point near the kept rows, about which offsets are summed."""
        return self.measure.center

    def means(self, ends: Array) -> Array:
        """Return the means that are left as rows are trimmed, less the center; one pass.

        Parameters
        ----------
        ends : int array
            How many rows of the order are trimmed; ascending, and fewer than all.
        """
        n, stops = self.table.shape[0], np.append(ends[1:], -1)
        found = []
        for part in pieces(len(ends), max(1, WEIGHTS // n)):
            weights = np.zeros((len(ends[part]), n))
            for weight, start, stop in zip(weights, ends[part], stops[part], strict=True):
                if stop < 0:  # all rows that are never trimmed, too
                    weight[:] = 1.0
                    weight[self.rows[:start]] = 0.0
                else:
                    weight[self.rows[start:stop]] = 1.0
            with np.errstate(over="ignore", invalid="ignore"):
                found.append(self.table.combine(self.center, self.table.to_device(weights)))
        # From the middle outwards, so that rows far away cost the others no digits.
        sums = np.cumsum(np.nan_to_num(np.concatenate(found))[::-1], axis=0)[::-1]
        return np.asarray(sums / (n - ends)[:, None])

    def moves(self, directions: Array, start: int, ends: Sequence[int]) -> list[Array]:
        """Return how far the mean moves along each direction as rows are trimmed; one pass.

        Parameters
        ----------
        directions : array of shape (k, d)
            Of any length.
        start : int
            How many rows are trimmed before.
        ends : sequence of int, of length k
            How many rows are trimmed in the end.

        Returns
        -------
        list of arrays of shape (end - start,)
            After each further row.
        """
        n = self.table.shape[0]
        with np.errstate(over="ignore", invalid="ignore"):
            projected = on_host(self.table.project(self.center, directions))
        projected = np.nan_to_num(projected.astype(np.float64))
        projected[:, self.rows[:start]] = 0.0
        found = []
        for along, end in zip(projected, ends, strict=True):
            total, leaving = float(along.sum()), along[self.rows[start:end]]
            left = total - np.cumsum(leaving)
            found.append(total / (n - start) - left / (n - np.arange(start + 1, end + 1)))
        return found

    def from_outside(self) -> Trimming:
        """Return the order without those first that the fit has removed."""
        rows = self.rows[np.argsort(-self.sizes[self.rows], kind="stable")]
        return replace(self, rows=rows, n_found=0)

    def untied(self, j: int) -> int:
        """Return the largest number of rows up to j that does not cut between equal rows."""
        sizes = self.sizes[self.rows]
        while self.n_found < j < len(sizes) and sizes[j - 1] <= sizes[j] * (1.0 + EQUAL):
            j -= 1
        return j

    def kept(self, j: int) -> Mask:
        """Return which rows are kept if the first j of the order are removed."""
        support = np.ones(self.table.shape[0], dtype=np.bool_)
        support[self.rows[:j]] = False
        return support

    def group(self, j: int) -> Group | None:
        """Return the rows that leave beyond those of the fit, as a group; one pass."""
        rows = self.rows[self.n_found : j]
        if not len(rows):
            return None
        sizes = self.sizes[self.rows]
        cut = float(sizes[j - 1])
        if j < len(sizes):
            cut = (cut + float(sizes[j])) / 2.0 or cut
        weights = np.zeros((1, self.table.shape[0]))
        weights[0, rows] = 1.0 / len(rows)
        offset = np.nan_to_num(self.table.combine(self.center, self.table.to_device(weights))[0])
        length = float(np.linalg.norm(offset))
        direction = offset / length if length > 0.0 else np.eye(1, len(offset))[0]
        metric = self.result._rule.metric
        place = Place(np.stack([self.center + offset, self.center]), direction[None], metric)
        return Group(
            "given", self.table.to_device(np.sort(rows)), place, cut, 0, 0.0, 1.0,
            measure=self.measure, metric=metric,
        )  # fmt: skip


def middle(table: Table, support: Mask) -> Ellipsoid:
    """Measure the metric of the kept rows in the middle; one pass, and a sample of them."""
    rows = sample_of(table, support)
    center = column_medians(rows)
    unit = _unit(rows - center)
    return ellipsoid(concentrated((rows - center) / unit, shrunk=True), center, unit)


def ellipsoid(found: Concentrated, center: Array, unit: float) -> Ellipsoid:
    """Return a metric of rows that were divided by a unit, as a measure of the data."""
    return Ellipsoid(
        center + unit * found.center,
        np.full(len(center), unit),
        found.directions,
        found.precisions,
        found.residual,
    )


def _unit(offsets: Array) -> float:
    """Return one unit for all columns, so that squares neither overflow nor vanish."""
    size = float(np.median(np.abs(offsets).max(axis=1)))
    return size if size > 0.0 else max(float(np.abs(offsets).max()), 1.0)
