"""The charts of a report."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from inlier._internal.typing import Array
from inlier.report.charts import (
    BOTTOM,
    DOT,
    HEIGHT,
    RIGHT,
    SHAPES,
    TOP,
    WIDTH,
    Axes2D,
    Scale,
    around_zero,
    glyph,
    linear,
    logarithmic,
    mark_class,
    mark_shape,
)
from inlier.report.markup import NOTHING, Html, el, embedded, joined, text
from inlier.report.numbers import count, counted, number
from inlier.results.explanation import shortened
from inlier.results.summary import Summary

# Of more rows than these a sample is drawn.
MOST_KEPT = 2000
MOST_REMOVED = 1500
# Highest over typical score from which on logarithms are used.
WIDE = 20.0
BINS = 28
# Of a name in a tooltip.
LONGEST = 60


@dataclass(frozen=True)
class Kind:
    """Rows that share a mark.

    Attributes
    ----------
    mark : int
        -1 for the kept rows, -2 for the first suspect, -3 for the second; 0 for the first group.
    label : str
    rows : int array
        All of them.
    drawn : int array
        Those that are drawn.
    """

    mark: int
    label: str
    rows: Array
    drawn: Array

    @property
    def removed(self) -> bool:
        """Whether these rows were removed."""
        return self.mark >= 0


def kinds(summary: Summary, share: float = 1.0) -> list[Kind]:
    """The rows by what became of them, kept ones first; a share of the room for marks is used."""
    removed = ~summary.support
    group_of = np.where(removed, summary.group_of, -1)
    suspect_of = np.where(removed, -1, summary.suspect_of)
    found = [(-1, "kept", np.flatnonzero(summary.support & (suspect_of < 0)))]
    for i in range(len(summary.suspects)):
        found.append((-2 - i, f"kept, suspect {i + 1}", np.flatnonzero(suspect_of == i)))
    for i in range(len(summary.groups)):
        found.append((i, f"group {i + 1}", np.flatnonzero(group_of == i)))
    lone = np.flatnonzero(removed & (group_of < 0))
    if len(lone):
        found.append((len(summary.groups), "in no group" if summary.groups else "removed", lone))
    random = np.random.default_rng(0)
    room = max(50, int(MOST_REMOVED * share))
    fraction = min(1.0, room / max(1, summary.n_removed))
    sampled = []
    for mark, label, rows in found:
        most = max(50, int(MOST_KEPT * share))
        if mark >= 0:
            most = max(1, int(len(rows) * fraction))
        drawn = rows
        if len(rows) > most:
            drawn = np.sort(random.choice(rows, most, replace=False))
        if len(rows) or mark == -1:
            sampled.append(Kind(mark, label, rows, drawn))
    return sampled


def sampled_note(groups: list[Kind]) -> str:
    """Says so, if not every row is drawn."""
    parts = []
    for what, removed in (("kept", False), ("removed", True)):
        drawn = sum(len(kind.drawn) for kind in groups if kind.removed == removed)
        rows = sum(len(kind.rows) for kind in groups if kind.removed == removed)
        if drawn < rows:
            parts.append(f"{count(drawn)} of the {count(rows)} {what} rows")
    if not parts:
        return ""
    return f" To keep the page small, {' and '.join(parts)} are drawn, taken at random."


def legend(groups: list[Kind]) -> Html:
    """What the marks mean."""
    return el(
        "p",
        *(
            el("span", glyph(kind.mark), text(f" {kind.label} ({count(len(kind.rows))})"))
            for kind in groups
        ),
        class_="legend",
    )


def tooltips(summary: Summary, groups: list[Kind]) -> Html:
    """What the script needs to say which row is under the pointer."""
    listed = []
    for kind in groups:
        one: dict[str, object] = {
            "mark": kind.mark,
            "label": kind.label,
            "rows": kind.drawn.tolist(),
            "scores": [number(score) for score in summary.scores[kind.drawn]],
        }
        if summary.names is not None:
            one["names"] = [shortened(summary.row_name(int(i)), LONGEST) for i in kind.drawn]
        listed.append(one)
    return embedded(listed)


def _marks(frame: Axes2D, kind: Kind, x: Array, y: Array) -> Html:
    few = " few" if len(kind.drawn) <= 600 else ""
    return frame.marks(
        x, y, mark_shape(kind.mark), class_=mark_class(kind.mark) + few, data_mark=kind.mark
    )


def scores(summary: Summary, groups: list[Kind]) -> tuple[Html, str]:
    """The score of every row with the cut, all of them counted beside it; and remarks on it."""
    q = summary.scores
    scale, bent = _score_scale(summary)
    frame = Axes2D(linear(np.array([0.0, max(1, summary.n - 1)]), pad=0.02), scale, whole=True)
    finite = q[np.isfinite(q)]
    highest = f"; the highest finite one is {number(finite.max())}" if len(finite) else ""
    described = (
        f"{counted(summary.n, 'row')}, {count(summary.n_removed)} of them above the cut at "
        f"{number(summary.threshold)}{highest}."
    )
    drawn = [_marks(frame, kind, kind.drawn.astype(float), q[kind.drawn]) for kind in groups]
    visible = scale.low < summary.threshold < scale.high
    cut = frame.level(summary.threshold, "cut") if visible else NOTHING
    infinite = int(np.isinf(q).sum())
    pinned = _pinned(frame, groups, q) if infinite else NOTHING
    panel = frame.svg(
        "Score of every row", described, "number of the row", "score", *drawn, pinned, cut
    )
    remarks = " The scale is logarithmic." if bent else ""
    below = int((q < scale.low).sum()) if bent else 0
    if below:
        remarks += f" The {counted(below, 'row')} with the lowest scores lie on its lower edge."
    if infinite:
        remarks += (
            f" {counted(infinite, 'row').capitalize()} with an infinite score, too far away to be "
            "looked at, stand at the top, below an arrow."
        )
    if summary.threshold <= 0.0:
        remarks += " The cut lies below every score: no row is kept."
    return joined([panel, _histogram(summary, scale, cut_at=visible)]), remarks


def _score_scale(summary: Summary) -> tuple[Scale, bool]:
    q = summary.scores
    positive = q[(q > 0.0) & np.isfinite(q)]
    if not len(positive):
        return linear(np.array([0.0, max(1.0, 1.5 * summary.threshold)]), zero=True), False
    high = float(max(positive.max(), summary.threshold))
    if np.isinf(q).any():  # these stand clear of the cut
        high *= 1.5
    typical = max(float(np.median(positive)), min(summary.threshold, high) / 4.0)
    if high < WIDE * typical:
        return linear(np.array([0.0, high]), zero=True), False
    low = float(np.quantile(positive, 0.02))
    if summary.threshold > 0.0:
        low = min(low, summary.threshold / 4.0)
    return logarithmic(max(float(positive.min()), low), high), True


def _pinned(frame: Axes2D, groups: list[Kind], q: Array) -> Html:
    """Arrows above the rows with an infinite score."""
    rows = np.concatenate([kind.drawn[np.isinf(q[kind.drawn])] for kind in groups])
    return _arrows(frame, rows.astype(float))


def _arrows(frame: Axes2D, x: Array) -> Html:
    """Arrows above what is infinite, at the top."""
    if not len(x):
        return NOTHING
    top = np.full(len(x), frame.y.high)
    arrow = "m0-6v-6m-2.5 2.5l2.5-2.5l2.5 2.5"
    return frame.marks(x, top, arrow, class_="arrow", data_count=len(x))


def _histogram(summary: Summary, scale: Scale, *, cut_at: bool) -> Html:
    """How many rows have which score, on the same scale, lying on its side."""
    place = np.minimum((scale(np.nan_to_num(summary.scores, nan=0.0)) * BINS).astype(int), BINS - 1)
    kept = np.bincount(place[summary.support], minlength=BINS)
    removed = np.bincount(place[~summary.support], minlength=BINS)
    most = int((kept + removed).max())
    frame = Axes2D(Scale(0.0, most * 1.04), scale, whole=True)
    step = (HEIGHT - BOTTOM - TOP) / BINS
    full = (WIDTH - RIGHT - frame.left) / (most * 1.04)
    bars = []
    for i in range(BINS):
        y = HEIGHT - BOTTOM - (i + 1) * step
        x = frame.left
        for counts, class_ in ((kept, "kept-bar"), (removed, "removed-bar")):
            if counts[i]:
                width = max(1.5, counts[i] * full)  # one row among thousands is seen too
                bars.append(
                    el("rect", x=f"{x:.1f}", y=f"{y + 0.5:.1f}", width=f"{width:.1f}",
                       height=f"{step - 1:.1f}", class_=class_)
                )  # fmt: skip
                x += width
    return frame.svg(
        "How many rows have which score",
        f"A histogram of all {counted(summary.n, 'score')}; at most {count(most)} in one bar.",
        "rows",
        "score",
        *bars,
        frame.level(summary.threshold, "cut") if cut_at else NOTHING,
    )


def spectrum(summary: Summary) -> Html:
    """Standard deviations in the directions of largest variance, before and after."""
    before, after = summary.before, summary.after
    both = np.concatenate([before, after])
    finite = both[np.isfinite(both) & (both > 0.0)]
    scale = linear(both, zero=True)
    if len(finite) and finite.max() > WIDE * np.median(finite):
        tiny = finite.max() * 1e-9
        scale = logarithmic(float(max(finite.min(), tiny)), float(finite.max()))
    longest = max(len(before), len(after), 2)
    frame = Axes2D(Scale(0.5, longest + 0.5), scale, whole=True)
    drawn = []
    for values, class_, shape in ((after, "after", DOT), (before, "before", SHAPES[2])):
        x = np.arange(1.0, len(values) + 1)
        drawn.append(frame.line(x, values, class_=f"{class_}-line"))
        drawn.append(frame.marks(x, values, shape, class_=class_))
    if len(before) and len(after):
        # Where the two lie close together, one word would stand upon the other.
        apart = abs(frame.at(1.0, before[0])[1] - frame.at(1.0, after[0])[1])
        drawn.append(frame.note(1.0, before[0], "all rows", dy=-2))
        if apart > 24:
            drawn.append(frame.note(1.0, after[0], "kept rows", dy=-8))
    return frame.svg(
        "Largest standard deviations",
        f"Largest standard deviation of all rows {_first(before)}, of the kept rows "
        f"{_first(after)}; then in further directions.",
        "direction, by size",
        "standard deviation",
        *drawn,
    )


def _first(values: Array) -> str:
    return number(values[0]) if len(values) else "unknown"


def path(summary: Summary) -> Html:
    """What is left of sigma, and its price, against how many rows have left."""
    removed = np.array([point.removed.shape[0] for point in summary.path], dtype=float)
    sigma = np.array([point.sigma for point in summary.path])
    price = np.array([point.price for point in summary.path])
    positive = sigma[(sigma > 0.0) & np.isfinite(sigma)]
    sigma_scale = linear(sigma, zero=True)
    if len(positive) and positive.max() > WIDE * positive.min():
        sigma_scale = logarithmic(float(positive.min()), float(positive.max()))
    if np.isinf(sigma).any():  # these stand clear of the others
        sigma_scale = replace(sigma_scale, high=sigma_scale.high * 1.2)
    across = linear(removed, zero=True, pad=0.06)
    return joined([
        _way(summary, Axes2D(across, sigma_scale, whole=True), removed, sigma, "sigma"),
        _way(
            summary, Axes2D(across, linear(price, zero=True), whole=True), removed, price, "price"
        ),
    ])  # fmt: skip


def _way(summary: Summary, frame: Axes2D, x: Array, y: Array, what: str) -> Html:
    chosen = min(summary.chosen, len(y) - 1)
    others = np.arange(len(y)) != chosen
    here = slice(chosen, chosen + 1)
    return frame.svg(
        f"The path: {what}",
        f"{counted(len(y), 'point')}. At the chosen one {counted(int(x[chosen]), 'row')} have "
        f"left and the {what} is {number(y[chosen])}.",
        "rows removed",
        what,
        frame.line(x, y, class_="way"),
        frame.marks(x[others], y[others], DOT, class_="step"),
        frame.marks(x[here], y[here], SHAPES[2], class_="chosen"),
        _arrows(frame, x[np.isinf(y)]),
        frame.note(float(x[chosen]), float(y[chosen]), "chosen", dx=9, dy=-9),
    )


def view(summary: Summary, groups: list[Kind]) -> tuple[Html, str]:
    """The rows in the directions that matter, two at a time; and remarks on it."""
    rows = summary.view.rows
    if not len(rows):
        return NOTHING, ""
    off = summary.view.directions @ (summary.plain - summary.robust)
    scales = [_seen(summary, values, plain) for values, plain in zip(rows, off, strict=True)]
    names = summary.view.names
    panels = []
    if len(rows) == 1:  # one column: the number of the row has to do as the other axis
        frame = Axes2D(linear(np.array([0.0, max(1, summary.n - 1)]), pad=0.02), scales[0],
                      whole=True)  # fmt: skip
        drawn = [_marks(frame, k, k.drawn.astype(float), rows[0][k.drawn]) for k in groups]
        panels.append(
            frame.svg(
                f"The rows: {names[0]}", _described(summary), "number of the row", names[0], *drawn,
                frame.level(0.0, "robust mean"),
            )
        )  # fmt: skip
    for i, j in combinations(range(len(rows)), 2):
        frame = Axes2D(scales[i], scales[j])
        drawn = [_marks(frame, k, rows[i][k.drawn], rows[j][k.drawn]) for k in groups]
        origin = np.zeros(1)
        panels.append(
            frame.svg(
                f"The rows: {names[i]}, and {names[j]}",
                _described(summary),
                names[i],
                names[j],
                *drawn,
                frame.marks(origin, origin, "m-7 0h14m-7-7v14", class_="robust-mean"),
                frame.marks(off[[i]], off[[j]], "m-5-5l10 10m0-10l-10 10", class_="plain-mean"),
            )
        )
    bent = any(scale.kind == "asinh" for scale in scales)
    remarks = (
        " Far out, the scale is logarithmic, so that the kept rows still show." if bent else ""
    )
    outside = [
        ~((values >= scale.low) & (values <= scale.high))
        for values, scale in zip(rows, scales, strict=True)
    ]
    beyond = int(np.any(outside, axis=0).sum())
    if beyond:
        remarks += f" {counted(beyond, 'row').capitalize()} too far away to draw are at the edge."
    return joined(panels), remarks


def _described(summary: Summary) -> str:
    return (
        f"{counted(int(summary.support.sum()), 'kept row')} about the robust mean and "
        f"{counted(summary.n_removed, 'removed row')}; the plain mean is "
        f"{number(summary.offset)} away from the robust one."
    )


def _seen(summary: Summary, values: Array, plain: float) -> Scale:
    inside = values[summary.support & (np.abs(values) <= 1e300)]
    unit = 3.0 * float(np.median(np.abs(inside))) if len(inside) else 0.0
    return around_zero(np.append(values, [plain, 0.0]), unit)


def radius(fractions: Array, radii: Array, stated: tuple[float, ...]) -> Html:
    """The error radius over the fraction of bad rows, with marks where the verdict states it."""
    known = np.isfinite(radii)
    x, y = 100.0 * fractions[known], radii[known]
    frame = Axes2D(Scale(0.0, 50.0), linear(y, zero=True))
    here = np.flatnonzero(np.isin(fractions[known], stated))
    drawn = [
        frame.line(x, y, class_="after-line"),
        frame.marks(x[here], y[here], SHAPES[2], class_="chosen"),
        *(frame.note(float(x[i]), float(y[i]), number(y[i]), dx=-9, dy=-9) for i in here),
    ]
    return frame.svg(
        "Error radius over the fraction of bad rows",
        "How far the mean can be off, if a fraction of the rows is bad: larger the more are.",
        "bad rows, at most (%)",
        "error radius",
        *drawn,
    )
