"""Tables in files: larger than memory, read block by block, one block ahead.

`FileTable` does the passes, and knows of a file only what its `Source` tells: how to go through all
rows in order, and how to look up a few. While one thread reads, a few others compute. What is held
is a few blocks, and for each thread what is made of a cache-sized part of one of them.
"""

from __future__ import annotations

import numbers
import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from contextvars import copy_context
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np

from inlier._arrays import double, on_host, pieces, working_precision
from inlier._typing import Array, Mask, Rows
from inlier.data.arrays import SORTED_ELEMENTS, UNPACKED, DenseTable, cached_rows, collected
from inlier.data.base import Metric, Table
from inlier.data.blocks import BlockTable
from inlier.data.finite import check_finite
from inlier.data.medians import column_medians
from inlier.data.passes import Histogram, Pass, Seen
from inlier.data.sources import Source, open_source

T = TypeVar("T")
S = TypeVar("S")

MEMORY = 1 << 30
# Large enough for a disk, so small that those under way are in the shared cache still when they
# are computed with.
READ_BYTES = 1 << 22
# Of a part of a block: it and a copy of it stay in a core's own cache.
PART_ELEMENTS = 1 << 17
# Reading keeps up with no more.
THREADS = 4
# What an entry of a row takes in all: read (at most 16 bytes, twice), and in double precision as it
# is cast, centred, transformed and multiplied.
ENTRY_BYTES = 64


class Block(NamedTuple):
    """A block of rows as it was read."""

    first: int
    """The number of its first row in the file."""
    rows: slice
    """Where its rows are among those that are kept."""
    values: Array


