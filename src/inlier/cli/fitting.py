"""Fit all rows of a table, or each of its groups."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from inlier._internal.typing import Array
from inlier.cli.options import Options
from inlier.data import Table
from inlier.data.base import RowNumbers
from inlier.data.sources.base import listed
from inlier.io import LoadedTable
from inlier.linalg.metrics import UNEVEN, unevenness
from inlier.results.result import RobustMeanResult
from inlier.verdict import Step


@dataclass(frozen=True)
class Fitted:
    """The rows of a group, and their result."""

    group: str | None  # None if all rows were fitted together
    rows: Array  # where these rows are in the table
    result: RobustMeanResult


def fit_frame(
    frame: LoadedTable, tell: Callable[[str, Step | None], None], options: Options
) -> tuple[list[Fitted], list[str]]:
    """Fit all rows of a table, or each of its groups; return the fits, and notes on them."""
    notes = _hints(frame, options)
    names = row_names(frame)

    def fitted(group: str | None, rows: Array) -> Fitted:
        what = "fitting" if group is None else f"fitting group {group}"
        tell(what, None)
        X = frame.X if group is None else frame.take(rows)
        if group is not None and not isinstance(X, Table):  # streamed data have no missing cells
            empty = [frame.columns[j] for j in np.flatnonzero(np.isnan(X).all(axis=0))]
            if empty:
                raise ValueError(
                    f"--group-by: group {group!r} has no value at all in {listed(empty)}. Leave "
                    "such columns out with --exclude, or use --missing impute-robust."
                )
        weights = None if frame.weights is None else frame.weights[rows]
        with warnings.catch_warnings():  # the verdict reports them
            warnings.simplefilter("ignore")
            trusted = options.trusted_rows(frame, rows)
            result = options.fit(X, weights, trusted, lambda step: tell(what, step))
        # The table of the fit: if cells are missing it is a copy, which is not made again.
        table = result._known_data()
        own = names if group is None else names[rows]
        result = result.with_data(table, columns=frame.columns, names=own)
        return Fitted(group, rows, result)

    if frame.groups is None:
        return [fitted(None, np.arange(len(names)))], notes
    fits = []
    for group in sorted(set(frame.groups.tolist())):
        rows = np.flatnonzero(frame.groups == group)
        if len(rows) > 1:
            fits.append(fitted(group, rows))
        else:
            notes.append(f"Group {group!r} has only one row: it was kept without a test.")
    if not fits:
        raise ValueError(
            "--group-by: no group has more than one row. Choose a column with fewer values."
        )
    return fits, notes


def row_names(frame: LoadedTable) -> Array | RowNumbers:
    """Return the names of the rows: the id column, or their numbers, counted from 1."""
    return RowNumbers(frame.rows) if frame.names is None else frame.names


def _hints(frame: LoadedTable, options: Options) -> list[str]:
    """Return hints about columns that may mislead a fit, from the first rows."""
    hints = []
    if frame.names is None and (line := frame.content.first_line):
        hints.append(f"Row 1 is line {line} of the file.")
    if frame.has_malformed:
        hints.append("Markers of missing values can be named with --na-values.")
    if len(frame.columns) > 5000:  # for the memory
        return hints
    some = frame.head(2000).astype(np.float64)
    two = [
        name
        for name, column in zip(frame.columns, some.T, strict=True)
        if len(some) > 2 and len(np.unique(column[~np.isnan(column)])) == 2
    ]
    if two:
        hints.append(
            f"Columns with two values only: {listed(two)}. Rows with the rarer one may look like "
            "a group; --exclude leaves such columns out."
        )
    if options.sigma is not None and options.scatter == "auto":
        ratio = unevenness(some)
        if ratio >= UNEVEN:
            hints.append(
                f"Some columns vary {ratio:.0e} times as much as others, and --sigma is one bound "
                "for all. If they are in different units, --scatter diagonal compares each in its "
                "own."
            )
    return hints
