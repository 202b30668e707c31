"""Plot a comparison: errors and seconds or, if the true mean is unknown, distances."""

from __future__ import annotations

import math
import os
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from inlier._internal.atomic import replacing
from inlier._internal.optional import optional
from inlier.research.comparison.table import Comparison, ComparisonRow

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colours, which colour-blind readers can tell apart.
DOTS, LATE = "#0072B2", "#D55E00"
GRID = "0.9"


def draw(comparison: Comparison, path: str | os.PathLike[str] | None) -> Figure:
    """Draw the figure of `Comparison.plot`."""
    optional("matplotlib", "To plot a comparison", "research")
    from matplotlib import pyplot
    from matplotlib.figure import Figure

    # With a path it is not managed by pyplot: nobody has to close it.
    figure = (pyplot.figure if path is None else Figure)(layout="constrained")
    if comparison.truth_known:
        _errors_and_seconds(comparison, figure)
    else:
        _distances(comparison, figure)
    width = int(11 * figure.get_figwidth())
    figure.suptitle(_plain("\n".join(wrap(comparison.title, width))), fontsize=10)
    if comparison.note:
        figure.supxlabel(_plain("\n".join(wrap(comparison.note, 2 * width))), fontsize=7)
    if path is not None:
        kind = Path(path).suffix.lstrip(".") or "png"
        with replacing(path) as unfinished:
            figure.savefig(unfinished, format=kind, dpi=160)
    return figure


def _errors_and_seconds(comparison: Comparison, figure: Figure) -> None:
    rows = comparison.summary()
    figure.set_size_inches(9.0, 1.3 + 0.27 * len(rows))
    errors, seconds = figure.subplots(1, 2, sharey=True, width_ratios=(3, 2))
    places = range(len(rows))
    several = max(row.trials for row in rows) > 1
    positive = [r.error for r in comparison.records if 0.0 < r.error < math.inf]
    # Linear up to the first full decade, so that 0 has a place.
    first = 10.0 ** math.floor(math.log10(min(positive, default=1.0)))
    errors.set_xscale("symlog", linthresh=first)
    seconds.set_xscale("log")
    for place, row in zip(places, rows, strict=True):
        records = comparison.of(row.method)
        answered = [r for r in records if r.status == "ok"]
        late = [r.seconds for r in records if r.status == "timeout"]
        _dots(errors, place, [r.error for r in answered])
        _dots(seconds, place, [r.seconds for r in answered])
        seconds.plot(late, [place] * len(late), ">", color=LATE, ms=6, mfc="none")
        if several:
            for axes, value in ((errors, row.error), (seconds, row.seconds)):
                axes.plot([value], [place], "|", color="black", ms=13, mew=1.8)
    exact = any(record.error == 0.0 for record in comparison.records)
    errors.margins(x=0.0)  # the limits are set here: a margin about 1e300 would overflow
    errors.set_xlim(-0.2 * first if exact else first, 2.0 * max(positive, default=first))
    errors.set_xlabel("distance to the true mean" + (" (bar: mean)" if several else ""))
    seconds.set_xlabel("seconds, one thread" + (" (bar: median)" if several else ""))
    if any(row.timeouts for row in rows):
        seconds.plot([], [], ">", color=LATE, ms=6, mfc="none", label="stopped: timeout")
        seconds.legend(frameon=False, fontsize=8, loc="lower left", bbox_to_anchor=(0.0, 1.0))
    errors.set_yticks(places, [_label(row) for row in rows])
    errors.set_ylim(len(rows) - 0.4, -0.6)  # the best on top
    for axes in (errors, seconds):
        axes.grid(color=GRID, lw=0.6)
        axes.set_axisbelow(True)
        axes.tick_params(axis="y", length=0)
        axes.spines[["top", "right", "left"]].set_visible(False)


def _dots(axes: Axes, place: int, values: list[float]) -> None:
    # Spread vertically, or equal values would hide each other.
    spread = np.linspace(-0.18, 0.18, len(values)) if len(values) > 1 else np.zeros(len(values))
    axes.plot(values, place + spread, "o", color=DOTS, ms=4, alpha=0.55, mec="none")


def _label(row: ComparisonRow) -> str:
    name = _plain(row.method)
    if not row.failures:
        return name
    if row.failures == row.trials:
        return f"{name} (no answer)"
    return f"{name} ({row.failures} of {row.trials} failed)"


def _plain(text: str) -> str:
    """Escape `$` for matplotlib."""
    return text.replace("$", r"\$")


def _distances(comparison: Comparison, figure: Figure) -> None:
    from matplotlib.colors import LogNorm

    names, matrix = comparison.distances()
    # Those near the others first.
    order = [names.index(row.method) for row in comparison.summary()]
    labels, matrix = [_plain(names[i]) for i in order], matrix[np.ix_(order, order)]
    k = len(labels)
    figure.set_size_inches(3.0 + 0.52 * k, 2.4 + 0.4 * k)
    axes = figure.subplots()
    # Logarithmic: one distant estimate must not make all others look alike.
    largest = float(np.nanmax(matrix, initial=0.0)) or 1.0
    smallest = float(np.min(matrix[matrix > 0.0], initial=largest))
    norm: Any = LogNorm(max(smallest, 1e-4 * largest) / 2.0, largest, clip=True)
    positive = np.where(matrix > 0.0, matrix, 0.1 * norm.vmin)
    axes.imshow(positive, cmap="Blues", norm=norm, aspect="auto")
    for i, j in np.ndindex(k, k):
        value = matrix[i, j]
        if i != j:
            text = f"{value:.0f}" if 100.0 <= value < 1e4 else f"{value:.2g}".replace("nan", "-")
            color = "w" if value > 0.0 and norm(value) > 0.55 else "k"
            axes.text(j, i, text, ha="center", va="center", fontsize=7.5, color=color)
    axes.set_xticks(range(k), labels, rotation=45, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(k), labels)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_xlabel("distance between the estimates, in units of the data")
