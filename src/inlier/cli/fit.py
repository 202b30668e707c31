"""`inlier fit`: fit the table in a file, and say why rows of it were kept or removed."""

import os
import re
import sys
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import typer
from rich.console import Console

from inlier._internal.atomic import check_place, replacing
from inlier._internal.typing import Mask
from inlier.api import Assumption, ScatterName
from inlier.cli.fitting import Fitted, fit_frame, hints, row_names, trusted_rows
from inlier.cli.record import (
    Changes,
    as_json,
    changes_of,
    means_as_csv,
    write_changes,
    write_rows,
)
from inlier.cli.terminal import (
    Output,
    reporting_errors,
    show,
    show_explanation,
    show_next,
)
from inlier.io import FORMATS, MAX_BYTES, LoadedTable, check_target, read, write
from inlier.io.missing import Missing
from inlier.report.numbers import counted
from inlier.results.explanation import Explanation


def _option(panel: str, help: str, *names: str, default: Any = None, **more: Any) -> Any:
    return typer.Option(default, *names, help=help, rich_help_panel=panel, **more)


# Options in the panels of the help.
reading = partial(_option, "Reading")
fitting = partial(_option, "Fitting")
writing = partial(_option, "Writing")

FORMATS_LISTED = ", ".join(format.name for format in FORMATS)


