"""The way down in the budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from inlier._internal.typing import Array
from inlier.plots.axes import KEPT, LINE, RANGE, REMOVED, Room, finished, new_axes, small
from inlier.results.summary import Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def path(summary: Summary, ax: Axes | None = None) -> Axes:
    """What leaves as sigma is lowered, its price on an axis of its own, and the chosen point.

    Parameters
    ----------
    summary : Summary
    ax : Axes, optional
        Where to draw; a new figure, if not given.
    """
    if not summary.path:
        raise ValueError(
            "There is no path, because sigma was given to the fit or this result was itself taken "
            "from a path: call plot_path on the result of robust_mean(X) without sigma."
        )
    ax = new_axes(ax, 6.4, 3.6)
    sigma = np.array([point.sigma for point in summary.path])
    removed = np.array([100.0 * len(point.removed) / summary.n for point in summary.path])
    price = np.array([100.0 * point.price for point in summary.path])
    places = _sigma_axis(ax, sigma)
    other = ax.twinx()
    _series(ax, places, removed, KEPT, "o", "rows removed, %", 1.35)
    _series(other, places, price, REMOVED, "s", "price, % of rows per e-fold", 1.6)
    here = places[summary.chosen]
    ax.axvline(here, color=LINE, lw=1.0, ls="--", zorder=1)
    size = small(ax)
    beside = 1 if here > np.mean(ax.get_xlim()) else -1  # the axis descends
    ax.annotate(
        f"chosen: sigma {sigma[summary.chosen]:.3g},\n{summary.n_removed} of {summary.n} removed",
        (here, 1.0),
        xycoords=("data", "axes fraction"),
        xytext=(4.0 * beside, -1.0),
        textcoords="offset points",
        ha="left" if beside > 0 else "right",
        va="top",
        fontsize=size,
    )
    at = [here], [removed[summary.chosen]]
    ax.plot(*at, marker="o", color=KEPT, ms=11.0, mfc="none", mew=1.4, ls="none", clip_on=False)
    ax.set_xlabel("sigma: standard deviation of the kept rows, in any direction")
    other.spines["top"].set_visible(False)
    return finished(ax, None)


def _series(
    ax: Axes, places: Array, values: Array, color: str, marker: str, label: str, room: float
) -> None:
    """Its axis has its colour, and room for words at the top."""
    solid = marker == "o"
    ax.plot(
        places,
        values,
        color=color,
        marker=marker,
        ms=5.0,
        mew=1.3,
        mfc=color if solid else "none",
        lw=1.3,
        ls="-" if solid else ":",
        clip_on=False,
        label=label,
    )
    ax.set_ylim(0.0, room * (float(values.max(initial=0.0)) or 1.0))
    ax.set_ylabel(label, color=color)
    ax.tick_params(axis="y", colors=color)


def _sigma_axis(ax: Axes, sigma: Array) -> Array:
    """A descending axis, and where on it the points stand: those without a number at its ends."""
    from matplotlib.ticker import FixedLocator, Locator, LogLocator, MaxNLocator, NullLocator

    shown = np.isfinite(sigma) & (sigma > 0.0)
    low, high = (
        (float(sigma[shown].min()), float(sigma[shown].max())) if shown.any() else (1.0, 1.0)
    )
    log = high > RANGE * low
    locator: Locator = MaxNLocator(5)
    if log:
        locator = LogLocator(subs=(1.0, 2.0, 5.0) if high < 1e3 * low else (1.0,), numticks=8)
    ticks = np.asarray(locator.tick_values(low, high))
    if high < low * (1.0 + 1e-6):
        ticks = np.array([low] if shown.any() else [])
        low, high = 0.9 * low, 1.1 * high
    room = Room(low, high, log)
    marks = {float(tick): f"{tick:.4g}" for tick in ticks if low <= tick <= high}
    places = sigma.copy()
    left, right = 1.06, -0.06
    for rows, at, label in ((np.isinf(sigma), 1.2, "∞"), (sigma <= 0.0, -0.2, "0")):
        if rows.any():
            places[rows] = room.at(at)
            marks[room.at(at)] = label
            if shown.any():
                gap = room.at(0.5 + 0.85 * (at - 0.5))
                ax.axvline(gap, color=LINE, lw=0.8, ls=":", zorder=0)
            left, right = max(left, at + 0.06), min(right, at - 0.06)
    if log:
        ax.set_xscale("log")
    ax.xaxis.set_major_locator(FixedLocator(list(marks)))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xticks(list(marks), list(marks.values()))
    ax.set_xlim(room.at(left), room.at(right))
    return places
