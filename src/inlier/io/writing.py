"""Write the good rows of a file to a new file, unchanged but for cells that are left empty."""

import csv
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
from inlier._internal.csv_text import Writer, harmless
from inlier._internal.typing import Array, Mask
from inlier.data.sources import text
from inlier.data.sources.arrow import PARQUET_SUFFIXES
from inlier.data.sources.base import arrow, listed, opening
from inlier.data.sources.columns import Columns
from inlier.data.sources.content import Content
from inlier.io.reading import LoadedTable, Original

DELIMITED = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": "\t"}
ARROW = (*PARQUET_SUFFIXES, ".feather", ".arrow", ".ipc")
ARRAYS = (".npy", ".npz")
TARGETS = (*DELIMITED, *(f"{suffix}.gz" for suffix in DELIMITED), *ARROW, *ARRAYS)
"""Suffixes of the files that can be written."""
EmptyCells = dict[int, Array]
"""By column: the rows, in the order in which they are written, whose cell is left empty."""


def write(
    frame: LoadedTable, kept: Mask, path: str | PathLike[str], empty: Array | None = None
) -> None:
    """Write some rows of a file to another, in order, with all columns, unchanged.

    Text with the same delimiter is copied byte for byte, Arrow and Parquet tables keep their schema
    and metadata, and arrays their dtype. Other formats are converted; in a text that is not a copy,
    an apostrophe stands before what a spreadsheet would take for a formula. Rows that were dropped
    because values were missing have not been judged, and are not written. No half-written file is
    left behind.

    The mask `kept` tells which rows of ``frame.X`` to write; they are read again from the file,
    which must not have changed. One of the suffixes in `TARGETS` tells the format. The path may be
    the file that was read. Cells of ``frame.X`` that `empty` lists, by row and column (k x 2), are
    left empty: in arrays they are NaN, for which integers become floating point numbers.
    """
    check_target(frame, path)
    kept = np.asarray(kept)
    if kept.shape != frame.rows.shape or kept.dtype != bool:
        raise ValueError(
            f"kept must be a mask of {len(frame.rows)} rows, but has shape {kept.shape} and dtype "
            f"{kept.dtype}."
        )
    location = frame.original.location
    if location.stamp != frame.stamp:
        raise ValueError(f"{location} has changed since it was read. Read it again.")
    rows = np.zeros(frame.n_read, bool)
    rows[frame.rows[kept]] = True
    suffix = _suffix(path)
    cells = _cells_by_column(frame, rows, empty)
    try:
        with replacing(path) as unfinished, _opened(unfinished) as out:
            if suffix in DELIMITED:
                _write_text(frame.original, rows, cells, suffix, out)
            elif suffix in ARRAYS:
                _write_array(frame.original, rows, cells, suffix, out)
            else:
                tables = _emptied(_loaded(frame.original, rows).tables(rows), cells)
                _write_tables(tables, suffix, out)
    except _arrow_errors() as error:
        raise ValueError(
            f"path={str(path)!r} cannot hold the columns of {location}: {error}. Choose another "
            "format."
        ) from None


def _cells_by_column(frame: LoadedTable, rows: Mask, empty: Array | None) -> EmptyCells:
    """Return the empty cells by column of the file."""
    if empty is None:
        return {}
    order = np.cumsum(rows) - 1
    written = empty[rows[frame.rows[empty[:, 0]]]]
    return {
        frame.original.names.index(frame.columns[j]): order[
            frame.rows[written[written[:, 1] == j, 0]]
        ]
        for j in np.unique(written[:, 1])
    }


def _emptied(tables: Iterable[Any], cells: EmptyCells) -> Iterator[Any]:
    """Replace some cells of Arrow tables that follow each other by nulls."""
    pa, start = arrow(), 0
    for table in tables:
        for j, positions in cells.items():
            there = np.zeros(len(table), np.bool_)
            inside = positions[(positions >= start) & (positions < start + len(table))]
            there[inside - start] = True
            column, kind = table.column(j), table.field(j).with_nullable(True)
            nulls = pa.nulls(len(table), column.type)
            column = arrow("pyarrow.compute").if_else(pa.array(there), nulls, column)
            table = table.set_column(j, kind, column)
        start += len(table)
        yield table


