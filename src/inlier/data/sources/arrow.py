"""Arrow and Parquet: columns, each of which has a type of its own."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from inlier._internal.arrays import pieces
from inlier.data.sources.base import BLOCK_BYTES, Source, arrow, reading
from inlier.data.sources.content import Content
from inlier.data.sources.location import Location
from inlier.data.sources.options import ReadOptions

PARQUET_SUFFIXES = (".parquet", ".pq")
MAGIC = b"ARROW1"

Batches = Callable[[list[int]], Iterator[Any]]
"""Yields some columns in record batches."""


def of_arrow(X: Any, name: str, location: Location) -> Source:
    """Read the numbers of an object of pyarrow: once, because it may be slow to read."""
    batches: Batches
    if isinstance(X, arrow("pyarrow.parquet").ParquetFile):
        schema, n, batches = X.schema_arrow, X.metadata.num_rows, partial(_pages, X)
    elif isinstance(X, arrow("pyarrow.dataset").Dataset):
        # pyarrow would read 16 batches of 4 files ahead.
        few = partial(X.to_batches, batch_readahead=1, fragment_readahead=1)
        schema, n = X.schema, X.count_rows()
        batches = lambda columns: few(columns=[schema.names[j] for j in columns])  # noqa: E731
    elif hasattr(X, "to_batches") and hasattr(X, "num_rows"):
        table = X if hasattr(X, "select") else arrow().Table.from_batches([X])
        schema, n = X.schema, X.num_rows
        batches = lambda columns: iter(table.select(columns).to_batches())  # noqa: E731
    else:
        raise TypeError(
            f"{name} must be a Table, a Dataset or a ParquetFile of pyarrow, but is of type "
            f"{type(X).__name__}."
        )
    return _content(schema, n, batches, location, ReadOptions()).source(name)


def _pages(file: Any, columns: list[int]) -> Iterator[Any]:
    """Yield some columns of a Parquet file in batches."""
    names = file.schema_arrow.names
    height = max(1, BLOCK_BYTES // (8 * max(1, len(names))))
    unique = len(set(names)) == len(names)
    chosen = [names[j] for j in columns] if unique else columns
    for batch in file.iter_batches(batch_size=height, columns=chosen if unique else None):
        yield batch.select(chosen)


def load_parquet(location: Location, options: ReadOptions) -> Content:
    """Read a Parquet file, or those of a folder in the order of their names."""
    path, label = location.path, location.label
    raw = None if location.is_plain else location.read()
    files = parquet_files(path) if path is not None and path.is_dir() else [path]

    def opened(file: Path | None) -> Any:
        # Through a small buffer: otherwise the compressed columns of a group are held as a whole.
        source = file if raw is None else arrow().BufferReader(raw)
        return arrow("pyarrow.parquet").ParquetFile(source, pre_buffer=False, buffer_size=1 << 16)

    schemas, n = [], 0
    for part in files:
        name = label if part is None or part is path else f"{part.name!r} in {label}"
        with reading(name), opened(part) as file:
            schemas.append(file.schema_arrow)
            n += file.metadata.num_rows
        if schemas[-1].names != schemas[0].names:
            raise ValueError(
                f"{label} is a folder of Parquet files with different columns: "
                f"{schemas[0].names} and {schemas[-1].names}. Write them with the same."
            )

    def batches(columns: list[int]) -> Iterator[Any]:
        for part in files:
            with opened(part) as file:
                yield from _pages(file, columns)

    return _content(schemas[0], n, batches, location, options)


def parquet_files(folder: Path) -> list[Path]:
    """List the Parquet files of a folder."""
    parts = (path for path in folder.iterdir() if not path.name.startswith("."))
    return sorted(p for p in parts if p.suffix.lower() in PARQUET_SUFFIXES and p.is_file())


def load_ipc(location: Location, options: ReadOptions) -> Content:
    """Read an Arrow file or stream; both are called .arrow."""
    pa, ipc = arrow(), arrow("pyarrow.ipc")
    whole = location.read(len(MAGIC)) == MAGIC
    raw = None if location.is_plain else location.read()

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
    return _content(schema, sum(map(len, batches([]))), batches, location, options)


def _content(
    schema: Any, n: int, batches: Batches, location: Location, options: ReadOptions
) -> Content:
    """Name the columns; the index of a data frame has the labels of the rows."""
    pa = arrow()
    about = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
    index = [name for name in about.get("index_columns", ()) if name in schema.names]
    # Polars writes views of strings, of which pyarrow cannot filter rows.
    plain = {"string_view": pa.string(), "binary_view": pa.binary()}
    fields = [field.with_type(plain.get(str(field.type), field.type)) for field in schema]

    def stored(columns: list[int]) -> Iterator[list[Any]]:
        height = max(1, BLOCK_BYTES // (8 * len(columns)))
        for batch in batches(columns):
            for rows in pieces(len(batch), height):
                part = batch.slice(rows.start, height).columns
                pairs = zip(part, (fields[j].type for j in columns), strict=True)
                yield [cells if cells.type == kind else cells.cast(kind) for cells, kind in pairs]
        pa.default_memory_pool().release_unused()

    schema = pa.schema(fields, schema.metadata)
    label = schema.names.index(index[0]) if index else None
    return Content(location, options, schema, stored, n=n, label=label)
