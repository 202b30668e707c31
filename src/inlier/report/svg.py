"""Place a panel in the pixels of an inline SVG, which the macro `chart_of` writes."""

from typing import NamedTuple

import numpy as np

from inlier._internal.typing import Array
from inlier.figures.panel import Panel

# A panel is as wide as a phone, so that its letters are never scaled down by much.
WIDTH, HEIGHT = 360, 264
TOP, RIGHT, BOTTOM = 30, WIDTH - 14, HEIGHT - 42
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
GROUPS = (
    "m0-4.2l3.8 6.6h-7.6z", "m-3-3h6v6h-6z", DIAMOND, "m0 4.2l3.8-6.6h-7.6z",
    "m-4 0h8m-4-4v8", "m-3-3l6 6m0-6l-6 6",
)  # fmt: skip
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


MARKS = {
    "kept": Mark(DOT, "dot"),
    "others": Mark(GROUPS[5], "mark hollow"),
    "all rows": Mark(DIAMOND, "before"),
    "kept rows": Mark(DOT, "after"),
    "path": Mark(DOT, "step"),
    "chosen": Mark(DIAMOND, "chosen"),
    "radius": Mark(DOT, "after"),
    "robust mean": Mark("m-7 0h14m-7-7v14", "cross"),
    "plain mean": Mark("m-5-5l10 10m0-10l-10 10", "cross"),
}


def mark(role: str, index: int = 0) -> Mark:
    """Return the mark of a role; suspects and groups have one for each index."""
    turn, place = divmod(index, len(GROUPS))
    if role == "suspect":
        return Mark((RING, *GROUPS[1:])[place], "suspect")
    if role == "group":
        return Mark(GROUPS[place], "mark hollow" if place in LINES or turn % 2 else "mark")
    return MARKS[role]


class Chart:
    """A panel in pixels."""

    width, height, right, bottom = WIDTH, HEIGHT, RIGHT, BOTTOM

    def __init__(self, panel: Panel):
        self.panel = panel
        labels = panel.y.tick_labels(panel.y.ticks)
        self.left = 12.0 + LETTER * max(map(len, labels), default=0)

    def x(self, values: Array) -> Array:
        """Return pixels from the left."""
        places = self.left + self.panel.x.position(values) * (RIGHT - self.left)
        return np.asarray(np.nan_to_num(places, nan=NOWHERE))

    def y(self, values: Array) -> Array:
        """Return pixels from the top."""
        places = BOTTOM - self.panel.y.position(values) * (BOTTOM - TOP)
        return np.asarray(np.nan_to_num(places, nan=NOWHERE))

    def point(self, x: float, y: float) -> tuple[float, float]:
        """Return the pixels of one point."""
        return float(self.x(np.array([x]))[0]), float(self.y(np.array([y]))[0])

    def path(self, x: Array, y: Array, shape: str) -> str:
        """Return one path with a mark for each point: the page stays small."""
        places = zip(self.x(x), self.y(y), strict=True)
        return "".join(f"M{a:.1f} {b:.1f}{shape}" for a, b in places)

    @property
    def x_ticks(self) -> list[tuple[float, float, str]]:
        """Ticks, where their labels have room, and labels."""
        ticks = self.panel.x.ticks
        labels = self.panel.x.tick_labels(ticks)
        halves = [LETTER * len(label) / 2 for label in labels]
        return [
            (at, min(max(at, half), WIDTH - half), label)
            for at, half, label in zip(self.x(np.array(ticks)), halves, labels, strict=True)
        ]

    @property
    def y_ticks(self) -> list[tuple[float, str]]:
        """Ticks and their labels."""
        ticks = self.panel.y.ticks
        return list(zip(self.y(np.array(ticks)), self.panel.y.tick_labels(ticks), strict=True))

    @property
    def lines(self) -> list[tuple[str, str]]:
        """Points of the lines, and their classes."""
        found = []
        for series in self.panel.series:
            if series.joined:
                points = zip(self.x(series.x), self.y(series.y), strict=True)
                css = f"{mark(series.role, series.index).css}-line"
                found.append((" ".join(f"{a:.1f},{b:.1f}" for a, b in points), css))
        return found

    @property
    def marks(self) -> list[tuple[str, str, str]]:
        """Paths, their classes, and the class of rows in them; arrows where points lie outside."""
        found = []
        for series in self.panel.series:
            shape, css = mark(series.role, series.index)
            if series.marked and len(series.x):
                css += " few" if series.rows and len(series.x) <= FEW else ""
                found.append((self.path(series.x, series.y, shape), css, series.rows))
            for side, beyond in self.panel.beyond(series):
                arrows = self.path(series.x[beyond], series.y[beyond], ARROWS[side])
                found.append((arrows, "arrow", ""))
        return found

    @property
    def bars(self) -> list[tuple[float, float, float, float, str]]:
        """Left, top, width, height and class of the bars that are not empty, a pixel apart."""
        found = []
        for bars in self.panel.bars:
            edges = (self.x(bars.start), self.x(bars.end), self.y(bars.low), self.y(bars.high))
            for left, right, low, high in zip(*edges, strict=True):
                if right > left:
                    size = (left, high + 0.5, right - left, low - high - 1.0)
                    found.append((*size, f"{bars.role}-bar"))
        return found

    @property
    def levels(self) -> list[tuple[float, str]]:
        """Heights of the lines across, and their labels."""
        values = np.array([level.value for level in self.panel.levels])
        return [(at, one.label) for at, one in zip(self.y(values), self.panel.levels, strict=True)]

    @property
    def notes(self) -> list[tuple[float, float, str, str]]:
        """Place, anchor and text of words above a point, to its left if the right has no room."""
        found = []
        for note in self.panel.notes:
            x, y = self.point(note.x, note.y)
            anchor, shift = ("middle", 0.0) if note.centered else ("start", 9.0)
            if x + 9.0 + LETTER * len(note.text) > RIGHT:
                anchor, shift = "end", -9.0
            found.append((x + shift, max(y - 9.0, TOP + 8.0), anchor, note.text))
        return found
