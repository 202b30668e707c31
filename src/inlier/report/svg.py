"""Draw a panel as inline SVG: numbers and classes for the template `chart.html`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from inlier._internal.typing import Array
from inlier.figures import Axis, Panel

# A panel is as wide as a phone, so that its letters are never scaled down by much.
WIDTH, HEIGHT = 360, 264
TOP, RIGHT, BOTTOM = 30, 14, 42
# Width of a letter beside an axis, in pixels.
LETTER = 6.2
# Where a mark goes that has no place.
NOWHERE = -99.0
# Up to so many marks of a kind are drawn larger.
FEW = 600

# Shapes are what follows "M x y" in a path. Marks differ by shape first and by colour second.
DOT = "h.01"
RING = "m-3.4 0a3.4 3.4 0 1 0 6.8 0a3.4 3.4 0 1 0-6.8 0"
DIAMOND = "m0-4.4l3.8 4.4l-3.8 4.4l-3.8-4.4z"
UPRIGHT_CROSS, OBLIQUE_CROSS = "m-7 0h14m-7-7v14", "m-5-5l10 10m0-10l-10 10"
GROUPS = (
    "m0-4.2l3.8 6.6h-7.6z",
    "m-3-3h6v6h-6z",
    DIAMOND,
    "m0 4.2l3.8-6.6h-7.6z",
    "m-4 0h8m-4-4v8",
    "m-3-3l6 6m0-6l-6 6",
)
# Of these shapes, the ones that are lines and not areas.
LINES = {4, 5}
ARROWS = {
    "up": "m0-6v-6m-2.5 2.5l2.5-2.5l2.5 2.5",
    "down": "m0 6v6m-2.5-2.5l2.5 2.5l2.5-2.5",
    "right": "m6 0h6m-2.5-2.5l2.5 2.5l-2.5 2.5",
    "left": "m-6 0h-6m2.5-2.5l-2.5 2.5l2.5 2.5",
}


class Mark(NamedTuple):
    """The shape of a mark, and the class that the style sheet colours."""

    shape: str
    css: str


def mark(role: str, index: int = 0) -> Mark:
    """Return the mark of a role; suspects and groups have one for each index."""
    if role == "suspect":
        shapes = (RING, *GROUPS[1:])
        return Mark(shapes[index % len(shapes)], "suspect")
    if role == "group":
        turn, place = divmod(index, len(GROUPS))
        hollow = place in LINES or turn % 2 == 1
        return Mark(GROUPS[place], "mark hollow" if hollow else "mark")
    return {
        "kept": Mark(DOT, "dot"),
        "others": Mark(GROUPS[5], "mark hollow"),
        "all rows": Mark(DIAMOND, "before"),
        "kept rows": Mark(DOT, "after"),
        "path": Mark(DOT, "step"),
        "chosen": Mark(DIAMOND, "chosen"),
        "radius": Mark(DOT, "after"),
        "zero": Mark(DOT, "after"),
        "offset": Mark(GROUPS[1], "mark"),
        "median": Mark(RING, "suspect"),
        "robust mean": Mark(UPRIGHT_CROSS, "cross"),
        "plain mean": Mark(OBLIQUE_CROSS, "cross"),
    }[role]


@dataclass(frozen=True)
class Frame:
    """Pixels of a panel."""

    panel: Panel
    left: float

    @classmethod
    def of(cls, panel: Panel) -> Frame:
        """Leave room for the labels of the y axis."""
        labels = panel.y.tick_labels(panel.y.ticks)
        return cls(panel, 12.0 + LETTER * max(map(len, labels), default=0))

    def x(self, values: Array) -> Array:
        """From left to right."""
        return _placed(self.left + self.panel.x.position(values) * (WIDTH - RIGHT - self.left))

    def y(self, values: Array) -> Array:
        """From the top down."""
        bottom = HEIGHT - BOTTOM
        return _placed(bottom - self.panel.y.position(values) * (bottom - TOP))

    def marks(self, x: Array, y: Array, shape: str) -> str:
        """Return one path with a mark for each point: the page stays small."""
        places = zip(self.x(x), self.y(y), strict=True)
        return "".join(f"M{a:.1f} {b:.1f}{shape}" for a, b in places)


def _placed(places: Array) -> Array:
    return np.where(np.isnan(places), NOWHERE, places)


@dataclass(frozen=True)
class Chart:
    """What the template writes.

    Attributes
    ----------
    panel : Panel
    left, right, bottom, width, height : float
        Edges of the axes, and the size of the whole.
    x_ticks, y_ticks : list of (float, float, str)
        Where the tick is, where its label is, and the label.
    lines, marks : list of (str, str, str)
        Points or path, class, and which class of rows it holds.
    bars : list of (float, float, float, float, str)
        Left, top, width, height, class.
    levels : list of (float, str)
    notes : list of (float, float, str, str)
        Place, anchor and text.
    """

    panel: Panel
    left: float
    x_ticks: list[tuple[float, float, str]]
    y_ticks: list[tuple[float, float, str]]
    lines: list[tuple[str, str]]
    marks: list[tuple[str, str, str]]
    bars: list[tuple[float, float, float, float, str]]
    levels: list[tuple[float, str]]
    notes: list[tuple[float, float, str, str]]
    right: int = WIDTH - RIGHT
    bottom: int = HEIGHT - BOTTOM
    width: int = WIDTH
    height: int = HEIGHT


def chart(panel: Panel) -> Chart:
    """Place a panel in pixels."""
    frame = Frame.of(panel)
    x_ticks = []
    for at, _, label in _ticks(panel.x, frame.x):
        half = LETTER * len(label) / 2
        x_ticks.append((at, min(max(at, half), WIDTH - half), label))
    lines, marks = [], []
    for series in panel.series:
        shape, css = mark(series.role, series.index)
        if series.joined:
            points = zip(frame.x(series.x), frame.y(series.y), strict=True)
            lines.append((" ".join(f"{a:.1f},{b:.1f}" for a, b in points), f"{css}-line"))
        if series.marked and len(series.x):
            css += " few" if series.rows and len(series.x) <= FEW else ""
            marks.append((frame.marks(series.x, series.y, shape), css, series.rows))
        for side, beyond in panel.beyond(series):
            arrows = frame.marks(series.x[beyond], series.y[beyond], ARROWS[side])
            marks.append((arrows, "arrow", ""))
    levels = [(float(frame.y(np.array([level.value]))[0]), level.label) for level in panel.levels]
    return Chart(
        panel, frame.left, x_ticks, _ticks(panel.y, frame.y), lines, marks, _bars(panel, frame),
        levels, _notes(panel, frame),
    )  # fmt: skip


def _ticks(axis: Axis, pixels: Callable[[Array], Array]) -> list[tuple[float, float, str]]:
    ticks = axis.ticks
    places = pixels(np.array(ticks))
    return [(at, at, label) for at, label in zip(places, axis.tick_labels(ticks), strict=True)]


def _bars(panel: Panel, frame: Frame) -> list[tuple[float, float, float, float, str]]:
    """Place the bars that are not empty, a pixel apart."""
    found = []
    for bars in panel.bars:
        lefts, rights = frame.x(bars.start), frame.x(bars.end)
        bottoms, tops = frame.y(bars.low), frame.y(bars.high)
        for left, right, bottom, top in zip(lefts, rights, bottoms, tops, strict=True):
            if right > left:
                css = f"{bars.role}-bar"
                found.append((left, top + 0.5, right - left, bottom - top - 1.0, css))
    return found


def _notes(panel: Panel, frame: Frame) -> list[tuple[float, float, str, str]]:
    """Place words above a point, to its left where there is no room to the right."""
    found = []
    for note in panel.notes:
        x, y = float(frame.x(np.array([note.x]))[0]), float(frame.y(np.array([note.y]))[0])
        anchor, shift = ("middle", 0.0) if note.centered else ("start", 9.0)
        if x + 9.0 + LETTER * len(note.text) > WIDTH - RIGHT:
            anchor, shift = "end", -9.0
        found.append((x + shift, max(y - 9.0, TOP + 8.0), anchor, note.text))
    return found
