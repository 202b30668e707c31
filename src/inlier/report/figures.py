"""The figures of a result, drawn on matplotlib axes: in a notebook as they are, on the page as SVG.

Each function draws on axes without data and returns what to tell readers who do not see them.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.path import Path
from matplotlib.transforms import Affine2D

from inlier._internal.typing import Array
from inlier.report.numbers import LARGEST, counted, number
from inlier.report.rows import RowClass, row_classes
from inlier.report.scales import Scale, set_scales
from inlier.results.summary import Summary

# Okabe and Ito's colours, which colour-blind readers can tell apart; marks differ as well. The page
# replaces them by its own.
KEPT, REMOVED = "#0072b2", "#d55e00"
GROUPS = (REMOVED, "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#f0e442")
SHAPES = ("^", "s", "D", "v", "P", "X")
# Greys that show on white as well as on black.
LINE, GRID = "#737373", "#7f7f7f"
# To the right of a mark.
ARROW = Path([(6, 0), (12, 0), (9.5, 2.5), (12, 0), (9.5, -2.5)], [1, 2, 1, 2, 2])
# A vector file of more rows than these would be too large to open.
MOST_VECTORS = 20_000

# A figure in words: title, description, and what its reader must know, in sentences.
Words = tuple[str, str, str]


def look(role: str, index: int = 0) -> dict[str, Any]:
    """Return how the marks of a class of rows look."""
    if role == "kept":
        return {"marker": "o", "color": KEPT, "ms": 4.0, "mew": 0.0, "alpha": 0.6}
    if role == "others":
        return {"marker": "x", "color": REMOVED, "ms": 5.5, "mew": 1.3}
    turn, place = divmod(index, len(SHAPES))
    style = {"marker": SHAPES[place], "color": GROUPS[place], "ms": 6.5, "mew": 0.0, "alpha": 0.85}
    if role == "suspect":
        style["color"] = matplotlib.rcParams["text.color"]
    if role == "suspect" or turn % 2:
        style |= {"mfc": "none", "mew": 1.3}
    return style


def draw_scores(ax: Axes, summary: Summary, classes: Sequence[RowClass] | None = None) -> Words:
    """Draw the score of every row, and the cut."""
    scores, cut = summary.scores, summary.threshold
    level = cut if 0.0 < cut < np.inf else 0.0
    # Differences between usual scores of kept rows are visible, and so is the cut.
    unit = max(_typical(scores[summary.support]), level / 4.0) / 3.0
    y = Scale.of(np.append(scores, level), unit, "score")
    _set_up(ax, _row_scale(summary), y)
    _draw_rows(ax, None, scores, classes or row_classes(summary))
    if y.low < cut < y.high:
        _draw_level(ax, cut, f"cut {number(cut)}")
    finite = scores[np.isfinite(scores)]
    highest = f"; the highest finite one is {number(finite.max())}" if len(finite) else ""
    remarks = ""
    if y.kind == "asinh":
        remarks += " Far above the kept rows, the scale is logarithmic."
    if beyond := int((scores > y.high).sum()):
        remarks += f" {counted(beyond, 'row').capitalize()} too far away to draw are at the edge."
    if cut <= 0.0:
        remarks += " The cut lies below every score: no row is kept."
    return (
        "Score of every row",
        f"{counted(summary.n, 'row')}, {summary.n_removed:,} of them above the cut at "
        f"{number(cut)}{highest}.",
        remarks,
    )


def view_pairs(summary: Summary) -> list[tuple[int, int]]:
    """Return the pairs of directions in which the rows are drawn; a direction alone is (0, 0)."""
    return list(combinations(range(len(summary.view.rows)), 2)) or [(0, 0)]


def draw_rows(
    ax: Axes,
    summary: Summary,
    classes: Sequence[RowClass] | None = None,
    pair: tuple[int, int] | None = None,
) -> Words:
    """Draw the rows in two of the directions that matter, or in one against their number.

    In standard deviations of the kept rows: columns may be in different units.
    """
    view = summary.view
    rows, names, offset = view.rows, view.names, view.directions @ (summary.plain - summary.robust)
    if not len(rows):
        rows, names, offset = np.zeros((1, summary.n)), ("direction",), np.zeros(1)
    units = np.array([_deviation(values, summary) for values in rows])
    rows, offset = rows / units[:, None], offset / units
    scales = []
    for values, plain, name in zip(rows, offset, names, strict=True):
        unit = 3.0 * _typical(np.abs(values[summary.support]))
        scales.append(Scale.of(np.append(values, plain), unit, name))
    i, j = pair or view_pairs(summary)[0]
    classes = classes or row_classes(summary)
    if i == j:
        title = f"The rows: {names[0]}"
        _set_up(ax, _row_scale(summary), scales[0])
        _draw_rows(ax, None, rows[0], classes)
        _draw_level(ax, 0.0, "robust mean")
    else:
        title, x, y = f"The rows: {names[i]}, and {names[j]}", scales[i], scales[j]
        _set_up(ax, x, y)
        _draw_rows(ax, rows[i], rows[j], classes)
        style = {"ls": "none", "color": matplotlib.rcParams["text.color"], "mew": 2.0}
        zero = np.zeros(1)
        _draw_points(ax, zero, zero, marker="+", ms=14.0, label="robust mean", **style)
        plain_at = offset[[i]], offset[[j]]
        _draw_points(ax, *plain_at, marker="x", ms=10.0, label="plain mean", **style)
        short, long = sorted((x.high - x.low, y.high - y.low))
        if x.kind == y.kind == "linear" and long < 2.5 * short:
            ax.set_aspect("equal", adjustable="box")
    remarks = ""
    if any(scale.kind == "asinh" for scale in scales):
        remarks += " Far out, the scale is logarithmic, so that the kept rows still show."
    outside = [(v < scale.low) | (v > scale.high) for v, scale in zip(rows, scales, strict=True)]
    if beyond := int(np.any(outside, axis=0).sum()):
        remarks += f" {counted(beyond, 'row').capitalize()} too far away to draw are at the edge."
    return (
        title,
        f"{counted(int(summary.support.sum()), 'kept row')} about the robust mean and "
        f"{counted(summary.n_removed, 'removed row')}, in standard deviations of the kept rows.",
        remarks,
    )


def _deviation(values: Array, summary: Summary) -> float:
    """Return the standard deviation of the kept rows along a direction; 1 if they do not vary."""
    kept = values[summary.support & (np.abs(values) <= LARGEST)]
    return float(np.std(kept)) or 1.0 if len(kept) else 1.0


def draw_spectrum(ax: Axes, summary: Summary) -> Words:
    """Draw the largest standard deviations in any direction, of all rows and of the kept rows.

    Over the largest of the kept rows, because columns may be in different units. All rows are left
    out if some of them are too far away to square.
    """
    unit = summary.after[0] if len(summary.after) and summary.after[0] > 0.0 else 1.0
    before, after = summary.before / unit, summary.after / unit
    x = Scale(0.5, max(len(before), len(after), 2) + 0.5, "direction, by rank", whole=True)
    label = "standard deviation / largest of the kept rows"
    _set_up(ax, x, Scale.of(np.append(before, after), _typical(after) / 3.0, label))
    for values, label, color, marker in (
        (before, "all rows", REMOVED, "D"),
        (after, "kept rows", KEPT, "o"),
    ):
        if len(values):
            style = {"marker": marker, "ms": 5.5, "mew": 0.0, "color": color, "lw": 1.2}
            _draw_points(ax, np.arange(1.0, len(values) + 1), values, label=label, **style)
    first = f"{number(before[0])} times" if len(before) else "unknown, over"
    return (
        "Largest standard deviations",
        f"Largest standard deviation of all rows: {first} that of the kept rows; then in further "
        "directions.",
        "",
    )


def draw_sensitivity(ax: Axes, summary: Summary) -> Words:
    """Draw how far the mean would move if a fraction of the rows were known to be bad."""
    if summary.sensitivity is None:
        raise ValueError("What a fraction would change is not computed where sigma was given.")
    percent = np.array([100.0 * change.fraction for change in summary.sensitivity])
    shifts = np.array([change.shift for change in summary.sensitivity])
    _set_up(
        ax,
        Scale(0.0, 1.06 * percent[-1], "bad rows, at most (%)"),
        Scale.of(shifts, 0.0, "shift of the mean in standard errors"),
    )
    _draw_points(ax, percent, shifts, marker="o", ms=7.0, mew=0.0, color=KEPT, lw=1.2)
    return (
        "What a fraction would change",
        f"How far the mean would move if a fraction of the rows were known to be bad: up to "
        f"{number(float(shifts.max()), 2)} standard errors.",
        "",
    )


def _typical(values: Array) -> float:
    """Return the median of the positive values; 0 if there is none."""
    positive = values[(values > 0.0) & (values <= LARGEST)]
    return float(np.median(positive)) if len(positive) else 0.0


def _set_up(ax: Axes, x: Scale, y: Scale) -> None:
    """Set axes up with a line below, and a grid to read heights from."""
    set_scales(ax, x, y)
    ax.grid(visible=False)
    ax.grid(axis="y", color=GRID, alpha=0.2, lw=1.0)
    ax.set_axisbelow(True)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.spines["bottom"].set(color=LINE, linewidth=1.0)
    ax.tick_params(axis="x", color=LINE, width=1.0, length=4.0)
    ax.tick_params(axis="y", length=0.0, pad=7.0)


def _row_scale(summary: Summary) -> Scale:
    last = max(1, summary.n - 1)
    return Scale(-0.02 * last, 1.02 * last, "row", whole=True)


def _draw_rows(ax: Axes, x: Array | None, y: Array, classes: Sequence[RowClass]) -> None:
    """Draw rows, by default over their numbers; each class has its look, smaller if it is large."""
    x = np.arange(float(len(y))) if x is None else x
    many = sum(len(one.drawn) for one in classes) > MOST_VECTORS
    for one in classes:
        style = look(one.role, one.index)
        smaller = float(np.clip((600.0 / max(1, len(one.drawn))) ** 0.25, 0.3, 1.0))
        style |= {"ms": smaller * style["ms"], "rasterized": many, "gid": one.key}
        _draw_points(ax, x[one.drawn], y[one.drawn], ls="none", label=one.legend, **style)


def _draw_points(ax: Axes, x: Array, y: Array, label: str = "_", **style: Any) -> None:
    """Draw points; those beyond the limits at the edge, with arrows that point outwards."""
    (left, right), (low, high) = sorted(ax.get_xlim()), sorted(ax.get_ylim())
    at_x, at_y = (
        np.nan_to_num(np.clip(values, least, most), nan=least)
        for values, least, most in ((x, left, right), (y, low, high))
    )
    sides = (x > right, y > high, x < left, y < low)
    ax.plot(at_x, at_y, label=label, clip_on=not any(side.any() for side in sides), **style)
    for quarter, beyond in enumerate(sides):
        if beyond.any():
            arrow = ARROW.transformed(Affine2D().rotate_deg(90.0 * quarter))
            ax.plot(
                at_x[beyond], at_y[beyond], marker=arrow, ms=24.0, mfc="none", mew=1.0, ls="none",
                color=REMOVED, clip_on=False, gid="arrow", label="_",
            )  # fmt: skip


def _draw_level(ax: Axes, value: float, words: str) -> None:
    """Draw a dashed line across, with words above its right end."""
    ax.axhline(value, color=matplotlib.rcParams["text.color"], lw=1.0, ls=(0, (4, 3)))
    ax.annotate(
        words, (1.0, value), (0.0, 3.0), xycoords=("axes fraction", "data"), ha="right",
        textcoords="offset points", fontsize="small", annotation_clip=False, gid="note",
    )  # fmt: skip


def add_legend(ax: Axes) -> None:
    """Add a legend where it hides least."""
    if any(line.get_gid() == "arrow" for line in ax.lines):
        ax.plot([], [], ">", color=LINE, ms=5.0, label="far beyond the edge")
    if not ax.get_legend_handles_labels()[0]:
        return
    # To look for a place among very many points takes long.
    many = sum(np.size(line.get_xdata()) for line in ax.lines) > MOST_VECTORS
    legend = ax.legend(loc="upper right" if many else "best", fontsize="small")
    for handle in legend.get_lines():
        handle.set(markersize=5.0, markeredgewidth=1.0, alpha=1.0)
