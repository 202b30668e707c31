"""The style of figures: one colour and marker for each method."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inlier._internal.atomic import replacing
from inlier.experiments.methods import COLUMNS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STYLE: dict[Any, Any] = {
    "font.size": 9.0,
    "axes.titlesize": 9.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "0.9",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 8.0,
    "lines.markersize": 4.5,
    "lines.linewidth": 1.3,
    "svg.hashsalt": "inlier",  # reproducible files
}
GOOD, BAD = "#4477AA", "#CC3311"
DPI = 200


@contextmanager
def styled(width: float, height: float) -> Iterator[Figure]:
    """Yield a new figure in this style; pyplot does not manage it, and nobody has to close it."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(STYLE):
        yield Figure(figsize=(width, height), layout="constrained")


def save(figure: Figure, stem: Path) -> list[Path]:
    """Save as PNG and as SVG."""
    from matplotlib import rc_context

    paths = [stem.with_suffix(".png"), stem.with_suffix(".svg")]
    with rc_context(STYLE):
        for path in paths:
            metadata = {"Date": None} if path.suffix == ".svg" else {"Software": None}
            with replacing(path) as unfinished:
                figure.savefig(unfinished, format=path.suffix[1:], dpi=DPI, metadata=metadata)
    return paths


def lines(
    axes: Axes,
    places: Sequence[float],
    values: Mapping[str, Sequence[float]],
    zero: float | None = None,
) -> None:
    """Plot a line for each method over `places`; values of 0 are drawn at the height `zero`."""
    for name, of_method in values.items():
        column = COLUMNS[name]
        shown = [zero if zero is not None and value <= zero else value for value in of_method]
        axes.plot(
            places,
            shown,
            color=column.color,
            marker=column.marker,
            mew=1.2 if column.marker in "x+" else 0.0,
            ms=8.0 if column.marker == "*" else None,
            lw=2.0 if column.is_ours else None,
            label=column.label,
            zorder=3 if column.is_ours else 2,
            clip_on=False,
        )


def floor_of(values: Iterable[float]) -> float:
    """Return the position of 0 on a logarithmic axis: half a decade below all other values."""
    positive = [value for value in values if 0.0 < value < math.inf]
    return 10.0 ** (math.floor(math.log10(min(positive)) * 2.0) / 2.0 - 0.5) if positive else 0.1


def zero_tick(panels: Sequence[Axes], zero: float) -> None:
    """Set plain ticks on the logarithmic axis of all panels, with 0 below a break."""
    from matplotlib.ticker import FuncFormatter, NullLocator

    axes = panels[0]
    axes.set_yscale("log")
    top = axes.get_ylim()[1]
    first, last = math.ceil(math.log10(zero) + 0.1), math.floor(math.log10(top))
    axes.set_yticks([zero, *(10.0**k for k in range(first, last + 1))])
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(
        FuncFormatter(lambda y, _: "0" if y <= 1.01 * zero else f"{y:g}")
    )
    axes.set_ylim(bottom=zero)
    for each in panels:
        each.axhline(zero * 10.0**0.25, color="0.6", lw=0.8, ls=":")


def log_ticks(axes: Axes, ticks: Sequence[float]) -> None:
    """Make the x axis logarithmic, with plain labels at the given ticks only."""
    from matplotlib.ticker import NullLocator

    axes.set_xscale("log")
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])


def legend_beside(figure: Figure, axes: Any) -> None:
    """Draw one legend for all panels, to the right of them."""
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right center", handlelength=2.2)
