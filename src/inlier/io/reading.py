"""Read the table of numbers in a file, and what belongs to its rows."""

from dataclasses import dataclass, field
from os import PathLike
from typing import Any, get_args

import numpy as np

from inlier._internal.typing import Array
from inlier._internal.validation import check_choice, check_sample_weight, check_whole
from inlier.data import Table
from inlier.data.checks import MEMORY
from inlier.data.files import ENTRY_BYTES, FileTable
from inlier.data.sources import load
from inlier.data.sources.base import Source, blocks_of, listed, reading
from inlier.data.sources.content import Content
from inlier.data.sources.location import MAX_BYTES, Location, locate, split_key
from inlier.data.sources.options import ReadOptions
from inlier.io.columns import Names, choose_columns
from inlier.io.missing import Missing, find_missing, handle_missing

# What marks a row of a text, in small letters, and what does not.
YES = ["1", "1.0", "true", "yes"]
NO = ["0", "0.0", "false", "no", "", "nan", "none"]


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
    content: Content = field(repr=False)  # for `inlier.io.write`
    # Of the file when it was read: it must not change before its rows are written.
    stamp: tuple[int, ...] = field(default=(), repr=False)


def read(
    path: str | PathLike[str],
    *,
    columns: Names = None,
    exclude: Names = None,
    id_column: str | int | None = None,
    group_by: str | int | None = None,
    weights: str | int | None = None,
    trusted: str | int | None = None,
    missing: Missing = "error",
    max_bytes: int = MAX_BYTES,
    **options: Any,
) -> LoadedTable:
    """Read the numbers of a file, of any format in `FORMATS`.

    Columns of numbers are used, and the notes name the others. What does not fit into `max_bytes`
    is streamed, or refused where its format cannot be. docs/command-line.md says more.

    Parameters
    ----------
    path : str or path
        "file.h5::table" names an array, as `key` does; "-" is standard input.
    columns, exclude : list of str or int, optional
        Columns to use and to leave out: names, numbers from 0, or patterns such as "gene_*".
    id_column, group_by, weights : str or int, optional
        Names, groups and weights of the rows; these columns are not used as numbers.
    trusted : str or int, optional
        Column that marks rows that somebody has checked: 1, true or yes, and 0, false, no or
        nothing for the others.
    missing : {"error", "auto", "drop", "impute-robust"}
        Refuse entries that are missing, NaN or infinite; leave them to `inlier.robust_mean` as NaN,
        but infinity; leave out their rows; or replace them by the median of their column.
    max_bytes : int
        Bound on the memory for what is loaded.
    **options
        How the file is to be read, where that is not to be detected: see `ReadOptions`.
    """
    check_choice(missing, "missing", get_args(Missing))
    check_whole(max_bytes, "max_bytes")
    path, key = split_key(path)
    given = ReadOptions(**{**options, "key": options.get("key") or key})
    location = locate(path, max_bytes)
    stamp = location.stamp
    content = load(location, given)
    _check_rows(content.n, "rows", location)
    roles = {"id_column": id_column, "group_by": group_by, "weights": weights, "trusted": trusted}
    choice = choose_columns(content, columns, exclude, roles)
    notes, used = [*content.notes, *choice.notes], np.array(choice.numbers)
    with reading(location.label):
        X: Any = content.numbers(choice.numbers)
        unseen = sorted(content.unseen)
        gaps = find_missing(X)
        if missing == "auto" and gaps.infinite is not None:
            i, j = gaps.infinite
            raise ValueError(
                f"{location}: the entry in row {i + 1}, column {content.names[used[j]]!r} is "
                "infinite. Use missing='drop' to leave such rows out, or missing='impute-robust' "
                "to put the median of the column in its place."
            )
        full = gaps.columns < content.n
        if missing != "error" and not full.all():
            empty = f"no entry is a finite number: {listed(content.names[j] for j in used[~full])}"
            notes.append(f"Left out, because {empty}.")
            used = used[full]
            if not len(used):
                raise ValueError(f"{location} has no column of numbers to use: {empty}.")
            X = content.numbers(used.tolist())
            gaps = find_missing(X)
        names = tuple(content.names[j] for j in used)
        X, rows, said = handle_missing(X, gaps, missing, names, location)
        _check_rows(int(rows.sum()), "rows without missing values", location)
        words = {
            role: None if j is None or role == "weights" else content.words(j)[rows]
            for role, j in choice.roles.items()
        }
    weighing = None
    if (weighed := choice.roles["weights"]) is not None:
        cells = np.concatenate(list(blocks_of(content.numbers([weighed]))))[rows, 0]
        name = f"The column {content.names[weighed]!r} of weights"
        weighing = check_sample_weight(cells, len(cells), name, 1 + np.flatnonzero(rows))
    if unseen:
        notes.append(f"Markers of missing values that no column in use has: {listed(unseen)}.")
    if isinstance(X, Source):
        memory = max(min(MEMORY, max_bytes), ENTRY_BYTES * X.shape[1])
        X = FileTable(X, location.label, memory, checked=True)
        X = X if rows.all() else X.take(rows)
    return LoadedTable(
        X=X,
        columns=names,
        rows=np.flatnonzero(rows),
        n_read=content.n,
        names=words["id_column"],
        groups=words["group_by"],
        weights=weighing,
        trusted=_marks(words["trusted"], content.names[choice.roles["trusted"] or 0]),
        notes=(*notes, *said),
        n_imputed=int(gaps.columns.sum()) if missing == "impute-robust" else 0,
        n_dropped=content.n - int(rows.sum()),
        has_malformed=any(reason.malformed for reason in choice.left_out.values()),
        content=content,
        stamp=stamp,
    )


def _marks(words: Array | None, column: str) -> Array | None:
    """Return which cells of a column say yes."""
    if words is None:
        return None
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
