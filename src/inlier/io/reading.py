"""Read the table of numbers in a file, and what belongs to its rows."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

import numpy as np

from inlier._internal.typing import Array
from inlier._internal.validation import check_choice, check_sample_weight, check_whole
from inlier.data import Table
from inlier.data.files import ENTRY_BYTES, FileTable
from inlier.data.opening import MEMORY
from inlier.data.sources.base import Source
from inlier.data.sources.content import (
    Content,
    Format,
    ReadOptions,
    Reason,
    ReasonKind,
    blocks_of,
    reading,
)
from inlier.data.sources.formats import check_options, recognise
from inlier.data.sources.location import MAX_BYTES, Location, locate, split_key
from inlier.io.columns import Names, choose_columns
from inlier.io.missing import CHOICES, handle_missing

# What marks a row of a text, in small letters, and what does not.
YES = ["1", "1.0", "true", "yes"]
NO = ["0", "0.0", "false", "no", "", "nan", "none"]


@dataclass(frozen=True)
class Original:
    """The file that a table was read from, to write its rows unchanged."""

    format: Format
    location: Location
    options: ReadOptions
    names: tuple[str, ...]
    reasons: tuple[Reason | None, ...]
    schema: Any
    answer: Content | None = None
    """What a query gave: it may give something else the next time."""

    def load(self) -> Content:
        """Read it again: its text is not held while its numbers are fitted."""
        if self.answer is not None:
            return self.answer
        with reading(self.location, self.format):
            return self.format.load(self.location, self.options)


@dataclass(frozen=True, eq=False)
class LoadedTable:
    """A table that was read from a file, with n rows and d columns."""

    X: Array | Table  # what `robust_mean` takes; a `Table` if streamed; NaN where asked for
    columns: tuple[str, ...]  # names; "x0", "x1", ... where the file has none
    rows: Array  # the numbers of these rows in the file, from 0
    n_read: int  # records of the file
    names: Array | None  # the id column, as text
    groups: Array | None  # the group column, as text
    weights: Array | None  # what each row counts in the mean
    trusted: Array | None  # mask of the rows that somebody has checked
    notes: tuple[str, ...]  # sentences: what was left out, dropped or imputed, and why
    n_imputed: int  # entries that are medians of their columns
    n_dropped: int  # rows of the file that were left out, because entries were missing
    has_malformed: bool  # whether a column was left out for a few cells that are not numbers
    original: Original = field(repr=False)  # for `inlier.io.write`
    # Of the file when it was read: it must not change before its rows are written.
    stamp: tuple[int, ...] = field(default=(), repr=False)

    def take(self, rows: Array) -> Array | Table:
        """Return some rows, by their numbers in the table."""
        if not isinstance(self.X, Table):
            return self.X[rows]
        kept = np.zeros(self.X.shape[0], np.bool_)
        kept[rows] = True
        return self.X.take(kept)

    def head(self, n: int) -> Array:
        """Return the first rows as an array."""
        rows = np.arange(min(n, self.X.shape[0]))
        return np.asarray(self.X.fetch(rows) if isinstance(self.X, Table) else self.X[rows])


def read(
    path: str | PathLike[str],
    *,
    columns: Names = None,
    exclude: Names = None,
    id_column: str | int | None = None,
    group_by: str | int | None = None,
    weights: str | int | None = None,
    trusted: str | int | None = None,
    missing: str = "error",
    delimiter: str | None = None,
    header: bool | None = None,
    key: str | None = None,
    table: str | None = None,
    query: str | None = None,
    na_values: Sequence[str] | None = None,
    max_bytes: int = MAX_BYTES,
) -> LoadedTable:
    """Read the numbers of a file, of any format in `FORMATS`.

    Columns of numbers are used, and the notes name the others. Arrays in .npy, HDF5, Zarr and
    MATLAB 7.3 files stay in them, and are streamed: each pass reads them block by block. Text,
    Parquet and Arrow files are streamed if they do not fit into `max_bytes`. The numbers of a
    streamed text or Arrow file are written once to a temporary file, 8 bytes for each, in the
    folder of the environment variable TMPDIR; it is removed with the table.

    Parameters
    ----------
    path : str or path
        The suffix decides the format or, if it is unknown, the first bytes do. Text may be
        compressed by gzip. "file.h5::table" names an array, as `key` does. "-" is standard input,
        which is read into memory.
    columns, exclude : list of str or int, optional
        Columns to use and to leave out: names, numbers from 0, or patterns such as "gene_*".
    id_column, group_by : str or int, optional
        Names and groups of the rows; these columns are not used as numbers.
    weights : str or int, optional
        What each row counts in the mean, `sample_weight` of `inlier.robust_mean`; not one of the
        numbers that rows are judged by.
    trusted : str or int, optional
        Column that marks rows that somebody has checked: 1, true or yes, and 0, false, no or
        nothing for the others. It is not one of the numbers.
    missing : {"error", "auto", "drop", "impute-robust"}
        Treatment of entries that are missing, NaN or infinite: refuse the file, leave their rows
        out, or replace them by the median of their column. With "auto" missing entries become
        NaN, which `inlier.robust_mean` takes for missing; infinity is refused, and columns and
        rows without any entry are left out, with a note. A table with gaps is held in memory for
        "auto" and "impute-robust", and must fit into `max_bytes`.
    delimiter, header, na_values : str, bool and list of str, optional
        Of a text: the delimiter, whether the first line is a header (if it is all text, or text
        above numbers), both detected by default, and additional markers of missing values.
    key, table, query : str, optional
        Name of the array in a .npz, .mat, HDF5 or Zarr file; name of the table in an SQLite file,
        or a SELECT statement.
    max_bytes : int
        Bound on the memory for what is loaded: a text takes four times its size, a Parquet or Arrow
        table twice its size. Larger ones are streamed; what comes from a pipe, other compressed
        files, .npz and MATLAB files and the answer to a query are refused. A query may take no more
        steps either.
    """
    check_choice(missing, "missing", CHOICES)
    check_whole(max_bytes, "max_bytes")
    path, key_in_path = split_key(path)
    options = ReadOptions(
        delimiter, header, key or key_in_path, table, query, tuple(na_values or ()) or None
    )
    location = locate(path, max_bytes)
    format = recognise(location)
    check_options(options, format, location)
    with reading(location, format):
        stamp = location.stamp
        content = format.load(location, options)
        _check_rows(content.n, "rows", location)
        choice = choose_columns(
            content, location, columns, exclude, id_column, group_by, weights, trusted
        )
        names = tuple(content.names[j] for j in choice.numbers)
        whole = handle_missing(content.numbers(choice.numbers), missing, names, location)
        _check_rows(int(whole.rows.sum()), "rows without missing values", location)
        ids, groups = (
            None if j is None else content.words(j)[whole.rows]
            for j in (choice.id_column, choice.group_by)
        )
        checked = None
        if choice.trusted is not None:
            words = content.words(choice.trusted)[whole.rows]
            checked = _marks(words, content.names[choice.trusted])
        weighing = None
        if choice.weights is not None:
            cells = blocks_of(content.numbers([choice.weights]))
            weighing = np.concatenate([block[:, 0] for block in cells])[whole.rows]
            name = f"The column {content.names[choice.weights]!r} of weights"
            weighing = check_sample_weight(weighing, len(weighing), name)
    answer = None if query is None else content
    original = Original(
        format, location, content.options, content.names, content.reasons, content.schema, answer
    )
    X: Any = whole.X
    if isinstance(X, Source):
        memory = max(min(MEMORY, max_bytes), ENTRY_BYTES * X.shape[1])
        X = FileTable(X, location.label, memory, checked=True)
        X = X if whole.rows.all() else X.take(whole.rows)
    return LoadedTable(
        X=X,
        columns=tuple(names[j] for j in whole.columns),
        rows=np.flatnonzero(whole.rows),
        n_read=content.n,
        names=ids,
        groups=groups,
        weights=weighing,
        trusted=checked,
        notes=(*content.notes, *choice.notes, *whole.notes),
        n_imputed=whole.n_imputed,
        n_dropped=content.n - int(whole.rows.sum()),
        has_malformed=any(r.kind is ReasonKind.MALFORMED for r in choice.left_out.values()),
        original=original,
        stamp=stamp,
    )


def _marks(words: Array, column: str) -> Array:
    """Return which cells of a column say yes."""
    plain = np.array([str(word).strip().lower() for word in words], dtype=object)
    marked = np.isin(plain, YES)
    wrong = np.flatnonzero(~marked & ~np.isin(plain, NO))
    if len(wrong):
        raise ValueError(
            f"The column {column!r} of trusted rows must have 1, true or yes in these rows and 0, "
            f"false, no or nothing in the others, but has {str(words[wrong[0]])!r}."
        )
    return np.asarray(marked)


def _check_rows(n: int, what: str, location: Location) -> None:
    if n < 2:
        raise ValueError(f"{location} must have at least 2 {what}, but has {n}.")
