"""What a source of rows has to offer, and what the errors of all of them have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from inlier._internal.optional import optional
from inlier._internal.typing import Array

KNOWN = "a .npy, .zarr, .h5 or .parquet file, or a folder of .parquet files"


class Source(ABC):
    """Where the rows come from.

    Attributes
    ----------
    shape : tuple of int
    dtype : numpy dtype
        Of the blocks, in any byte order.
    stored : tuple of int
        How many rows and columns are stored in one piece that can only be read as a whole.
    by_columns : bool
        Whether `some` reads only the columns that are asked for.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    stored = (1, 1)
    by_columns = True

    @abstractmethod
    def blocks(self, height: int) -> Generator[Array]:
        """All rows in order, in blocks of at most so many rows.

        A block belongs to who asked for it. What was opened is closed with the generator.
        """

    @abstractmethod
    def some(self, rows: Array, columns: slice) -> Array:
        """A few rows, at least one, by their numbers, which increase."""


def package(module: str, name: str) -> Any:
    """A module that reads files."""
    return optional(module, f"To read {name}", "files")


@contextmanager
def opening(kind: str, name: str, *errors: type[Exception]) -> Iterator[None]:
    """Say which file it is, and what it should have been, if its library cannot read it."""
    try:
        yield
    except errors as error:
        raise ValueError(f"{name} is not {kind}: {error}") from None
