"""`inlier fit`: fit the table in a file. `inlier explain`: why a row of it was kept or removed."""

import os
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import typer
from rich.console import Console

from inlier._internal.atomic import check_place, replacing
from inlier.cli.fitting import Fitted, fit_frame, row_names
from inlier.cli.options import Options, with_options, writing
from inlier.cli.record import (
    as_json,
    as_text,
    changes_of,
    explanation_as_json,
    print_means,
    write_changes,
    write_means,
    write_rows,
)
from inlier.cli.terminal import (
    Output,
    progress,
    reporting_errors,
    show,
    show_explanation,
    show_next,
)
from inlier.io import LoadedTable, check_target, write
from inlier.report.numbers import counted


@with_options
def fit(
    options: Options,
    mean: Path | None = writing(
        "Write the means and medians of the columns to a CSV file; - for standard output."
    ),
    rows: Path | None = writing("Write the verdict and score of each row to a CSV file."),
    clean: Path | None = writing(
        "Write the kept rows to a .csv, .parquet, .feather or .npy file; cells that were set aside "
        "are left empty."
    ),
    drop_rows: bool = typer.Option(
        False,
        "--drop-rows",
        help="Leave out rows with such cells, in place of empty cells.",
        rich_help_panel="Writing",
    ),
    fix: Path | None = writing(
        "Write a CSV file with every change that --clean makes, and repair cells of which it is "
        "sure what was meant; without --clean, the changes that it would make."
    ),
    report: Path | None = writing("Write a report to an HTML file."),
    image: str | None = writing("Show rows as grey images in the report.", metavar="HEIGHTxWIDTH"),
    json: str | None = writing("Write the result as JSON; - for standard output."),
    exit_code: bool = typer.Option(
        False, "--exit-code", help="Exit with 3 if a row was removed or a cell was set aside."
    ),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="Print nothing but errors."),
) -> None:
    """Estimate the mean of the good rows of a table, and find the bad rows.

    Example: inlier fit patients.csv --id-column name --clean clean.csv --fix changes.csv

    Exit codes: 0 success; 1 the fit did not converge; 2 wrong argument or unusable file; 3 see
    --exit-code; 130 interrupted. Rows are counted from 1, without the header.
    """
    errors = Console(stderr=True)
    json_file = None if json is None else Path(json)
    given = {"mean": mean, "rows": rows, "clean": clean, "fix": fix, "report": report}
    given["json"] = json_file
    # One of them may go to standard output, in place of the verdict.
    printed = [name for name in ("mean", "json") if str(given[name]) == "-"]
    targets = {
        name: path for name, path in given.items() if path is not None and name not in printed
    }
    with reporting_errors(errors):
        with progress(errors, quiet) as tell:
            shape = _image_shape(image)
            if drop_rows and clean is None:
                raise ValueError("--drop-rows is about the file of --clean. Give --clean too.")
            if drop_rows and fix is not None:
                raise ValueError("--fix keeps rows that --drop-rows leaves out. Give one of them.")
            if len(printed) > 1:
                raise ValueError("--mean - and --json - cannot both be printed. Name a file.")
            _check_targets(targets, options.file)
            frame = options.read()
            if clean is not None:
                check_target(frame, clean)
            if shape is not None and shape[0] * shape[1] != len(frame.columns):
                raise ValueError(
                    f"--image {image} has {shape[0] * shape[1]} pixels, but the table has "
                    f"{len(frame.columns)} columns."
                )
            fits, notes = fit_frame(frame, tell, options)
            tell("summarising", None)
            for one in fits:
                one.result._summary  # noqa: B018 - computed here, while progress is shown
            tell("writing", None)
            text = as_text(as_json(frame, fits, notes, options.source)) if json else ""
            if "mean" in targets:
                write_means(frame, fits, targets["mean"])
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
                about: Any = {"source": options.source, "notes": [*frame.notes, *notes]}
                _write_report(frame, fits, report, image=shape, **about)
            if "json" in targets:
                with replacing(targets["json"]) as unfinished:
                    unfinished.write_text(text, encoding="utf-8")
        if "json" in printed:
            sys.stdout.write(text)
        elif printed:
            print_means(frame, fits, sys.stdout)
        elif not quiet:
            out = Output()
            for note in (*frame.notes, *notes):
                out.print(note, markup=False, style="dim")
            for one in fits:
                show(out, one)
            # Standard input cannot be read again.
            again = "" if options.file == "-" else options.command("explain")
            repairs = np.isfinite(changes_of(frame, fits, True)[1].values).sum()
            show_next(out, fits, int(repairs), again, targets)
            # Repairs bring rows back, so that what was written is not what the verdict counts.
            n_repaired = int(np.isfinite(changes.values).sum())
            n_emptied, n_left_out = len(changes.values) - n_repaired, int((~kept).sum())
            held = {
                "clean": f": {counted(int(kept.sum()), 'row')}",
                "fix": f": {counted(n_repaired, 'cell')} repaired, {n_emptied:,} emptied, "
                f"{counted(n_left_out, 'row')} left out",
            }
            for name, path in targets.items():
                out.print(f"Wrote {path}{held.get(name, '') if fix else ''}", markup=False)
        if sys.stdout is not None:
            sys.stdout.flush()
    if not all(one.result.converged for one in fits):
        raise typer.Exit(1)
    if exit_code and not all(one.result._summary.is_plain for one in fits):
        raise typer.Exit(3)