class FileTable(BlockTable):
    """Rows of a file, or of anything else that is read in blocks; nothing is kept in memory.

    Vectors with an entry for each row are numpy arrays; they, and the answers of the passes, come
    on top of the memory for the blocks.

    Parameters
    ----------
    source : Source
    name : str
        What the data are called in messages.
    memory : int
        Upper bound, in bytes, for the blocks that are held and for what is made of them.
    """

    def __init__(self, source: Source, name: str = "X", memory: int = MEMORY) -> None:
        n, d = _checked_shape(source, name)
        super().__init__((n, d), working_precision(source.dtype.newbyteorder("=").name))
        self._source = source
        self._name = name
        self._memory = _checked_memory(memory, d, name)
        self._threads = min(THREADS, os.cpu_count() or 1, self._memory // (ENTRY_BYTES * d))
        self._kept: Mask | None = None
        self._metrics: tuple[Metric, ...] = ()
        # Shared with the tables that `take` and `in_metric` make of this one.
        self._checked = [False]

    def _run(self, work: Pass, *inputs: Any, width: int = 1) -> tuple[Rows, list[Array]]:
        """See `BlockTable._run`. Functions are called in this thread, for rows in their order."""
        self.n_passes += 1
        # Fewer rows than bins are dwarfed by their counts.
        height = self._part_rows(width, work.n_bins if isinstance(work, Histogram) else 1)

        def look(block: Block) -> tuple[slice, Seen]:
            rows = block.rows
            own = tuple(_from(rows.start, x) if callable(x) else x[..., rows] for x in inputs)
            n = rows.stop - rows.start
            seen, sums = collected(self._parts(block, height), n, work, own)
            return rows, (seen, tuple(sums))

        threads = 0 if any(callable(x) for x in inputs) else self._threads
        with (
            closing(self._blocks()) as blocks,
            closing(_in_order(look, blocks, threads)) as looked,
        ):
            # The sums of the blocks are added in their order, whatever the number of threads.
            out = collected(looked, self.shape[0], _Looked(), ())
        self._checked[0] = True
        return out

    def _part_rows(self, width: int = 1, least: int = 1) -> int:
        """How many rows of a block are computed with at a time."""
        d = self.shape[1]
        # Parts as large as are still multiplied fast, since threads wait for each other between
        # the products.
        height = max(least, cached_rows(d, width), min(PART_ELEMENTS, UNPACKED // width) // d)
        # If few are kept, as many more are looked at.
        height = height * self._source.shape[0] // max(1, self.shape[0])
        most = self._memory // (self._threads * ENTRY_BYTES * d)
        return max(1, min(height, most))

    def _parts(self, block: Block, height: int) -> Iterator[tuple[slice, Array]]:
        """The rows of a block that are kept, in the new coordinates, a few at a time."""
        start = 0
        for part in pieces(len(block.values), height):
            piece = self._native(block.values[part])
            if not self._checked[0]:
                check_finite(piece, self._name, block.first + part.start)
            if self._kept is not None:
                inside = self._kept[block.first + part.start : block.first + part.stop]
                piece = piece if inside.all() else piece[inside]
            if len(piece):
                yield slice(start, start + len(piece)), self._seen(piece)
                start += len(piece)

    def _blocks(self) -> Generator[Block]:
        """All rows of the file, one block ahead."""
        first = start = 0
        with closing(_ahead(self._source.blocks(self._block_rows()))) as blocks:
            for values in blocks:
                stop = first + len(values)
                kept = len(values) if self._kept is None else int(self._kept[first:stop].sum())
                yield Block(first, slice(start, start + kept), values)
                first, start = stop, start + kept
        if first != self._source.shape[0]:
            raise RuntimeError(
                f"{self._name} had {self._source.shape[0]} rows when it was opened, and {first} "
                "when it was read. Do not change it while it is in use."
            )

    def _block_rows(self) -> int:
        """How many rows are read at a time: whole pieces of what is stored, if they fit."""
        n, d = self._source.shape
        row = d * self._source.dtype.itemsize
        # A third of the memory: one is being read, one waits, each thread computes with one.
        most = max(1, self._memory // 3 // (self._threads + 2) // row)
        height = max(1, min(most, READ_BYTES // row))
        stored = self._source.stored[0]
        if stored <= most:
            height = max(stored, height // stored * stored)
        return min(n, height)

    def _native(self, block: Array) -> Array:
        return block if block.dtype.isnative else block.astype(block.dtype.newbyteorder("="))

    def _seen(self, rows: Array) -> Array:
        """Rows of the file in the coordinates of this table."""
        if not self._metrics:
            return rows
        seen = double(rows)
        for metric in self._metrics:
            seen = metric.seen(seen)
        return np.asarray(seen, self.dtype)

    def _rows_at(self, rows: Array, columns: slice) -> Array:
        """Rows of the file by their numbers, checked."""
        wanted, places = np.unique(np.asarray(rows, np.intp), return_inverse=True)
        none = np.empty((0, self.shape[1]), self._source.dtype)[:, columns]
        found = self._native(self._source.some(wanted, columns) if len(wanted) else none)
        if not (self._checked[0] or _all_finite(found)):
            self._columns(slice(0, 0))  # goes through all rows, and names the first such entry
        return found if np.array_equal(wanted, rows) else found[places]

    def some(self, rows: Array) -> Array:
        """See `Table.some`."""
        if self._kept is not None:
            rows = np.flatnonzero(self._kept)[rows]
        return self._seen(self._rows_at(rows, slice(None)))

    def median(self, sample: np.random.Generator | None = None) -> Array:
        """See `Table.median`."""
        n, d = self.shape
        if sample is None and n * d <= min(SORTED_ELEMENTS, self._memory // ENTRY_BYTES):
            return column_medians(self._columns(slice(0, d)))
        return super().median(sample)

    def take(self, rows: Rows) -> Table:
        """See `Table.take`. Rows that are not kept are dropped after they were read."""
        kept: Mask = np.array(on_host(rows), bool)
        if self._kept is not None:
            among_all = self._kept.copy()
            among_all[self._kept] = kept
            kept = among_all
        return self._again(kept, self._metrics)

    def in_metric(self, metric: Metric) -> Table:
        """See `Table.in_metric`. Rows are transformed after they were read, in each pass."""
        return self._again(self._kept, (*self._metrics, metric))

    def _again(self, kept: Mask | None, metrics: tuple[Metric, ...]) -> FileTable:
        table = FileTable(self._source, self._name, self._memory)
        table._kept, table._metrics, table._checked = kept, metrics, self._checked
        if kept is not None:
            table.shape = (int(kept.sum()), self.shape[1])
        return table

    def gram(self, center: Array) -> Array:
        """See `Table.gram`. The rows are looked up in groups of columns, if the file allows."""
        n, d = self.shape
        looked_up = self._source.by_columns and all(m.factor.ndim == 1 for m in self._metrics)
        self.n_passes += looked_up
        out = np.zeros((n, n))
        for columns in pieces(d, self._group_columns()):
            rows = self._look_up(columns) if looked_up else self._columns(columns)
            out += DenseTable(rows).gram(center[columns])
        return out

    def _group_columns(self) -> int:
        """How many columns of all rows are held at a time: whole pieces, if they fit."""
        most = max(1, self._memory // ENTRY_BYTES // self.shape[0])
        stored = self._source.stored[1]
        return most // stored * stored if stored <= most else most

    def _look_up(self, columns: slice) -> Array:
        """Some columns of all rows, where each column has coordinates of its own."""
        n = self._source.shape[0]
        numbers = np.arange(n) if self._kept is None else np.flatnonzero(self._kept)
        rows = self._rows_at(numbers, columns)
        if not self._metrics:
            return rows
        for metric in self._metrics:
            rows = Metric(metric.origin[columns], metric.factor[columns]).seen(double(rows))
        return rows.astype(self.dtype)

    def _columns(self, columns: slice) -> Array:
        """Some columns of all rows, from a read of the whole file."""
        seen: Array = self._run(_Columns(columns, self.dtype))[0]
        return seen.T


@dataclass(frozen=True)
class _Columns:
    """Some columns as they are."""

    columns: slice
    dtype: np.dtype[Any]
    in_place = False

    def __call__(self, block: Rows, *inputs: Any) -> Seen:
        return block[:, self.columns].astype(self.dtype, copy=False).T, ()


class _Looked:
    """Blocks that were passed over already: what was seen has only to be put together."""

    in_place = True

    def __call__(self, block: Rows, *inputs: Any) -> Seen:
        seen: Seen = block
        return seen


def _from(start: int, weigh: Callable[[slice, Rows], Rows]) -> Callable[[slice, Rows], Rows]:
    """A function of rows that are counted from `start`."""
    return lambda rows, seen: weigh(slice(start + rows.start, start + rows.stop), seen)


def _ahead(items: Generator[T]) -> Generator[T]:
    """The same items: while one is looked at, the next is made by a thread.

    The thread ends, and what makes the items is closed, with this generator.
    """
    reader = ThreadPoolExecutor(1, thread_name_prefix="inlier-read")
    try:
        following = reader.submit(next, items, None)
        while (item := following.result()) is not None:
            following = reader.submit(next, items, None)
            yield item
    finally:
        reader.shutdown(wait=True, cancel_futures=True)
        items.close()


def _in_order(function: Callable[[T], S], items: Iterable[T], threads: int) -> Generator[S]:
    """What a function makes of each item, in their order, by so many threads, or in this one.

    One item more than there are threads is under way.
    """
    if not threads:
        yield from map(function, items)
        return
    pool = ThreadPoolExecutor(threads, thread_name_prefix="inlier-pass")
    waiting: deque[Future[S]] = deque()
    try:
        for item in items:
            # In a context like that of the caller, in which numpy keeps what it warns of.
            waiting.append(pool.submit(copy_context().run, function, item))
            if len(waiting) > threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def open_file(X: Any, name: str = "X", memory: int = MEMORY) -> FileTable:
    """A table that is read block by block.

    Parameters
    ----------
    X : path, numpy.memmap, or object of zarr, h5py or pyarrow
        A path leads to a `.npy`, `.zarr`, HDF5 (`file.h5`, or `file.h5::dataset`) or Parquet file,
        or to a folder of Parquet files.
    name : str
        What the data are called in messages.
    memory : int
        Upper bound, in bytes, for the blocks that are held and for what is made of them.
    """
    return FileTable(open_source(X, name), name, memory)


def _checked_shape(source: Source, name: str) -> tuple[int, int]:
    if len(source.shape) != 2:
        raise ValueError(
            f"{name} must be a table with rows and columns, but has shape {source.shape}. Store it "
            "with two dimensions."
        )
    n, d = source.shape
    if n < 2 or d < 1:
        raise ValueError(
            f"{name} must have at least 2 rows and 1 column, but has {n} rows and {d} columns."
        )
    if source.dtype.kind not in "buif":
        raise ValueError(
            f"{name} must hold real numbers, but has dtype {source.dtype}. Select or encode the "
            "numeric columns first."
        )
    return n, d


def _checked_memory(memory: Any, d: int, name: str) -> int:
    right = isinstance(memory, numbers.Integral) and not isinstance(memory, bool | np.bool_)
    if not right or memory < 1:
        raise ValueError(f"memory must be a whole number of bytes >= 1, but is {memory!r}.")
    if memory < ENTRY_BYTES * d:
        raise ValueError(
            f"memory={memory} is too little to compute with one row of {name}, which has {d} "
            f"columns: allow at least {ENTRY_BYTES * d} bytes."
        )
    return int(memory)


def _all_finite(block: Array) -> bool:
    return block.dtype.kind != "f" or bool(np.isfinite(block).all())
