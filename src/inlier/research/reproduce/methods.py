"""The methods of the experiments: labels, columns of the paper's tables, and style in figures."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inlier._internal.atomic import replacing
from inlier.estimators import RobustMean
from inlier.research.comparison.registry import PAPER, Method, methods

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class MethodColumn:
    """A method as it appears in tables and figures, always in the same colour."""

    method: Method
    label: str
    color: str  # of Paul Tol's "muted" scheme, safe for colour-blind readers
    marker: str
    printed: str | None = None  # the column of the paper's tables
    against: str | None = None  # the column it is judged by, if another one
    is_ours: bool = False  # whether the reproduction fails if a cell is worse than printed

    @property
    def name(self) -> str:
        """The name in results."""
        return self.method.name

    def held_against(self, printed: Mapping[str, float]) -> float | None:
        """Return the printed error that a cell is judged by, if there is one."""
        by = self.against or self.printed
        if by == "lp" and by not in printed:  # Table 6 has l1 only
            by = "l1"
        return None if by is None else printed.get(by)


_KNOWN = methods()
_REWEIGHTED_L1 = Method(
    "paper-lp-reweighted-l1",
    ("sigma",),
    PAPER,
    "Algorithm 1 as published, with p = 1/2 by re-weighted l1.",
    RobustMean,
    {"algorithm": "paper", "surrogate": "reweighted-l1"},
)

COLUMNS = {
    column.name: column
    for column in (
        MethodColumn(_KNOWN["mean"], "mean", "#000000", "x", "mean"),
        MethodColumn(
            _KNOWN["coordinate-median"], "coordinate median", "#777777", "+", "coordinate_median"
        ),
        MethodColumn(
            _KNOWN["iterative-filtering"], "iter. filter", "#DDCC77", "v", "iterative_filtering"
        ),
        MethodColumn(_KNOWN["que"], "QUE", "#88CCEE", "^", "que"),
        MethodColumn(_KNOWN["lrv"], "LRV", "#999933", "<", "lrv"),
        MethodColumn(_KNOWN["cdg"], "CDG", "#44AA99", ">", "cdg"),
        MethodColumn(_KNOWN["paper-l1"], "l1", "#AA4499", "P", "l1"),
        MethodColumn(_KNOWN["paper-lp"], "lp", "#332288", "s", "lp"),
        MethodColumn(_REWEIGHTED_L1, "lp by re-weighted l1", "#117733", "D", against="lp"),
        MethodColumn(
            _KNOWN["inlier-sigma"], "inlier, sigma given", "#882255", "o", None, "lp", True
        ),
        MethodColumn(_KNOWN["inlier"], "inlier, no parameters", "#CC6677", "*", None, "lp", True),
    )
}

# The paper has the mean and the median for pictures only.
IN_TABLES = tuple(name for name in COLUMNS if name not in ("mean", "coordinate-median"))

STYLE: dict[Any, Any] = {
    "font.size": 9.0, "axes.titlesize": 9.0, "legend.fontsize": 8.0, "legend.frameon": False,
    "axes.spines.top": False, "axes.spines.right": False, "axes.axisbelow": True,
    "axes.grid": True, "grid.color": "0.9", "grid.linewidth": 0.6,
    "lines.markersize": 4.5, "lines.linewidth": 1.3,
    "svg.hashsalt": "inlier",  # reproducible files
}  # fmt: skip
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
            places, shown, color=column.color, marker=column.marker, label=column.label,
            mew=1.2 if column.marker in "x+" else 0.0, ms=8.0 if column.marker == "*" else None,
            lw=2.0 if column.is_ours else None, zorder=3 if column.is_ours else 2, clip_on=False,
        )  # fmt: skip


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