def _arrow_errors() -> tuple[type[Exception], ...]:
    try:
        return (arrow().ArrowException,)
    except ImportError:
        return ()


def check_target(frame: LoadedTable, path: str | PathLike[str]) -> None:
    """Raise if the rows of a file could not be written to a path.

    There may be no such folder, no such format, no package that writes it, or it cannot hold the
    columns.
    """
    check_place(path)
    suffix, original = _suffix(path), frame.original
    where = f"path={str(path)!r}"
    if suffix not in (*DELIMITED, *ARROW, *ARRAYS):
        raise ValueError(
            f"{where} ends in {suffix!r}, which cannot be written. Choose one of "
            f"{', '.join(TARGETS)}."
        )
    if Path(path).name.lower().endswith(".gz") and suffix not in DELIMITED:
        raise ValueError(f"{where}: only text is compressed by gzip. Leave out .gz.")
    words = [name for name, why in zip(original.names, original.reasons, strict=True) if why]
    if suffix in ARRAYS and words:
        raise ValueError(
            f"{where} can hold numbers only, but {original.location} has other columns too: "
            f"{listed(words)}. Write a .csv or .parquet file."
        )
    if suffix not in ARRAYS:
        _check_types(original, suffix, where)


def _check_types(original: Original, suffix: str, where: str) -> None:
    """Raise if a format does not know the types of the columns, by writing no rows."""
    pa = arrow()
    if original.schema is None or original.format is text.FORMAT:
        return
    try:
        _write_tables([original.schema.empty_table()], suffix, io.BytesIO())
    except pa.ArrowException as error:
        raise ValueError(
            f"{where} cannot hold the columns of {original.location}: {error}. Write a "
            f"{'.parquet' if suffix in DELIMITED else '.feather'} file."
        ) from None


def _suffix(path: str | PathLike[str]) -> str:
    """Without .gz, in lower case."""
    return Path(Path(path).name.lower().removesuffix(".gz")).suffix


def _loaded(original: Original, rows: Mask) -> Content:
    content = original.load()
    if content.n != len(rows) or content.names != original.names:
        raise ValueError(f"{original.location} has changed since it was read. Read it again.")
    return content


def _write_text(
    original: Original, rows: Mask, cells: EmptyCells, suffix: str, out: BinaryIO
) -> None:
    options, location = original.options, original.location
    if original.format is not text.FORMAT:
        _write_tables(_emptied(_loaded(original, rows).tables(rows), cells), suffix, out)
        return
    # A .csv file may have semicolons; it keeps them unless it becomes another kind of file.
    kinds = {kind for kind in location.suffixes if kind in text.FORMAT.suffixes}
    alike = suffix in kinds or suffix == ".txt" or (suffix == ".csv" and not kinds)
    delimiter = options.delimiter if alike else DELIMITED[suffix]
    if delimiter == options.delimiter:
        _copy_text(original, rows, cells, out)
    else:
        content = _loaded(original, rows)
        assert isinstance(content, Columns)
        _write_cells(content, rows, cells, str(delimiter), out)


def _copy_text(original: Original, rows: Mask, cells: EmptyCells, out: BinaryIO) -> None:
    """Copy the header and some records byte for byte, formulas included.

    But for records with empty cells, in which only what needs quotes has them.
    """
    location = original.location
    file = text.open_text(location)
    pending: list[bytes] = []
    n, delimiter = -1 if original.options.header else 0, original.options.delimiter or ","
    positions = np.flatnonzero(rows)
    empty_in: dict[int, list[int]] = {}
    for j, own in cells.items():
        for row in positions[own].tolist():
            empty_in.setdefault(row, []).append(j)
    if file.encoding == "utf-8" and location.read(len(text.BOM)) == text.BOM:
        out.write(text.BOM)
    with opening("the text that it was", location.label, csv.Error):
        reader = text.Records(file, delimiter, pending)
        for record in reader:
            if record:
                if n in empty_in:
                    out.write(_with_empty(record, empty_in[n], delimiter, pending[-1]))
                elif n < 0 or (n < len(rows) and rows[n]):
                    out.writelines(pending)
                n += 1
            pending.clear()
    if n != len(rows):
        raise ValueError(f"{location} had {len(rows)} rows when it was read, and has {n} now.")


