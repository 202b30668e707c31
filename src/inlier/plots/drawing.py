"""Draw a panel on matplotlib axes."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis as DrawnAxis
from matplotlib.ticker import Formatter, Locator, NullLocator

from inlier._internal.typing import Array
from inlier.figures.panel import Axis, Panel, Series

# Okabe and Ito's colours, which colour-blind readers can tell apart; markers differ as well.
KEPT, REMOVED = "#0072B2", "#D55E00"
# Greys that show on white as well as on black.
LINE, GRID = "0.45", (0.5, 0.5, 0.5, 0.2)
# Colour, marker, whether it is filled, and size. Triangles are left for points beyond the axes.
LOOKS: dict[str, tuple[str, str, bool, float]] = {
    "kept": (KEPT, "o", True, 4.5),
    "suspect": ("0.1", "d", True, 5.2),
    "others": ("0.35", "*", True, 5.2),
    "all rows": (REMOVED, "s", False, 6.0),
    "kept rows": (KEPT, "o", True, 4.0),
    "path": (KEPT, "o", True, 5.0),
    "chosen": (KEPT, "o", False, 11.0),
    "robust mean": ("0.1", "+", True, 10.0),
    "plain mean": ("0.1", "x", True, 8.0),
    "zero": (LINE, "", True, 0.0),
    "radius": (LINE, "", True, 0.0),
    "offset": (REMOVED, "s", True, 5.0),
    "median": (KEPT, "o", False, 5.0),
}
GROUPS = ((REMOVED, "s"), ("#009E73", "D"), ("#CC79A7", "P"), ("#E69F00", "X"), ("#56B4E9", "p"))
TRIANGLES = {"right": ">", "left": "<", "up": "^", "down": "v"}
# A vector file of more rows than these would be too large to open.
MOST_VECTORS = 20_000


class _Ticks(Locator):
    """The ticks of a described axis, also after the limits have changed."""

    def __init__(self, described: Axis):
        self.described = described

    def __call__(self) -> Any:
        return self.tick_values(*self.axis.get_view_interval())  # type: ignore[union-attr]

    def tick_values(self, vmin: float, vmax: float) -> Any:
        return replace(self.described, low=float(vmin), high=float(vmax)).ticks


class _Labels(Formatter):
    """The labels of these ticks."""

    def __init__(self, described: Axis):
        self.described = described

    def __call__(self, x: float, pos: int | None = None) -> str:
        return self.format_ticks([x])[0]

    def format_ticks(self, values: Sequence[float]) -> list[str]:
        return [literal(label) for label in self.described.tick_labels([float(v) for v in values])]


def literal(text: str) -> str:
    """Escape `$`, which begins a formula in matplotlib."""
    return text.replace("$", r"\$")


@np.errstate(all="ignore")
def draw(ax: Axes, panel: Panel, color: str | None = None) -> Axes:
    """Draw a panel, all of its series in one colour if it is given."""
    # Limits come first: matplotlib's own margins overflow where numbers are huge.
    _set_axis(ax, "x", panel.x)
    _set_axis(ax, "y", panel.y)
    for bars in panel.bars:
        shade = KEPT if bars.role == "kept" else REMOVED
        sizes, widths = bars.high - bars.low, bars.end - bars.start
        ax.barh(bars.low, widths, sizes, bars.start, align="edge", color=shade, alpha=0.4, zorder=1)
    for series in panel.series:
        _draw_series(ax, panel, series, color)
    if any(panel.beyond(series) for series in panel.series):
        ax.plot([], [], ">", color=LINE, ms=5, ls="none", label="far beyond the edge")
    words: dict[str, Any] = {
        "textcoords": "offset points", "fontsize": _small(ax), "annotation_clip": False,
    }  # fmt: skip
    for level in panel.levels:
        ax.axhline(level.value, color=LINE, lw=1.0, ls="--", zorder=1)
        at = ("axes fraction", "data")
        ax.annotate(
            level.label, (1.0, level.value), xycoords=at, xytext=(4.0, 0.0), va="center", **words
        )
    for note in panel.notes:
        at_height = _inside(panel.y, np.array([note.y]))[0]
        ax.annotate(note.text, (note.x, at_height), xytext=(8.0, 8.0), **words)
    ax.set_xlabel(literal(panel.x.label))
    ax.set_ylabel(literal(panel.y.label))
    if panel.y.names:
        ax.tick_params(axis="y", length=0)
        ax.spines["left"].set_visible(False)
    if panel.equal:
        ax.set_aspect("equal", adjustable="box")
    ax.set_ylim(panel.y.low, panel.y.value(1.0 / (1.0 - _add_legend(ax, panel))))
    ax.grid(visible=False)
    lines = "x" if panel.y.names else "both" if panel.equal else "y"
    ax.grid(axis=lines, color=GRID, lw=0.6)  # type: ignore[arg-type]
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def draw_twins(ax: Axes, left: Panel, right: Panel) -> Axes:
    """Draw two panels with the same x axis on each other, each with a y axis of its colour."""
    twin = ax.twinx()
    for own, panel, color in ((ax, left, KEPT), (twin, replace(right, notes=()), REMOVED)):
        draw(own, panel, color)
        own.yaxis.label.set_color(color)
        own.tick_params(axis="y", colors=color)
    twin.grid(visible=False)
    twin.spines["right"].set_visible(True)
    twin.yaxis.set_label_position("right")
    return ax


def _set_axis(ax: Axes, which: str, axis: Axis) -> None:
    """Set limits, scale and ticks of one axis."""
    drawn: DrawnAxis = ax.xaxis if which == "x" else ax.yaxis
    set_limits = ax.set_xlim if which == "x" else ax.set_ylim
    set_scale = ax.set_xscale if which == "x" else ax.set_yscale
    set_limits(axis.low, axis.high)
    if axis.scale == "asinh":
        set_scale("asinh", linear_width=axis.unit)
    else:
        set_scale(axis.scale)
    drawn.set_major_locator(_Ticks(axis))
    drawn.set_major_formatter(_Labels(axis))
    drawn.set_minor_locator(NullLocator())


def _draw_series(ax: Axes, panel: Panel, series: Series, color: str | None) -> None:
    """Draw points; those beyond the axes at the edge, as triangles that point outwards."""
    if series.role == "group":
        (shade, marker), filled, size = GROUPS[series.index % len(GROUPS)], True, 5.2
    else:
        shade, marker, filled, size = LOOKS[series.role]
    shade = color or shade
    total = sum(len(one.x) for one in panel.series if one.rows)
    if series.rows:  # the more there are, the smaller
        size *= float(np.clip((500.0 / max(1, total)) ** 0.3, 0.27, 1.0))
    x, y = _inside(panel.x, series.x), _inside(panel.y, series.y)
    style: dict[str, Any] = {
        "color": shade, "ms": size, "clip_on": bool(series.rows) and not panel.beyond(series),
        "alpha": 0.55 if series.role == "kept" else 0.85 if series.rows else 1.0,
        "mew": 0.0 if series.rows else 1.3, "zorder": 2 if series.role == "kept" else 3,
        "rasterized": bool(series.rows) and total > MOST_VECTORS, "gid": series.rows or None,
    }  # fmt: skip
    inside = np.ones(len(x), dtype=np.bool_)
    for side, mask in panel.beyond(series):
        ax.plot(x[mask], y[mask], marker=TRIANGLES[side], ls="none", label="_", **style)
        inside &= ~mask
    style |= {"mfc": shade if filled else "none", "label": literal(series.label) or "_"}
    if series.joined:
        style |= {"clip_on": False, "marker": marker if series.marked else ""}
        ax.plot(x, y, lw=1.2, markevery=np.flatnonzero(inside).tolist(), **style)
    else:
        ax.plot(x[inside], y[inside], marker=marker, ls="none", **style)


def _inside(axis: Axis, values: Array) -> Array:
    """Move values beyond a limit to the limit."""
    return np.asarray(np.clip(values, min(axis.low, axis.high), max(axis.low, axis.high)))


def _small(ax: Axes) -> float:
    """Return the font size of remarks."""
    return 0.85 * float(ax.xaxis.label.get_fontsize())


def _add_legend(ax: Axes, panel: Panel) -> float:
    """Add a legend inside, at the top, clear of titles and of other axes.

    Returns the share of the height that it needs.
    """
    handles, labels = ax.get_legend_handles_labels()
    if not labels:
        return 0.0
    size = _small(ax)
    box = ax.get_window_extent()
    width, height = box.width / ax.figure.dpi, box.height / ax.figure.dpi
    if panel.equal:  # the axes will shrink
        ratio = (panel.y.high - panel.y.low) / (panel.x.high - panel.x.low)
        width, height = min(width, height / ratio), min(height, width * ratio)
    each = (0.52 * max(map(len, labels)) + 3.5) * size / 72.0
    columns = int(np.clip(width / each, 1, len(labels)))
    # A face without an edge: no grid behind the words.
    legend = ax.legend(
        handles, labels, loc="upper left", bbox_to_anchor=(0.01, 0.0, 0.99, 1.0), ncols=columns,
        facecolor="inherit", edgecolor="none", framealpha=1.0, fancybox=False, fontsize=size,
        borderaxespad=0.0, borderpad=0.2, handletextpad=0.3, labelspacing=0.3, columnspacing=1.5,
        handlelength=1.4,
    )  # fmt: skip
    for handle in legend.legend_handles:
        if handle is not None and hasattr(handle, "set_markersize"):
            handle.set_markersize(5.0)
            handle.set_alpha(1.0)
    lines = -(-len(labels) // columns)
    return float(min(0.5, (1.35 * lines + 0.6) * size / 72.0 / height))
