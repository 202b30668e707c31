"""Columns, each of which has a type of its own: Arrow and Parquet."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from inlier._internal.arrays import working_precision
from inlier._internal.typing import Array
from inlier.data.sources.base import KNOWN, Source, opening, package

PARQUET = (".parquet", ".pq")
# So much of a group of rows is decoded at a time, to look up a few.
LOOK_BYTES = 1 << 23


class ArrowSource(Source):
    """Tables and datasets of pyarrow.

    Parameters
    ----------
    data : pyarrow.Table or pyarrow.dataset.Dataset
    n : int
        How many rows there are.
    name : str
        What the data are called in messages.
    """

    by_columns = False

    def __init__(self, data: Any, n: int, name: str) -> None:
        self.data = data
        self.dtype = _dtype(data.schema, name)
        self.shape = (n, len(data.schema))

    def blocks(self, height: int) -> Generator[Array]:
        """See `Source.blocks`."""
        if hasattr(self.data, "num_rows"):
            batches = iter(self.data.to_batches(max_chunksize=height))
        else:  # pyarrow would read 16 batches of 4 files ahead
            batches = self.data.to_batches(
                batch_size=height, batch_readahead=1, fragment_readahead=1
            )
        for batch in batches:
            if len(batch):
                yield _numbers(batch, self.dtype)

    def some(self, rows: Array, columns: slice) -> Array:
        """See `Source.some`."""
        return _numbers(self.data.take(rows), self.dtype)[:, columns]


class ParquetSource(Source):
    """Parquet files one after the other, each opened when it is its turn.

    Parameters
    ----------
    files : sequence of callable
        Each makes a context in which a `pyarrow.parquet.ParquetFile` is open.
    name : str
        What the data are called in messages.
    """

    by_columns = False

    def __init__(
        self, files: Sequence[Callable[[], AbstractContextManager[Any]]], name: str
    ) -> None:
        self.files = files
        self.groups: list[tuple[int, int, int]] = []
        """File, number in the file and length of each group of rows that is stored in one piece."""
        schemas = []
        for i, opened in enumerate(files):
            with opened() as file:
                schemas.append(file.schema_arrow)
                self.groups += [
                    (i, j, file.metadata.row_group(j).num_rows)
                    for j in range(file.metadata.num_row_groups)
                ]
        for schema in schemas:
            if schema.names != schemas[0].names:
                raise ValueError(
                    f"{name} is a folder of Parquet files with different columns: "
                    f"{schemas[0].names} and {schema.names}. Write them with the same."
                )
        self.dtype = np.result_type(*[_dtype(schema, name) for schema in schemas])
        self.shape = (sum(length for *_, length in self.groups), len(schemas[0]))

    def blocks(self, height: int) -> Generator[Array]:
        """See `Source.blocks`."""
        for opened in self.files:
            with opened() as file:
                for batch in file.iter_batches(batch_size=height):
                    yield _numbers(batch, self.dtype)

    def some(self, rows: Array, columns: slice) -> Array:
        """See `Source.some`. Groups of rows in which none is wanted are not read."""
        found: list[Array] = []
        start = 0
        for i, j, length in self.groups:
            inside = rows[np.searchsorted(rows, start) : np.searchsorted(rows, start + length)]
            if len(inside):
                with self.files[i]() as file:
                    found += self._of_group(file, j, inside - start)
            start += length
        return np.concatenate(found)[:, columns]

    def _of_group(self, file: Any, group: int, rows: Array) -> Iterator[Array]:
        """Rows of a group by their numbers in it, without holding all of it."""
        height = max(1, LOOK_BYTES // (self.shape[1] * self.dtype.itemsize))
        start = 0
        for batch in file.iter_batches(batch_size=height, row_groups=[group]):
            low, high = np.searchsorted(rows, [start, start + len(batch)])
            if low < high:
                yield _numbers(batch.take(rows[low:high] - start), self.dtype)
            start += len(batch)


def of_arrow(X: Any, name: str) -> Source:
    """An object of pyarrow that can be read more than once."""
    if isinstance(X, package("pyarrow.parquet", name).ParquetFile):
        return ParquetSource([lambda: nullcontext(X)], name)
    if isinstance(X, package("pyarrow.dataset", name).Dataset):
        return ArrowSource(X, X.count_rows(), name)
    if hasattr(X, "to_batches") and hasattr(X, "num_rows"):
        return ArrowSource(X, X.num_rows, name)
    raise TypeError(
        f"{name} must be a Table, a Dataset or a ParquetFile of pyarrow, but is of type "
        f"{type(X).__name__}."
    )


def open_parquet(path: Path, name: str) -> Source:
    """A Parquet file, or those of a folder, in the order of their names."""
    parquet = package("pyarrow.parquet", name)
    files = sorted(p for p in path.iterdir() if p.suffix in PARQUET) if path.is_dir() else [path]
    if not files:
        raise ValueError(f"{name} is a folder without .parquet files. Give {KNOWN}.")

    def opener(file: Path) -> Callable[[], AbstractContextManager[Any]]:
        # Through a small buffer: otherwise the compressed columns of a group are held as a whole.
        return lambda: parquet.ParquetFile(file, pre_buffer=False, buffer_size=1 << 16)

    with opening("a Parquet file", name, import_module("pyarrow").ArrowInvalid):
        return ParquetSource([opener(file) for file in files], name)


def _dtype(schema: Any, name: str) -> np.dtype[Any]:
    """A floating point type that holds all columns, because entries may be missing."""
    types = import_module("pyarrow").types
    kinds: list[Any] = []
    for field in schema:
        if types.is_decimal(field.type):
            kinds.append(np.float64)
        elif types.is_integer(field.type) or types.is_floating(field.type):
            kinds.append(field.type.to_pandas_dtype())
        elif types.is_boolean(field.type):
            kinds.append(np.bool_)
        else:
            raise ValueError(
                f"{name} must hold real numbers, but its column {field.name!r} has type "
                f"{field.type}. Select or encode the numeric columns first."
            )
    return working_precision(np.result_type(*kinds).name if kinds else "float64")


def _numbers(batch: Any, dtype: np.dtype[Any]) -> Array:
    """The columns of a batch as one array; what is missing becomes NaN."""
    kind = import_module("pyarrow").from_numpy_dtype(dtype)
    out = np.empty((batch.num_columns, batch.num_rows), dtype)
    for values, column in zip(out, batch.columns, strict=True):
        values[:] = column.cast(kind, safe=False).to_numpy(zero_copy_only=False)
    return out.T
