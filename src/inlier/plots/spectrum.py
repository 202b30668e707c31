"""How much rows vary, before and after."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from inlier.plots.axes import (
    KEPT,
    LARGEST,
    REMOVED,
    Room,
    add_key,
    finished,
    lowest,
    new_axes,
    scale,
    whole_numbers,
)
from inlier.results.summary import Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def spectrum(summary: Summary, ax: Axes | None = None) -> Axes:
    """The largest standard deviations in any direction, of all rows and of the kept ones.

    Parameters
    ----------
    summary : Summary
    ax : Axes, optional
        Where to draw; a new figure, if not given. All rows are left out if some of them are too
        far away to square.
    """
    ax = new_axes(ax, 5.6, 3.6)
    before = np.minimum(summary.before, LARGEST)
    after = np.minimum(summary.after, LARGEST)
    top = float(max(before.max(initial=0.0), after.max(initial=0.0))) or 1.0
    low = lowest(after, top)
    room = Room(low, top, low > 0.0)
    for values, label, color, marker, face, size in (
        (before, "all rows", REMOVED, "s", "none", 6.0),
        (after, "kept rows", KEPT, "o", KEPT, 4.0),
    ):
        if len(values):
            ax.plot(
                np.arange(1, len(values) + 1),
                np.maximum(values, low),
                color=color,
                marker=marker,
                mfc=face,
                ms=size,
                mew=1.2,
                lw=1.0,
                ls="-",
                label=label,
                clip_on=False,
            )
    scale(ax, room)
    taken = add_key(ax)
    ax.set_ylim(room.at(-0.04 if room.log else 0.0), room.at(1.04 / (1.0 - taken)))
    ax.set_xlim(0.5, max(len(before), len(after), 1) + 0.5)
    whole_numbers(ax, "x")
    ax.set_xlabel("direction, by rank")
    ax.set_ylabel("standard deviation")
    return finished(ax, "y")
