"""Arrow and Parquet: columns, each of which has a type of its own."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from inlier.data.sources.base import BLOCK_BYTES, Source, arrow, reading
from inlier.data.sources.columns import Batches, Columns, in_batches
from inlier.data.sources.content import Format, ReadOptions
from inlier.data.sources.location import Location

PARQUET_SUFFIXES = (".parquet", ".pq")
IPC_MAGIC = b"ARROW1"


def parquet_batches(file: Any, columns: list[int]) -> Iterator[Any]:
    """Yield some columns of a Parquet file in batches."""
    names = file.schema_arrow.names
    height = max(1, BLOCK_BYTES // (8 * max(1, len(names))))
    unique = len(set(names)) == len(names)
    chosen = [names[j] for j in columns] if unique else columns
    for batch in file.iter_batches(batch_size=height, columns=chosen if unique else None):
        yield batch.select(chosen)


def of_arrow(X: Any, name: str, location: Location) -> Source:
    """Read the numbers of an object of pyarrow: once, because it may be slow to read."""
    batches: Batches
    if isinstance(X, arrow("pyarrow.parquet").ParquetFile):
        schema, n, batches = X.schema_arrow, X.metadata.num_rows, partial(parquet_batches, X)
    elif isinstance(X, arrow("pyarrow.dataset").Dataset):
        schema, n, batches = X.schema, X.count_rows(), partial(_dataset_batches, X)
    elif hasattr(X, "to_batches") and hasattr(X, "num_rows"):
        table = X if hasattr(X, "select") else arrow().Table.from_batches([X])
        schema, n, batches = X.schema, X.num_rows, in_batches(table)
    else:
        raise TypeError(
            f"{name} must be a Table, a Dataset or a ParquetFile of pyarrow, but is of type "
            f"{type(X).__name__}."
        )
    return Columns(schema, batches, location, ReadOptions(), n=n).source(name)


def _dataset_batches(X: Any, columns: list[int]) -> Iterator[Any]:
    # pyarrow would read 16 batches of 4 files ahead.
    names = [X.schema.names[j] for j in columns]
    yield from X.to_batches(columns=names, batch_readahead=1, fragment_readahead=1)


def load_parquet(location: Location, options: ReadOptions) -> Columns:
    """Read a Parquet file, or those of a folder in the order of their names."""
    pa, parquet = arrow(), arrow("pyarrow.parquet")
    label, path = location.label, location.path
    raw = location.read() if path is None or location.unpack is not None else None
    files = parquet_files(path) if path is not None and path.is_dir() else [path]

    def opened(file: Path | None) -> Any:
        # Through a small buffer: otherwise the compressed columns of a group are held as a whole.
        source = file if raw is None else pa.BufferReader(raw)
        return parquet.ParquetFile(source, pre_buffer=False, buffer_size=1 << 16)

    schemas, n = [], 0
    for part in files:
        name = label if part is None or part is path else f"{part.name!r} in {label}"
        with reading(name), opened(part) as file:
            schemas.append(file.schema_arrow)
            n += file.metadata.num_rows
    for schema in schemas:
        if schema.names != schemas[0].names:
            raise ValueError(
                f"{label} is a folder of Parquet files with different columns: "
                f"{schemas[0].names} and {schema.names}. Write them with the same."
            )

    def batches(columns: list[int]) -> Iterator[Any]:
        for part in files:
            with opened(part) as file:
                yield from parquet_batches(file, columns)

    return _columns(schemas[0], n, batches, location, options)


def load_ipc(location: Location, options: ReadOptions) -> Columns:
    """Read an Arrow file or stream; both are called .arrow."""
    pa, ipc = arrow(), arrow("pyarrow.ipc")
    whole = location.read(len(IPC_MAGIC)) == IPC_MAGIC
    raw = location.read() if location.path is None or location.unpack is not None else None

    @contextmanager
    def opened() -> Iterator[Any]:
        # A record batch may be as large as the file: those that are not compressed stay in it.
        source = pa.memory_map(str(location.path)) if raw is None else pa.BufferReader(raw)
        with source:
            yield (ipc.open_file if whole else ipc.open_stream)(source)

    def batches(columns: list[int]) -> Iterator[Any]:
        with opened() as file:
            stored = map(file.get_batch, range(file.num_record_batches)) if whole else iter(file)
            yield from (batch.select(columns) for batch in stored)

    with opened() as file:
        schema = file.schema
    n = sum(map(len, batches([])))
    return _columns(schema, n, batches, location, options)


def _columns(
    schema: Any, n: int, batches: Batches, location: Location, options: ReadOptions
) -> Columns:
    """Name the columns; the index of a data frame has the labels of the rows."""
    about = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
    index = [name for name in (*about.get("index_columns", ()), "") if name in schema.names]
    label = schema.names.index(index[0]) if index else None
    return Columns(schema, batches, location, options, n=n, label=label)


def parquet_files(folder: Path) -> list[Path]:
    """List the Parquet files of a folder."""
    parts = (path for path in folder.iterdir() if not path.name.startswith("."))
    return sorted(p for p in parts if p.suffix.lower() in PARQUET_SUFFIXES and p.is_file())


PARQUET = Format("Parquet", PARQUET_SUFFIXES, load_parquet, ("na_values",), b"PAR1")
IPC = Format(
    "Arrow or Feather", (".arrow", ".feather", ".ipc"), load_ipc, ("na_values",), IPC_MAGIC
)
