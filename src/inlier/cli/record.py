"""Write a fit as JSON and CSV; docs/json.md describes the fields."""

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import numpy as np

from inlier._internal.arrays import on_host
from inlier._internal.atomic import replacing
from inlier._internal.csv_text import Writer, writing
from inlier._internal.typing import Array, Mask
from inlier.cli.fitting import Fitted
from inlier.io import LoadedTable
from inlier.results.cells import Cell
from inlier.results.explanation import Explanation
from inlier.results.result import RobustMeanResult


def as_json(
    frame: LoadedTable, fits: list[Fitted], notes: list[str], source: str
) -> dict[str, Any]:
    """Return fits as JSON fields."""
    return {
        "schema": "inlier/fit-1",
        "version": version("inlier"),
        "source": source,
        "rows_read": frame.n_read,
        "rows_dropped": frame.n_dropped,
        "entries_imputed": frame.n_imputed,
        "columns": frame.columns,
        "notes": [*frame.notes, *notes],
        "fits": [_fit(frame, fit) for fit in fits],
    }


def _fit(frame: LoadedTable, fit: Fitted) -> dict[str, Any]:
    result, summary = fit.result, fit.result._summary
    certificate = summary.certificate
    numbers = frame.rows[fit.rows] + 1
    columns = ("median", "deviation", "standard_error")
    scalars = ("sigma", "budget", "threshold")
    return {
        "group": fit.group,
        "rows": summary.n,
        "kept": summary.n - summary.n_removed,
        "removed": summary.n_removed,
        "weak_evidence": result._outcome.weak,
        "mean": summary.robust,
        "plain_mean": summary.plain,
        "shift": summary.shift_in_errors,
        "missing": summary.n_missing,
        "set_aside": summary.n_set_aside,
        "weighted": certificate.weighted,
        **_fields(summary, "converged", "message", "effective_size", *columns, *scalars),
        "certificate": {
            "statement": certificate.statement(),
            **_fields(certificate, "feasible", "sigma_kept", "lambda_max", "failure"),
            "lambda_bound": certificate.bound,
            "fewest_removed": certificate.l0_lower_bound,
            "error_radius": [
                {"alpha": alpha, "radius": float(certificate.error_radius(alpha))}
                for alpha in (0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.45)
            ],
        },
        "spectrum": _fields(summary, "before", "after"),
        "groups": [
            {
                "description": str(group),
                "rows": _sorted(numbers, group.rows),
                "log10_p": None if np.isnan(group.p_value) else group.log_p / np.log(10.0),
                "shift": shift,
                **_fields(group, "kind", "share"),
            }
            for group, shift in zip(result.groups, summary.group_shifts, strict=True)
        ],
        "suspects": [
            {
                "description": str(suspect),
                "rows": _sorted(numbers, suspect.rows),
                **_fields(suspect, "shift", "why"),
            }
            for suspect in result.suspects
        ],
        "cells": [
            {
                "description": cell.name + cell.words,
                "row": numbers[cell.row],
                "column": cell.name,
                "slip": str(cell.slip),
                "repair": "missing" if _is_missing(cell.slip.repair) else cell.slip.repair,
                **_fields(cell, "value", "median", "times", "set_aside"),
            }
            for cell in summary.cells
        ],
        "row": numbers,
        "name": None if frame.names is None else frame.names[fit.rows],
        "is_kept": summary.support,
        "score": summary.scores,
        "worst": [explanation_as_json(why, frame, fit) for why in summary.worst],
    }


def explanation_as_json(why: Explanation, frame: LoadedTable, fit: Fitted) -> dict[str, Any]:
    """Return the explanation of a row as JSON fields."""
    position = fit.rows[why.row]
    parts = ("value", "missing", "set_aside", "expected", "contribution")
    return {
        "row": frame.rows[position] + 1,
        "name": None if frame.names is None else frame.names[position],
        **_fields(why, "score", "threshold", "removed", "pruned", "cells"),
        "suspected": why.suspected or None,
        "directions": [part._asdict() for part in why.directions],
        "features": [{"column": f.name, **_fields(f, *parts)} for f in why.features()],
    }


def as_text(record: dict[str, Any]) -> str:
    """Format as JSON."""
    return json.dumps(_plain(record), allow_nan=False, indent=1) + "\n"


