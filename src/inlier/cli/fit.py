"""`inlier fit`: fit the table in a file. `inlier explain`: why a row of it was kept or removed."""

import re
import sys
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console

from inlier._internal.atomic import check_place, replacing
from inlier.cli import options as opt
from inlier.cli.fitting import CommandOptions, Fitted, fit_frame, read_frame, row_names
from inlier.cli.record import as_record, as_text, explanation_record, write_means, write_rows
from inlier.cli.terminal import Output, progress, reporting_errors, show, show_explanation
from inlier.io import LoadedTable, check_target, write


def fit(
    context: typer.Context,
    file: opt.File,
    columns: opt.Columns = None,
    exclude: opt.Exclude = None,
    id_column: opt.IdColumn = None,
    group_by: opt.GroupBy = None,
    weights: opt.Weights = None,
    missing: opt.MissingValues = opt.Missing.auto,
    na_values: opt.NaValues = None,
    delimiter: opt.Delimiter = None,
    header: opt.Header = None,
    key: opt.Key = None,
    table: opt.Table = None,
    query: opt.Query = None,
    max_bytes: opt.MaxBytes = opt.DEFAULT_MAX_BYTES,
    sigma: opt.Sigma = None,
    assume: opt.AssumeChoice = opt.Assume.auto,
    scatter: opt.ScatterChoice = opt.ScatterName.auto,
    p: opt.Power = None,
    keep: opt.Keep = None,
    drop: opt.Drop = None,
    threshold: opt.Threshold = None,
    point: opt.Point = None,
    seed: opt.Seed = 0,
    mean: Annotated[
        Path | None, opt.writing("Write the means and medians of the columns to a CSV file.")
    ] = None,
    rows: Annotated[
        Path | None, opt.writing("Write the verdict and score of each row to a CSV file.")
    ] = None,
    clean: Annotated[
        Path | None,
        opt.writing("Write the kept rows, unchanged, to a .csv, .parquet, .feather or .npy file."),
    ] = None,
    report: Annotated[Path | None, opt.writing("Write a report to an HTML file.")] = None,
    image: Annotated[
        str | None, opt.writing("Show rows as grey images in the report.", metavar="HEIGHTxWIDTH")
    ] = None,
    json: Annotated[
        str | None, opt.writing("Write the result as JSON; - for standard output.")
    ] = None,
    quiet: opt.Quiet = False,
) -> None:
    """Estimate the mean of the good rows of a table, and find the bad rows.

    Exit codes: 0 success; 1 the fit did not converge; 2 wrong argument or unusable file; 130
    interrupted. Rows are counted from 1, without the header.
    """
    errors = Console(stderr=True)
    with reporting_errors(errors), progress(errors, quiet) as tell:
        shape = _image_shape(image)
        targets = {"--mean": mean, "--rows": rows, "--clean": clean, "--report": report}
        if json not in (None, "-"):
            targets["--json"] = Path(str(json))
        _check_targets(targets, file)
        frame = read_frame(context.params)
        if clean is not None:
            check_target(frame, clean)
        if shape is not None and shape[0] * shape[1] != len(frame.columns):
            raise ValueError(
                f"--image {image} has {shape[0] * shape[1]} pixels, but the table has "
                f"{len(frame.columns)} columns."
            )
        options = CommandOptions.parsed(context.params)
        fits, notes = fit_frame(frame, tell, options)
        source = "standard input" if file == "-" else file
        tell("summarising", None)
        for one in fits:
            one.result._summary  # noqa: B018 - computed here, while progress is shown
        tell("writing", None)
        _write(frame, fits, notes, targets, source, shape)
        text = as_text(as_record(frame, fits, notes, source)) if json == "-" else ""
    with reporting_errors(errors):
        if text:
            sys.stdout.write(text)
        elif not quiet:
            out = Output()
            for note in (*frame.notes, *notes):
                out.print(note, markup=False, style="dim")
            for one in fits:
                show(out, one)
            for path in targets.values():
                if path is not None:
                    out.print(f"Wrote {path}", markup=False)
        if sys.stdout is not None:
            sys.stdout.flush()
    if not all(one.result.converged for one in fits):
        raise typer.Exit(opt.NOT_CONVERGED)


