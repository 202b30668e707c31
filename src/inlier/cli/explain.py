"""`inlier explain`: explain why a row of a file was kept or removed."""

import sys
from typing import Annotated

import numpy as np
import typer
from rich.console import Console

from inlier.cli import options as opt
from inlier.cli.fitting import CommandOptions, Fitted, fit_frame, read_frame, row_names
from inlier.cli.record import as_text, explanation_record
from inlier.cli.terminal import Output, progress, reporting_errors
from inlier.cli.verdict import show_explanation
from inlier.io import LoadedTable


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
        fit = _fit_of(fits, position, row)
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


def _fit_of(fits: list[Fitted], position: int, row: str) -> Fitted:
    for fit in fits:
        if position in fit.rows:
            return fit
    raise ValueError(f"--row {row} is the only one of its group, which was not fitted.")
