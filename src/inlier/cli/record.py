"""Write a fit as JSON and CSV; docs/command-line.md describes the fields."""

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from inlier._internal.arrays import on_host
from inlier._internal.csv_text import writing
from inlier.cli.fitting import Fitted
from inlier.io import LoadedTable
from inlier.results.explanation import Explanation
from inlier.results.summary import Summary

SCHEMA = "inlier/fit-1"
# The fractions of bad rows for which the radius of the certificate is given.
ALPHAS = (0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.45)


def as_record(
    frame: LoadedTable, fits: list[Fitted], notes: list[str], source: str
) -> dict[str, Any]:
    """Return the result as JSON fields."""
    return {
        "schema": SCHEMA,
        "version": version("inlier"),
        "source": source,
        "rows_read": frame.n_read,
        "rows_dropped": frame.n_dropped,
        "entries_imputed": frame.n_imputed,
        "columns": list(frame.columns),
        "notes": [*frame.notes, *notes],
        "fits": [_fit_record(frame, fit) for fit in fits],
    }


def _fit_record(frame: LoadedTable, fit: Fitted) -> dict[str, Any]:
    summary: Summary = fit.result._summary
    certificate = summary.certificate
    numbers = frame.rows[fit.rows] + 1
    return {
        "group": fit.group,
        "rows": summary.n,
        "kept": summary.n - summary.n_removed,
        "removed": summary.n_removed,
        "converged": summary.converged,
        "weak_evidence": fit.weak,
        "message": summary.message,
        "mean": _numbers(summary.robust),
        "plain_mean": _numbers(summary.plain),
        "median": _numbers(summary.median),
        "deviation": _numbers(summary.deviation),
        "standard_error": _numbers(summary.standard_error),
        "missing": summary.n_missing.tolist(),
        "weighted": certificate.weighted,
        "effective_size": summary.effective_size,
        **_named(summary, "offset", "offset_deviation", "sigma", "budget", "threshold"),
        "certificate": {
            "statement": summary.statement(),
            "feasible": certificate.feasible,
            **_named(certificate, "sigma_kept", "lambda_max"),
            "lambda_bound": _number(certificate.bound),
            "failure": certificate.failure,
            "fewest_removed": certificate.l0_lower_bound,
            "error_radius": [
                {"alpha": alpha, "radius": _number(float(certificate.error_radius(alpha)))}
                for alpha in ALPHAS
            ],
        },
        "spectrum": {"before": _numbers(summary.before), "after": _numbers(summary.after)},
        "groups": [
            {
                "description": str(group),
                "kind": group.kind,
                "rows": numbers[np.sort(on_host(group.rows))].tolist(),
                "log10_p": _number(group.log_p / float(np.log(10.0))),
                "share": _number(group.share),
                "shift": _numbers(summary.group_shifts[i]),
            }
            for i, group in enumerate(fit.result.groups)
        ],
        "suspects": [
            {
                "description": str(suspect),
                "rows": numbers[np.sort(on_host(suspect.rows))].tolist(),
                "shift": _number(suspect.shift),
                "why": suspect.why,
            }
            for suspect in fit.result.suspects
        ],
        "cells": [
            {
                "description": str(cell),
                "row": int(numbers[cell.row]),
                "column": cell.name,
                **_named(cell, "value", "median", "times"),
                "slip": cell.slip,
            }
            for cell in summary.cells
        ],
        "path": [
            {
                **_named(point, "sigma", "budget", "price"),
                "removed": point.certificate.n_removed,
                "chosen": i == summary.chosen,
            }
            for i, point in enumerate(summary.path)
        ],
        "row": numbers.tolist(),
        "name": None if frame.names is None else frame.names[fit.rows].tolist(),
        "is_kept": summary.support.tolist(),
        "score": _numbers(summary.scores),
        "worst": [explanation_record(e, frame, fit) for e in summary.worst],
    }


def explanation_record(explanation: Explanation, frame: LoadedTable, fit: Fitted) -> dict[str, Any]:
    """Return the explanation of a row as JSON fields."""
    position = fit.rows[explanation.row]
    return {
        "row": int(frame.rows[position]) + 1,
        "name": None if frame.names is None else str(frame.names[position]),
        **_named(explanation, "score", "threshold"),
        "removed": explanation.removed,
        "pruned": explanation.pruned,
        "directions": [
            {"name": part.name, "contribution": _number(part.contribution)}
            for part in explanation.directions
        ],
        "suspected": explanation.suspected or None,
        "cells": list(explanation.cells),
        "features": [
            {
                "column": feature.name,
                "value": _number(feature.value),
                "missing": feature.missing,
                **_named(feature, "expected", "contribution"),
            }
            for feature in explanation.features()
        ],
    }


def as_text(record: dict[str, Any]) -> str:
    """Format as JSON."""
    return json.dumps(record, allow_nan=False, indent=1) + "\n"


def write_means(frame: LoadedTable, fits: list[Fitted], path: Path) -> None:
    """Write a CSV line for each column, or for each group and column."""
    by_group = frame.groups is not None
    heads = ["column", "mean", "plain_mean", "median", "deviation", "standard_error"]
    with writing(path) as out:
        out.writerow(["group", *heads] if by_group else heads)
        for fit in fits:
            s: Summary = fit.result._summary
            own = (s.robust, s.plain, s.median, s.deviation, s.standard_error)
            for values in zip(frame.columns, *own, strict=True):
                line = [values[0], *(repr(float(value)) for value in values[1:])]
                out.writerow([fit.group, *line] if by_group else line)


def write_rows(frame: LoadedTable, fits: list[Fitted], path: Path) -> None:
    """Write a CSV line for each row, in the order of the file."""
    n = len(frame.rows)
    scores = np.full(n, np.nan)
    kept = np.ones(n, dtype=np.bool_)
    left_with = np.full(n, -1)
    for fit in fits:
        s: Summary = fit.result._summary
        scores[fit.rows], kept[fit.rows], left_with[fit.rows] = s.scores, s.support, s.group_of
    with writing(path) as out:
        extra = ["name"] * (frame.names is not None) + ["group"] * (frame.groups is not None)
        out.writerow(["row", *extra, "kept", "score", "left_with"])
        for i in range(n):
            line: list[Any] = [int(frame.rows[i]) + 1]
            line += [] if frame.names is None else [frame.names[i]]
            line += [] if frame.groups is None else [frame.groups[i]]
            line += [int(kept[i]), "" if np.isnan(scores[i]) else repr(float(scores[i]))]
            out.writerow([*line, int(left_with[i]) + 1 if left_with[i] >= 0 else ""])


def _number(value: float) -> float | None:
    """Replace infinity and NaN, which JSON does not have."""
    return float(value) if np.isfinite(value) else None


def _named(of: object, *names: str) -> dict[str, float | None]:
    return {name: _number(getattr(of, name)) for name in names}


def _numbers(values: Any) -> list[float | None]:
    return [_number(value) for value in np.asarray(values, dtype=np.float64).tolist()]
