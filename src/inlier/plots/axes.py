"""What the figures have in common: axes, their scales and keys, names, colours."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from inlier._internal.optional import optional
from inlier._internal.typing import Array
from inlier.results.explanation import shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's colours, which colour-blind readers can tell apart; shapes say the same again.
KEPT, REMOVED = "#0072B2", "#D55E00"
# Greys that show on white as well as on black.
LINE, GRID = "0.45", (0.5, 0.5, 0.5, 0.2)
# Of a name beside an axis.
NAME = 28
# Above these many times what is typical, an axis is logarithmic.
RANGE = 10.0
# Margins about larger numbers are no numbers any more.
LARGEST = 1e300


class Room(NamedTuple):
    """The range of an axis, and places in it: 0 at its lower end, 1 at its upper."""

    low: float
    high: float
    log: bool

    def at(self, place: float) -> float:
        """Where a place is, also outside."""
        if not self.log:
            return self.low + place * (self.high - self.low)
        low, high = np.log10(self.low), np.log10(self.high)
        return float(10.0 ** np.clip(low + place * (high - low), -307.0, 307.0))


def new_axes(ax: Axes | None, width: float, height: float) -> Axes:
    """The given axes, or those of a new figure."""
    if ax is not None:
        return ax
    optional("matplotlib", "To draw", "plot")
    from matplotlib import pyplot

    figure = pyplot.figure(figsize=(width, height), layout="constrained")
    return figure.add_subplot()


def finished(ax: Axes, grid: str | None) -> Axes:
    """Without a box, and with a grid along one axis."""
    ax.grid(visible=False)
    if grid == "x":
        ax.grid(axis="x", color=GRID, lw=0.6)
    elif grid == "y":
        ax.grid(axis="y", color=GRID, lw=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def scale(ax: Axes, room: Room) -> None:
    """A logarithmic axis, if it is to be one, with plain numbers."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    if room.log:
        ax.set_yscale("log")
        ax.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g}"))
        ax.yaxis.set_minor_formatter(NullFormatter())


def lowest(usual: Array, top: float) -> float:
    """The lower end of an axis: 0, if it need not be logarithmic."""
    positive = usual[usual > 0.0]
    if not len(positive):
        return 0.0
    typical = float(np.quantile(positive, 0.9))
    if top <= RANGE * typical:
        return 0.0
    return max(float(positive.min()), 1e-2 * typical)


def whole_numbers(ax: Axes, which: str) -> None:
    """No ticks between them."""
    from matplotlib.ticker import MaxNLocator

    axis = ax.xaxis if which == "x" else ax.yaxis
    axis.set_major_locator(MaxNLocator("auto", integer=True, min_n_ticks=1))


def add_key(ax: Axes, ratio: float = 0.0) -> float:
    """A legend inside, at the top, where neither a title nor other axes are in its way.

    Returns the share of the height that it needs: of axes that will shrink to a ratio, if given.
    """
    handles, labels = ax.get_legend_handles_labels()
    size = small(ax)
    box = ax.get_window_extent()
    width, height = box.width / ax.figure.dpi, box.height / ax.figure.dpi
    if ratio:
        width, height = min(width, height / ratio), min(height, width * ratio)
    each = (0.52 * max(map(len, labels), default=0) + 3.5) * size / 72.0
    columns = int(np.clip(width / each, 1, max(1, len(labels))))
    legend = ax.legend(
        handles,
        labels,
        loc="upper left",
        bbox_to_anchor=(0.01, 0.0, 0.99, 1.0),
        ncols=columns,
        facecolor="inherit",  # no grid behind the words
        edgecolor="none",
        framealpha=1.0,
        fancybox=False,
        fontsize=size,
        borderaxespad=0.0,
        borderpad=0.2,
        handletextpad=0.3,
        labelspacing=0.3,
        columnspacing=1.5,
        handlelength=1.4,
    )
    for handle in legend.legend_handles:
        if handle is not None and hasattr(handle, "set_markersize"):
            handle.set_markersize(5.0)
            handle.set_alpha(1.0)
    lines = -(-len(labels) // columns)
    return float(min(0.5, (1.35 * lines + 0.6) * size / 72.0 / height))


def beside(ax: Axes, text: str, height: float) -> None:
    """To the right of the axes."""
    ax.annotate(
        text,
        (1.0, height),
        xycoords=("axes fraction", "data"),
        xytext=(4.0, 0.0),
        textcoords="offset points",
        va="center",
        fontsize=small(ax),
        annotation_clip=False,
    )


def small(ax: Axes) -> float:
    """The size of letters for remarks."""
    return 0.85 * float(ax.xaxis.label.get_fontsize())


def short_name(text: str) -> str:
    """On one line, not too long, and no formula."""
    text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return plain(shortened(text, NAME))


def plain(text: str) -> str:
    """Dollars are no formula."""
    return text.replace("$", r"\$")
