"""Tables held in an array: of numpy, or of any library that follows the array API standard."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np

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
from inlier.data.base import SAMPLE_ROWS, Metric, Table
from inlier.data.blocks import BlockTable, kept_among
from inlier.data.finite import check_finite
from inlier.data.medians import column_medians
from inlier.data.passes import BlockView, Pass, Squares
from inlier.data.products import MOST_ROWS

# A block has to stay in the cache between the two products of a fused pass, with what is made of
# it: about so many numbers for each row.
BLOCK_BYTES = 1 << 21
BESIDE_A_ROW = 16
GIVEN_BACK = 1 << 22
MIN_BLOCK_ROWS = 16
# On a device a block is limited by the memory for what is made of it: a centred copy, or nothing.
DEVICE_ELEMENTS = 1 << 30
DEVICE_COPIED = 1 << 24
# A table with no more rows than these, and more columns, is gone through in blocks of columns. Of
# more rows the eigenvectors of an n x n matrix cost more than the passes they save.
WIDE_ROWS = 512
WIDE_ELEMENTS = 1 << 20
LOOK_COLUMNS = 1 << 14
# Up to this many elements the exact median of all columns is found by numpy.
SORTED_ELEMENTS = 1 << 24


def cached_rows(d: int, dtype: np.dtype[Any]) -> int:
    """How many rows of d columns a block has on the host."""
    rows = max(MIN_BLOCK_ROWS, BLOCK_BYTES // ((d + BESIDE_A_ROW) * dtype.itemsize))
    # A whole number of the pieces that products are made of.
    return rows // MOST_ROWS * MOST_ROWS or 1 << rows.bit_length() - 1


def collected(
    blocks: Iterable[tuple[slice, Rows]],
    n: int,
    work: Pass,
    inputs: tuple[Any, ...],
) -> tuple[Rows, list[Array]]:
    """What a pass sees of all n rows, and its sums; see `BlockTable._run`."""
    # Once something large was given back, the C library keeps what smaller arrays give back; before
    # that the system has to find new pages for what is made of each block.
    np.empty(GIVEN_BACK, np.uint8)
    out: Rows = None
    sums: list[Rows] = []
    for rows, block in blocks:
        own = [partial(x, rows) if callable(x) else x[..., rows] for x in inputs]
        projected, parts = work(block, *own)
        if projected is not None:
            if out is None and projected.shape[-1] < n:
                out = empty_like(projected, (*projected.shape[:-1], n))
            out = projected if out is None else with_part(out, rows, projected)
        for i, part in enumerate(parts):
            if len(sums) == i:
                sums.append(part)
            else:
                sums[i] += part
    return out, [on_host(x) for x in sums]


def is_wide(shape: tuple[int, ...]) -> bool:
    """Whether a table has few rows and more columns."""
    n, d = shape
    return n < d and n <= WIDE_ROWS


class DenseTable(BlockTable):
    """Rows of a two-dimensional array of any real dtype and memory order.

    Parameters
    ----------
    Y : array of shape (n, d)
    kept : mask of shape (n,), optional
        The rows that are looked at, on the host.
    """

    def __init__(self, Y: Any, kept: Array | None = None) -> None:
        n = Y.shape[0] if kept is None else int(kept.sum())
        super().__init__((n, Y.shape[1]), working_precision(dtype_name(Y)))
        self._Y = Y
        self._kept = kept
        self._xp = namespace(Y)
        self._wide = is_wide(self.shape)
        self._gram: tuple[Array, Array] | None = None
        self.in_cache = isinstance(Y, np.ndarray)

    def _run(self, work: Pass, *inputs: Any) -> tuple[Rows, list[Array]]:
        """See `BlockTable._run`."""
        self.n_passes += 1
        return collected(self._blocks(self._block_rows(work)), self.shape[0], work, inputs)

    def _block_rows(self, work: Pass) -> int:
        if self.in_cache:
            # What is made of single precision in double takes twice as much room.
            wider = isinstance(work, Squares)
            return cached_rows(self.shape[1], np.dtype(np.float64) if wider else self.dtype)
        # Pieces of rows that do not lie one after the other would be copied by a product.
        contiguous = not hasattr(self._Y, "is_contiguous") or self._Y.is_contiguous()
        same = self._kept is None and dtype_name(self._Y) == self.dtype.name
        in_place = work.in_place and contiguous and same
        elements = DEVICE_ELEMENTS if in_place else DEVICE_COPIED
        return max(MIN_BLOCK_ROWS, elements // self.shape[1])

    def _blocks(self, height: int) -> Iterator[tuple[slice, Any]]:
        """The rows block by block, where they lie."""
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
        if self._xp is np:  # whose take copies the whole of an array in Fortran order first
            return block[rows]
        return self._xp.take(block, like(rows, block), axis=0)

    def some(self, rows: Array) -> Array:
        """See `Table.some`."""
        if self._kept is not None:
            rows = np.flatnonzero(self._kept)[rows]
        return self._fetched(self._rows_of(self._Y, rows))

    def median(self, sample: np.random.Generator | None = None) -> Array:
        """See `Table.median`."""
        n, d = self.shape
        if n <= SAMPLE_ROWS or (sample is None and n * d <= SORTED_ELEMENTS):
            self.n_passes += 1
            found = np.empty(d)
            for columns in pieces(d, max(1, WIDE_ELEMENTS // n)):
                found[columns] = column_medians(self._fetched(self._columns(columns)))
            return found
        return super().median(sample)

    def take(self, rows: Rows) -> Table:
        """See `Table.take`."""
        return self.counting_for(DenseTable(self._Y, kept_among(self._kept, rows)))

    def in_metric(self, metric: Metric) -> Table:
        """See `Table.in_metric`. In memory the new coordinates are computed once."""
        self.n_passes += 1
        height = max(MIN_BLOCK_ROWS, DEVICE_COPIED // self.shape[1])
        blocks = [metric.rows(block, self.dtype) for _, block in self._blocks(height)]
        return self.counting_for(DenseTable(self._xp.concat(blocks, axis=0)))

    def combine(self, center: Array, coefficients: Rows) -> Array:
        """See `Table.combine`. Of a table with few rows, in the precision of the data."""
        if not self._wide:
            return super().combine(center, coefficients)
        self.n_passes += 1
        n, d = self.shape
        # Large coefficients of rows that are near each other cancel out.
        view = self._view(center, centred=True)
        out = np.empty((coefficients.shape[0], d), self.dtype)
        totals = on_host(self._xp.sum(coefficients, axis=1))[:, None]
        C = self._xp.astype(coefficients, getattr(self._xp, self.dtype.name), copy=False)
        for columns in pieces(d, max(1, WIDE_ELEMENTS // n)):
            part = view.columns(columns)
            out[:, columns] = on_host(C @ part.of(self._columns(columns)))
            out[:, columns] -= totals * part.left
        return out

    def squares(self, center: Array, weights: Rows) -> tuple[Array, Array]:
        """See `Table.squares`. Of a table with few rows, in groups of columns."""
        if not self._wide:
            return super().squares(center, weights)
        self.n_passes += 1
        n, d = self.shape
        squares, drift = np.empty(d), np.empty(d)
        for columns in pieces(d, max(1, WIDE_ELEMENTS // n)):
            _, sums = Squares(center[columns])(self._columns(columns), weights)
            squares[columns], drift[columns] = map(on_host, sums)
        return squares, drift

    def sq_distances(self, center: Array) -> Rows:
        """See `Table.sq_distances`. Of a table with few rows, from its Gram matrix."""
        if not self._wide:
            return super().sq_distances(center)
        squared = np.diag(self.gram(center))
        # Of a row too far away to square nothing is known but that.
        return self.to_device(np.where(np.isfinite(squared), np.maximum(squared, 0.0), np.inf))

    def gram(self, center: Array) -> Array:
        """See `Table.gram`. The last one is remembered."""
        if self._gram is None or self._gram[0] is not center:
            with np.errstate(over="ignore", invalid="ignore"):
                self._gram = (center, self._products(center))
            if not np.isfinite(np.diag(self._gram[1])).all():  # a look before would be a pass
                check_finite(self._Y, "X", 0)
        return self._gram[1]

    def _products(self, center: Array) -> Array:
        self.n_passes += 1
        n, d = self.shape
        # Beside n products of each number, to centre it costs little, and a row at the centre has
        # then no length of its own.
        view = BlockView.about(center, self.dtype.name, centred=True)
        out: Any = 0.0
        along: Any = 0.0
        own = 0.0
        for columns in pieces(d, max(1, WIDE_ELEMENTS // n)):
            part = view.columns(columns)
            block = part.of(self._columns(columns))
            along = along + double(block @ like(part.left, block, block.dtype))
            own += float(part.left @ part.left)
            out = out + double(block @ block.T)
        along = on_host(along)
        return np.asarray(on_host(out) - along[:, None] - along + own)

    def _columns(self, columns: slice) -> Any:
        block = self._Y[:, columns]
        return block if self._kept is None else self._rows_of(block, np.flatnonzero(self._kept))

    def _fetched(self, block: Any) -> Array:
        """A part of the table on the host."""
        if dtype_name(block) == "bfloat16":  # which numpy does not know
            block = self._xp.astype(block, self._xp.float32)
        return on_host(block)

    def _glimpse(self) -> Array:
        """See `BlockTable._glimpse`."""
        if not self._wide:
            return super()._glimpse()
        d = self.shape[1]
        step = max(1, d // LOOK_COLUMNS)
        return self._fetched(self._columns(slice(0, d, step)))

    def to_device(self, x: Array) -> Any:
        """See `Table.to_device`."""
        return like(x, self._Y)

    def rows(self, value: float) -> Rows:
        """See `Table.rows`."""
        return self._xp.broadcast_to(self.to_device(np.array([value])), (self.shape[0],))