@with_options
def explain(
    options: Options,
    row: str = typer.Option(
        help="Row to explain: its number, counted from 1 without the header, or its name with "
        "--id-column."
    ),
    json: bool = typer.Option(False, "--json", help="Print JSON."),
) -> None:
    """Explain the score of a row by directions and features, whose contributions add up to it.

    Example: inlier explain patients.csv --id-column name --row P003

    Exit codes: 0 success; 2 wrong argument or unusable file; 130 interrupted.
    """
    errors = Console(stderr=True)
    with reporting_errors(errors):
        with progress(errors, quiet=False) as tell:
            frame = options.read()
            position = _position(frame, row)
            fits, _ = fit_frame(frame, tell, options)
        fit = next((one for one in fits if position in one.rows), None)
        if fit is None:
            raise ValueError(f"--row {row} is the only one of its group, which was not fitted.")
        explanation = fit.result.explain(int(np.flatnonzero(fit.rows == position)[0]))
        if json:
            sys.stdout.write(as_text(explanation_as_json(explanation, frame, fit)))
        else:
            show_explanation(Output(), explanation, str(row_names(frame)[position]))
        sys.stdout.flush()


def _image_shape(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    found = re.fullmatch(r"\s*(\d+)\s*[xX×]\s*(\d+)\s*", text)
    if not found or "0" in (found[1], found[2]):
        raise ValueError(f"--image must be a height and a width, such as 36x30, but is {text!r}.")
    return int(found[1]), int(found[2])


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


def _write_report(
    frame: LoadedTable, fits: list[Fitted], path: Path, source: str, **about: Any
) -> None:
    from inlier.report import page, pages

    about |= {"title": Path(source).name, "source": source, "path": path}
    if frame.groups is None:
        page(fits[0].result._summary, **about)
    else:
        pages([(str(fit.group), fit.result._summary) for fit in fits], **about)


def _position(frame: LoadedTable, row: str) -> int:
    """Return the position of a row in the table, by its name or its number in the file."""
    named = frame.names is not None
    number = int(row) if row.isdecimal() and row == str(int(row)) else 0
    found = np.flatnonzero(frame.names == row if named else frame.rows + 1 == number)
    if len(found) > 1:
        raise ValueError(
            f"--row {row!r} is the name of {len(found)} rows. Leave --id-column out and give a "
            f"number: {', '.join(str(frame.rows[i] + 1) for i in found[:5])}."
        )
    if not len(found):
        dropped = f"; {frame.n_dropped} with missing values were dropped" if frame.n_dropped else ""
        raise ValueError(
            f"--row {row!r}: there is no row of this {'name' if named else 'number'}. Numbers are "
            f"from 1 to {frame.n_read}{dropped}."
        )
    return int(found[0])
