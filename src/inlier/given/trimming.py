"""Rows in the order in which they are trimmed: those that a fit has removed, then from outside in.

The distance is that of Mahalanobis in the units of the data, with center and covariance of the kept
rows in the middle, by concentration steps with the shrinkage of Ledoit and Wolf. In the units of
the columns, as `RobustMeanResult.ranking` has them, directions in which rows hardly vary count as
much as those in which the mean can be off, and the mean has a larger error for a given fraction.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from inlier._internal.arrays import column_medians, on_host, pieces
from inlier._internal.typing import Array, Mask
from inlier.data import Ellipsoid, Place, Table
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


class Left(NamedTuple):
    """What is left as more and more rows are trimmed."""

    n_left: Array
    means: Array
    """Less the center."""
    squares: Array
    """Sums of the squared distances from the center."""

    def squared_error(self, i: int) -> float:
        """Return the square of the standard error of a mean, over all columns."""
        mean, n = self.means[i], self.n_left[i]
        return float((self.squares[i] / n - mean @ mean) / n)

    def shift(self, i: int, j: int) -> tuple[float, float]:
        """Return how far the mean moves as further rows are trimmed, squared.

        And the square that is expected of rows of this size in random directions.
        """
        outer, inner, n = self.means[i], self.means[j], self.n_left[i]
        offsets = n * outer - self.n_left[j] * inner
        about_inner = (n - self.n_left[j]) * inner - 2.0 * offsets
        scatter = self.squares[i] - self.squares[j] + inner @ about_inner
        return float((outer - inner) @ (outer - inner)), float(scatter / n**2)


@dataclass(frozen=True, eq=False)
class Trimming:
    """The order of the rows of a result, and what trimming them does to the mean."""

    result: RobustMeanResult
    table: Table
    """In the metric of the result, if it has one."""
    found: Array
    """Rows that the fit has removed, in the order of the table."""
    others: Array
    """Rows that may leave as well, in the order of the table."""
    given: Ellipsoid | None = None
    """Another measure than that of the kept rows in the middle."""

    @classmethod
    def of(
        cls, result: RobustMeanResult, measure: Ellipsoid | None = None, never: Mask | None = None
    ) -> Trimming:
        """Prepare the rows of a result; they are measured when their order is asked for.

        Parameters
        ----------
        result : RobustMeanResult
            The answer to start from.
        measure : Ellipsoid, optional
            Another one than that of the kept rows in the middle.
        never : bool array of shape (n,), optional
            Rows that are not trimmed, whatever their size.
        """
        table = result._known_data()
        if (metric := result._rule.metric) is not None:
            table = table.in_metric(metric)
        support = on_host(result.support)
        may_leave = np.ones_like(support) if never is None else ~never
        found, others = np.flatnonzero(may_leave & ~support), np.flatnonzero(may_leave & support)
        return cls(result, table, found, others, measure)

    @property
    def n_found(self) -> int:
        """Rows that the fit has removed."""
        return len(self.found)

    @cached_property
    def measure(self) -> Ellipsoid:
        """How far out a row is; one pass, and a sample, unless it is given."""
        return self.given or middle(self.table, on_host(self.result.support))

    @cached_property
    def sizes(self) -> Array:
        """Of the rows by the measure, n, on the host; one pass."""
        return on_host(measured(self.table, self.measure)).astype(np.float64)

    @cached_property
    def rows(self) -> Array:
        """Those that the fit has removed, the surest first, and then the others from outside in."""
        found, others = (
            rows[np.argsort(-self.sizes[rows], kind="stable")] for rows in (self.found, self.others)
        )
        if len(found):
            found = found[np.argsort(-on_host(self.result.scores)[found], kind="stable")]
        return np.concatenate([found, others])

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
                    weight[:] = self.kept(start)
                else:
                    weight[self.trimmed(start, stop)] = 1.0
            with np.errstate(over="ignore", invalid="ignore"):
                found.append(self.table.combine(self.center, self.table.to_device(weights)))
        # From the middle outwards, so that rows far away cost the others no digits.
        sums = np.cumsum(np.nan_to_num(np.concatenate(found))[::-1], axis=0)[::-1]
        return np.asarray(sums / (n - ends)[:, None])

    def left(self, ends: Array) -> Left:
        """Return what is left as rows are trimmed; two passes. See `means`."""
        with np.errstate(over="ignore", invalid="ignore"):
            squares = on_host(self.table.sq_distances(self.center)).astype(np.float64)
            ordered = np.cumsum(squares[self.rows][::-1])[::-1][ends]
        never = np.ones(len(squares), dtype=np.bool_)
        never[self.rows] = False
        return Left(len(squares) - ends, self.means(ends), ordered + float(squares[never].sum()))

    def along(self, directions: Array) -> Array:
        """Return the offsets of the rows from the center along directions; one pass."""
        with np.errstate(over="ignore", invalid="ignore"):
            projected = on_host(self.table.project(self.center, directions))
        return np.nan_to_num(projected.astype(np.float64))

    def from_outside(self) -> Trimming:
        """Return the order without those first that the fit has removed."""
        rows = np.sort(np.concatenate([self.found, self.others]))
        return replace(self, found=rows[:0], others=rows, given=self.measure)

    def untied(self, j: int) -> int:
        """Return the largest number of rows up to j that does not cut between equal rows."""
        sizes = self.sizes[self.rows]
        while self.n_found < j < len(sizes) and sizes[j - 1] <= sizes[j] * (1.0 + EQUAL):
            j -= 1
        return j

    def trimmed(self, start: int, stop: int) -> Array:
        """Return the rows between two places of the order.

        The order is not needed, and rows are not measured, for those that the fit has removed.
        """
        return self.found if (start, stop) == (0, self.n_found) else self.rows[start:stop]

    def kept(self, j: int) -> Mask:
        """Return which rows are kept if the first j of the order are removed."""
        support = np.ones(self.table.shape[0], dtype=np.bool_)
        support[self.trimmed(0, j)] = False
        return support

    def group(self, j: int) -> Group | None:
        """Return the rows that leave beyond those of the fit, as a group; one pass."""
        if j <= self.n_found:
            return None
        rows = self.rows[self.n_found : j]
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
    return ellipsoid(rows, column_medians(rows), partial(concentrated, shrunk=True))


def ellipsoid(rows: Array, center: Array, find: Callable[[Array], Concentrated]) -> Ellipsoid:
    """Find a metric of rows about a center, in one unit for all columns.

    So that squares neither overflow nor vanish.
    """
    offsets = rows - center
    size = float(np.median(np.abs(offsets).max(axis=1)))
    unit = size if size > 0.0 else max(float(np.abs(offsets).max()), 1.0)
    offsets /= unit
    found = find(offsets)
    return Ellipsoid(
        center + unit * found.center,
        np.full(len(center), unit),
        found.directions,
        found.precisions,
        found.residual,
    )