def fit(
    file: str = typer.Argument(
        help=f"Table to read: {FORMATS_LISTED}. The suffix decides, or the first bytes; - for "
        "standard input.",
        metavar="FILE",
    ),
    columns: list[str] | None = reading(
        "Columns to use: names, numbers from 0 or patterns such as 'gene_*', separated by commas."
    ),
    exclude: list[str] | None = reading("Columns to leave out."),
    id_column: str | None = reading("Column with the names of the rows."),
    group_by: str | None = reading("Fit the rows of each value of this column separately."),
    weights: str | None = reading(
        "Column with the weight of each row in the mean; outliers are found without it."
    ),
    trusted: str | None = reading(
        "Rows that somebody has checked: a file of such rows, or a column with 1 in them and 0 in "
        "the others.",
        metavar="FILE|COLUMN",
    ),
    missing: Missing = reading(
        "Missing values: judge each row by the values it has (auto), refuse the file (error), drop "
        "the rows (drop), or impute the median of the column (impute-robust).",
        default="auto",
    ),
    na_values: list[str] | None = reading(
        "Additional markers of missing values, separated by commas; numbers are compared as "
        "numbers."
    ),
    delimiter: str | None = reading("Delimiter of a text; detected by default."),
    decimal: str | None = reading(
        "Decimal mark of a text, such as ','; by default that which all numbers allow."
    ),
    thousands: str | None = reading("Mark between thousands in a text, such as '.' or ' '."),
    header: bool | None = reading(
        "Whether the first line is a header; detected by default.", "--header/--no-header"
    ),
    skip: int | None = reading(
        "Lines to leave out at the top; by default title lines above a header.", min=0
    ),
    header_row: int | None = reading("Line with the header, counted from 1.", min=1),
    key: str | None = reading("Array in a .npz, .mat, HDF5 or Zarr file."),
    table: str | None = reading("Table in an SQLite or DuckDB file, or sheet of a workbook."),
    query: str | None = reading(
        "SQL query of an SQLite or DuckDB file, such as 'SELECT a, b FROM t'."
    ),
    max_bytes: str = reading(
        "Memory for data that are loaded, such as 500M or 8G. Larger text, Parquet and Arrow files "
        "are streamed; larger pipes and query results are refused.",
        default=f"{MAX_BYTES >> 30}G",
        metavar="SIZE",
    ),
    sigma: float | None = fitting(
        "Bound on the standard deviation of the good rows in any direction, if known."
    ),
    contamination: float | None = fitting(
        "Largest fraction of the rows that may be bad, if known, such as 0.1."
    ),
    assume: Assumption = fitting(
        "Assumption on the good rows, without --sigma: symmetric about one center, or nothing.",
        default="auto",
    ),
    scatter: ScatterName = fitting(
        "Units of comparison; with --sigma, diagonal for columns in different units.",
        default="auto",
    ),
    keep: list[int] | None = fitting(
        "Put a removed group back, by its number in the verdict. Repeatable."
    ),
    drop: list[int] | None = fitting("Remove a suspect, by its number in the verdict. Repeatable."),
    threshold: float | None = fitting("Remove the rows whose score is above this threshold."),
    explain: str | None = writing(
        "Print why a row was kept or removed, in place of the verdict: its number, counted from 1 "
        "without the header, or its name with --id-column.",
        metavar="ROW",
    ),
    mean: Path | None = writing(
        "Write the means and medians of the columns to a CSV file; - for standard output."
    ),
    rows: Path | None = writing("Write the verdict and score of each row to a CSV file."),
    clean: Path | None = writing(
        "Write the kept rows to a .csv, .parquet, .feather or .npy file; cells that were set aside "
        "are left empty."
    ),
    drop_rows: bool = writing(
        "Leave out rows with such cells, in place of empty cells.", "--drop-rows", default=False
    ),
    fix: Path | None = writing(
        "Write a CSV file with every change that --clean makes, and repair cells of which it is "
        "sure what was meant; without --clean, the changes that it would make."
    ),
    report: Path | None = writing("Write a report to an HTML file."),
    json: Path | None = writing("Write the result as JSON; - for standard output."),
    exit_code: bool = typer.Option(
        False, "--exit-code", help="Exit with 3 if a row was removed or a cell was set aside."
    ),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="Print nothing but errors."),
) -> None:
    """Estimate the mean of the good rows of a table, and find the bad rows.

    Example: inlier fit patients.csv --id-column name --clean clean.csv --fix changes.csv

    Exit codes: 0 success; 1 the fit did not converge; 2 wrong argument or
    unusable file; 3 see --exit-code; 130 interrupted. Rows are counted from 1,
    without the header.
    """
    errors, watched = Console(stderr=True), Console(stderr=True, quiet=quiet)
    source = "standard input" if file == "-" else file
    given = {"mean": mean, "rows": rows, "clean": clean, "fix": fix, "report": report, "json": json}
    # One of them may go to standard output, in place of the verdict.
    printed = [name for name in ("mean", "json") if str(given[name]) == "-"]
    targets = {
        name: path for name, path in given.items() if path is not None and name not in printed
    }
    with reporting_errors(errors, with_options_spelled):
        if drop_rows and clean is None:
            raise ValueError("--drop-rows is about the file of --clean. Give --clean too.")
        if drop_rows and fix is not None:
            raise ValueError("--fix keeps rows that --drop-rows leaves out. Give one of them.")
        if len(printed) > 1:
            raise ValueError("--mean - and --json - cannot both be printed. Name a file.")
        _check_targets(targets, file)
        if header_row is not None:
            if skip is not None or header is not None:
                raise ValueError("--header-row is enough: leave out --skip and --header.")
            skip, header = header_row - 1, True
        from_file = trusted is not None and Path(trusted).exists()
        with watched.status("reading"):
            frame = read(
                file, columns=_separated(columns), exclude=_separated(exclude),
                id_column=id_column, group_by=group_by, weights=weights,
                trusted=None if from_file else trusted, missing=missing,
                na_values=_separated(na_values), delimiter=delimiter, decimal=decimal,
                thousands=thousands, header=header, skip=skip, key=key, table=table, query=query,
                max_bytes=_size(max_bytes),
            )  # fmt: skip
        if clean is not None:
            check_target(frame, clean)
        position = None if explain is None else _position(frame, explain)
        notes = [*map(with_options_spelled, frame.notes), *hints(frame, sigma, scatter)]
        fits, alone = fit_frame(
            frame, (keep, drop, threshold),
            trusted=trusted_rows(str(trusted), frame) if from_file else frame.trusted,
            contamination="auto" if contamination is None else contamination, sigma=sigma,
            assume=assume, scatter=scatter, progress=watched.is_terminal and not quiet,
        )  # fmt: skip
        notes += alone
        explained = None if position is None else _explained(frame, fits, position)
        with watched.status("writing"):
            texts = {"mean": means_as_csv(frame, fits)}
            if json is not None:
                texts["json"] = as_json(frame, fits, notes, source, explained)
            if rows is not None:
                write_rows(frame, fits, rows)
            kept, changes = changes_of(frame, fits, fix is not None)
            if drop_rows:
                kept[changes.cells[:, 0]] = False
            if fix is not None:
                write_changes(frame, fits, kept, changes, fix)
            if clean is not None:
                write(frame, kept, clean, changes.cells, changes.values)
            if report is not None:
                from inlier.report import page

                groups = [(str(one.group), one.result._summary) for one in fits]
                answer = groups[0][1] if frame.groups is None else groups
                page(answer, title=Path(source).name, path=report, notes=notes, source=source)
            for name in texts.keys() & targets.keys():
                with replacing(targets[name]) as unfinished:
                    unfinished.write_text(texts[name], encoding="utf-8", newline="")
        if printed:
            sys.stdout.write(texts[printed[0]])
        elif explained is not None:
            show_explanation(Output(), explained[1], str(row_names(frame)[position]))
        elif not quiet:
            _print(frame, fits, notes, targets, kept, changes)
        if sys.stdout is not None:
            sys.stdout.flush()
    if not all(one.result.converged for one in fits):
        raise typer.Exit(1)
    if exit_code and not all(one.result._summary.is_plain for one in fits):
        raise typer.Exit(3)