def _with_empty(record: list[str], columns: list[int], delimiter: str, line: bytes) -> bytes:
    """Return a record with empty cells; it ends as its last line does."""
    for j in columns:
        record[j] = "nan" if delimiter == " " else ""  # several spaces are one delimiter
    end = line[len(line.rstrip(b"\r\n")) :].decode("ascii")
    file = io.StringIO()
    csv.writer(file, delimiter=delimiter, lineterminator=end).writerow(record)
    return file.getvalue().encode("latin-1")


def _write_cells(
    content: Columns, rows: Mask, empty: EmptyCells, delimiter: str, out: BinaryIO
) -> None:
    """Write the cells of some rows with another delimiter; none becomes a formula."""
    with io.TextIOWrapper(out, encoding="utf-8", newline="") as file:
        writer = Writer(file, delimiter=delimiter, lineterminator="\n")
        if content.options.header:
            writer.writerow(content.names)
        for table in _emptied(content.texts(rows), empty):
            for batch in table.to_batches():
                cells = (column.to_pylist() for column in batch.columns)
                writer.writerows(zip(*cells, strict=True))


def _write_array(
    original: Original, rows: Mask, cells: EmptyCells, suffix: str, out: BinaryIO
) -> None:
    content = _loaded(original, rows)
    dtype, blocks = content.arrays(rows)
    if cells:
        dtype = dtype if dtype.kind == "f" else np.dtype(np.float64)
        blocks = _with_nan(blocks, dtype, cells)
    shape = (int(rows.sum()), len(content.names))
    if suffix == ".npy":
        _write_npy(blocks, shape, dtype, out)
        return
    key = f"{original.options.key or 'X'}.npy"
    with zipfile.ZipFile(out, "w") as archive, archive.open(key, "w", force_zip64=True) as member:
        _write_npy(blocks, shape, dtype, member)


def _with_nan(blocks: Iterable[Array], dtype: np.dtype[Any], cells: EmptyCells) -> Iterator[Array]:
    start = 0
    for block in blocks:
        block = np.array(block, dtype)
        for j, positions in cells.items():
            inside = positions[(positions >= start) & (positions < start + len(block))]
            block[inside - start, j] = np.nan
        start += len(block)
        yield block


def _write_npy(blocks: Iterable[Array], shape: tuple[int, int], dtype: Any, out: Any) -> None:
    """Write rows in blocks, as `numpy.save` would write all of them."""
    described = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False}
    np.lib.format.write_array_header_1_0(out, {**described, "shape": shape})
    for block in blocks:
        out.write(np.ascontiguousarray(block, dtype).tobytes())


def _write_tables(tables: Iterable[Any], suffix: str, out: Any) -> None:
    """Write one Arrow table, or several one after the other."""
    tables = (_harmless(table) for table in tables) if suffix in DELIMITED else iter(tables)
    first = next(tables)
    if suffix in PARQUET_SUFFIXES:
        writer = arrow("pyarrow.parquet").ParquetWriter(out, first.schema)
    elif suffix in DELIMITED:
        csv_ = arrow("pyarrow.csv")
        options = csv_.WriteOptions(delimiter=DELIMITED[suffix])
        writer = csv_.CSVWriter(out, first.schema, write_options=options)
    else:
        writer = arrow("pyarrow.ipc").new_file(out, first.schema)
    with writer:
        for table in chain([first], tables):
            writer.write_table(table)


def _harmless(table: Any) -> Any:
    """Quote text and names that a spreadsheet would take for formulas."""
    pa = arrow()
    out = []
    for column in table.columns:
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            column = pa.array(map(harmless, column.to_pylist()), column.type)
        out.append(column)
    return pa.table(out, names=[harmless(name) for name in table.schema.names])


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    with open(path, "wb") as file:
        if not path.name.lower().endswith(".gz"):
            yield file
            return
        # Neither name nor time in it: the same rows give the same file.
        with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
            yield packed  # type: ignore[misc]
