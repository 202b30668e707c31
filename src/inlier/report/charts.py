"""Charts as inline SVG: scales, ticks, axes and marks. Colours are left to the style sheet."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from inlier._internal.typing import Array
from inlier.report.markup import NOTHING, Html, el, joined, text
from inlier.report.numbers import number

# A panel is as wide as a phone, so that its letters are never scaled down by much.
WIDTH, HEIGHT = 360, 264
TOP, RIGHT, BOTTOM = 30, 14, 42
# A letter of an axis, in pixels.
LETTER = 6.2
# Farther out than this, numbers are treated as infinite: their differences still are numbers.
LARGEST = 1e300
# In units: what lies farther out stands at the edge.
REACH = 1e6
# Where a mark goes that has no place.
NOWHERE = -99.0

# What follows "M x y". Marks differ by shape first and by colour second.
SHAPES = (
    "m0-4.2l3.8 6.6h-7.6z",
    "m-3-3h6v6h-6z",
    "m0-4.4l3.8 4.4l-3.8 4.4l-3.8-4.4z",
    "m0 4.2l3.8-6.6h-7.6z",
    "m-4 0h8m-4-4v8",
    "m-3-3l6 6m0-6l-6 6",
)
# These are lines, not areas.
OPEN = {4, 5}
DOT = "h.01"
# Of suspects: the first is a ring, a dot with a question.
RING = "m-3.4 0a3.4 3.4 0 1 0 6.8 0a3.4 3.4 0 1 0-6.8 0"


@dataclass(frozen=True)
class Scale:
    """A way from numbers to [0, 1]: straight, by logarithms, or straight near 0 and then those.

    Attributes
    ----------
    low, high : float
        What 0 and 1 stand for.
    kind : str
        "linear", "log" or "asinh".
    unit : float
        How far "asinh" is about straight.
    """

    low: float
    high: float
    kind: str = "linear"
    unit: float = 1.0

    def __call__(self, values: Array) -> Array:
        """Where numbers lie; those beyond an end at the end, and nan where there is none."""
        ends = self._bent(np.array([self.low, self.high]))
        place = (self._bent(np.asarray(values, dtype=float)) - ends[0]) / (ends[1] - ends[0])
        return np.asarray(np.clip(place, 0.0, 1.0))

    def _bent(self, values: Array) -> Array:
        values = np.clip(values, -LARGEST, LARGEST)
        if self.kind == "log":
            return np.asarray(np.log10(np.maximum(values, 1e-320)))
        if self.kind == "asinh":
            return np.asarray(np.arcsinh(values / self.unit))
        return values

    @property
    def ticks(self) -> list[float]:
        """Round numbers within the scale."""
        if self.kind == "log":
            return _decades(self.low, self.high)
        if self.kind == "asinh":
            return self._both_ways()
        return _round_numbers(self.low, self.high)

    def _both_ways(self) -> list[float]:
        top = max(abs(self.low), abs(self.high))
        powers = _decades(2.0 * self.unit, max(top, 4.0 * self.unit), most=3)
        found = [-p for p in reversed(powers)] + [0.0] + powers
        return [tick for tick in found if self.low <= tick <= self.high]


def linear(values: Array, *, zero: bool = False, pad: float = 0.04) -> Scale:
    """A straight scale that holds all finite numbers."""
    low, high = _ends(values)
    if zero:
        low, high = min(0.0, low), max(0.0, high)
    if high == low:
        width = max(abs(high) * 0.1, 1e-307) if high else 1.0
        return Scale(0.0 if zero and high >= 0 else low - width, high + width)
    margin = pad * (high - low)
    return Scale(low if zero and low == 0.0 else low - margin, high + margin)


def logarithmic(low: float, high: float) -> Scale:
    """A scale of logarithms, a little wider than what it has to hold."""
    low = float(np.clip(low, 1e-300, LARGEST))
    high = float(np.clip(high, low, LARGEST))
    margin = 1.3 if high < 1e3 * low else (high / low) ** 0.04
    return Scale(max(low / margin, 1e-305), min(high * margin, 1e305), "log")


def around_zero(values: Array, unit: float) -> Scale:
    """Straight, unless some are so far out that nothing would be left of the others."""
    low, high = _ends(values)
    straight = linear(values)
    if not unit > 0.0 or max(abs(low), abs(high)) < 60.0 * unit:
        return straight
    low, high = max(low, -REACH * unit), min(high, REACH * unit)
    return Scale(min(low, -unit) * 1.2, max(high, unit) * 1.2, "asinh", unit)


def _ends(values: Array) -> tuple[float, float]:
    values = np.asarray(values, dtype=float)
    finite = values[np.abs(values) <= LARGEST]
    if not len(finite):
        return 0.0, 0.0
    return float(finite.min()), float(finite.max())


def _round_numbers(low: float, high: float, most: int = 6) -> list[float]:
    span = high - low
    if not 0.0 < span < np.inf:
        return [low]
    power = 10.0 ** max(math.floor(math.log10(span / most)), -307)
    step = next(
        (f * power for f in (1.0, 2.0, 5.0, 10.0, 20.0) if span / (f * power) <= most), span
    )
    first = math.ceil(low / step)
    found = [(first + i) * step for i in range(most + 2)]
    # Steps below the resolution of a number would give the same tick again.
    return sorted({tick for tick in found if low <= tick <= high}) or [low]


def _decades(low: float, high: float, most: int = 5) -> list[float]:
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    if last - first < 2:
        fine = [
            factor * 10.0**power
            for power in range(first - 1, last + 1)
            for factor in ((1, 2, 5) if last > first else (1, 2, 3, 4, 5, 6, 8))
        ]
        return [tick for tick in fine if low <= tick <= high] or [low, high]
    step = max(1, math.ceil((last - first + 1) / most))
    return [10.0**power for power in range(first, last + 1, step)]


class Axes2D:
    """Two axes, and where a point lies between them."""

    def __init__(
        self, x: Scale, y: Scale, *, height: int = HEIGHT, whole: bool = False, ys: bool = True
    ):
        self.x, self.y, self.height, self.ys = x, y, height, ys
        x_ticks = [tick for tick in x.ticks if not whole or tick == int(tick)]
        self.x_ticks = _labelled(x_ticks)
        self.y_ticks = _labelled(y.ticks)
        longest = max(len(label) for _, label in self.y_ticks)
        self.left = 12.0 + LETTER * longest if ys else 12.0

    def px(self, values: Array) -> Array:
        """From left to right."""
        return self._placed(self.left + self.x(values) * (WIDTH - RIGHT - self.left))

    def py(self, values: Array) -> Array:
        """From the top down."""
        bottom = self.height - BOTTOM
        return self._placed(bottom - self.y(values) * (bottom - TOP))

    @staticmethod
    def _placed(places: Array) -> Array:
        return np.where(np.isnan(places), NOWHERE, places)

    def at(self, x: float, y: float) -> tuple[float, float]:
        """One point."""
        return float(self.px(np.array([x]))[0]), float(self.py(np.array([y]))[0])

    def marks(self, x: Array, y: Array, shape: str, **attributes: object) -> Html:
        """A mark for each point, all in one path: the page stays small."""
        drawn = "".join(
            f"M{a:.1f} {b:.1f}{shape}" for a, b in zip(self.px(x), self.py(y), strict=True)
        )
        return el("path", d=drawn, **attributes) if drawn else NOTHING

    def line(self, x: Array, y: Array, **attributes: object) -> Html:
        """A line through points."""
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(self.px(x), self.py(y), strict=True))
        return el("polyline", points=points, **attributes)

    def level(self, y: float, label: str) -> Html:
        """A line across, with a word at its end."""
        _, at = self.at(self.x.low, y)
        return joined([
            el("line", x1=_short(self.left), x2=WIDTH - RIGHT, y1=_short(at), y2=_short(at),
               class_="level"),
            el("text", text(label), x=WIDTH - RIGHT, y=_short(at - 4), class_="level-label"),
        ])  # fmt: skip

    def note(self, x: float, y: float, label: str, *, dx: float = 7, dy: float = -7) -> Html:
        """A word beside a point, on the side where there is room."""
        a, b = self.at(x, y)
        back = a + dx + LETTER * len(label) > WIDTH - RIGHT
        return el(
            "text",
            text(label),
            x=_short(a - dx if back else a + dx),
            y=_short(max(b + dy, TOP + 8)),
            class_="note",
            text_anchor="end" if back else None,
        )

    def svg(self, title: str, description: str, x: str, y: str, *marks: Html) -> Html:
        """The whole panel, with words for who does not see it."""
        bottom = self.height - BOTTOM
        axes = [
            el("text", text(y), x=0, y=13, class_="axis-label"),
            el("text", text(x), x=WIDTH - RIGHT, y=self.height - 5, class_="axis-label end"),
            el("line", x1=_short(self.left), x2=WIDTH - RIGHT, y1=bottom, y2=bottom,
               class_="axis"),
        ]  # fmt: skip
        places = self.px(np.array([tick for tick, _ in self.x_ticks]))
        for (_, label), at in zip(self.x_ticks, places, strict=True):
            axes.append(
                el("line", x1=_short(at), x2=_short(at), y1=bottom, y2=bottom + 4, class_="axis")
            )
            half = LETTER * len(label) / 2
            at = min(max(at, half), WIDTH - half)
            axes.append(el("text", text(label), x=_short(at), y=bottom + 17, class_="tick middle"))
        places = self.py(np.array([tick for tick, _ in self.y_ticks]))
        for (_, label), at in zip(self.y_ticks, places, strict=True):
            axes.append(
                el("line", x1=_short(self.left), x2=WIDTH - RIGHT, y1=_short(at), y2=_short(at),
                   class_="grid")
            )  # fmt: skip
            if self.ys:
                axes.append(
                    el("text", text(label), x=_short(self.left - 7), y=_short(at + 4),
                       class_="tick end")
                )  # fmt: skip
        return el(
            "svg",
            el("title", text(title)),
            el("desc", text(description)),
            *axes,
            *marks,
            viewBox=f"0 0 {WIDTH} {self.height}",
            role="img",
            class_="chart",
        )


def glyph(kind: int, class_: str = "") -> Html:
    """A mark in running text; -1 is that of the kept rows."""
    return el(
        "svg",
        el("path", d=f"M6 6{mark_shape(kind)}", class_=mark_class(kind)),
        viewBox="0 0 12 12",
        class_=f"glyph {class_}".strip(),
        aria_hidden="true",
    )


def mark_shape(kind: int) -> str:
    """The path of a mark: kept rows are dots, suspects and groups have shapes."""
    if kind == -1:
        return DOT
    shapes = SHAPES if kind >= 0 else (RING, *SHAPES[1:])
    return shapes[(kind if kind >= 0 else -2 - kind) % len(shapes)]


def mark_class(kind: int) -> str:
    """How a mark is drawn: removed rows as areas or, later, as lines; suspects in ink."""
    if kind == -1:
        return "dot"
    if kind < -1:
        return "suspect"
    hollow = kind % len(SHAPES) in OPEN or (kind // len(SHAPES)) % 2 == 1
    return "mark hollow" if hollow else "mark"


class Bars:
    """Bars that can be compared: from 0 to the right, and to the left if some are below.

    The widest stands for the largest of the values, or for `least` if they are all smaller.
    """

    def __init__(self, values: Array, least: float = 0.0):
        usual = np.asarray(values, dtype=float)
        usual = usual[np.isfinite(usual)]
        self.widest = float(np.abs(usual).max(initial=least)) or 1.0
        below, above = (usual < 0.0).any(), (usual > 0.0).any()
        self.zero = 50.0 if below and above else 100.0 if below else 0.0

    def bar(self, value: float) -> Html:
        """The bar of one of them."""
        room = 50.0 if self.zero == 50.0 else 100.0
        share = 0.0 if np.isnan(value) else float(np.clip(value / self.widest, -1.0, 1.0))
        width = max(room * abs(share), 0.6) if share else 0.0
        return el(
            "svg",
            el("path", d=f"M{_short(self.zero)} 0v10", class_="zero"),
            el(
                "rect",
                x=_short(self.zero - width if share < 0.0 else self.zero),
                y=1.5,
                width=_short(width),
                height=7,
                class_="minus" if share < 0.0 else "plus",
            ),
            viewBox="0 0 100 10",
            class_="bar",
            preserveAspectRatio="none",
            aria_hidden="true",
        )


def _labelled(ticks: list[float]) -> list[tuple[float, str]]:
    """With as few digits as tell them apart."""
    for digits in range(1, 8):
        labels = [number(tick, digits) for tick in ticks]
        exact = all(abs(float(f"{tick:.{digits}g}") - tick) <= 1e-9 * abs(tick) for tick in ticks)
        if exact:
            break
    return list(zip(ticks, labels, strict=True))


def _short(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
