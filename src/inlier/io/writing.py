"""Write the good rows of a file to a new file, unchanged but for cells that are to change."""

import gzip
import io
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from inlier._internal.atomic import check_place, replacing
from inlier._internal.csv_text import Writer
from inlier._internal.typing import Array, Mask
from inlier.data.sources.arrow import PARQUET_SUFFIXES
from inlier.data.sources.base import arrow, listed
from inlier.data.sources.content import Content, gathered
from inlier.data.sources.text import FORMAT as TEXT
from inlier.io.reading import LoadedTable

DELIMITED = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": "\t"}
ARROW = (*PARQUET_SUFFIXES, ".feather", ".arrow", ".ipc")
ARRAYS = (".npy", ".npz")
TARGETS = (*DELIMITED, *(f"{suffix}.gz" for suffix in DELIMITED), *ARROW, *ARRAYS)
"""Suffixes of the files that can be written."""
Changes = dict[int, tuple[Array, Array]]
"""By column: rows, in the order in which they are written, and their new cells; NaN for empty."""


def write(
    frame: LoadedTable,
    kept: Mask,
    path: str | PathLike[str],
    cells: Array | None = None,
    values: Array | None = None,
) -> None:
    """Write some rows of a file to another, in order, with all columns, unchanged.

    The cells of a text are written as they were, in UTF-8 and with quotes where they need them;
    Arrow and Parquet tables keep their schema and metadata, and arrays their dtype. Other formats
    are converted; in a text that was none, an apostrophe stands before what a spreadsheet would
    take for a formula. Rows that were dropped because values were missing have not been judged, and
    are not written. No half-written file is left behind.

    The mask `kept` tells which rows of ``frame.X`` to write; they are read again from the file,
    which must not have changed. One of the suffixes in `TARGETS` tells the format. The path may be
    the file that was read. Cells of ``frame.X`` that `cells` lists, by row and column (k x 2), are
    replaced by `values`; those whose value is NaN, by default all, are left empty: in arrays they
    are NaN. Integers become floating point numbers where they have to.
    """
    check_target(frame, path)
    kept, content = np.asarray(kept), frame.content
    if kept.shape != frame.rows.shape or kept.dtype != bool:
        raise ValueError(
            f"kept must be a mask of {len(frame.rows)} rows, but has shape {kept.shape} and dtype "
            f"{kept.dtype}."
        )
    if content.location.stamp != frame.stamp:
        raise ValueError(f"{content.location} has changed since it was read. Read it again.")
    rows = np.zeros(frame.n_read, bool)
    rows[frame.rows[kept]] = True
    suffix = _suffix(path)
    changes = {} if cells is None else _by_column(frame, rows, cells, values)
    with replacing(path) as unfinished, _opened(unfinished) as out:
        if suffix in ARRAYS:
            _write_array(content, rows, changes, suffix, out)
        elif suffix in DELIMITED:
            _write_text(content, rows, changes, suffix, out)
        else:
            tables = gathered(content.batches(list(range(len(content.names)))), rows)
            _write_tables(_changed(tables, changes, content), suffix, out)


def _by_column(frame: LoadedTable, rows: Mask, cells: Array, values: Array | None) -> Changes:
    """Return the changes by column of the file."""
    values = np.full(len(cells), np.nan) if values is None else values
    order = np.cumsum(rows) - 1
    written = rows[frame.rows[cells[:, 0]]]
    found = {}
    for j in np.unique(cells[written, 1]):
        own = written & (cells[:, 1] == j)
        places = order[frame.rows[cells[own, 0]]]
        found[frame.content.names.index(frame.columns[j])] = places, values[own]
    return found


def _there(changes: Changes, start: int, n: int) -> Iterator[tuple[int, Mask, Array]]:
    """Yield columns, which of n rows from `start` have a new cell there, and these cells."""
    for j, (places, values) in changes.items():
        inside = (places >= start) & (places < start + n)
        there, new = np.zeros(n, np.bool_), np.full(n, np.nan)
        there[places[inside] - start] = True
        new[places[inside] - start] = values[inside]
        yield j, there, new


def _changed(tables: Iterable[Any], changes: Changes, content: Content) -> Iterator[Any]:
    """Change some cells of Arrow tables that follow each other."""
    pa, compute, start = arrow(), arrow("pyarrow.compute"), 0
    for table in tables:
        n = len(table)
        for j, there, new in _there(changes, start, n):
            column, kind = table.column(j), table.field(j).type
            if pa.types.is_string(kind):
                words = ["" if np.isnan(value) else f"{value:.15g}" for value in new]
                changed = pa.array([word.replace(".", content.decimal(j)) for word in words])
            else:
                values = changes[j][1]
                whole = (values == np.round(values)) | np.isnan(values)
                if pa.types.is_integer(kind) and not whole.all():
                    kind = pa.float64()
                changed = pa.array(new, from_pandas=True).cast(kind)
            column = compute.if_else(pa.array(there), changed, column.cast(kind))
            table = table.set_column(j, table.field(j).with_type(kind).with_nullable(True), column)
        start += n
        yield table


