"""What about the columns of a table may lead a fit astray."""

from __future__ import annotations

import numpy as np

from inlier._typing import Array
from inlier.cli.choice import Choice
from inlier.io import Frame

# So many rows tell whether a column has but two values, and how much it varies.
LOOK_ROWS = 2000
# Columns that vary by this much more than others are the only ones that distances see.
UNEVEN = 1e3


def hints_about(frame: Frame, choice: Choice) -> list[str]:
    """What about the columns may lead a fit astray."""
    hints = []
    if any("no number" in note for note in frame.notes):
        hints.append("Cells that stand for missing values can be named with --na-values.")
    some = np.asarray(frame.X[:LOOK_ROWS], dtype=np.float64)
    two = [
        name
        for name, column in zip(frame.columns, some.T, strict=True)
        if len(some) > 2 and 1 < len(np.unique(column)) <= 2
    ]
    if two:
        shown = ", ".join(repr(name) for name in two[:5]) + (", ..." if two[5:] else "")
        hints.append(
            f"Columns with two values only: {shown}. Rows with the rarer one may look like a "
            "group; --exclude leaves such columns out."
        )
    with np.errstate(over="ignore", invalid="ignore"):
        spread = np.median(np.abs(some - np.median(some, axis=0)), axis=0)
    spread = spread[np.isfinite(spread) & (spread > 0.0)]
    uneven = len(spread) > 0 and spread.max() / UNEVEN > spread.min()
    if choice.scatter == "auto" and uneven:
        hints.append(
            f"Some columns vary {_ratio(spread):.0e} times as much as others. If they "
            "are in different units, --scatter diagonal compares each in its own."
        )
    return hints


def _ratio(spread: Array) -> float:
    with np.errstate(over="ignore"):
        return float(spread.max() / spread.min())
