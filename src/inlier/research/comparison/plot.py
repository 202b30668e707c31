"""Plot a comparison: errors and seconds or, if the true mean is unknown, distances."""

from __future__ import annotations

import math
import os
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from inlier._internal.atomic import replacing
from inlier._internal.typing import Array
from inlier.research.comparison.table import Comparison, ComparisonRow

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colours, which colour-blind readers can tell apart.
DOTS = "#0072B2"
LATE = "#D55E00"
GRID = "0.9"

INCHES_PER_METHOD = 0.27


def draw(comparison: Comparison, path: str | os.PathLike[str] | None) -> Figure:
    """Draw the figure of `Comparison.plot`."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError(
            'plot needs matplotlib: pip install "inlier[plot]". print shows the same as a table.'
        ) from None
    if path is None:
        from matplotlib import pyplot

        figure = pyplot.figure(layout="constrained")
    else:  # not managed by pyplot: nobody has to close it
        figure = Figure(layout="constrained")
    if comparison.truth_known:
        _errors_and_seconds(comparison, figure)
    else:
        _distances(comparison, figure)
    if path is not None:
        kind = Path(path).suffix.lstrip(".") or "png"
        with replacing(path) as unfinished:
            figure.savefig(unfinished, format=kind, dpi=160)
    return figure


def _errors_and_seconds(comparison: Comparison, figure: Figure) -> None:
    rows = comparison.summary()
    figure.set_size_inches(9.0, 1.3 + INCHES_PER_METHOD * len(rows))
    errors, seconds = figure.subplots(1, 2, sharey=True, width_ratios=(3, 2))
    places = range(len(rows))
    trials = max(row.trials for row in rows)
    many = f" (bar: mean of {trials} trials)" if trials > 1 else ""
    values = [record.error for record in comparison.records] + [row.error for row in rows]
    positive = [value for value in values if 0.0 < value < math.inf]
    # On a logarithmic axis 0 is left of the first full decade.
    zero_at = 10.0 ** (math.floor(math.log10(min(positive))) - 0.7) if positive else 1.0
    for place, row in zip(places, rows, strict=True):
        records = [r for r in comparison.of(row.method) if r.status == "ok"]
        _dots(errors, place, [r.error or zero_at for r in records])
        _dots(seconds, place, [r.seconds for r in records])
        late = [r.seconds for r in comparison.of(row.method) if r.status == "timeout"]
        if late:
            seconds.plot(late, [place] * len(late), ">", color=LATE, ms=6, mfc="none")
        if not math.isnan(row.error) and row.trials > 1:
            _tick(errors, place, row.error or zero_at)
            _tick(seconds, place, row.seconds)
    zeros = any(record.error == 0.0 for record in comparison.records)
    _logarithmic(errors, positive, zero_at if zeros else None)
    measured = [r.seconds for r in comparison.records if r.status != "failed"]
    _logarithmic(seconds, measured)
    errors.set_xlabel(f"distance to the true mean{many}")
    seconds.set_xlabel("seconds, one thread" + (" (bar: median)" if trials > 1 else ""))
    if any(r.status == "timeout" for r in comparison.records):
        seconds.plot([], [], ">", color=LATE, ms=6, mfc="none", label="stopped: timeout")
        seconds.legend(frameon=False, fontsize=8, loc="lower left", bbox_to_anchor=(0.0, 1.0))
    errors.set_yticks(places, [_label(row) for row in rows])
    errors.set_ylim(len(rows) - 0.4, -0.6)  # the best on top
    for axes in (errors, seconds):
        axes.grid(axis="x", color=GRID, lw=0.6)
        across = axes.get_yaxis_transform()
        axes.hlines(places, 0.0, 1.0, transform=across, color=GRID, lw=0.6, zorder=0)
        axes.set_axisbelow(True)
        axes.tick_params(axis="y", length=0)
        axes.spines[["top", "right", "left"]].set_visible(False)
    _captions(comparison, figure)


def _captions(comparison: Comparison, figure: Figure) -> None:
    """Add the data as title, and the note."""
    width = int(11 * figure.get_figwidth())
    figure.suptitle(_plain("\n".join(wrap(comparison.title, width))), fontsize=10)
    if comparison.note:
        figure.supxlabel(_plain("\n".join(wrap(comparison.note, 2 * width))), fontsize=7)


def _dots(axes: Axes, place: int, values: list[float]) -> None:
    # Spread vertically, or equal values would hide each other.
    spread = np.linspace(-0.18, 0.18, len(values)) if len(values) > 1 else np.zeros(len(values))
    axes.plot(values, place + spread, "o", color=DOTS, ms=4, alpha=0.55, mec="none")


def _tick(axes: Axes, place: int, value: float) -> None:
    axes.plot([value], [place], "|", color="black", ms=13, mew=1.8)


def _logarithmic(axes: Axes, values: list[float], zero_at: float | None = None) -> None:
    """Set plain ticks at round numbers; with `zero_at`, one for 0 beyond a break."""
    from matplotlib.ticker import NullLocator

    axes.margins(x=0.0)  # the limits are set below; a margin about 1e300 would overflow
    axes.set_xscale("log")
    axes.xaxis.set_minor_locator(NullLocator())
    ticks, low, high = [], 1.0, 1.0
    if values:
        low, high = min(values), max(values)
        first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
        step = max(1, math.ceil((last - first) / 6))
        digits = (1, 2, 5) if last - first <= 2 else (1,)
        ticks = [m * 10.0**k for k in range(first, last + 1, step) for m in digits]
        if zero_at is not None:
            low = 10.0**first
            axes.axvline(10.0 ** (first - 0.35), color="0.6", lw=0.8, ls=":")
        ticks = [tick for tick in ticks if low / 1.5 <= tick <= high * 1.5]
    labels = [f"{tick:g}" for tick in ticks]
    if zero_at is not None:
        ticks, labels, low = [zero_at, *ticks], ["0", *labels], zero_at
    axes.set_xticks(ticks, labels)
    axes.set_xlim(low / 1.6, high * 1.6)


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


def _neighbours(matrix: Array) -> list[int]:
    """Order methods so that similar estimates are adjacent; those without an estimate last."""
    answered = np.flatnonzero(~np.isnan(np.diag(matrix)))
    missing = np.flatnonzero(np.isnan(np.diag(matrix))).tolist()
    apart = matrix[np.ix_(answered, answered)]
    if len(answered) < 3 or np.isnan(apart).any():
        return [*answered.tolist(), *missing]
    # Compare orders of magnitude.
    apart = np.log1p(apart / max(float(np.median(apart)), 1e-300))
    tree = linkage(squareform(apart, checks=False), "average", optimal_ordering=True)
    return [*answered[leaves_list(tree)].tolist(), *missing]


def _distances(comparison: Comparison, figure: Figure) -> None:
    from matplotlib.colors import LogNorm

    names, matrix = comparison.distances()
    order = _neighbours(matrix)
    names, matrix = tuple(names[i] for i in order), matrix[np.ix_(order, order)]
    k = len(names)
    figure.set_size_inches(3.0 + 0.52 * k, 2.4 + 0.4 * k)
    axes = figure.subplots()
    # Logarithmic: one distant estimate must not make all others look alike.
    largest = float(np.nanmax(matrix, initial=0.0)) or 1.0
    smallest = float(np.min(matrix[matrix > 0.0], initial=largest))
    norm: Any = LogNorm(max(smallest, 1e-4 * largest) / 2.0, largest, clip=True)
    axes.imshow(
        np.where(matrix > 0.0, matrix, 0.1 * norm.vmin), cmap="Blues", norm=norm, aspect="auto"
    )
    between = np.arange(0.5, k - 1)
    axes.vlines(between, -0.5, k - 0.5, color="white", lw=1.5)
    axes.hlines(between, -0.5, k - 0.5, color="white", lw=1.5)
    for i in range(k):
        for j in range(k):
            value = matrix[i, j]
            if i == j or math.isnan(value):
                text, dark = "" if i == j else "-", False
            else:
                text = f"{value:.0f}" if 100.0 <= value < 1e4 else f"{value:.2g}"
                dark = value > 0.0 and norm(value) > 0.55
            axes.text(j, i, text, ha="center", va="center", fontsize=7.5, color="wk"[not dark])
    labels = [_plain(name) for name in names]
    axes.set_xticks(range(k), labels, rotation=45, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(k), labels)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_xlabel("distance between the answers, in units of the data")
    _captions(comparison, figure)
