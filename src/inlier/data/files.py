"""Tables in files: larger than memory, read block by block, one block ahead.

`FileTable` does the passes. Its `Source` reads all rows in order, or a few of them. A pass reads
with one thread while it computes with another. It holds three blocks, and what is made of a
cache-sized part of one of them.
"""

from __future__ import annotations

from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import numpy as np

from inlier._internal.arrays import pieces, working_precision
from inlier._internal.progress import watched
from inlier._internal.typing import Array, Mask, Rows
from inlier._internal.validation import (
    check_finite,
    check_rows_of_numbers,
    check_size,
    check_whole,
)
from inlier.data.arrays import DenseTable, run_blocks
from inlier.data.base import Metric, Table
from inlier.data.checks import MEMORY
from inlier.data.passes import BlockTable, Pass, kept_among
from inlier.data.sources import Source, open_source

# Large enough for a disk, small enough to be in the shared cache still when it is computed with.
READ_BYTES = 1 << 23
# What an entry of a part takes: as it is read (at most 16 bytes, twice), and in double precision as
# it is cast, centered, transformed and multiplied.
ENTRY_BYTES = 64
# Of the memory: three blocks (being read, waiting, and in use) take half.
SHARES = 6


class FileTable(BlockTable):
    """Rows of a file, or of anything else that is read in blocks; nothing is kept in memory.

    `memory` bounds, in bytes, the blocks that are held and what is made of them. Vectors with an
    entry for each row are numpy arrays; they, and the answers of the passes, come on top.
    """

    def __init__(
        self, source: Source, name: str = "X", memory: int = MEMORY, checked: bool = False
    ) -> None:
        check_rows_of_numbers(source, name, stored=True)
        check_size(source, name)
        n, d = source.shape
        super().__init__((n, d), working_precision(source.dtype.name))
        if memory < ENTRY_BYTES * d:
            raise ValueError(
                f"memory={memory} is too little to compute with one row of {name}, which has {d} "
                f"columns: allow at least {ENTRY_BYTES * d} bytes."
            )
        self._source, self._name, self._memory = source, name, int(memory)
        self.columns = source.columns
        self._kept: Mask | None = None
        self._metrics: tuple[Metric, ...] = ()
        # Shared with the tables that `take` and `in_metric` make of this one.
        self._checked = [checked]

    def _run(self, work: Pass, *inputs: Any) -> tuple[Rows, list[Array]]:
        self.n_passes += 1
        with closing(self._parts()) as parts:
            blocks = watched(parts, self.shape[0], self.n_passes)
            return run_blocks(blocks, self.shape[0], work, inputs)

    def _parts(self) -> Generator[tuple[slice, Array]]:
        """Yield the kept rows in the new coordinates, from a part of a block at a time."""
        start, d = 0, self.shape[1]
        # If few rows are kept, a part covers more of the file.
        height = self.cached_rows(self.dtype) * self._source.shape[0] // max(1, self.shape[0])
        height = max(1, min(height, self._memory // (ENTRY_BYTES * d)))
        with closing(self._read_ahead()) as read:
            for first, block in read:
                for part in pieces(len(block), height):
                    piece = block[part]
                    if not self._checked[0]:
                        check_finite(piece, self._name, first + part.start)
                    if self._kept is not None:
                        inside = self._kept[first + part.start : first + part.stop]
                        piece = piece if inside.all() else piece[inside]
                    if len(piece):
                        yield slice(start, start + len(piece)), self._transformed(piece)
                        start += len(piece)
        self._checked[0] = True

    def _read_ahead(self) -> Generator[tuple[int, Array]]:
        """Yield the blocks as they are stored, with the number of their first row.

        While one is in use, a thread reads the next; it ends with this generator.
        """
        blocks = self._source.blocks(self._block_rows())
        reader = ThreadPoolExecutor(1, thread_name_prefix="inlier-read")
        first = 0
        try:
            following = reader.submit(next, blocks, None)
            while (block := following.result()) is not None:
                following = reader.submit(next, blocks, None)
                yield first, block
                first += len(block)
        finally:
            reader.shutdown(wait=True, cancel_futures=True)
            blocks.close()
        if first != self._source.shape[0]:
            raise RuntimeError(
                f"{self._name} had {self._source.shape[0]} rows when it was opened, and {first} "
                "when it was read. Do not change it while it is in use."
            )

    def _block_rows(self) -> int:
        """Return how many rows are read at a time: whole chunks of the file, if they fit."""
        n, d = self._source.shape
        row = d * self._source.dtype.itemsize
        most = max(1, self._memory // SHARES // row)
        height = max(1, min(most, READ_BYTES // row))
        stored = self._source.stored[0]
        if stored <= most:
            height = max(stored, height // stored * stored)
        return min(n, height)

    def _transformed(self, rows: Array) -> Array:
        """Return rows of the file in the coordinates of this table."""
        for metric in self._metrics:
            rows = metric.transform_rows(rows, self.dtype)
        return rows

    def _rows_at(self, rows: Array, columns: slice) -> Array:
        """Rows of the file by their numbers, checked."""
        wanted, places = np.unique(np.asarray(rows, np.intp), return_inverse=True)
        none = np.empty((0, self.shape[1]), self._source.dtype)[:, columns]
        found = self._source.some(wanted, columns) if len(wanted) else none
        if not (self._checked[0] or found.dtype.kind != "f" or np.isfinite(found).all()):
            for _ in self._parts():  # until the first such entry, to name it
                pass
        return found if np.array_equal(wanted, rows) else found[places]

    def loaded(self) -> Array:
        """Return all rows as they are stored, not checked."""
        out = np.empty(self._source.shape, self._source.dtype)
        with closing(self._read_ahead()) as read:
            for first, block in read:
                out[first : first + len(block)] = block
        return out

    def fetch(self, rows: Array) -> Array:
        if self._kept is not None:
            rows = np.flatnonzero(self._kept)[rows]
        return self._transformed(self._rows_at(rows, slice(None)))

    def take(self, rows: Rows) -> Table:
        """Drop other rows after they were read."""
        return self._again(kept_among(self._kept, rows), self._metrics)

    def in_metric(self, metric: Metric) -> Table:
        """Transform rows after they were read, in each pass."""
        return self._again(self._kept, (*self._metrics, metric))

    def _again(self, kept: Mask | None, metrics: tuple[Metric, ...]) -> FileTable:
        table = FileTable(self._source, self._name, self._memory)
        table._kept, table._metrics, table._checked = kept, metrics, self._checked
        if kept is not None:
            table.shape = (int(kept.sum()), self.shape[1])
        return self.counting_for(table)

    def gram(self, center: Array) -> Array:
        out = np.zeros((self.shape[0], self.shape[0]))
        for columns, rows in self._by_columns():
            out += DenseTable(rows).gram(center[columns])
        return out

    def _by_columns(self) -> Generator[tuple[slice, Array]]:
        """Look the rows up in groups of columns, if the file allows."""
        looked_up = all(metric.factor.ndim == 1 for metric in self._metrics)
        self.n_passes += looked_up
        for columns in pieces(self.shape[1], self._group_columns()):
            self.n_passes += not looked_up
            yield columns, self._look_up(columns) if looked_up else self._columns(columns)

    def _group_columns(self) -> int:
        """Return how many columns of all rows are held at a time: whole chunks, if they fit."""
        most = max(1, self._memory // ENTRY_BYTES // self.shape[0])
        stored = self._source.stored[1]
        return most // stored * stored if stored <= most else most

    def _look_up(self, columns: slice) -> Array:
        """Return some columns of all rows, where each column has coordinates of its own."""
        n = self._source.shape[0]
        numbers = np.arange(n) if self._kept is None else np.flatnonzero(self._kept)
        rows = self._rows_at(numbers, columns)
        for metric in self._metrics:
            rows = Metric(metric.origin[columns], metric.factor[columns]).transform_rows(
                rows, self.dtype
            )
        return rows

    def _columns(self, columns: slice) -> Array:
        """Return some columns of all rows, from a read of the whole file."""
        out = np.empty((self.shape[0], columns.stop - columns.start), self.dtype)
        with closing(self._parts()) as parts:
            for rows, part in parts:
                out[rows] = part[:, columns]
        return out


def open_file(X: Any, name: str = "X", memory: int = MEMORY) -> FileTable:
    """Open a table that is read block by block; see `inlier.open_table`.

    Text, Parquet and Arrow files that fit into `memory` are loaded.
    """
    check_whole(memory, "memory")
    return FileTable(open_source(X, name, memory), name, memory)
