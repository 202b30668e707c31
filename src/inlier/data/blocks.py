"""Tables that are read in blocks of rows: the verbs in terms of one pass over blocks."""

from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from inlier._internal.arrays import column_medians, double, on_host
from inlier._internal.typing import Array, Mask, Rows
from inlier.data import passes
from inlier.data.base import Moment, Table, Weights
from inlier.data.measures import Measure
from inlier.data.passes import MOST_ROWS, BlockView, Pass


def kept_among(before: Mask | None, rows: Any) -> Mask:
    """Return the mask over all rows of a mask over the rows that were kept before."""
    kept: Mask = np.asarray(on_host(rows), dtype=np.bool_)
    if before is None:
        return kept
    among_all = before.copy()
    among_all[before] = kept
    return among_all


class BlockTable(Table):
    """A table that is read in blocks of rows.

    No copy of the data is made: a block is cast and centered, if necessary, when it is read. The
    dtype is the precision of the products: single or double.
    """

    in_cache = True
    """Whether blocks fit into the cache, so that a centered copy of one is cheap."""
    block_bytes = 1 << 21
    least_block_rows = 16
    """A block stays in the cache between the two products of a fused pass."""
    column_elements = 1 << 20
    """Elements of a block of columns."""
    near = 2.0
    """Single-precision rows farther from the origin than this many typical distances are centered
    before they are multiplied, because they would lose precision."""

    def __init__(self, shape: tuple[int, int], dtype: np.dtype[Any]) -> None:
        super().__init__(shape)
        self.dtype = dtype
        self._reach: float | None = None

    @abstractmethod
    def _run(self, work: Pass, *inputs: Any) -> tuple[Rows, list[Array]]:
        """Run a pass: return its results for all rows, and its sums over all blocks, on the host.

        Inputs are sliced along the last axis for each block; a callable gets the slice instead.
        """

    @abstractmethod
    def _by_columns(self) -> Iterator[tuple[slice, Any]]:
        """Yield groups of columns, and all rows of each; one pass, or one for each group."""

    def cached_rows(self, dtype: np.dtype[Any]) -> int:
        """Return the number of rows in a block on the host."""
        # With the temporaries of about 16 numbers a row.
        row_bytes = (self.shape[1] + 16) * dtype.itemsize
        rows = max(self.least_block_rows, self.block_bytes // row_bytes)
        # A multiple of the height of the stacked products.
        return rows // MOST_ROWS * MOST_ROWS or 1 << rows.bit_length() - 1

    def project(self, center: Array, basis: Array) -> Rows:
        return double(self._run(passes.Project.along(basis, self._view(center)))[0])

    def moment(self, center: Array, weights: Weights, basis: Array, drift: bool = True) -> Moment:
        k, work = len(basis), passes.Moments.along(basis, self._view(center), drift=drift)
        projected, (image, totals) = self._run(work, weights)
        image = image - totals[:, None] * work.view.left
        return Moment(projected, image[:k], image[-1] if drift else np.empty(0))

    def scatter(self, center: Array, weights: Rows) -> tuple[Array, Array]:
        work = passes.ScatterPass(self._view(center, centered=True))
        _, (image, drift) = self._run(work, weights)
        return (image + image.T) / 2.0, drift[0]

    def squares(self, center: Array, weights: Rows) -> tuple[Array, Array]:
        _, (squares, drift) = self._run(passes.Squares(center), weights)
        return squares, drift

    def combine(self, center: Array, coefficients: Rows) -> Array:
        work = passes.Combine(self._view(center))
        _, (image, totals) = self._run(work, coefficients)
        combined: Array = image - totals[:, None] * work.view.left
        return combined

    def sq_distances(self, center: Array) -> Rows:
        return double(self._run(passes.Distances(self._view(center, centered=self.in_cache)))[0])

    def measured(self, measure: Measure) -> Rows:
        return self._run(passes.Sizes(measure))[0]

    def median(self, sample: np.random.Generator | None = None) -> Array:
        if sample is not None:
            return column_medians(self.to_gpu(self.sampled(sample)))
        return self.of_columns(column_medians)

    def of_columns(self, function: Callable[[Rows], Array]) -> Array:
        return np.concatenate([function(block) for _, block in self._by_columns()], axis=-1)

    def _view(self, center: Array, centered: bool = False) -> BlockView:
        """Return a view about a center; rows are centered first if asked for or necessary."""
        if self.dtype == np.float32 and not centered:
            centered = not self._is_near(center)
        return BlockView.about(center, self.dtype.name, centered)

    def _is_near(self, center: Array) -> bool:
        """Return whether a center is near enough to the origin to multiply uncentered rows."""
        if self._reach is None:
            part = self._part_for_scale().astype(np.float64)
            with np.errstate(over="ignore", invalid="ignore"):
                lengths = np.linalg.norm(part - column_medians(part), axis=1)
            columns = (self.shape[1] / part.shape[1]) ** 0.5  # extrapolate to all columns
            self._reach = self.near * float(np.median(lengths)) * columns
        return float(np.linalg.norm(center)) <= self._reach

    def _part_for_scale(self) -> Array:
        """Return 64 rows, or some columns of all rows, to estimate the typical distance."""
        rows = np.linspace(0, self.shape[0] - 1, 64)
        return self.fetch(np.unique(rows.astype(np.intp)))
