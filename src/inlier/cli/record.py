"""Write a fit as JSON and CSV; docs/command-line.md describes the fields."""

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from inlier._internal.arrays import on_host
from inlier._internal.csv_text import writing
from inlier._internal.typing import Array
from inlier.cli.fitting import Fitted
from inlier.io import LoadedTable
from inlier.results.explanation import Explanation


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
    scalars = ("offset", "offset_deviation", "sigma", "budget", "threshold")
    return {
        "group": fit.group,
        "rows": summary.n,
        "kept": summary.n - summary.n_removed,
        "removed": summary.n_removed,
        "weak_evidence": result._outcome.weak,
        "mean": summary.robust,
        "plain_mean": summary.plain,
        "missing": summary.n_missing,
        "set_aside": summary.n_set_aside,
        "weighted": certificate.weighted,
        **_fields(summary, "converged", "message", "effective_size", *columns, *scalars),
        "certificate": {
            "statement": summary.statement(),
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
                "description": str(cell),
                "row": numbers[cell.row],
                "column": cell.name,
                **_fields(cell, "value", "median", "times", "slip", "set_aside"),
            }
            for cell in summary.cells
        ],
        "path": [
            {
                **_fields(point, "sigma", "budget", "price"),
                "removed": point.certificate.n_removed,
                "chosen": i == summary.chosen,
            }
            for i, point in enumerate(summary.path)
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


def _fields(of: object, *names: str) -> dict[str, Any]:
    return {name: getattr(of, name) for name in names}


def _sorted(numbers: Array, rows: Any) -> Array:
    return np.asarray(numbers[np.sort(on_host(rows))])


def write_means(frame: LoadedTable, fits: list[Fitted], path: Path) -> None:
    """Write a CSV line for each column, or for each group and column."""
    by_group = frame.groups is not None
    heads = ["column", "mean", "plain_mean", "median", "deviation", "standard_error"]
    with writing(path) as out:
        out.writerow(["group"] * by_group + heads)
        for fit in fits:
            s = fit.result._summary
            own = (s.robust, s.plain, s.median, s.deviation, s.standard_error)
            for name, *values in zip(frame.columns, *own, strict=True):
                line = [name, *(repr(float(value)) for value in values)]
                out.writerow([fit.group] * by_group + line)


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
