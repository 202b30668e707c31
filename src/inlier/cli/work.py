"""What the commands do with a file: read it, fit it, and go well out of trouble."""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import typer
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from inlier.api import robust_mean
from inlier.cli.options import INTERRUPTED, MISUSED
from inlier.io import Frame, read
from inlier.result import RobustMeanResult, Step

# Of the functions behind the commands; each is an option here.
ARGUMENTS = (
    *("columns", "exclude", "id_column", "group_by", "missing", "na_values", "delimiter", "header"),
    *("key", "table", "query", "sigma", "scatter", "threshold", "point"),
)
# So many rows tell whether a column has but two values, and how much it varies.
LOOK_ROWS = 2000
# Columns that vary by this much more than others are the only ones that distances see.
UNEVEN = 1e3


@dataclass(frozen=True)
class Choice:
    """How to fit, and what to choose in place of the answer."""

    sigma: float | None
    scatter: str
    p: float | None
    seed: int
    keep: list[int] | None
    threshold: float | None
    point: int | None

    def fit(self, X: Any, callback: Callable[[Step], object]) -> RobustMeanResult:
        """The answer, or what was chosen in its place."""
        if self.p is not None and self.sigma is None:
            raise ValueError("--p is of the problem with a known bound: give --sigma too.")
        p = 0.5 if self.p is None else self.p
        result = robust_mean(
            X,
            sigma=self.sigma,
            scatter=self.scatter,
            p=p,
            random_state=self.seed,
            callback=callback,
        )
        if self.threshold is not None or self.point is not None:
            result = result.at(self.point, threshold=self.threshold)
        for group in self._put_back(len(result.groups)):
            result = result.keep(group)
        return result

    def _put_back(self, n_groups: int) -> list[int]:
        """Indices of groups, the last first: a group that is put back leaves the list."""
        wanted = sorted(set(self.keep or ()), reverse=True)
        for number in wanted:
            if not 1 <= number <= n_groups:
                raise ValueError(
                    f"--keep {number}: there is no such group. The verdict has {n_groups}, "
                    "counted from 1."
                )
        return [number - 1 for number in wanted]


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


def listed(values: Sequence[str] | None) -> list[str] | None:
    """An option that was given several times, or with commas. A name with a comma: once, alone."""
    if not values:
        return None
    return [part.strip() for value in values for part in value.split(",")]


@contextmanager
def complaints(console: Console) -> Iterator[None]:
    """What goes wrong is said in one line, with an exit code."""
    try:
        yield
    except KeyboardInterrupt:
        console.print("Interrupted. No file was left half written.")
        raise typer.Exit(INTERRUPTED) from None
    except BrokenPipeError:
        # Who reads our output has gone; nobody is left to complain to.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(0) from None
    except (ValueError, ImportError, OSError, MemoryError) as error:
        text = _spoken(str(error)) or type(error).__name__
        console.print(f"Error: {text}", markup=False, highlight=False, soft_wrap=True)
        raise typer.Exit(MISUSED) from None


def _spoken(text: str) -> str:
    """Arguments as they are called here: missing="drop" is --missing drop."""

    def option(found: re.Match[str]) -> str:
        return f"--{found[1].replace('_', '-')} {found[2].strip(chr(34))}"

    names = "|".join(ARGUMENTS)
    text = re.sub(rf'\b({names})=("[^"]*"|\'[^\']*\'|\.\.\.|[\w-]+)', option, text)
    text = re.sub(rf"^({names}) ", lambda found: f"--{found[1].replace('_', '-')} ", text)
    return re.sub(r"^path=", "--clean ", text)


@contextmanager
def progress(console: Console, quiet: bool) -> Iterator[Callable[[str, Step | None], None]]:
    """Says on a terminal what is going on, and how far it is."""
    with Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=quiet or not console.is_terminal,
    ) as bar:
        task = bar.add_task("reading", total=None)

        def tell(what: str, step: Step | None = None) -> None:
            if step is not None:
                what = (
                    f"{what}: {step.stage}, {step.n_removed:,.0f} rows removed, "
                    f"{step.n_passes} passes over the data"
                )
            bar.update(task, description=what.replace("[", r"\["))

        yield tell


def fit_frame(
    frame: Frame, tell: Callable[[str, Step | None], None], choice: Choice
) -> tuple[list[Fitted], list[str]]:
    """Fit all rows of a table, or each of its groups; and what there is to say about that."""
    if frame.groups is None:
        rows = np.arange(frame.X.shape[0])
        return [_fitted(None, rows, frame.X, frame, tell, choice)], _hints(frame, choice)
    X = np.asarray(frame.X[:])
    fits, notes = [], _hints(frame, choice)
    for group in sorted(set(frame.groups.tolist())):
        rows = np.flatnonzero(frame.groups == group)
        if len(rows) < 2:
            notes.append(f"Group {group!r} has one row only: it was kept, and not judged.")
            continue
        fits.append(_fitted(group, rows, X[rows], frame, tell, choice))
    if not fits:
        raise ValueError(
            "--group-by: no group has more than one row. Choose a column with fewer values."
        )
    return fits, notes


def _fitted(
    group: str | None,
    rows: Any,
    X: Any,
    frame: Frame,
    tell: Callable[[str, Step | None], None],
    choice: Choice,
) -> Fitted:
    what = "fitting" if group is None else f"fitting group {group}"
    tell(what, None)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = choice.fit(X, lambda step: tell(what, step))
    names = row_names(frame)[rows]
    result = result.with_data(X, columns=frame.columns, names=names)
    return Fitted(group, rows, result, bool(caught))


def _hints(frame: Frame, choice: Choice) -> list[str]:
    """What about the columns may lead a fit astray."""
    hints = []
    if any("no number" in note for note in frame.notes):
        hints.append("Cells that stand for missing values can be named with --na-values.")
    some = np.asarray(frame.X[:LOOK_ROWS], dtype=np.float64)
    two = [
        name
        for name, column in zip(frame.columns, some.T, strict=True)
        if len(some) > 2 and 1 < len(np.unique(column)) <= 2
    ]
    if two:
        shown = ", ".join(repr(name) for name in two[:5]) + (", ..." if two[5:] else "")
        hints.append(
            f"Columns with two values only: {shown}. Rows with the rarer one may look like a "
            "group; --exclude leaves such columns out."
        )
    with np.errstate(over="ignore", invalid="ignore"):
        spread = np.median(np.abs(some - np.median(some, axis=0)), axis=0)
    spread = spread[np.isfinite(spread) & (spread > 0.0)]
    if choice.scatter == "auto" and len(spread) and spread.max() > UNEVEN * spread.min():
        hints.append(
            f"Some columns vary {spread.max() / spread.min():.0e} times as much as others. If they "
            "are in different units, --scatter diagonal compares each in its own."
        )
    return hints


def row_names(frame: Frame) -> Any:
    """What the rows are called: by the id column, or by their numbers, counted from 1."""
    if frame.names is not None:
        return frame.names
    return np.array([f"row {number + 1}" for number in frame.rows])


__all__ = ["Fitted", "complaints", "fit_frame", "listed", "progress", "read", "row_names"]
