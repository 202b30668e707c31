"""The good rows of a file, untouched, in a new file."""

from __future__ import annotations

import gzip
import io
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from inlier._internal.atomic import check_place, replacing
from inlier._internal.csv_text import BEFORE, FORMULA, NUMBER, harmless
from inlier._internal.typing import Mask
from inlier.data.sources.arrow import PARQUET
from inlier.io import npy, text
from inlier.io.base import ArrayContent, Content, Original, arrow, listed
from inlier.io.reading import LoadedTable
from inlier.io.tabular import Columns

DELIMITED = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": "\t"}
ARROW = (*PARQUET, ".feather", ".arrow", ".ipc")
ARRAYS = (".npy", ".npz")
TARGETS = (*DELIMITED, *(f"{suffix}.gz" for suffix in DELIMITED), *ARROW, *ARRAYS)
"""How the names of files end that can be written."""


def write(frame: LoadedTable, kept: Mask, path: str | PathLike[str]) -> None:
    """Write some rows of a file to another: in order, with all of their columns, untouched.

    Text with the same delimiter is copied byte for byte, Arrow and Parquet tables keep their schema
    and metadata, and arrays their dtype. Other formats are converted; in a text that is not a copy,
    an apostrophe stands before what a spreadsheet would take for a formula. Rows that were dropped
    because values were missing have not been judged, and are not written. No half-written file is
    left behind.

    Parameters
    ----------
    frame : Frame
        What `read` gave. Its file is read again.
    kept : array of bool of shape (n,)
        Which rows of ``frame.X`` to write.
    path : str or path
        One of the suffixes in `TARGETS` tells the format. It may be the file that was read.

    Raises
    ------
    ValueError
        If `check_target` raises, or the file is not the one that was read any more.
    """
    check_target(frame, path)
    kept = np.asarray(kept)
    if kept.shape != frame.rows.shape or kept.dtype != bool:
        raise ValueError(
            f"kept must be a mask of {len(frame.rows)} rows, but has shape {kept.shape} and dtype "
            f"{kept.dtype}."
        )
    place = frame.original.place
    if place.stamp != frame.stamp:
        raise ValueError(f"{place} has changed since it was read. Read it again.")
    rows = np.zeros(frame.n_read, bool)
    rows[frame.rows[kept]] = True
    suffix = _suffix(path)
    try:
        with replacing(path) as unfinished, _opened(unfinished) as out:
            if suffix in DELIMITED:
                _write_text(frame.original, rows, suffix, out)
            elif suffix in ARRAYS:
                _write_array(frame.original, rows, suffix, out)
            else:
                _write_table(_loaded(frame.original, rows).arrow(rows), suffix, out)
    except _arrow_errors() as error:
        raise ValueError(
            f"path={str(path)!r} could not be written with the columns of {place}: {error}. "
            "Choose another format."
        ) from None


def _arrow_errors() -> tuple[type[Exception], ...]:
    """What pyarrow raises, if it is there."""
    try:
        return (arrow().ArrowException,)
    except ImportError:
        return ()


def check_target(frame: LoadedTable, path: str | PathLike[str]) -> None:
    """Raise if the rows of a file could not be written to a path: better before a fit than after.

    Parameters
    ----------
    frame : Frame
    path : str or path

    Raises
    ------
    ValueError
        If there is no such folder, the suffix is not in `TARGETS`, or the format cannot hold the
        columns.
    ImportError
        If the package that writes the format is not there.
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
        raise ValueError(f"{where}: only text is packed by gzip. Leave out .gz.")
    words = [name for name, why in zip(original.names, original.reasons, strict=True) if why]
    if suffix in ARRAYS and words:
        raise ValueError(
            f"{where} can hold numbers only, but {original.place} has other columns too: "
            f"{listed(words)}. Write a .csv or .parquet file."
        )
    if suffix not in ARRAYS:
        _check_types(original, suffix, where)


def _check_types(original: Original, suffix: str, where: str) -> None:
    """Whether a format knows the types of the columns: a table without rows tells."""
    pa = arrow()
    if original.schema is None or original.format is text.FORMAT:
        return
    try:
        _write_table(original.schema.empty_table(), suffix, io.BytesIO())
    except pa.ArrowException as error:
        raise ValueError(
            f"{where} cannot hold the columns of {original.place}: {error}. Write a "
            f"{'.parquet' if suffix in DELIMITED else '.feather'} file."
        ) from None


def _suffix(path: str | PathLike[str]) -> str:
    """Without .gz, in lower case."""
    return Path(Path(path).name.lower().removesuffix(".gz")).suffix


def _loaded(original: Original, rows: Mask) -> Content:
    content = original.load()
    if content.n != len(rows) or content.names != original.names:
        raise ValueError(f"{original.place} has changed since it was read. Read it again.")
    return content


def _write_text(original: Original, rows: Mask, suffix: str, out: BinaryIO) -> None:
    options, place = original.options, original.place
    if original.format is not text.FORMAT:
        _write_table(_loaded(original, rows).arrow(rows), suffix, out)
        return
    # A .csv file may have semicolons; it keeps them unless it becomes another kind of file.
    kinds = {kind for kind in place.suffixes if kind in text.FORMAT.suffixes}
    alike = suffix in kinds or suffix == ".txt" or (suffix == ".csv" and not kinds)
    delimiter = options.delimiter if alike else DELIMITED[suffix]
    if delimiter == options.delimiter:
        text.copy(place, options, rows, out)
    else:
        content = _loaded(original, rows)
        assert isinstance(content, Columns)
        text.write(content, rows, str(delimiter), out)


def _write_array(original: Original, rows: Mask, suffix: str, out: BinaryIO) -> None:
    content = _loaded(original, rows)
    shape = (int(rows.sum()), len(content.names))
    if isinstance(content, ArrayContent):
        blocks, dtype = content.kept(rows), np.dtype(content.array.dtype)
    else:
        numbers = content.numbers(list(range(shape[1])))
        blocks, dtype = iter([numbers[rows]]), numbers.dtype
    if suffix == ".npy":
        npy.write(blocks, shape, dtype, out)
        return
    key = f"{original.options.key or 'X'}.npy"
    with zipfile.ZipFile(out, "w") as archive, archive.open(key, "w", force_zip64=True) as member:
        npy.write(blocks, shape, dtype, member)


def _write_table(table: Any, suffix: str, out: Any) -> None:
    if suffix in PARQUET:
        arrow("pyarrow.parquet").write_table(table, out)
    elif suffix in DELIMITED:
        csv = arrow("pyarrow.csv")
        csv.write_csv(_harmless(table), out, csv.WriteOptions(delimiter=DELIMITED[suffix]))
    else:
        with arrow("pyarrow.ipc").new_file(out, table.schema) as file:
            file.write_table(table)


def _harmless(table: Any) -> Any:
    """A table whose text and names no spreadsheet takes for formulas."""
    pa, compute = arrow(), arrow("pyarrow.compute")
    out = []
    for column in table.columns:
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            begins = compute.match_substring_regex(column, FORMULA)
            formula = compute.and_not(begins, compute.match_substring_regex(column, NUMBER))
            quote, nothing = (pa.scalar(sign, column.type) for sign in (BEFORE, ""))
            quoted = compute.binary_join_element_wise(quote, column, nothing)
            column = compute.if_else(formula, quoted, column)
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
