"""Hints about columns that may mislead a fit."""

from __future__ import annotations

import numpy as np

from inlier.cli.fit_options import CommandOptions
from inlier.io import LoadedTable
from inlier.linalg.metrics import UNEVEN, unevenness

# Rows that decide whether a column has only two values, and how much it varies; tables with very
# many columns are not checked, because of the memory.
SAMPLE_ROWS = 2000
MOST_COLUMNS = 5000


def hints_about(frame: LoadedTable, options: CommandOptions) -> list[str]:
    """Return hints about the columns of a table."""
    hints = []
    if frame.has_malformed:
        hints.append("Markers of missing values can be named with --na-values.")
    if len(frame.columns) > MOST_COLUMNS:
        return hints
    some = frame.head(SAMPLE_ROWS).astype(np.float64)
    two = [
        name
        for name, column in zip(frame.columns, some.T, strict=True)
        if len(some) > 2 and len(np.unique(column[~np.isnan(column)])) == 2
    ]
    if two:
        shown = ", ".join(repr(name) for name in two[:5]) + (", ..." if two[5:] else "")
        hints.append(
            f"Columns with two values only: {shown}. Rows with the rarer one may look like a "
            "group; --exclude leaves such columns out."
        )
    if options.sigma is not None and options.scatter == "auto":
        ratio = unevenness(some)
        if ratio >= UNEVEN:
            hints.append(
                f"Some columns vary {ratio:.0e} times as much as others, and --sigma is one bound "
                "for all. If they are in different units, --scatter diagonal compares each in its "
                "own."
            )
    return hints
