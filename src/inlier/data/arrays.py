"""Tables in an array of numpy, or of any library that follows the array API standard."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

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
from inlier._internal.typing import Array, Rows
from inlier._internal.validation import check_finite
from inlier.data.base import Metric, Table
from inlier.data.blocks import BlockTable, kept_among
from inlier.data.measures import Measure
from inlier.data.medians import column_medians
from inlier.data.passes import BlockView, Pass, Sizes, Squares, fused_kernels
from inlier.data.products import SETTINGS as PRODUCTS
from inlier.data.settings import SETTINGS


def cached_rows(d: int, dtype: np.dtype[Any]) -> int:
    """Return the number of rows of d columns in a block on the host."""
    row_bytes = (d + SETTINGS.row_overhead) * dtype.itemsize
    rows = max(SETTINGS.min_block_rows, SETTINGS.block_bytes // row_bytes)
    # A multiple of the height of the stacked products.
    return rows // PRODUCTS.most_rows * PRODUCTS.most_rows or 1 << rows.bit_length() - 1


def run_blocks(
    blocks: Iterable[tuple[slice, Rows]], n: int, work: Pass, inputs: tuple[Any, ...]
) -> tuple[Rows, list[Array]]:
    """Run a pass over blocks of n rows; see `BlockTable._run`."""
    np.empty(SETTINGS.freed_bytes, np.uint8)
    out: Rows = None
    sums: list[Rows] = []
    for rows, block in blocks:
        sliced = [partial(x, rows) if callable(x) else x[..., rows] for x in inputs]
        result, parts = work(block, *sliced)
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
    return n < d and n <= SETTINGS.wide_rows


class DenseTable(BlockTable):
    """Rows of a two-dimensional array of any real dtype and memory order; `kept` is on the host."""

    def __init__(self, Y: Any, kept: Array | None = None) -> None:
        n = Y.shape[0] if kept is None else int(kept.sum())
        super().__init__((n, Y.shape[1]), working_precision(dtype_name(Y)))
        self._Y, self._kept, self._xp = Y, kept, namespace(Y)
        self._wide = is_wide(self.shape)
        self._gram: tuple[Array, Array] | None = None
        self._on_cuda = is_torch_array(Y) and bool(Y.is_cuda)
        self.in_cache = isinstance(Y, np.ndarray) or (is_torch_array(Y) and Y.device.type == "cpu")

    def _run(self, work: Pass, *inputs: Any) -> tuple[Rows, list[Array]]:
        self.n_passes += 1
        return run_blocks(self._blocks(self._block_rows(work)), self.shape[0], work, inputs)

    def _kernels(self) -> Any:
        """Return the kernels that read the rows where they lie; None if there are none."""
        kernels = fused_kernels() if self._on_cuda else None
        enough = kernels and self.shape[0] >= kernels.FEWEST_ROWS and kernels.supports(self._Y)
        return kernels if enough else None

    def _view(self, center: Array, centered: bool = False) -> BlockView:
        if self._kernels():
            return replace(super()._view(center, centered=True), fused=True)
        return super()._view(center, centered)

    def measured(self, measure: Measure) -> Rows:
        kernels = self._kernels()
        return self._run(Sizes(measure, bool(kernels and kernels.measures(measure))))[0]

    def _block_rows(self, work: Pass) -> int:
        if self.in_cache:
            # Double precision takes twice as much room as the data.
            wider = isinstance(work, Squares)
            return cached_rows(self.shape[1], np.dtype(np.float64) if wider else self.dtype)
        # A product would copy rows that are not contiguous.
        contiguous = not hasattr(self._Y, "is_contiguous") or self._Y.is_contiguous()
        same = self._kept is None and dtype_name(self._Y) == self.dtype.name
        in_place = work.in_place and contiguous and same
        if in_place and self._kernels():  # they make nothing that is as large as the rows
            return self.shape[0]
        elements = SETTINGS.device_elements if in_place else SETTINGS.device_copied
        return max(SETTINGS.min_block_rows, elements // self.shape[1])

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
        return self._fetched(self._rows_of(self._Y, rows))

    def median(self, sample: np.random.Generator | None = None) -> Array:
        n, d = self.shape
        if n <= SETTINGS.sample_rows or (sample is None and n * d <= SETTINGS.sorted_elements):
            self.n_passes += 1
            found = np.empty(d)
            for columns in self._column_groups():
                found[columns] = column_medians(self._fetched(self._columns(columns)))
            return found
        return super().median(sample)

    def take(self, rows: Rows) -> Table:
        return self.counting_for(DenseTable(self._Y, kept_among(self._kept, rows)))

    def in_metric(self, metric: Metric) -> Table:
        """Compute the new coordinates once, in memory."""
        self.n_passes += 1
        height = max(SETTINGS.min_block_rows, SETTINGS.device_copied // self.shape[1])
        blocks = [metric.transform_rows(block, self.dtype) for _, block in self._blocks(height)]
        return self.counting_for(DenseTable(self._xp.concat(blocks, axis=0)))

    def combine(self, center: Array, coefficients: Rows) -> Array:
        """Combine rows; in a wide table, in the precision of the data."""
        if not self._wide:
            return super().combine(center, coefficients)
        self.n_passes += 1
        # Large coefficients of nearly equal rows cancel.
        view = self._view(center, centered=True)
        out = np.empty((coefficients.shape[0], self.shape[1]), self.dtype)
        totals = on_host(self._xp.sum(coefficients, axis=1))[:, None]
        C = self._xp.astype(coefficients, getattr(self._xp, self.dtype.name), copy=False)
        for columns in self._column_groups():
            part = view.columns(columns)
            out[:, columns] = on_host(C @ part.of(self._columns(columns)))
            out[:, columns] -= totals * part.left
        return out

    def squares(self, center: Array, weights: Rows) -> tuple[Array, Array]:
        """Compute squares; in a wide table, in groups of columns."""
        if not self._wide:
            return super().squares(center, weights)
        self.n_passes += 1
        squares, drift = np.empty(self.shape[1]), np.empty(self.shape[1])
        for columns in self._column_groups():
            _, sums = Squares(center[columns])(self._columns(columns), weights)
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
        self.n_passes += 1
        # Centring is cheap compared with n products of each entry, and gives exact zeros.
        view = BlockView.about(center, self.dtype.name, centered=True)
        out: Any = 0.0
        along: Any = 0.0
        constant = 0.0
        for columns in self._column_groups():
            part = view.columns(columns)
            block = part.of(self._columns(columns))
            along = along + double(block @ like(part.left, block, block.dtype))
            constant += float(part.left @ part.left)
            out = out + double(block @ block.T)
        along = on_host(along)
        return np.asarray(on_host(out) - along[:, None] - along + constant)

    def _column_groups(self) -> Iterator[slice]:
        n, d = self.shape
        return pieces(d, max(1, SETTINGS.wide_elements // n))

    def _columns(self, columns: slice) -> Any:
        block = self._Y[:, columns]
        return block if self._kept is None else self._rows_of(block, np.flatnonzero(self._kept))

    def _fetched(self, block: Any) -> Array:
        """Copy a part of the table to the host."""
        if dtype_name(block) == "bfloat16":  # numpy has no such dtype
            block = self._xp.astype(block, self._xp.float32)
        return on_host(block)

    def _part_for_scale(self) -> Array:
        if not self._wide:
            return super()._part_for_scale()
        d = self.shape[1]
        step = max(1, d // SETTINGS.near_columns)
        return self._fetched(self._columns(slice(0, d, step)))

    def to_device(self, x: Array) -> Any:
        return like(x, self._Y)

    def to_gpu(self, x: Array) -> Any:
        return self.to_device(x) if self._on_cuda else x

    def constant(self, value: float) -> Rows:
        return self._xp.broadcast_to(self.to_device(np.array([value])), (self.shape[0],))
