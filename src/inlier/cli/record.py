"""Write a fit as JSON and CSV; docs/json.md describes the fields."""

import json
from dataclasses import fields
from importlib.metadata import version
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from inlier._internal.csv_text import Writer, writing
from inlier._internal.typing import Array, Mask
from inlier.cli.fitting import Fitted
from inlier.io import LoadedTable
from inlier.results.cells import Cell
from inlier.results.explanation import Explanation
from inlier.results.result import RobustMeanResult

# Fields of a summary that have another name here, and those that another field tells.
RENAMED = {
    "n": "rows",
    "robust": "mean",
    "plain": "plain_mean",
    "shift_in_errors": "shift",
    "n_missing": "missing",
    "n_set_aside": "set_aside",
    "support": "is_kept",
    "scores": "score",
}
ELSEWHERE = {"d", "columns", "names", "view", "group_of", "group_descriptions", "group_shifts"}
ELSEWHERE |= {"suspect_of", "remarks", "certificate", "sensitivity"}


def as_json(
    frame: LoadedTable,
    fits: list[Fitted],
    notes: list[str],
    source: str,
    explained: tuple[Fitted, Explanation] | None,
) -> str:
    """Return fits as JSON; rows are counted from 1."""
    record = {
        "schema": "inlier/fit-1",
        "version": version("inlier"),
        "source": source,
        "rows_read": frame.n_read,
        "rows_dropped": frame.n_dropped,
        "entries_imputed": frame.n_imputed,
        "columns": frame.columns,
        "notes": notes,
        "fits": [_fit(frame, fit) for fit in fits],
        "explained": explained and _of_row(explained[1], frame, explained[0]),
    }
    return json.dumps(_plain(record), allow_nan=False, indent=1) + "\n"


def _fit(frame: LoadedTable, fit: Fitted) -> dict[str, Any]:
    result, summary = fit.result, fit.result._summary
    certificate, numbers = summary.certificate, frame.rows[fit.rows] + 1
    told = [field.name for field in fields(summary) if field.name not in ELSEWHERE]
    known = ("weighted", "feasible", "sigma_kept", "lambda_max", "bound", "failure")
    return {
        "group": fit.group,
        "row": numbers,
        "name": None if frame.names is None else frame.names[fit.rows],
        "removed": summary.n_removed,
        "weak_evidence": result._outcome.weak,
        **{RENAMED.get(name, name): getattr(summary, name) for name in (*told, "shift_in_errors")},
        # As in `--rows` and for `--keep`, counted from 1.
        "left_with": [i + 1 if i >= 0 else None for i in summary.group_of.tolist()],
        "groups": [
            {
                "description": str(group),
                "kind": group.kind,
                "log_p": group.log_p,
                "share": group.share,
                "shift": shift,
            }
            for group, shift in zip(result.groups, summary.group_shifts, strict=True)
        ],
        "cells": [
            _of_row(cell, frame, fit) | {"description": cell.name + cell.words}
            for cell in summary.cells
        ],
        "worst": [_of_row(why, frame, fit) for why in summary.worst],
        "certificate": {
            "statement": certificate.statement(),
            "fewest_removed": certificate.l0_lower_bound,
            **{name: getattr(certificate, name) for name in known},
        },
    }


def _of_row(about: Any, frame: LoadedTable, fit: Fitted) -> dict[str, Any]:
    """Return the fields of a cell or an explanation, with the number of its row in the file."""
    own = {field.name: getattr(about, field.name) for field in fields(about)}
    own.pop("columns", None)
    position = fit.rows[own["row"]]
    return own | {
        "row": frame.rows[position] + 1,
        "label": "" if frame.names is None else frame.names[position],
    }


def _plain(value: Any) -> Any:
    """Convert for JSON, which has neither infinity nor NaN: they are null."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, dict):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value


def means_as_csv(frame: LoadedTable, fits: list[Fitted]) -> str:
    """Return a CSV line for each column, or for each group and column."""
    text, by_group = StringIO(), frame.groups is not None
    out = Writer(text, lineterminator="\n")
    heads = ["column", "mean", "plain_mean", "median", "deviation", "standard_error"]
    out.writerow(["group"] * by_group + heads)
    for fit in fits:
        s = fit.result._summary
        own = (s.robust, s.plain, s.median, s.deviation, s.standard_error)
        for name, *values in zip(frame.columns, *own, strict=True):
            line = [name, *(repr(float(value)) for value in values)]
            out.writerow([fit.group] * by_group + line)
    return text.getvalue()


class Changes(NamedTuple):
    """Cells of a table that get another value, NaN for empty, and why."""

    cells: Array  # k x 2: row and column
    before: Array
    values: Array
    why: list[str]

    @property
    def n_repaired(self) -> int:
        """How many of them get a number."""
        return int(np.isfinite(self.values).sum())


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
