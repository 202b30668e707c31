"""The rows in the directions that matter."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from inlier._internal.typing import Array, Mask
from inlier.plots.axes import GRID, LARGEST, LINE, add_key, finished, new_axes, plain, whole_numbers
from inlier.plots.parts import dots, parts
from inlier.results.summary import Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Beyond these many times the range of the kept rows, a row stands at the edge.
REACH = 20.0
# Two directions have the same scale, unless one range is longer by this factor.
EQUAL = 2.5


def rows(summary: Summary, ax: Axes | None = None) -> Axes:
    """The rows in the two directions that matter most, from the robust mean.

    Rows that are too far away for the others to be seen stand at the edge, as triangles that point
    to them. If there is one direction only, the other axis is the number of the row.

    Parameters
    ----------
    summary : Summary
    ax : Axes, optional
        Where to draw; a new figure, if not given.
    """
    ax = new_axes(ax, 6.0, 4.8)
    view, n = summary.view, summary.n
    flat = len(view.rows) < 2
    across = view.rows[0] if len(view.rows) else np.zeros(n)
    up, seen = (np.arange(n), np.ones(n, np.bool_)) if flat else (view.rows[1], summary.support)
    x, x_low, x_high = _window(across, summary.support)
    y, y_low, y_high = _window(up, seen)
    sides = ((">", x > x_high), ("<", x < x_low), ("^", y > y_high), ("v", y < y_low))
    inside = ~np.any([out for _, out in sides], axis=0)
    # The edge is a little outside of what is shown.
    x_rim, y_rim = 0.04 * (x_high - x_low), 0.04 * (y_high - y_low)
    x = np.clip(x, x_low - x_rim, x_high + x_rim)
    y = np.clip(y, y_low - y_rim, y_high + y_rim)
    for part in parts(summary):
        dots(ax, x, y, part._replace(rows=part.rows & inside), n)
        left = part.rows & ~inside
        for marker, out in sides:
            if (here := left & out).any():
                dots(ax, x, y, part._replace(rows=here, marker=marker, label=""), n)
                left &= ~out
    if not inside.all():
        ax.plot([], [], ">", color=LINE, ms=5, ls="none", label="far beyond the edge")
    ax.axvline(0.0, color=GRID, lw=0.8, zorder=0)
    if not flat:
        ax.axhline(0.0, color=GRID, lw=0.8, zorder=0)
    wide, tall = x_high - x_low, y_high - y_low
    equal = not flat and max(wide, tall) < EQUAL * min(wide, tall)
    if equal:
        ax.set_aspect("equal", adjustable="box")
    taken = add_key(ax, tall / wide if equal else 0.0)
    ax.set_xlim(x_low - 2.0 * x_rim, x_high + 2.0 * x_rim)
    above = taken / (1.0 - taken) * (tall + 4.0 * y_rim)
    ax.set_ylim(y_low - 2.0 * y_rim, y_high + 2.0 * y_rim + above)
    ax.set_xlabel(plain(view.names[0]) if view.names else "")
    ax.set_ylabel("row" if flat else plain(view.names[1]))
    if flat:
        whole_numbers(ax, "y")
    return finished(ax, None)


def _window(values: Array, support: Mask) -> tuple[Array, float, float]:
    """The values, and the range that is shown: all kept rows, and others that are not too far."""
    far = np.nan_to_num(values, nan=np.inf)
    values = np.clip(far, -LARGEST, LARGEST)
    inside = values[support] if support.any() else values
    low, high = float(inside.min()), float(inside.max())
    reach = REACH * (high - low) if high > low else 2.0 * LARGEST
    near = values[(values >= low - reach) & (values <= high + reach)]
    low, high = float(near.min()), float(near.max())
    if high == low:
        half = 0.5 * abs(low) or 0.5
        low, high = low - half, high + half
    return values, low, high
