"""Fit all rows of a table, or each of its groups, as the options of a command say."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from inlier.api import Assumption, robust_mean
from inlier.data import Table
from inlier.data.sources.base import listed
from inlier.io import LoadedTable, read
from inlier.l0.fit import Options
from inlier.linalg.metrics import UNEVEN, unevenness
from inlier.results.result import RobustMeanResult
from inlier.verdict.verdict import Step


@dataclass(frozen=True)
class CommandOptions:
    """Options of a fit, and of what is chosen in place of its answer."""

    sigma: float | None
    assume: Assumption
    scatter: str
    p: float | None
    seed: int
    keep: list[int] | None
    drop: list[int] | None
    threshold: float | None
    point: int | None

    @classmethod
    def parsed(cls, given: dict[str, Any]) -> CommandOptions:
        """Return the options of a command."""
        return cls(**{field.name: given[field.name] for field in fields(cls)})

    def fit(
        self, X: Any, callback: Callable[[Step], object], sample_weight: Any = None
    ) -> RobustMeanResult:
        """Fit a table, and choose as the options say."""
        if self.p is not None and self.sigma is None:
            raise ValueError("--p needs --sigma. Give it too, or leave --p out.")
        if self.assume != "auto" and self.sigma is not None:
            raise ValueError(
                f"--assume {self.assume} is for an unknown bound: leave --sigma out, or leave "
                "--assume out."
            )
        result = robust_mean(
            X, sample_weight=sample_weight, sigma=self.sigma, assume=self.assume,
            scatter=self.scatter, random_state=self.seed, callback=callback,
            l0=None if self.p is None else Options(p=self.p),
        )  # fmt: skip
        if self.threshold is not None or self.point is not None:
            result = result.at(self.point, threshold=self.threshold)
        # The last first: what is put back or dropped leaves its list. Suspects that are dropped
        # become groups, so these come first.
        for group in _indices("--keep", self.keep, len(result.groups), "group"):
            result = result.keep(group)
        for suspect in _indices("--drop", self.drop, len(result.suspects), "suspect"):
            result = result.drop(suspect)
        return result


def _indices(option: str, numbers: list[int] | None, count: int, what: str) -> list[int]:
    """Return positions in a list from numbers that count from 1, the last first."""
    wanted = sorted(set(numbers or ()), reverse=True)
    for number in wanted:
        if not 1 <= number <= count:
            raise ValueError(
                f"{option} {number}: there is no such {what}. The verdict has {count}, counted "
                "from 1."
            )
    return [number - 1 for number in wanted]


# Rows that decide whether a column has only two values, and how much it varies; tables with very
# many columns are not checked, because of the memory.
SAMPLE_ROWS = 2000
MOST_COLUMNS = 5000


def hints_about(frame: LoadedTable, options: CommandOptions) -> list[str]:
    """Return hints about the columns of a table."""
    hints = []
    if frame.has_malformed:
        hints.append("Markers of missing values can be named with --na-values.")
    if len(frame.columns) > MOST_COLUMNS:
        return hints
    some = frame.head(SAMPLE_ROWS).astype(np.float64)
    two = [
        name
        for name, column in zip(frame.columns, some.T, strict=True)
        if len(some) > 2 and len(np.unique(column[~np.isnan(column)])) == 2
    ]
    if two:
        shown = ", ".join(repr(name) for name in two[:5]) + (", ..." if two[5:] else "")
        hints.append(
            f"Columns with two values only: {shown}. Rows with the rarer one may look like a "
            "group; --exclude leaves such columns out."
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


@dataclass(frozen=True)
class Fitted:
    """The rows of a group, and their result."""

    group: str | None  # None if all rows were fitted together
    rows: Any  # where these rows are in the table
    result: RobustMeanResult

    @property
    def weak(self) -> bool:
        """Whether the data do not say clearly which rows are bad; the message says why."""
        return self.result._outcome.weak


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
    plain = ("id_column", "group_by", "weights", "missing", "delimiter", "header")
    options |= {name: given[name] for name in (*plain, "key", "table", "query")}
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
            weights = None if frame.weights is None else frame.weights[rows]
            result = options.fit(X, lambda step: tell(what, step), weights)
        # Where cells are missing, the table of the fit is a copy without gaps: none is made anew.
        table = result._known_data().table
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
