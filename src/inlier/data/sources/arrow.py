"""Arrow and Parquet: columns, each of which has a type of its own."""

import json
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from inlier._internal.typing import Array
from inlier.data.sources.base import Source, arrow, opening, package
from inlier.data.sources.columns import (
    Batches,
    Columns,
    in_batches,
    is_numeric,
    numeric_dtype,
    spooled,
    to_numpy,
)
from inlier.data.sources.content import BLOCK_BYTES, INDEX, Content, Format, ReadOptions, distinct
from inlier.data.sources.location import Location

PARQUET_SUFFIXES = (".parquet", ".pq")
PARQUET_MAGIC, IPC_MAGIC = b"PAR1", b"ARROW1"
# A table that is loaded is held as columns, and as an array.
COPIES = 2


class ArrowSource(Source):
    """A table or dataset of pyarrow with n rows."""

    by_columns = False

    def __init__(self, data: Any, n: int, name: str) -> None:
        self.data, self.dtype = data, numeric_dtype(data.schema, name)
        self.shape = (n, len(data.schema))

    def blocks(self, height: int) -> Generator[Array]:
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
        return to_numpy(self.data.take(rows), self.dtype)[:, columns]


def parquet_batches(file: Any, columns: list[int] | None) -> Iterator[Any]:
    """Yield some columns of a Parquet file in batches."""
    names = file.schema_arrow.names
    height = max(1, BLOCK_BYTES // (8 * max(1, len(names))))
    if columns is None:
        yield from file.iter_batches(batch_size=height)
        return
    unique = len(set(names)) == len(names)
    chosen = [names[j] for j in columns] if unique else columns
    batches = file.iter_batches(batch_size=height, columns=chosen if unique else None)
    yield from (batch.select(chosen) for batch in batches)


def of_arrow(X: Any, name: str) -> Source:
    """Read an object of pyarrow that can be read more than once."""
    if isinstance(X, package("pyarrow.parquet", name).ParquetFile):
        return spooled(parquet_batches(X, None), X.schema_arrow, name)
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
    raw = location.read() if path is None or location.gzipped else None
    files = parquet_files(path) if path is not None and path.is_dir() else [path]

    def opened(file: Path | None) -> Any:
        # Through a small buffer: otherwise the compressed columns of a group are held as a whole.
        source = file if raw is None else pa.BufferReader(raw)
        return parquet.ParquetFile(source, pre_buffer=False, buffer_size=1 << 16)

    schemas, n, size = [], 0, 0
    for part in files:
        name = label if part is None or part is path else f"{part.name!r} in {label}"
        with opening("a Parquet file", name, pa.ArrowException, OSError), opened(part) as file:
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

    def batches(columns: list[int] | None) -> Iterator[Any]:
        for part in files:
            with opened(part) as file:
                yield from parquet_batches(file, columns)

    return _content(schemas[0], n, size, batches, location, options)


def load_ipc(location: Location, options: ReadOptions) -> Content:
    """Load an Arrow file or stream (both are called .arrow), or stream it."""
    pa, ipc = arrow(), arrow("pyarrow.ipc")
    whole = location.read(len(IPC_MAGIC)) == IPC_MAGIC
    raw = location.read() if location.path is None or location.gzipped else None

    @contextmanager
    def opened() -> Iterator[Any]:
        # A record batch may be as large as the file: those that are not compressed stay in it.
        source = pa.memory_map(str(location.path)) if raw is None else pa.BufferReader(raw)
        with source:
            yield (ipc.open_file if whole else ipc.open_stream)(source)

    def batches(columns: list[int] | None) -> Iterator[Any]:
        with opened() as file:
            stored = map(file.get_batch, range(file.num_record_batches)) if whole else iter(file)
            yield from stored if columns is None else (batch.select(columns) for batch in stored)

    with opening("an Arrow or Feather file", location.label, pa.ArrowException, OSError):
        with opened() as file:
            schema = file.schema
        sizes = [(len(batch), batch.get_total_buffer_size()) for batch in batches(None)]
    n, size = (sum(column) for column in zip((0, 0), *sizes, strict=True))
    return _content(schema, n, size, batches, location, options)


def _content(
    schema: Any, n: int, size: int, batches: Batches, location: Location, options: ReadOptions
) -> Content:
    """Load batches if they fit into memory; the index of a data frame is not used as numbers."""
    names, notes = distinct(list(schema.names))
    about = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
    index = [name for name in about.get("index_columns", ()) if isinstance(name, str)]
    numeric = [is_numeric(kind) for kind in schema.types]
    reasons = {j: INDEX for j, name in enumerate(names) if name in index and numeric[j]}
    table = None
    if location.fits(COPIES * size):
        table = arrow().Table.from_batches(batches(None), schema)
        batches = in_batches(table)
    return Columns(schema, n, names, options, batches, table=table, reasons=reasons, notes=notes)


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
