"""The rows of a figure: the kept ones, and the removed ones by group."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from inlier._internal.typing import Array, Mask
from inlier.plots.axes import KEPT, REMOVED, plain
from inlier.results.summary import Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Triangles are left out: they stand for rows that are beyond the axis.
OF_GROUPS = ((REMOVED, "s"), ("#009E73", "D"), ("#CC79A7", "P"), ("#E69F00", "X"), ("#56B4E9", "p"))
SUSPECTED = ("0.1", "d")
# A vector file of more rows than these would be too large to open.
VECTORS = 20_000


class RowStyle(NamedTuple):
    """Rows that look the same."""

    label: str
    rows: Mask
    color: str
    marker: str


def parts(summary: Summary) -> Iterator[RowStyle]:
    """The kept rows, those suspected, and the removed ones by group, if there are several."""
    kept, group_of, suspect_of = summary.support, summary.group_of, summary.suspect_of
    unsuspected = kept & (suspect_of < 0)
    yield RowStyle(f"kept: {_counted(unsuspected)}", unsuspected, KEPT, "o")
    if (suspected := kept & (suspect_of >= 0)).any():
        yield RowStyle(f"kept, but suspected: {_counted(suspected)}", suspected, *SUSPECTED)
    groups = summary.groups
    shown = len(groups) if len(groups) <= len(OF_GROUPS) else len(OF_GROUPS) - 1
    for i in range(shown):
        text = groups[i].partition(" (chance")[0]
        name = "removed" if len(groups) == 1 else f"group {i + 1}"
        yield RowStyle(f"{name}: {plain(text)}", ~kept & (group_of == i), *OF_GROUPS[i])
    if (others := ~kept & (group_of >= shown)).any():
        label = f"{len(groups) - shown} more groups: {_counted(others)}"
        yield RowStyle(label, others, *OF_GROUPS[-1])
    if (alone := ~kept & (group_of < 0)).any():
        label = f"{'removed, of no group' if groups else 'removed'}: {_counted(alone)}"
        yield RowStyle(label, alone, *(("0.35", "*") if groups else OF_GROUPS[0]))


def _counted(mask: Mask) -> str:
    count = int(mask.sum())
    return f"{count} row" if count == 1 else f"{count} rows"


def dots(ax: Axes, x: Array, y: Array, part: RowStyle, n: int) -> None:
    """Draw some of n rows: the more there are, the smaller."""
    size = float(np.clip(4.5 * (500.0 / n) ** 0.3, 1.2, 4.5))
    kept = part.marker == "o"
    ax.plot(
        x[part.rows],
        y[part.rows],
        ls="none",
        marker=part.marker,
        ms=size if kept else 1.15 * size,
        color=part.color,
        alpha=0.55 if kept else 0.85,
        mew=0.0,
        label=part.label or "_",
        rasterized=n > VECTORS,
        zorder=2 if kept else 3,
    )
