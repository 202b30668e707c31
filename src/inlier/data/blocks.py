"""Tables that are passed over in blocks of rows: all that does not depend on where these are."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from inlier._internal.arrays import double, on_host
from inlier._internal.typing import Array, Mask, Rows
from inlier.data import medians
from inlier.data.base import SAMPLE_ROWS, Moment, Table, Weights
from inlier.data.measures import Measure
from inlier.data.passes import (
    BlockView,
    Combine,
    Distances,
    DriftingMoments,
    Histogram,
    Moments,
    Pass,
    Project,
    ScatterPass,
    Sizes,
    Squares,
)

# Single-precision rows farther from the origin than so many typical distances lose precision.
NEAR = 2.0
# A look at how far the rows are from the origin, and from each other.
LOOK_ROWS = 64


def kept_among(before: Mask | None, rows: Any) -> Mask:
    """Of all rows, those that are kept of the ones that were kept before."""
    kept: Mask = np.asarray(on_host(rows), dtype=np.bool_)
    if before is None:
        return kept
    among_all = before.copy()
    among_all[before] = kept
    return among_all


class BlockTable(Table):
    """A table of which blocks of rows can be read.

    No copy of the data is made: a block is cast and centred, if it has to be, as it passes by.

    Parameters
    ----------
    shape : tuple of int
    dtype : numpy dtype
        Of the products: single or double precision.

    Attributes
    ----------
    in_cache : bool
        Whether blocks are so small that a centred copy of one costs next to nothing.
    """

    in_cache = True

    def __init__(self, shape: tuple[int, int], dtype: np.dtype[Any]) -> None:
        super().__init__(shape)
        self.dtype = dtype
        self._reach: float | None = None

    @abstractmethod
    def _run(self, work: Pass, *inputs: Any) -> tuple[Rows, list[Array]]:
        """Do a pass: what was seen of all rows, and the sums over all blocks, on the host.

        Parameters
        ----------
        work : Pass
        *inputs : Rows or callable
            Along the last axis of each, what belongs to the rows of a block goes with it; a
            callable is told which rows they are.
        """

    def project(self, center: Array, basis: Array) -> Rows:
        """See `Table.project`."""
        return double(self._run(Project.along(basis, self._view(center)))[0])

    def moment(self, center: Array, weights: Weights, basis: Array, drift: bool = True) -> Moment:
        """See `Table.moment`."""
        k, kind = len(basis), DriftingMoments if drift else Moments
        work = kind.along(basis, self._view(center))
        projected, (image, totals) = self._run(work, weights)
        image = image - totals[:, None] * work.view.left
        return Moment(projected, image[:k], image[-1] if drift else np.empty(0))

    def scatter(self, center: Array, weights: Rows) -> tuple[Array, Array]:
        """See `Table.scatter`."""
        work = ScatterPass(self._view(center, centred=True))
        _, (image, drift) = self._run(work, weights)
        return (image + image.T) / 2.0, drift[0]

    def squares(self, center: Array, weights: Rows) -> tuple[Array, Array]:
        """See `Table.squares`."""
        _, (squares, drift) = self._run(Squares(center), weights)
        return squares, drift

    def combine(self, center: Array, coefficients: Rows) -> Array:
        """See `Table.combine`."""
        work = Combine(self._view(center))
        _, (image, totals) = self._run(work, coefficients)
        combined: Array = image - totals[:, None] * work.view.left
        return combined

    def sq_distances(self, center: Array) -> Rows:
        """See `Table.sq_distances`."""
        return double(self._run(Distances(self._view(center, centred=self.in_cache)))[0])

    def measured(self, measure: Measure) -> Rows:
        """See `Table.measured`."""
        return self._run(Sizes(measure))[0]

    def median(self, sample: np.random.Generator | None = None) -> Array:
        """See `Table.median`."""
        n = self.shape[0]
        if sample is not None:
            return medians.column_medians(self.sampled(sample))
        evenly = np.linspace(0, n - 1, SAMPLE_ROWS).astype(np.intp)
        eps = float(np.finfo(self.dtype).eps)
        return medians.median(n, self.some(evenly), self._count, eps)

    def _count(self, histogram: Histogram) -> Array:
        return self._run(histogram)[1][0]

    def _view(self, center: Array, centred: bool = False) -> BlockView:
        """About a centre; rows are centred first, if asked for or if they need it."""
        if self.dtype == np.float32 and not centred:
            centred = not self._is_near(center)
        return BlockView.about(center, self.dtype.name, centred)

    def _is_near(self, center: Array) -> bool:
        """Whether a centre is so near to the origin that rows may be multiplied where they lie."""
        if self._reach is None:
            some = self._glimpse().astype(np.float64)
            with np.errstate(over="ignore", invalid="ignore"):
                lengths = np.linalg.norm(some - medians.column_medians(some), axis=1)
            # Of all columns, if only some of them were looked at.
            self._reach = NEAR * float(np.median(lengths)) * (self.shape[1] / some.shape[1]) ** 0.5
        return float(np.linalg.norm(center)) <= self._reach

    def _glimpse(self) -> Array:
        """A few rows, or a part of their columns."""
        return self.some(np.unique(np.linspace(0, self.shape[0] - 1, LOOK_ROWS).astype(np.intp)))
