"""The means, column by column."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from inlier._internal.typing import Array
from inlier.plots.axes import KEPT, LARGEST, LINE, REMOVED, add_key, finished, new_axes, short_name
from inlier.results.summary import Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Of more columns than these, the ones that are off most are shown.
COLUMNS = 20
# Of more deviations than these, the offsets of means are shown by orders of magnitude.
SYMLOG = 100.0


def means(summary: Summary, ax: Axes | None = None) -> Axes:
    """The plain mean and the median, seen from the robust mean, where they are off most.

    Columns in which only removed rows vary have no unit to be shown in; their number is given.

    Parameters
    ----------
    summary : Summary
    ax : Axes, optional
        Where to draw; a new figure, if not given.
    """
    shift = np.nan_to_num(summary.shift, nan=np.inf)
    unknown = np.isinf(summary.shift) & (summary.deviation == 0.0)
    order = np.argsort(-np.abs(shift), kind="stable")
    off = order[~unknown[order]][:COLUMNS]
    ax = new_axes(ax, 6.4, 1.3 + 0.24 * len(off))
    scale = summary.deviation[off]
    median: Array = np.zeros(len(off))
    np.divide((summary.median - summary.robust)[off], scale, out=median, where=scale > 0.0)
    plain = np.clip(shift[off], -LARGEST, LARGEST)
    places = np.arange(len(off))
    ends = [-0.6, len(off) - 0.4]
    ax.plot([0.0, 0.0], ends, color=LINE, lw=1.2, ls="-", zorder=1, label="robust mean")
    ax.hlines(places, 0.0, plain, color=REMOVED, lw=1.2, alpha=0.4, zorder=1)
    for values, label, color, marker, face in (
        (plain, "plain mean", REMOVED, "s", REMOVED),
        (median, "median", KEPT, "o", "none"),
    ):
        ax.plot(
            values,
            places,
            color=color,
            marker=marker,
            mfc=face,
            ms=5.0,
            mew=1.3,
            ls="none",
            label=label,
            zorder=3,
        )
    _offset_axis(ax, np.concatenate([plain, median]))
    taken = add_key(ax)
    above = taken / (1.0 - taken) * (len(off) + 0.4)
    ax.set_ylim(len(off) - 0.3, -0.7 - above)  # the largest on top
    ax.set_yticks(places, [short_name(summary.column_name(int(i))) for i in off])
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    label = "offset from the robust mean,\nin standard deviations of the kept rows"
    if hidden := int(unknown.sum()):
        columns = "column" if hidden == 1 else "columns"
        label += f"\n(without {hidden} {columns} in which only removed rows vary)"
    ax.set_xlabel(label)
    if 0 < len(off) < summary.d - hidden:
        ax.set_ylabel(f"{len(off)} of {summary.d} columns, those that are off most")
    return finished(ax, "x")


def _offset_axis(ax: Axes, values: Array) -> None:
    """Linear, or beyond one deviation logarithmic."""
    low, high = float(values.min(initial=0.0)), float(values.max(initial=0.0))
    width = max(-low, high)
    if width <= SYMLOG:
        # What differs by rounding only does not differ.
        rim = 0.05 * (high - low) if width > 1e-9 else 1.0
        ax.set_xlim(low - rim, high + rim)
        ax.locator_params(axis="x", nbins=6)
        return
    from matplotlib.ticker import NullLocator

    rim = min(width**0.06, 1e305 / width)
    # First the limits: the margins that matplotlib would look for overflow.
    ax.set_xlim(min(low * rim, -rim), max(high * rim, rim))
    ax.set_xscale("symlog", linthresh=1.0)
    ax.xaxis.set_minor_locator(NullLocator())
    step = int(np.ceil(np.log10(width) / 4.0))
    powers = 10.0 ** np.arange(0 if step == 1 else step, np.log10(width) + 0.1, step)
    ticks = [0.0, *(t for t in powers if t <= high), *(-t for t in powers if t <= -low)]
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
