"""What the commands do with a table: fit all of its rows, or each of its groups."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from inlier.cli.choice import FitChoices
from inlier.cli.hints import hints_about
from inlier.io import LoadedTable
from inlier.io.base import listed
from inlier.results.records import Step, WeakEvidenceWarning
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
    weak : bool
        Whether the data do not say clearly which rows are bad; the message says why.
    """

    group: str | None
    rows: Any
    result: RobustMeanResult
    weak: bool


def separated(values: Sequence[str] | None) -> list[str] | None:
    """The values of an option that was given several times, or with commas."""
    if not values:
        return None
    return [part.strip() for value in values for part in value.split(",")]


def size_of(text: str) -> int:
    """A number of bytes, as people write it: 500M is 500 times 1024 squared."""
    found = re.fullmatch(r"\s*(\d+)\s*([KMGT]?)(?:i?B)?\s*", text, re.IGNORECASE)
    size = int(found[1]) << (10 * " KMGT".index(found[2].upper() or " ")) if found else 0
    if size < 1:
        raise ValueError(f"--max-bytes must be a size such as 500M or 8G, but is {text!r}.")
    return size


def fit_frame(
    frame: LoadedTable, tell: Callable[[str, Step | None], None], choice: FitChoices
) -> tuple[list[Fitted], list[str]]:
    """Fit all rows of a table, or each of its groups; and what there is to say about that."""
    notes = hints_about(frame, choice)
    names = row_names(frame)

    def fitted(group: str | None, rows: Any, X: Any) -> Fitted:
        what = "fitting" if group is None else f"fitting group {group}"
        tell(what, None)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = choice.fit(X, lambda step: tell(what, step))
        # Where cells are missing, the table of the fit is a copy without gaps: none is made anew.
        table = result.known_data().table
        result = result.with_data(table, columns=frame.columns, names=names[rows])
        weak = any(issubclass(warning.category, WeakEvidenceWarning) for warning in caught)
        return Fitted(group, rows, result, weak)

    if frame.groups is None:
        return [fitted(None, np.arange(len(names)), frame.X)], notes
    X = np.asarray(frame.X[:])
    fits = []
    for group in sorted(set(frame.groups.tolist())):
        rows = np.flatnonzero(frame.groups == group)
        if len(rows) < 2:
            notes.append(f"Group {group!r} has one row only: it was kept, and not judged.")
            continue
        own = X[rows]
        _check_group(own, frame.columns, group)
        fits.append(fitted(group, rows, own))
    if not fits:
        raise ValueError(
            "--group-by: no group has more than one row. Choose a column with fewer values."
        )
    return fits, notes


def _check_group(X: Any, columns: tuple[str, ...], group: str) -> None:
    """A column of the file may have no value in the rows of a group."""
    empty = [name for name, gone in zip(columns, np.isnan(X).all(axis=0), strict=True) if gone]
    if empty:
        raise ValueError(
            f"--group-by: group {group!r} has no value at all in {listed(empty)}. Leave such "
            "columns out with --exclude, or use --missing impute-robust."
        )


def row_names(frame: LoadedTable) -> Any:
    """What the rows are called: by the id column, or by their numbers, counted from 1."""
    if frame.names is not None:
        return frame.names
    return np.array([f"row {number + 1}" for number in frame.rows])
