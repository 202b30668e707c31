"""A file becomes a table of numbers, and what belongs to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

import numpy as np

from inlier._internal.typing import Array
from inlier._internal.validation import check_choice, check_whole
from inlier.io.base import MOST_BYTES, Original, Place, ReadOptions, place_of, reading
from inlier.io.columns import Names, choose
from inlier.io.formats import check_options, recognise
from inlier.io.missing import CHOICES, settle


@dataclass(frozen=True, eq=False)
class LoadedTable:
    """A table that was read from a file: numbers, and what belongs to them.

    Attributes
    ----------
    X : array of shape (n, d), memory map, zarr array or HDF5 dataset
        What `inlier.robust_mean` takes; with NaN for what is missing, if that was asked for.
    columns : tuple of str
        Names of the d columns; "x0", "x1", ... where the file has none.
    rows : array of shape (n,)
        The numbers of these rows in the file, from 0.
    n_read : int
        How many records the file has.
    names : array of str of shape (n,) or None
        The id column.
    groups : array of str of shape (n,) or None
        The group column.
    notes : tuple of str
        Sentences for people: what was left out, dropped or imputed, and why.
    n_imputed : int
        How many entries are medians of their columns.
    n_dropped : int
        How many rows of the file were left out, because entries were missing.
    original : Original
        For `inlier.io.write`.
    stamp : tuple of int
        Of the file when it was read: it must not change before its rows are written.
    """

    X: Any
    columns: tuple[str, ...]
    rows: Array
    n_read: int
    names: Array | None
    groups: Array | None
    notes: tuple[str, ...]
    n_imputed: int
    n_dropped: int
    original: Original = field(repr=False)
    stamp: tuple[int, ...] = field(default=(), repr=False)


def read(
    path: str | PathLike[str],
    *,
    columns: Names = None,
    exclude: Names = None,
    id_column: str | int | None = None,
    group_by: str | int | None = None,
    missing: str = "error",
    delimiter: str | None = None,
    header: bool | None = None,
    key: str | None = None,
    table: str | None = None,
    query: str | None = None,
    na_values: Sequence[str] | None = None,
    max_bytes: int = MOST_BYTES,
) -> LoadedTable:
    """The numbers of a file, of any format in `FORMATS`.

    The columns that hold numbers are used, and the notes say which others there are. Arrays in
    .npy, HDF5 and zarr files stay in them, if no columns are chosen and none of their entries is
    missing.

    Parameters
    ----------
    path : str or path
        Its suffix tells the format or, if it has none, its first bytes do. Text may be packed by
        gzip. "-" is standard input, which is read into memory.
    columns, exclude : list of str or int, optional
        Which columns to use, and which not: names, numbers from 0, or patterns such as "gene_*".
    id_column, group_by : str or int, optional
        Columns of text that belong to the rows, and are not used as numbers.
    missing : {"error", "auto", "drop", "impute-robust"}
        What to do about entries that are missing, NaN or infinite: refuse the file, leave their
        rows out, or put the median of their column in their place. With "auto" missing entries
        become NaN, which `inlier.robust_mean` takes for missing; infinity is refused, and columns
        and rows without any entry are left out, with a note.
    delimiter : str, optional
        For text: what stands between cells. By default it is found out.
    header : bool, optional
        For text: whether the first record holds names. By default it does if it is all text, or
        text above numbers.
    key : str, optional
        For .npz, .mat, HDF5 and zarr: the name of the array.
    table, query : str, optional
        For SQLite: the name of the table, or a SELECT.
    na_values : list of str, optional
        For text: what else stands for a missing value.
    max_bytes : int
        So much may be held in memory as a whole: of a text, of what comes from a pipe or is packed,
        of the tables in other files, and of a query's answer, which may take no more steps either.
        Arrays in .npy, HDF5 and zarr files that stay there may be larger.

    Returns
    -------
    Frame

    Raises
    ------
    FileNotFoundError, ValueError
        If there is no such file, or no table of numbers in it.
    ImportError
        If the package that reads the format is not there.
    """
    check_choice(missing, "missing", CHOICES)
    options = ReadOptions(
        delimiter, header, key, table, query, tuple(na_values) if na_values else None
    )
    place = place_of(path, check_whole(max_bytes, "max_bytes"))
    format = recognise(place)
    check_options(options, format, place)
    with reading(place, format):
        stamp = place.stamp
        content = format.load(place, options)
        _check_rows(content.n, "rows", place)
        choice = choose(content, place, columns, exclude, id_column, group_by)
        names = tuple(content.names[j] for j in choice.numbers)
        whole = settle(content.numbers(choice.numbers), missing, names, place)
        _check_rows(whole.X.shape[0], "rows without missing values", place)
        ids, groups = (
            None if j is None else content.words(j)[whole.rows]
            for j in (choice.id_column, choice.group_by)
        )
    return LoadedTable(
        X=whole.X,
        columns=tuple(names[j] for j in whole.columns),
        rows=np.flatnonzero(whole.rows),
        n_read=content.n,
        names=ids,
        groups=groups,
        notes=(*content.notes, *choice.notes, *whole.notes),
        n_imputed=whole.n_imputed,
        n_dropped=content.n - int(whole.rows.sum()),
        original=Original(
            format,
            place,
            content.options,
            content.names,
            content.reasons,
            content.schema,
            content if query is not None else None,
        ),
        stamp=stamp,
    )


def _check_rows(n: int, what: str, place: Place) -> None:
    if n < 2:
        raise ValueError(f"{place} must have at least 2 {what}, but has {n}.")