def check_target(frame: LoadedTable, path: str | PathLike[str]) -> None:
    """Raise if the rows of a file could not be written to a path.

    There may be no such folder, no such format, no package that writes it, or it cannot hold the
    columns.
    """
    check_place(path)
    suffix, content = _suffix(path), frame.content
    where = f"path={str(path)!r}"
    if suffix not in (*DELIMITED, *ARROW, *ARRAYS):
        raise ValueError(
            f"{where} ends in {suffix!r}, which cannot be written. Choose one of "
            f"{', '.join(TARGETS)}."
        )
    if Path(path).name.lower().endswith(".gz") and suffix not in DELIMITED:
        raise ValueError(f"{where}: only text is compressed by gzip. Leave out .gz.")
    words = [name for name, why in zip(content.names, content.reasons, strict=True) if why]
    if suffix in ARRAYS and words:
        raise ValueError(
            f"{where} can hold numbers only, but {content.location} has other columns too: "
            f"{listed(words)}. Write a .csv or .parquet file."
        )
    if suffix in ARRAYS or content.schema is None:
        return
    try:  # to write no rows
        empty = content.schema.empty_table()
        if suffix in DELIMITED:
            list(map(_words, empty.columns))
        else:
            _write_tables([empty], suffix, io.BytesIO())
    except arrow().ArrowException as error:
        raise ValueError(
            f"{where} cannot hold the columns of {content.location}: {error}. Write a "
            f"{'.parquet' if suffix in DELIMITED else '.feather'} file."
        ) from None


def _suffix(path: str | PathLike[str]) -> str:
    """Without .gz, in lower case."""
    return Path(Path(path).name.lower().removesuffix(".gz")).suffix


def _write_text(content: Content, rows: Mask, changes: Changes, suffix: str, out: Any) -> None:
    """Write cells as text, as they were in a text or in the form of their types."""
    escaped, delimiter = content.options.delimiter is None, _delimiter(content, suffix)
    empty = "nan" if delimiter == " " else ""  # several spaces are one delimiter
    tables = gathered(content.cells(list(range(len(content.names)))), rows)
    with io.TextIOWrapper(out, "utf-8", newline="") as file:
        writer = Writer(file, escaped, delimiter=delimiter, lineterminator="\n")
        if content.options.header is not False:
            writer.writerow(content.names)
        for table in _changed(tables, changes, content):
            words = ([word or empty for word in _words(column)] for column in table.columns)
            writer.writerows(zip(*words, strict=True))


def _delimiter(content: Content, suffix: str) -> str:
    """Return the delimiter of a text, which stays unless it becomes another kind of file."""
    delimiter = content.options.delimiter
    kinds = {kind for kind in content.location.suffixes if kind in TEXT.suffixes}
    alike = suffix in kinds or suffix == ".txt" or (suffix == ".csv" and not kinds)
    return delimiter if delimiter is not None and alike else DELIMITED[suffix]


def _words(column: Any) -> list[Any]:
    """Return cells as text; numbers never become formulas."""
    pa = arrow()
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    words: list[Any] = column.cast(pa.string()).to_pylist()
    return words


def _write_array(
    content: Content, rows: Mask, changes: Changes, suffix: str, out: BinaryIO
) -> None:
    """Write rows in blocks, as `numpy.save` or `numpy.savez` would write all of them."""
    dtype, blocks = content.blocks(list(range(len(content.names))))
    if changes:
        dtype = dtype if dtype.kind == "f" else np.dtype(np.float64)
    about = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False}
    shape, read, written = (int(rows.sum()), len(content.names)), 0, 0
    with _member(out, suffix, content.options.key or "X") as file:
        np.lib.format.write_array_header_1_0(file, {**about, "shape": shape})
        for block in blocks:
            kept = np.array(block[rows[read : read + len(block)]], dtype)
            for j, there, new in _there(changes, written, len(kept)):
                kept[there, j] = new[there]
            file.write(kept.tobytes())
            read, written = read + len(block), written + len(kept)


@contextmanager
def _member(out: BinaryIO, suffix: str, key: str) -> Iterator[Any]:
    """Open the only array of an archive, if a .npz file is written."""
    if suffix == ".npy":
        yield out
        return
    key += ".npy"
    with zipfile.ZipFile(out, "w") as archive, archive.open(key, "w", force_zip64=True) as member:
        yield member


def _write_tables(tables: Iterable[Any], suffix: str, out: Any) -> None:
    """Write one Arrow table, or several one after the other."""
    tables = iter(tables)
    first = next(tables)
    if suffix in PARQUET_SUFFIXES:
        writer = arrow("pyarrow.parquet").ParquetWriter(out, first.schema)
    else:
        writer = arrow("pyarrow.ipc").new_file(out, first.schema)
    with writer:
        for table in chain([first], tables):
            writer.write_table(table)


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    with open(path, "wb") as file:
        if not path.name.lower().endswith(".gz"):
            yield file
            return
        # Neither name nor time in it: the same rows give the same file.
        with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
            yield packed  # type: ignore[misc]
