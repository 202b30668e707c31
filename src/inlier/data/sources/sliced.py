"""Arrays that are opened and sliced."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from inlier._internal.arrays import pieces
from inlier._internal.typing import Array
from inlier.data.sources.base import Source


class SlicedSource(Source):
    """Zarr arrays, HDF5 datasets, arrays in memory, and memory maps that are not contiguous.

    `opened` returns a context in which the array is open.
    """

    def __init__(self, opened: Callable[[], AbstractContextManager[Any]]) -> None:
        self.opened = opened
        with opened() as X:
            self.shape = tuple(X.shape or ())
            self.dtype = np.dtype(X.dtype)
            # A shard of zarr holds many chunks, and is stored as a whole.
            stored = getattr(X, "shards", None) or getattr(X, "chunks", None)
        if stored and len(stored) == 2:
            self.stored = (int(stored[0]), int(stored[1]))

    def blocks(self, height: int) -> Generator[Array]:
        with self.opened() as X:
            for rows in pieces(self.shape[0], height):
                yield _sliced(X, rows, slice(None))

    def some(self, rows: Array, columns: slice) -> Array:
        """Read rows of one stored piece together."""
        borders = np.flatnonzero(np.diff(rows // self.stored[0])) + 1
        with self.opened() as X:
            return np.concatenate(
                [
                    _sliced(X, slice(int(near[0]), int(near[-1]) + 1), columns)[near - near[0]]
                    for near in np.split(rows, borders)
                ]
            )


def _sliced(X: Any, rows: slice, columns: slice) -> Array:
    block = np.asarray(X[rows, columns])
    return block.copy() if isinstance(X, np.ndarray) else block  # a view; maps are read now
