"""Parquet: a file, or a folder of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from inlier.data.sources.arrow import PARQUET
from inlier.data.sources.base import opening
from inlier.io.base import Format, Place, ReadOptions, arrow
from inlier.io.tabular import INDEX, Columns, distinct, is_numeric

MAGIC = b"PAR1"


def load(place: Place, options: ReadOptions) -> Columns:
    """Read a Parquet file, or those of a folder in the order of their names."""
    pa, parquet = arrow(), arrow("pyarrow.parquet")
    parts: list[Any] = [place.source]
    if place.path is not None and place.path.is_dir():
        parts = parts_of(place.path)
    tables, size = [], 0
    for part in parts:
        name = f"{part.name!r} in {place}" if isinstance(part, Path) else str(place)
        with opening("a Parquet file", name, pa.ArrowException, OSError):
            file = parquet.ParquetFile(part)
            size += _unpacked(file.metadata)
        place.check_size(size)
        with opening("a Parquet file", name, pa.ArrowException, OSError):
            tables.append(file.read())
    with opening("a folder of Parquet files with the same columns", str(place), pa.ArrowException):
        return of_table(pa.concat_tables(tables), options)


def _unpacked(metadata: Any) -> int:
    """How many bytes the columns take when they are not packed any more."""
    groups = (metadata.row_group(i) for i in range(metadata.num_row_groups))
    return sum(group.total_byte_size for group in groups)


def of_table(table: Any, options: ReadOptions) -> Columns:
    """What an Arrow table holds; the index of a data frame is no column of numbers."""
    names, notes = distinct(list(table.schema.names))
    about = json.loads((table.schema.metadata or {}).get(b"pandas", b"{}"))
    index = [name for name in about.get("index_columns", ()) if isinstance(name, str)]
    reasons = {
        j: INDEX
        for j, name in enumerate(names)
        if name in index and is_numeric(table.schema.types[j])
    }
    return Columns(table, names, options, reasons=reasons, notes=notes)


def parts_of(folder: Path) -> list[Path]:
    """The Parquet files of a folder."""
    parts = (path for path in folder.iterdir() if not path.name.startswith("."))
    return sorted(path for path in parts if path.suffix.lower() in PARQUET and path.is_file())


FORMAT = Format("Parquet", PARQUET, load, begins=lambda head: head.startswith(MAGIC))
