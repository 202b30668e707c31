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
    *("columns", "exclude", "id_column", "group_by", "missing", "delimiter", "header", "key"),
    *("table", "query", "sigma", "scatter", "threshold"),
)


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

    return re.sub(rf'\b({"|".join(ARGUMENTS)})=("[^"]*"|\.\.\.|[\w-]+)', option, text)


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
    frame: Frame, tell: Callable[[str, Step | None], None], **options: Any
) -> tuple[list[Fitted], list[str]]:
    """Fit all rows of a table, or each of its groups; and what there is to say about that."""
    if frame.groups is None:
        rows = np.arange(frame.X.shape[0])
        return [_fitted(None, rows, frame.X, frame, tell, options)], []
    X = np.asarray(frame.X[:])
    fits, notes = [], []
    for group in sorted(set(frame.groups.tolist())):
        rows = np.flatnonzero(frame.groups == group)
        if len(rows) < 2:
            notes.append(f"Group {group!r} has one row only: it was kept, and not judged.")
            continue
        fits.append(_fitted(group, rows, X[rows], frame, tell, options))
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
    options: dict[str, Any],
) -> Fitted:
    what = "fitting" if group is None else f"fitting group {group}"
    tell(what, None)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = robust_mean(X, callback=lambda step: tell(what, step), **options)
    names = row_names(frame)[rows]
    result = result.with_data(X, columns=frame.columns, names=names)
    return Fitted(group, rows, result, bool(caught))


def row_names(frame: Frame) -> Any:
    """What the rows are called: by the id column, or by their numbers, counted from 1."""
    if frame.names is not None:
        return frame.names
    return np.array([f"row {number + 1}" for number in frame.rows])


__all__ = ["Fitted", "complaints", "fit_frame", "listed", "progress", "read", "row_names"]
