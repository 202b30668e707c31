"""Tables in an array of numpy, or of any library that follows the array API standard."""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any
from zlib import crc32

import numpy as np
from array_api_compat import is_torch_array

from inlier._internal.arrays import (
    double,
    dtype_name,
    empty_like,
    like,
    namespace,
    on_host,
    pieces,
    with_part,
    working_precision,
)
from inlier._internal.progress import watched
from inlier._internal.typing import Array, Rows
from inlier._internal.validation import check_finite
from inlier.data.base import Metric, Table
from inlier.data.passes import (
    BlockTable,
    BlockView,
    Pass,
    Sizes,
    Squares,
    fused_kernels,
    kept_among,
)

# A table with at most this many rows, and more columns, is read in blocks of columns. With more
# rows the eigenvectors of an n x n matrix cost more than the passes they save.
WIDE_ROWS = 512
# Tables up to this number of cells are multiplied in double precision: what single precision
# rounds, in another order of the rows, could decide about a row at the edge.
DOUBLED_CELLS = 1 << 16


def run_blocks(
    blocks: Iterable[tuple[slice, Rows]], n: int, work: Pass, inputs: Iterable[Any]
) -> tuple[Rows, list[Array]]:
    """Run a pass over blocks of n rows; see `BlockTable._run`."""
    out: Rows = None
    sums: list[Rows] = []
    for rows, block in blocks:
        result, parts = work(block, *(x[..., rows] for x in inputs))
        if result is not None:
            if out is None and result.shape[-1] < n:
                out = empty_like(result, (*result.shape[:-1], n))
            out = result if out is None else with_part(out, rows, result)
        for i, part in enumerate(parts):
            if len(sums) == i:
                sums.append(part)
            else:
                sums[i] += part
    return out, _on_host_together(sums)


def _on_host_together(arrays: list[Rows]) -> list[Array]:
    """Copy arrays to the host; those of a device in one transfer, which waits for it once."""
    if len(arrays) < 2 or isinstance(arrays[0], np.ndarray):
        return [on_host(x) for x in arrays]
    xp = namespace(arrays[0])
    flat = on_host(xp.concat([xp.reshape(x, (-1,)) for x in arrays]))
    parts = np.split(flat, np.cumsum([math.prod(x.shape) for x in arrays])[:-1])
    return [part.reshape(x.shape) for part, x in zip(parts, arrays, strict=True)]


def is_wide(shape: tuple[int, ...]) -> bool:
    """Return whether a table has few rows and more columns."""
    n, d = shape
    return n < d and n <= WIDE_ROWS


