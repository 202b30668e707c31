"""Fit all rows of a table, or each of its groups."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from inlier._internal.typing import Array
from inlier.api import robust_mean
from inlier.data import as_table
from inlier.data.base import RowNumbers
from inlier.data.sources.base import listed
from inlier.io import LoadedTable, read
from inlier.results.result import RobustMeanResult

# Ratio of column scales above which distances depend on little but the largest columns.
UNEVEN = 100.0


@dataclass(frozen=True)
class Fitted:
    """The rows of a group, and their result."""

    group: str | None  # None if all rows were fitted together
    rows: Array  # where these rows are in the table
    result: RobustMeanResult


def fit_frame(
    frame: LoadedTable,
    choices: tuple[Sequence[int] | None, Sequence[int] | None, float | None],
    **options: Any,
) -> tuple[list[Fitted], list[str]]:
    """Fit all rows of a table, or each of its groups; return the fits, and a note on single rows.

    Choices are the groups to put back and the suspects to remove, counted from 1, and a threshold;
    options are those of `robust_mean`.
    """
    notes = []
    if frame.groups is not None:
        labels, sizes = np.unique(frame.groups, return_counts=True)
        if sizes.max() == 1:
            raise ValueError(
                "--group-by: no group has more than one row. Choose a column with fewer values."
            )
        X: Any = frame.X
        for label in labels[sizes > 1].tolist() if isinstance(X, np.ndarray) else ():
            if (empty := np.isnan(X[frame.groups == label]).all(axis=0)).any():
                raise ValueError(
                    f"--group-by: group {label!r} has no value at all in "
                    f"{listed([frame.columns[j] for j in np.flatnonzero(empty)])}. Leave such "
                    "columns out with --exclude, or use --missing impute-robust."
                )
        for label in labels[sizes == 1].tolist():
            notes.append(f"Group {label!r} has only one row: it was kept without a test.")
    with warnings.catch_warnings():  # the verdict reports them
        warnings.simplefilter("ignore")
        found: Any = robust_mean(
            frame.X, groups=frame.groups, sample_weight=frame.weights, **options
        )
    names, fits = row_names(frame), []
    for group, result in {None: found}.items() if frame.groups is None else found.items():
        rows = np.arange(len(names)) if group is None else np.flatnonzero(frame.groups == group)
        # The table of the fit: if cells are missing it is a copy, which is not made again.
        data = {"columns": frame.columns, "names": names if group is None else names[rows]}
        of_group = "" if group is None else f" of group {group}"
        result = _chosen(result, *choices, of_group).with_data(result._known_data(), **data)
        fits.append(Fitted(group, rows, result))
    return fits, notes


def _chosen(
    result: RobustMeanResult,
    keep: Sequence[int] | None,
    drop: Sequence[int] | None,
    threshold: float | None,
    of_group: str,
) -> RobustMeanResult:
    """Apply the choices of a user to a result."""
    if threshold is not None:
        result = result.at(threshold=threshold)
    # From the last to the first, because removal renumbers a list; groups before suspects, which
    # become groups.
    for option, numbers, count, what in (
        ("keep", keep, len(result.groups), "group"),
        ("drop", drop, len(result.suspects), "suspect"),
    ):
        for number in sorted(set(numbers or ()), reverse=True):
            if not 1 <= number <= count:
                raise ValueError(
                    f"--{option} {number}: there is no such {what}. The verdict{of_group} has "
                    f"{count}, counted from 1."
                )
            result = getattr(result, option)(number - 1)
    return result


def row_names(frame: LoadedTable) -> Array | RowNumbers:
    """Return the names of the rows: the id column, or their numbers, counted from 1."""
    return RowNumbers(frame.rows) if frame.names is None else frame.names


def trusted_rows(file: str, frame: LoadedTable) -> Array:
    """Read a file of rows that somebody has checked."""
    checked = read(file, columns=list(frame.columns), missing="error")
    return as_table(checked.X).fetch(np.arange(len(checked.rows)))


def hints(frame: LoadedTable, sigma: float | None, scatter: str) -> list[str]:
    """Return hints about columns that may mislead a fit, from the first rows."""
    found = []
    if frame.names is None and (line := frame.content.first_line):
        found.append(f"Row 1 is line {line} of the file.")
    if frame.has_malformed:
        found.append("Markers of missing values can be named with --na-values.")
    if sigma is None or scatter != "auto" or len(frame.columns) > 5000:  # for the memory
        return found
    rows = as_table(frame.X).fetch(np.arange(min(2000, len(frame.rows)))).astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of columns without values
        scales = np.nanmedian(np.abs(rows - np.nanmedian(rows, axis=0)), axis=0)
    scales = scales[np.isfinite(scales) & (scales > 0.0)]
    if len(scales) and (ratio := scales.max() / scales.min()) >= UNEVEN:
        found.append(
            f"Some columns vary {float(f'{ratio:.1g}'):,.0f} times as much as others, and --sigma "
            "is one bound for all. If they are in different units, --scatter diagonal compares "
            "each in its own."
        )
    return found
