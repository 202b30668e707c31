"""What about the columns of a table may lead a fit astray."""

from __future__ import annotations

import numpy as np

from inlier.cli.choice import FitChoices
from inlier.io import LoadedTable
from inlier.linalg.metrics import UNEVEN, unevenness

# So many rows tell whether a column has but two values, and how much it varies; of very many
# columns that is not worth the memory.
LOOK_ROWS = 2000
MOST_COLUMNS = 5000


def hints_about(frame: LoadedTable, choice: FitChoices) -> list[str]:
    """What about the columns may lead a fit astray."""
    hints = []
    if any("no number" in note for note in frame.notes):
        hints.append("Cells that stand for missing values can be named with --na-values.")
    if len(frame.columns) > MOST_COLUMNS:
        return hints
    some = np.asarray(frame.X[:LOOK_ROWS], dtype=np.float64)
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
    if choice.sigma is not None and choice.scatter == "auto":
        ratio = unevenness(some)
        if ratio >= UNEVEN:
            hints.append(
                f"Some columns vary {ratio:.0e} times as much as others, and --sigma is one bound "
                "for all. If they are in different units, --scatter diagonal compares each in its "
                "own."
            )
    return hints