class DenseTable(BlockTable):
    """Rows of a two-dimensional array of any real dtype and memory order; `kept` is on the host."""

    in_memory = True
    device_elements = 1 << 30
    copied_elements = 1 << 24
    """Elements of a block on a device; the second limit holds where a pass copies the block."""

    def __init__(self, Y: Any, kept: Array | None = None) -> None:
        n = Y.shape[0] if kept is None else int(kept.sum())
        super().__init__((n, Y.shape[1]), working_precision(dtype_name(Y)))
        self._Y, self._kept, self._xp = Y, kept, namespace(Y)
        self.array = Y if kept is None else None
        self._wide = is_wide(self.shape)
        self._gram: tuple[Array, Array] | None = None
        self._on_cuda = is_torch_array(Y) and bool(Y.is_cuda)
        self._on_cpu = isinstance(Y, np.ndarray) or (is_torch_array(Y) and Y.device.type == "cpu")

    def _run(self, work: Pass, *inputs: Any) -> tuple[Rows, list[Array]]:
        self.n_passes += 1
        blocks = watched(self._blocks(self._height(work)), self.shape[0], self.n_passes)
        return run_blocks(blocks, self.shape[0], work, inputs)

    def fingerprint(self) -> int | None:
        """Sum the rows and the columns of a numpy array, which cells that differ would change."""
        if not isinstance(self._Y, np.ndarray) or self.missing is not None:  # the latter is a copy
            return None
        found = 0
        with np.errstate(over="ignore", invalid="ignore"):
            for axis in (0, 1):
                found = crc32(np.add.reduce(self._Y, axis=axis).tobytes(), found)
        return found

    def on_host(self) -> Table:
        return self if self._xp is np else self._derived(on_host(self._Y), self._kept)

    def _kernels(self) -> Any:
        """Return the kernels that read the rows where they lie; None if there are none."""
        kernels = fused_kernels() if self._on_cuda else None
        enough = kernels and self.shape[0] >= kernels.FEWEST_ROWS and kernels.supports(self._Y)
        return kernels if enough else None

    def _view(self, center: Array, centered: bool = False) -> BlockView:
        if self._xp is np and math.prod(self.shape) <= DOUBLED_CELLS:
            return BlockView.about(center, "float64", centered)
        if self._kernels():
            return replace(super()._view(center, centered=True), fused=True)
        return super()._view(center, centered)

    def measured(self, measure: Callable[[Rows], Rows]) -> Rows:
        kernels = self._kernels()
        return self._run(Sizes(measure, bool(kernels and kernels.measures(measure))))[0]

    def _height(self, work: Pass) -> int:
        """Return the number of rows of a block."""
        if self._on_cpu:
            # Double precision takes twice as much room as the data.
            wider = isinstance(work, Squares)
            return self.cached_rows(np.dtype(np.float64) if wider else self.dtype)
        # A product would copy rows that are not contiguous.
        contiguous = not hasattr(self._Y, "is_contiguous") or self._Y.is_contiguous()
        same = self._kept is None and dtype_name(self._Y) == self.dtype.name
        in_place = work.in_place and contiguous and same
        if in_place and self._kernels():  # they make nothing that is as large as the rows
            return self.shape[0]
        elements = self.device_elements if in_place else self.copied_elements
        return max(self.least_block_rows, elements // self.shape[1])

    def _blocks(self, height: int) -> Iterator[tuple[slice, Any]]:
        """Yield the rows block by block, without a copy if all are kept."""
        start = 0
        for part in pieces(self._Y.shape[0], height):
            block = self._Y[part, :]
            if self._kept is not None:
                inside = self._kept[part]
                if not inside.all():
                    block = self._rows_of(block, np.flatnonzero(inside))
            if block.shape[0]:
                yield slice(start, start + block.shape[0]), block
            start += block.shape[0]

    def _rows_of(self, block: Any, rows: Array) -> Any:
        if self._xp is np:  # numpy.take copies arrays in Fortran order first
            return block[rows]
        return self._xp.take(block, like(rows, block), axis=0)

    def fetch(self, rows: Array) -> Array:
        if self._kept is not None:
            rows = np.flatnonzero(self._kept)[rows]
        return on_host(self._rows_of(self._Y, rows))

    def median(self, sample: np.random.Generator | None = None) -> Array:
        return super().median(None if self.shape[0] <= self.sample_rows else sample)

    def take(self, rows: Rows) -> Table:
        return self._derived(self._Y, kept_among(self._kept, rows))

    def in_metric(self, metric: Metric) -> Table:
        """Compute the new coordinates once, in memory."""
        self.n_passes += 1
        height = max(self.least_block_rows, self.copied_elements // self.shape[1])
        blocks = [metric.transform_rows(block, self.dtype) for _, block in self._blocks(height)]
        return self._derived(self._xp.concat(blocks, axis=0))

    def _derived(self, Y: Any, kept: Array | None = None) -> Table:
        return self.counting_for(DenseTable(Y, kept))

    def combine(self, center: Array, coefficients: Rows) -> Array:
        """Combine rows; in a wide table, in the precision of the data."""
        if not self._wide:
            return super().combine(center, coefficients)
        # Large coefficients of nearly equal rows cancel.
        view = self._view(center, centered=True)
        out = np.empty((coefficients.shape[0], self.shape[1]), self.dtype)
        totals = on_host(self._xp.sum(coefficients, axis=1))[:, None]
        C = self._xp.astype(coefficients, getattr(self._xp, self.dtype.name), copy=False)
        for columns, block in self._by_columns():
            part = view.columns(columns)
            out[:, columns] = on_host(C @ part.of(block))
            out[:, columns] -= totals * part.left
        return out

    def squares(self, center: Array, weights: Rows) -> tuple[Array, Array]:
        """Compute squares; in a wide table, in groups of columns."""
        if not self._wide:
            return super().squares(center, weights)
        squares, drift = np.empty(self.shape[1]), np.empty(self.shape[1])
        for columns, block in self._by_columns():
            _, sums = Squares(center[columns])(block, weights)
            squares[columns], drift[columns] = map(on_host, sums)
        return squares, drift

    def sq_distances(self, center: Array) -> Rows:
        """Compute squared distances; in a wide table, from the Gram matrix."""
        if not self._wide:
            return super().sq_distances(center)
        squared = np.diag(self.gram(center))
        # A row too far away to square is infinitely far.
        return self.to_device(np.where(np.isfinite(squared), np.maximum(squared, 0.0), np.inf))

    def gram(self, center: Array) -> Array:
        """Compute the Gram matrix; the last one is cached."""
        if self._gram is None or self._gram[0] is not center:
            with np.errstate(over="ignore", invalid="ignore"):
                self._gram = (center, self._products(center))
            if not np.isfinite(np.diag(self._gram[1])).all():  # a check before would cost a pass
                check_finite(self._Y, "X", 0)
        return self._gram[1]

    def _products(self, center: Array) -> Array:
        # Centring is cheap compared with n products of each entry, and gives exact zeros.
        view = BlockView.about(center, self.dtype.name, centered=True)
        out: Any = 0.0
        along: Any = 0.0
        constant = 0.0
        for columns, block in self._by_columns():
            part = view.columns(columns)
            rows = part.of(block)
            along = along + double(rows @ like(part.left, rows, rows.dtype))
            constant += float(part.left @ part.left)
            out = out + double(rows @ rows.T)
        along = on_host(along)
        return np.asarray(on_host(out) - along[:, None] - along + constant)

    def _by_columns(self) -> Iterator[tuple[slice, Any]]:
        self.n_passes += 1
        n, d = self.shape
        for columns in pieces(d, max(1, self.column_elements // n)):
            yield columns, self._columns(columns)

    def _columns(self, columns: slice) -> Any:
        block = self._Y[:, columns]
        return block if self._kept is None else self._rows_of(block, np.flatnonzero(self._kept))

    def _part_for_scale(self) -> Array:
        if not self._wide:
            return super()._part_for_scale()
        d = self.shape[1]
        return on_host(self._columns(slice(0, d, max(1, d >> 14))))  # some 16,000 columns

    def to_device(self, x: Array) -> Any:
        return like(x, self._Y)

    def to_gpu(self, x: Array) -> Any:
        return like(x, self._Y) if self._on_cuda else x

    def constant(self, value: float) -> Rows:
        return self._xp.broadcast_to(like(np.array([value]), self._Y), (self.shape[0],))
