"""Fit all rows of a table, or each of its groups."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from inlier.cli.fit_options import CommandOptions
from inlier.cli.hints import hints_about
from inlier.data import Table
from inlier.data.sources.base import listed
from inlier.io import LoadedTable, read
from inlier.results.records import Step
from inlier.results.result import RobustMeanResult


@dataclass(frozen=True)
class Fitted:
    """The rows of a group, and their result.

    Attributes
    ----------
    group : str or None
        None if all rows were fitted together.
    rows : int array
        Where these rows are in the table.
    result : RobustMeanResult
    """

    group: str | None
    rows: Any
    result: RobustMeanResult

    @property
    def weak(self) -> bool:
        """Whether the data do not say clearly which rows are bad; the message says why."""
        return self.result.outcome.weak


def separated(values: Sequence[str] | None) -> list[str] | None:
    """Split the values of an option that was given several times, or with commas."""
    if not values:
        return None
    return [part.strip() for value in values for part in value.split(",")]


def size_of(text: str) -> int:
    """Parse a number of bytes: 500M is 500 times 1024 squared."""
    found = re.fullmatch(r"\s*(\d+)\s*([KMGT]?)(?:i?B)?\s*", text, re.IGNORECASE)
    size = int(found[1]) << (10 * " KMGT".index(found[2].upper() or " ")) if found else 0
    if size < 1:
        raise ValueError(f"--max-bytes must be a size such as 500M or 8G, but is {text!r}.")
    return size


def read_frame(given: dict[str, Any]) -> LoadedTable:
    """Read the file of a command, with its options."""
    options: dict[str, Any] = {
        name: separated(given[name]) for name in ("columns", "exclude", "na_values")
    }
    plain = ("id_column", "group_by", "missing", "delimiter", "header", "key", "table", "query")
    options |= {name: given[name] for name in plain}
    return read(given["file"], max_bytes=size_of(given["max_bytes"]), **options)


def fit_frame(
    frame: LoadedTable, tell: Callable[[str, Step | None], None], options: CommandOptions
) -> tuple[list[Fitted], list[str]]:
    """Fit all rows of a table, or each of its groups; return the fits, and notes on them."""
    notes = hints_about(frame, options)
    names = row_names(frame)

    def fitted(group: str | None, rows: Any, X: Any) -> Fitted:
        what = "fitting" if group is None else f"fitting group {group}"
        tell(what, None)
        with warnings.catch_warnings():  # the verdict says it
            warnings.simplefilter("ignore")
            result = options.fit(X, lambda step: tell(what, step))
        # Where cells are missing, the table of the fit is a copy without gaps: none is made anew.
        table = result.known_data().table
        result = result.with_data(table, columns=frame.columns, names=names[rows])
        return Fitted(group, rows, result)

    if frame.groups is None:
        return [fitted(None, np.arange(len(names)), frame.X)], notes
    fits = []
    for group in sorted(set(frame.groups.tolist())):
        rows = np.flatnonzero(frame.groups == group)
        if len(rows) < 2:
            notes.append(f"Group {group!r} has one row only: it was kept, and not judged.")
            continue
        own = frame.take(rows)
        if not isinstance(own, Table):  # what is streamed has no gaps
            _check_group(own, frame.columns, group)
        fits.append(fitted(group, rows, own))
    if not fits:
        raise ValueError(
            "--group-by: no group has more than one row. Choose a column with fewer values."
        )
    return fits, notes


def _check_group(X: Any, columns: tuple[str, ...], group: str) -> None:
    """Raise if a column has no value in the rows of a group."""
    empty = [name for name, gone in zip(columns, np.isnan(X).all(axis=0), strict=True) if gone]
    if empty:
        raise ValueError(
            f"--group-by: group {group!r} has no value at all in {listed(empty)}. Leave such "
            "columns out with --exclude, or use --missing impute-robust."
        )


def row_names(frame: LoadedTable) -> Any:
    """Return the names of the rows: the id column, or their numbers, counted from 1."""
    if frame.names is not None:
        return frame.names
    return np.array([f"row {number + 1}" for number in frame.rows])