def _plain(value: Any) -> Any:
    """Convert arrays and numbers for JSON, which has neither infinity nor NaN: they are null."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, dict):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value


def _is_missing(repair: float | None) -> bool:
    return repair is not None and bool(np.isnan(repair))


def _fields(of: object, *names: str) -> dict[str, Any]:
    return {name: getattr(of, name) for name in names}


def _sorted(numbers: Array, rows: Any) -> Array:
    return np.asarray(numbers[np.sort(on_host(rows))])


def write_means(frame: LoadedTable, fits: list[Fitted], path: Path) -> None:
    """Write a CSV line for each column, or for each group and column."""
    with replacing(path) as unfinished, open(unfinished, "w", newline="", encoding="utf-8") as file:
        print_means(frame, fits, file)


def print_means(frame: LoadedTable, fits: list[Fitted], file: TextIO) -> None:
    """Write the same to an open file."""
    out, by_group = Writer(file, lineterminator="\n"), frame.groups is not None
    heads = ["column", "mean", "plain_mean", "median", "deviation", "standard_error"]
    out.writerow(["group"] * by_group + heads)
    for fit in fits:
        s = fit.result._summary
        own = (s.robust, s.plain, s.median, s.deviation, s.standard_error)
        for name, *values in zip(frame.columns, *own, strict=True):
            line = [name, *(repr(float(value)) for value in values)]
            out.writerow([fit.group] * by_group + line)


class Changes(NamedTuple):
    """Cells of a table that get another value, NaN for empty, and why."""

    cells: Array  # k x 2: row and column
    before: Array
    values: Array
    why: list[str]


def changes_of(frame: LoadedTable, fits: list[Fitted], repaired: bool) -> tuple[Mask, Changes]:
    """Return which rows stay, and which of their cells change.

    Cells that were set aside are emptied. If cells are `repaired`, those of which it is sure what
    was meant get this value, and removed rows stay if they are in no group with these values.
    """
    kept = np.ones(len(frame.rows), dtype=np.bool_)
    changed: list[tuple[int, int, float, float, str]] = []
    for fit in fits:
        summary = fit.result._summary
        kept[fit.rows] = summary.support
        own: dict[int, list[Cell]] = {}
        for cell in summary.cells if repaired else ():
            own.setdefault(cell.row, []).append(cell)
        back = {
            row
            for row, cells in own.items()
            if not summary.support[row] and _is_good(fit.result, row, cells)
        }
        kept[fit.rows[sorted(back)]] = True
        for cell in summary.cells:
            value = cell.slip.repair if repaired else None
            new = np.nan if value is None else value
            swapped = value is not None and bool(summary.support[cell.row])
            if not (cell.set_aside or cell.row in back or swapped):
                continue
            changed.append((fit.rows[cell.row], cell.column, cell.value, new, str(cell.slip)))
    rows, columns, before, values, why = zip(*changed, strict=True) if changed else [()] * 5
    cells = np.array([rows, columns], np.intp).T.reshape(-1, 2)
    return kept, Changes(cells, np.array(before, float), np.array(values, float), list(why))


def _is_good(result: RobustMeanResult, row: int, cells: list[Cell]) -> bool:
    """Return whether a removed row is in no group once all of its extreme cells are repaired."""
    values = result._known_data().row(row)
    if len(cells) == len(values) and all(np.isnan(cell.slip.repair or 0.0) for cell in cells):
        return False  # no value would be left
    for cell in cells:
        if cell.slip.repair is None:
            return False
        values[cell.column] = cell.median if np.isnan(cell.slip.repair) else cell.slip.repair
    return all(float(group.parts(values).sum()) <= 1.0 for group in result.groups)


def write_changes(
    frame: LoadedTable, fits: list[Fitted], kept: Mask, changes: Changes, path: Path
) -> None:
    """Write a CSV line for each cell that changes and for each row that is left out."""
    lines = []
    for (row, j), before, new, why in zip(*changes, strict=True):
        if kept[row]:
            after = "" if np.isnan(new) else repr(float(new))
            what = "emptied" if np.isnan(new) else "repaired"
            lines.append(
                (row, frame.columns[j], repr(float(before)), after, what, why or "far out")
            )
    for fit in fits:
        summary = fit.result._summary
        for i in np.flatnonzero(~kept[fit.rows]).tolist():
            group = summary.group_of[i]
            why = summary.groups[group] if group >= 0 else "beyond the cut"
            lines.append((fit.rows[i], "", "", "", "row left out", why))
    heads = ["row", *(["name"] if frame.names is not None else [])]
    with writing(path) as out:
        out.writerow([*heads, "column", "before", "after", "change", "reason"])
        for row, *line in sorted(lines, key=lambda line: int(line[0])):
            name = [] if frame.names is None else [frame.names[row]]
            out.writerow([frame.rows[row] + 1, *name, *line])


def write_rows(frame: LoadedTable, fits: list[Fitted], path: Path) -> None:
    """Write a CSV line for each row, in the order of the file."""
    n = len(frame.rows)
    score, kept, left_with = np.full(n, np.nan), np.ones(n, np.bool_), np.full(n, -1)
    for fit in fits:
        s = fit.result._summary
        score[fit.rows], kept[fit.rows], left_with[fit.rows] = s.scores, s.support, s.group_of
    columns = {
        "row": frame.rows + 1,
        "name": frame.names,
        "group": frame.groups,
        "kept": kept.astype(int),
        "score": ["" if np.isnan(x) else repr(float(x)) for x in score],
        "left_with": [i + 1 if i >= 0 else "" for i in left_with],
    }
    columns = {name: values for name, values in columns.items() if values is not None}
    with writing(path) as out:
        out.writerow(columns)
        out.writerows(zip(*columns.values(), strict=True))
