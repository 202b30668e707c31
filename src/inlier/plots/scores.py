"""The score of every row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from inlier.plots.axes import (
    LARGEST,
    LINE,
    Room,
    add_key,
    beside,
    finished,
    lowest,
    new_axes,
    scale,
    whole_numbers,
)
from inlier.plots.parts import dots, parts
from inlier.results.summary import Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def scores(summary: Summary, ax: Axes | None = None) -> Axes:
    """The score of every row, and the cut.

    Infinite scores stand at the top, as triangles. On a logarithmic axis the lowest scores stand
    on its lower end.

    Parameters
    ----------
    summary : Summary
    ax : Axes, optional
        Where to draw; a new figure, if not given.
    """
    ax = new_axes(ax, 7.0, 3.4)
    q, cut = summary.scores, summary.threshold
    known = np.isfinite(q)
    heights = np.minimum(np.where(known, q, 0.0), LARGEST)
    top = max(float(heights.max(initial=0.0)), cut if np.isfinite(cut) else 0.0) or 1.0
    low = lowest(heights[known & summary.support], top)
    room = Room(low, top, low > 0.0)
    # Also the infinite ones, a little above all others.
    pin = room.at(1.12)
    heights = np.where(known, np.maximum(heights, low), pin)
    number = np.arange(summary.n)
    for part in parts(summary):
        dots(ax, number, heights, part._replace(rows=part.rows & known), summary.n)
        if (beyond := part.rows & ~known).any():
            dots(ax, number, heights, part._replace(rows=beyond, marker="^", label=""), summary.n)
    if np.isfinite(cut):
        at = max(cut, low)
        ax.axhline(at, color=LINE, lw=1.0, ls="--", zorder=1)
        beside(ax, f"cut {cut:.3g}", at)
    if not known.all():
        beside(ax, "infinite", pin)
    scale(ax, room)
    taken = add_key(ax)
    ax.set_ylim(room.at(-0.03), room.at((1.03 if known.all() else 1.15) / (1.0 - taken)))
    ax.set_xlim(-0.015 * summary.n - 0.5, 1.015 * summary.n - 0.5)
    whole_numbers(ax, "x")
    ax.set_xlabel("row")
    ax.set_ylabel("score")
    return finished(ax, "y")
