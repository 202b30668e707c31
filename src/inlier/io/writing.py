"""Write the good rows of a file to a new file, unchanged but for cells that are to change."""

import gzip
import io
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from inlier._internal.atomic import check_place, replacing
from inlier._internal.csv_text import Writer
from inlier._internal.typing import Array, Mask
from inlier.data.sources.arrow import PARQUET_SUFFIXES
from inlier.data.sources.base import arrow, listed
from inlier.data.sources.content import Content, as_words
from inlier.io.reading import LoadedTable

DELIMITED = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": "\t"}
ARROW = (*PARQUET_SUFFIXES, ".feather", ".arrow", ".ipc")
TARGETS = (*DELIMITED, *(f"{suffix}.gz" for suffix in DELIMITED), *ARROW, ".npy")
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
    changes: Changes = {}
    if cells is not None:
        values = np.full(len(cells), np.nan) if values is None else values
        order, written = np.cumsum(rows) - 1, rows[frame.rows[cells[:, 0]]]
        for j in np.unique(cells[written, 1]):
            own = written & (cells[:, 1] == j)
            column = content.names.index(frame.columns[j])
            changes[column] = order[frame.rows[cells[own, 0]]], values[own]
    with replacing(path) as unfinished, _opened(unfinished) as out:
        suffix = _suffix(path)
        if suffix == ".npy":
            _write_array(content, rows, changes, out)
        elif suffix in DELIMITED:
            _write_text(content, rows, changes, suffix, out)
        else:
            _write_arrow(content, rows, changes, suffix, out)


def check_target(frame: LoadedTable, path: str | PathLike[str]) -> None:
    """Raise if the rows of a file could not be written to a path.

    There may be no such folder, no such format, no package that writes it, or it cannot hold the
    columns.
    """
    check_place(path)
    suffix, content = _suffix(path), frame.content
    where = f"path={str(path)!r}"
    if suffix not in (*DELIMITED, *ARROW, ".npy"):
        raise ValueError(
            f"{where} ends in {suffix!r}, which cannot be written. Choose one of "
            f"{', '.join(TARGETS)}."
        )
    if Path(path).name.lower().endswith(".gz") and suffix not in DELIMITED:
        raise ValueError(f"{where}: only text is compressed by gzip. Leave out .gz.")
    words = [name for name, why in zip(content.names, content.reasons, strict=True) if why]
    if suffix == ".npy" and words:
        raise ValueError(
            f"{where} can hold numbers only, but {content.location} has other columns too: "
            f"{listed(words)}. Write a .csv or .parquet file."
        )
    try:  # to write no rows
        if suffix in ARROW:
            _arrow_writer(content.schema, suffix, io.BytesIO()).close()
        for kind in content.schema.types if suffix in DELIMITED else ():
            arrow().nulls(0, kind).cast(arrow().string())
    except arrow().ArrowException as error:
        raise ValueError(
            f"{where} cannot hold the columns of {content.location}: {error}. Write a "
            f"{'.parquet' if suffix in DELIMITED else '.feather'} file."
        ) from None


def _suffix(path: str | PathLike[str]) -> str:
    """Without .gz, in lower case."""
    return Path(Path(path).name.lower().removesuffix(".gz")).suffix


def _kept(content: Content, rows: Mask, changes: Changes) -> Iterator[tuple[list[Any], Changes]]:
    """Yield the columns of the rows that are written, in blocks, and what changes in a block."""
    read = written = 0
    for block in content.stored(list(range(len(content.names)))):
        kept = np.flatnonzero(rows[read : read + len(block[0])])
        found = [cells.take(arrow().array(kept)) for cells in block]
        yield found, _within(changes, written, len(kept))
        read, written = read + len(block[0]), written + len(kept)


def _within(changes: Changes, start: int, n: int) -> Changes:
    """Return the changes in n rows from `start`, by their places in them."""
    found = {}
    for j, (places, values) in changes.items():
        inside = (places >= start) & (places < start + n)
        found[j] = places[inside] - start, values[inside]
    return found


def _write_text(content: Content, rows: Mask, changes: Changes, suffix: str, out: Any) -> None:
    """Write cells as text, as they were in a text or in the form of their types."""
    delimiter, kinds = content.options.delimiter, content.location.suffixes
    # It stays unless the text becomes another kind of file.
    alike = suffix in (".txt", *kinds) or (suffix == ".csv" and not {*kinds} & {*DELIMITED, ".dat"})
    chosen = delimiter if delimiter is not None and alike else DELIMITED[suffix]
    empty = "nan" if chosen == " " else ""  # several spaces are one delimiter
    with io.TextIOWrapper(out, "utf-8", newline="") as file:
        writer = Writer(file, delimiter is None, delimiter=chosen, lineterminator="\n")
        if content.options.header is not False:
            writer.writerow(content.names)
        for block, new in _kept(content, rows, changes):
            columns = [[word or empty for word in as_words(cells)] for cells in block]
            for j, (places, values) in new.items():
                style = content.texts[j].style if j in content.texts else None
                for i, value in zip(places, values, strict=True):
                    word = empty if np.isnan(value) else f"{value:.15g}"
                    columns[j][i] = word.replace(".", style.decimal if style else ".")
            writer.writerows(zip(*columns, strict=True))


def _write_array(content: Content, rows: Mask, changes: Changes, out: BinaryIO) -> None:
    """Write rows in blocks, as `numpy.save` would write all of them."""
    every = list(range(len(content.names)))
    dtype = content.dtype(every) if content.array is None else content.array.dtype
    dtype = np.dtype(np.float64) if changes and dtype.kind != "f" else dtype
    about = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False}
    read = written = 0
    shape = (int(rows.sum()), len(every))
    np.lib.format.write_array_header_1_0(out, {**about, "shape": shape})
    for block in content.blocks(every, dtype):
        kept = block[rows[read : read + len(block)]]
        for j, (places, values) in _within(changes, written, len(kept)).items():
            kept[places, j] = values
        out.write(kept.tobytes())
        read, written = read + len(block), written + len(kept)


def _write_arrow(content: Content, rows: Mask, changes: Changes, suffix: str, out: Any) -> None:
    """Write record batches; integers become floating point numbers where they have to."""
    pa, schema = arrow(), content.schema
    for j, (_, values) in changes.items():
        field = schema.field(j).with_nullable(True)
        whole = (values == np.round(values)) | np.isnan(values)
        if pa.types.is_integer(field.type) and not whole.all():
            field = field.with_type(pa.float64())
        schema = schema.set(j, field)
    with _arrow_writer(schema, suffix, out) as writer:
        for block, new in _kept(content, rows, changes):
            columns = [content.typed(j, cells) for j, cells in enumerate(block)]
            for j, (places, values) in new.items():
                there = np.zeros(len(columns[j]), np.bool_)
                there[places] = True
                kind = schema.field(j).type
                fresh = pa.array(values, from_pandas=True).cast(kind)
                columns[j] = arrow("pyarrow.compute").replace_with_mask(
                    columns[j].cast(kind), there, fresh
                )
            writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=schema))


def _arrow_writer(schema: Any, suffix: str, out: Any) -> Any:
    if suffix in PARQUET_SUFFIXES:
        return arrow("pyarrow.parquet").ParquetWriter(out, schema)
    return arrow("pyarrow.ipc").new_file(out, schema)


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    with open(path, "wb") as file:
        if not path.name.lower().endswith(".gz"):
            yield file
            return
        # Neither name nor time in it: the same rows give the same file.
        with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
            yield packed  # type: ignore[misc]
