"""Arrow and Parquet: columns, each of which has a type of its own."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from inlier._internal.arrays import pieces
from inlier._internal.typing import Array
from inlier.data.sources.base import Source, arrow, opening, package
from inlier.data.sources.columns import (
    Columns,
    StreamedColumns,
    is_numeric,
    numeric_dtype,
    to_numpy,
)
from inlier.data.sources.content import (
    BLOCK_BYTES,
    INDEX,
    Content,
    Format,
    ReadOptions,
    Reason,
    distinct,
)
from inlier.data.sources.location import Location
from inlier.data.sources.npy import SpooledSource

PARQUET_SUFFIXES = (".parquet", ".pq")
PARQUET_MAGIC, IPC_MAGIC = b"PAR1", b"ARROW1"
# A table that is loaded is held as columns, and as an array.
COPIES = 2

Opener = Callable[[], AbstractContextManager[Any]]


class ArrowSource(Source):
    """A table or dataset of pyarrow.

    Parameters
    ----------
    data : pyarrow.Table or pyarrow.dataset.Dataset
    n : int
        Number of rows.
    name : str
        What messages call it.
    """

    by_columns = False

    def __init__(self, data: Any, n: int, name: str) -> None:
        self.data = data
        self.dtype = numeric_dtype(data.schema, name)
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
                yield to_numpy(batch, self.dtype)

    def some(self, rows: Array, columns: slice) -> Array:
        """See `Source.some`."""
        return to_numpy(self.data.take(rows), self.dtype)[:, columns]


class ParquetSource(Source):
    """Parquet files one after the other, each open only while it is read.

    Parameters
    ----------
    files : sequence of callable
        Each returns a context in which a `pyarrow.parquet.ParquetFile` is open.
    name : str
        What messages call the data.
    columns : list of int, optional
        All by default.
    """

    by_columns = False

    def __init__(
        self, files: Sequence[Opener], name: str, columns: list[int] | None = None
    ) -> None:
        self.files = files
        self.groups: list[tuple[int, int, int]] = []
        """File, number in the file and length of each row group."""
        kinds = []
        for i, opened in enumerate(files):
            with opened() as file:
                schema = file.schema_arrow
                self.columns = list(range(len(schema))) if columns is None else columns
                kinds.append(numeric_dtype([schema.field(j) for j in self.columns], name))
                self.groups += [
                    (i, j, file.metadata.row_group(j).num_rows)
                    for j in range(file.metadata.num_row_groups)
                ]
        self.dtype = np.result_type(*kinds)
        self.shape = (sum(length for *_, length in self.groups), len(self.columns))

    def blocks(self, height: int) -> Generator[Array]:
        """See `Source.blocks`."""
        for opened in self.files:
            with opened() as file:
                for batch in parquet_batches(file, self.columns, batch_size=height):
                    yield to_numpy(batch, self.dtype)

    def some(self, rows: Array, columns: slice) -> Array:
        """See `Source.some`. Row groups in which none is wanted are not read."""
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
        """Yield rows of a group by their numbers in it, without holding all of it."""
        height = max(1, BLOCK_BYTES // (self.shape[1] * self.dtype.itemsize))
        start = 0
        for batch in parquet_batches(file, self.columns, batch_size=height, row_groups=[group]):
            low, high = np.searchsorted(rows, [start, start + len(batch)])
            if low < high:
                yield to_numpy(batch.take(rows[low:high] - start), self.dtype)
            start += len(batch)


def parquet_batches(file: Any, columns: list[int] | None, **options: Any) -> Iterator[Any]:
    """Yield some columns of a Parquet file in batches."""
    names = file.schema_arrow.names
    if columns is None or len(set(names)) < len(names):
        batches = file.iter_batches(**options)
        yield from batches if columns is None else (batch.select(columns) for batch in batches)
        return
    chosen = [names[j] for j in columns]
    yield from (b.select(chosen) for b in file.iter_batches(columns=chosen, **options))


def of_arrow(X: Any, name: str) -> Source:
    """Read an object of pyarrow that can be read more than once."""
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


def load_parquet(location: Location, options: ReadOptions) -> Content:
    """Load a Parquet file, or those of a folder in the order of their names, or stream them."""
    pa, parquet = arrow(), arrow("pyarrow.parquet")
    label, path = location.label, location.path
    raw = location.read() if path is None or location.gzipped else b""
    parts: list[Path | None] = [path]
    if path is not None and path.is_dir():
        parts = list(parquet_files(path))

    def opener(part: Path | None) -> Opener:
        if part is None or raw:
            return lambda: parquet.ParquetFile(pa.BufferReader(raw))
        # Through a small buffer: otherwise the compressed columns of a group are held as a whole.
        return lambda: parquet.ParquetFile(part, pre_buffer=False, buffer_size=1 << 16)

    files = [opener(part) for part in parts]
    schemas, n, size = [], 0, 0
    for part, opened in zip(parts, files, strict=True):
        name = label if part is None or part is path else f"{part.name!r} in {label}"
        with opening("a Parquet file", name, pa.ArrowException, OSError), opened() as file:
            about = file.metadata
            schemas.append(file.schema_arrow)
            n += about.num_rows
            size += sum(about.row_group(i).total_byte_size for i in range(about.num_row_groups))
    for schema in schemas:
        if schema.names != schemas[0].names:
            raise ValueError(
                f"{label} is a folder of Parquet files with different columns: "
                f"{schemas[0].names} and {schema.names}. Write them with the same."
            )
    if location.fits(COPIES * size):
        tables = []
        for opened in files:
            with opening("a Parquet file", label, pa.ArrowException, OSError), opened() as file:
                tables.append(file.read())
        with opening("a folder of Parquet files with the same columns", label, pa.ArrowException):
            return of_table(pa.concat_tables(tables), options)

    def batches(columns: list[int] | None) -> Iterator[Any]:
        for opened in files:
            with opened() as file:
                yield from parquet_batches(file, columns)

    names, notes, reasons = _described(schemas[0])
    return StreamedColumns(
        schemas[0],
        n,
        names,
        options,
        batches,
        lambda columns: ParquetSource(files, label, columns),
        reasons=reasons,
        notes=notes,
    )


def load_ipc(location: Location, options: ReadOptions) -> Content:
    """Load an Arrow file or stream (both are called .arrow), or stream it."""
    pa = arrow()
    in_file = location.path is not None and not location.gzipped
    size = location.path.stat().st_size if in_file and location.path is not None else 0
    raw = pa.py_buffer(b"" if in_file else location.read())
    held: list[Any] | None = [] if location.fits(COPIES * size) else None

    def stored(columns: list[int] | None = None, mapped: bool = True) -> Iterator[Any]:
        """Yield record batches; those of a file that is mapped take no memory."""
        if not in_file:
            stream = pa.BufferReader(raw)
        else:
            stream = (pa.memory_map if mapped else pa.OSFile)(str(location.path))
        ipc = arrow("pyarrow.ipc")
        with stream:
            if location.read(len(IPC_MAGIC)) == IPC_MAGIC:
                file = ipc.open_file(stream)
                batches = map(file.get_batch, range(file.num_record_batches))
            else:
                file = ipc.open_stream(stream)
                batches = iter(file)
            yield file.schema
            yield from batches if columns is None else (b.select(columns) for b in batches)

    def batches(columns: list[int] | None) -> Iterator[Any]:
        return islice(stored(columns), 1, None)

    with opening("an Arrow or Feather file", location.label, pa.ArrowException, OSError):
        found = stored(mapped=held is None)
        schema, n, size = next(found), 0, 0
        for batch in found:
            n += len(batch)
            size += batch.nbytes  # which may be compressed in the file
            if held is not None and location.fits(COPIES * size):
                held.append(batch)
            else:
                held = None
    if held is not None:
        return of_table(pa.Table.from_batches(held, schema), options)

    def source(columns: list[int]) -> Source:
        dtype = numeric_dtype([schema.field(j) for j in columns])
        height = max(1, BLOCK_BYTES // (len(columns) * dtype.itemsize))
        blocks = (
            to_numpy(batch.slice(rows.start, rows.stop - rows.start), dtype)
            for batch in batches(columns)
            for rows in pieces(len(batch), height)
        )
        return SpooledSource(blocks, len(columns), dtype)

    names, notes, reasons = _described(schema)
    return StreamedColumns(schema, n, names, options, batches, source, reasons=reasons, notes=notes)


def of_table(table: Any, options: ReadOptions) -> Columns:
    """Return the contents of an Arrow table."""
    names, notes, reasons = _described(table.schema)
    return Columns(table, names, options, reasons=reasons, notes=notes)


def _described(
    schema: Any,
) -> tuple[tuple[str, ...], tuple[str, ...], dict[int, Reason | None]]:
    """Return names, notes, and the index of a data frame, which is not used as numbers."""
    names, notes = distinct(list(schema.names))
    about = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
    index = [name for name in about.get("index_columns", ()) if isinstance(name, str)]
    return (
        names,
        notes,
        {j: INDEX for j, name in enumerate(names) if name in index and is_numeric(schema.types[j])},
    )


def parquet_files(folder: Path) -> list[Path]:
    """List the Parquet files of a folder."""
    parts = (path for path in folder.iterdir() if not path.name.startswith("."))
    return sorted(p for p in parts if p.suffix.lower() in PARQUET_SUFFIXES and p.is_file())


PARQUET = Format(
    "Parquet", PARQUET_SUFFIXES, load_parquet, begins=lambda head: head.startswith(PARQUET_MAGIC)
)
IPC = Format(
    "Arrow or Feather",
    (".arrow", ".feather", ".ipc"),
    load_ipc,
    begins=lambda head: head.startswith(IPC_MAGIC),
)