def _print(
    frame: LoadedTable,
    fits: list[Fitted],
    notes: list[str],
    targets: dict[str, Path],
    kept: Mask,
    changes: Changes,
) -> None:
    """Print the answer, what to do next, and which files were written."""
    console = Output()
    for one in fits:
        show(console, one)
    for note in notes:
        console.print(note, markup=False, style="dim")
    show_next(console, fits, changes_of(frame, fits, True)[1].n_repaired, targets)
    held = {}
    if "fix" in targets:  # repairs bring rows back: the files have other counts than the verdict
        n_emptied, n_left_out = len(changes.values) - changes.n_repaired, int((~kept).sum())
        held["clean"] = f": {counted(int(kept.sum()), 'row')}"
        held["fix"] = (
            f": {counted(changes.n_repaired, 'cell')} repaired, {n_emptied:,} emptied, "
            f"{counted(n_left_out, 'row')} left out"
        )
    for name, path in targets.items():
        console.print(f"Wrote {path}{held.get(name, '')}", markup=False)


def with_options_spelled(message: str) -> str:
    """Spell arguments as on the command line: missing='drop' becomes --missing 'drop'."""
    options = {name: name.replace("_", "-") for name in signature(fit).parameters}
    options["path"] = "clean"
    # Not inside of a path, such as 'data/key=3.csv'.
    names = rf"(?<![^ (])({'|'.join(options)})="
    return re.sub(names, lambda found: f"--{options[found[1]]} ", message)


def _separated(values: list[str] | None) -> list[str] | None:
    """Split the values of an option that was given several times, or with commas."""
    return [part.strip() for value in values for part in value.split(",")] if values else None


def _size(text: str) -> int:
    """Parse a number of bytes: 500M is 500 times 1024 squared."""
    found = re.fullmatch(r"\s*(\d+)\s*([KMGT]?)(?:i?B)?\s*", text, re.IGNORECASE)
    size = int(found[1]) << (10 * " KMGT".index(found[2].upper() or " ")) if found else 0
    if size < 1:
        raise ValueError(f"--max-bytes must be a size such as 500M or 8G, but is {text!r}.")
    return size


def _check_targets(targets: dict[str, Path], file: str) -> None:
    """Raise if an output file cannot be written."""
    source = Path(os.path.realpath(file))
    taken: set[Path] = set()
    for name, given in targets.items():
        path = check_place(given, f"--{name}")
        if str(given) == "-":
            raise ValueError(f"--{name} - : only --mean and --json can be printed. Name a file.")
        if path == source or (source.is_dir() and source in path.parents):
            raise ValueError(f"--{name} {path} would replace what is read. Choose another name.")
        if path in taken:
            raise ValueError(f"--{name} {path} is also the file of another option. Choose another.")
        taken.add(path)


def _position(frame: LoadedTable, row: str) -> int:
    """Return the position of a row in the table, by its name or its number in the file."""
    named = frame.names is not None
    number = int(row) if row.isdecimal() and row == str(int(row)) else 0
    found = np.flatnonzero(frame.names == row if named else frame.rows + 1 == number)
    if len(found) > 1:
        raise ValueError(
            f"--explain {row!r} is the name of {len(found)} rows. Leave --id-column out and give a "
            f"number: {', '.join(str(frame.rows[i] + 1) for i in found[:5])}."
        )
    if not len(found):
        dropped = f"; {frame.n_dropped} with missing values were dropped" if frame.n_dropped else ""
        raise ValueError(
            f"--explain {row!r}: there is no row of this {'name' if named else 'number'}. Numbers "
            f"are from 1 to {frame.n_read}{dropped}."
        )
    return int(found[0])


def _explained(frame: LoadedTable, fits: list[Fitted], position: int) -> tuple[Fitted, Explanation]:
    """Explain the row at a position of the table; return its fit too."""
    for fit in fits:
        if position in fit.rows:
            return fit, fit.result.explain(int(np.flatnonzero(fit.rows == position)[0]))
    name = row_names(frame)[position]
    raise ValueError(f"--explain: {name} is the only row of its group, which was not fitted.")