def _image_shape(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    found = re.fullmatch(r"\s*(\d+)\s*[xX×]\s*(\d+)\s*", text)
    if not found or "0" in (found[1], found[2]):
        raise ValueError(f"--image must be a height and a width, such as 36x30, but is {text!r}.")
    return int(found[1]), int(found[2])


def _check_targets(targets: dict[str, Path | None], file: str) -> None:
    """Raise if an output file cannot be written."""
    wanted = {name: check_place(path, name) for name, path in targets.items() if path is not None}
    for name, given in targets.items():
        if str(given) == "-":
            raise ValueError(f"{name} - : only --json can be written to standard output.")
    if Path(file).is_dir():
        for name, path in wanted.items():
            if Path(file).resolve() in path.parents:
                raise ValueError(f"{name} {path} is in the folder that is read. Choose another.")
    if file != "-" and Path(file).exists():
        for name, path in wanted.items():
            if path.exists() and path.samefile(file):
                raise ValueError(f"{name} {path} is the file that is read. Choose another name.")
    if len(set(wanted.values())) < len(wanted):
        raise ValueError("Two of the files to write have the same name. Choose different ones.")


def _write(
    frame: LoadedTable,
    fits: list[Fitted],
    notes: list[str],
    targets: dict[str, Path | None],
    source: str,
    image: tuple[int, int] | None,
) -> None:
    if (path := targets["--mean"]) is not None:
        write_means(frame, fits, path)
    if (path := targets["--rows"]) is not None:
        write_rows(frame, fits, path)
    if (path := targets["--clean"]) is not None:
        kept = np.ones(len(frame.rows), dtype=np.bool_)
        for one in fits:
            kept[one.rows] = one.result._summary.support
        write(frame, kept, path)
    if (path := targets["--report"]) is not None:
        from inlier.report import page, pages

        about: Any = {"title": Path(source).name, "source": source, "image": image, "path": path}
        about["notes"] = [*frame.notes, *notes]
        if frame.groups is None:
            page(fits[0].result._summary, **about)
        else:
            pages([(str(one.group), one.result._summary) for one in fits], **about)
    if (path := targets.get("--json")) is not None:
        with replacing(path) as unfinished:
            text = as_text(as_record(frame, fits, notes, source))
            unfinished.write_text(text, encoding="utf-8")


def explain(
    context: typer.Context,
    file: opt.File,
    row: Annotated[
        str,
        typer.Option(
            help="Row to explain: its number, counted from 1 without the header, or its name with "
            "--id-column."
        ),
    ],
    columns: opt.Columns = None,
    exclude: opt.Exclude = None,
    id_column: opt.IdColumn = None,
    group_by: opt.GroupBy = None,
    weights: opt.Weights = None,
    missing: opt.MissingValues = opt.Missing.auto,
    na_values: opt.NaValues = None,
    delimiter: opt.Delimiter = None,
    header: opt.Header = None,
    key: opt.Key = None,
    table: opt.Table = None,
    query: opt.Query = None,
    max_bytes: opt.MaxBytes = opt.DEFAULT_MAX_BYTES,
    sigma: opt.Sigma = None,
    assume: opt.AssumeChoice = opt.Assume.auto,
    scatter: opt.ScatterChoice = opt.ScatterName.auto,
    p: opt.Power = None,
    keep: opt.Keep = None,
    drop: opt.Drop = None,
    threshold: opt.Threshold = None,
    point: opt.Point = None,
    seed: opt.Seed = 0,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Explain the score of a row by directions and features, whose contributions add up to it.

    Exit codes: 0 success; 2 wrong argument or unusable file; 130 interrupted.
    """
    errors = Console(stderr=True)
    with reporting_errors(errors):
        with progress(errors, quiet=False) as tell:
            frame = read_frame(context.params)
            position = _position(frame, row)
            options = CommandOptions.parsed(context.params)
            fits, _ = fit_frame(frame, tell, options)
        fit = next((one for one in fits if position in one.rows), None)
        if fit is None:
            raise ValueError(f"--row {row} is the only one of its group, which was not fitted.")
        explanation = fit.result.explain(int(np.flatnonzero(fit.rows == position)[0]))
        if json:
            sys.stdout.write(as_text(explanation_record(explanation, frame, fit)))
        else:
            out = Output()
            show_explanation(out, explanation, str(row_names(frame)[position]))
        sys.stdout.flush()


def _position(frame: LoadedTable, row: str) -> int:
    """Return the position of a row in the table."""
    if frame.names is not None:
        found = np.flatnonzero(frame.names == row)
        if len(found) > 1:
            raise ValueError(
                f"--row {row!r} is the name of {len(found)} rows. Leave --id-column out and give "
                f"a number: {', '.join(str(frame.rows[i] + 1) for i in found[:5])}."
            )
        if len(found):
            return int(found[0])
    if not row.isdecimal() or frame.names is not None:
        gone = f" {frame.n_dropped} rows were dropped, because values are missing."
        raise ValueError(
            f"--row {row!r} is no number"
            + (", and there is no --id-column." if frame.names is None else " and no row's name.")
            + (gone if frame.n_dropped else "")
        )
    found = np.flatnonzero(frame.rows == int(row) - 1)
    if not len(found):
        inside = 1 <= int(row) <= frame.n_read
        why = "was dropped, because values are missing" if inside else "is not there"
        raise ValueError(f"--row {row} {why}: the file has {frame.n_read} rows.")
    return int(found[0])
