"""A panel: data, axes and words of a figure, without a way to draw them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np

from inlier._internal.typing import Array, Mask
from inlier.figures.numbers import number

# Larger numbers are treated as infinite: the difference of two smaller ones does not overflow.
LARGEST = 1e300
# An axis is logarithmic if its largest value is this many times a typical one.
WIDE = 20.0
# On a logarithmic axis, values below this part of a typical one lie on the lower edge.
LOWEST = 1e-2
# An asinh axis is used for values of so many units, and shows none that are farther away.
FAR, FARTHEST = 60.0, 1e6


@dataclass(frozen=True)
class Axis:
    """One axis of a panel, with its limits."""

    low: float
    high: float
    label: str = ""
    scale: str = "linear"  # or "log", or "asinh": linear near 0 and logarithmic far from it
    unit: float = 1.0  # width of the linear part of "asinh"
    whole: bool = False  # whether only whole numbers get a tick
    names: tuple[str, ...] = ()  # categories at 0, 1, 2, ..., in place of numbers

    @classmethod
    def linear(
        cls, values: Array, label: str, zero: bool = False, pad: float = 0.04, whole: bool = False
    ) -> Self:
        """Return a linear axis that holds all finite values, and 0 if asked for."""
        low, high = _range(values)
        if zero:
            low, high = min(0.0, low), max(0.0, high)
        if high == low:
            width = max(abs(high) * 0.1, 1e-307) if high else 1.0
            low, high = (0.0 if zero and high >= 0.0 else low - width), high + width
        else:
            margin = pad * (high - low)
            low, high = (low if zero and low == 0.0 else low - margin), high + margin
        return cls(low, high, label, whole=whole)

    @classmethod
    def logarithmic(cls, low: float, high: float, label: str = "") -> Self:
        """Return a logarithmic axis with margins."""
        low = float(np.clip(low, 1e-300, LARGEST))
        high = float(np.clip(high, low, LARGEST))
        margin = 1.3 if high < 1e3 * low else (high / low) ** 0.04
        return cls(max(low / margin, 1e-305), min(high * margin, 1e305), label, "log")

    @classmethod
    def positive(
        cls, values: Array, usual: Array, label: str = "", *, reference: float = 0.0
    ) -> Self:
        """Return an axis from 0, or a logarithmic one if some values are far above the usual ones.

        The usual ones must stay readable, and the reference, not far above them, must be visible.
        Infinite values have room of their own at the upper limit.
        """
        positive = values[(values > 0.0) & (values <= LARGEST)]
        usual = usual[(usual > 0.0) & (usual <= LARGEST)]
        typical = float(np.median(usual)) if len(usual) else float(positive.min(initial=LARGEST))
        if positive.max(initial=0.0) < WIDE * max(typical, reference):
            axis = cls.linear(np.append(positive, reference), label, zero=True)
        else:
            low = max(float(positive.min()), LOWEST * typical)
            low = min(low, reference) if reference > 0.0 else low
            axis = cls.logarithmic(low, float(positive.max()), label)
        return replace(axis, high=axis.value(1.1)) if np.isinf(values).any() else axis

    @classmethod
    def centered(cls, values: Array, unit: float, label: str = "") -> Self:
        """Return a linear axis about 0, or an asinh one if some values are many units away.

        The limits ignore values that are farther away than any axis can show beside the others.
        """
        if unit > 0.0:
            values = np.append(values[np.abs(values) <= FARTHEST * unit], 0.0)
        low, high = _range(values)
        if not unit > 0.0 or max(abs(low), abs(high)) < FAR * unit:
            return cls.linear(values, label)
        return cls(min(low, -unit) * 1.2, max(high, unit) * 1.2, label, "asinh", unit)

    def position(self, values: Array) -> Array:
        """Map values to [0, 1]; those beyond a limit to that limit, and nan to nan."""
        ends = self._transform(np.array([self.low, self.high]))
        place = (self._transform(np.asarray(values, dtype=float)) - ends[0]) / (ends[1] - ends[0])
        return np.asarray(np.clip(place, 0.0, 1.0))

    def value(self, position: float) -> float:
        """Return the value at a position, which may lie outside of [0, 1]."""
        low, high = self._transform(np.array([self.low, self.high]))
        place = low + position * (high - low)
        if self.scale == "log":
            return float(10.0 ** np.clip(place, -307.0, 307.0))
        if self.scale == "asinh":
            return float(self.unit * np.sinh(place))
        return float(place)

    def _transform(self, values: Array) -> Array:
        values = np.clip(values, -LARGEST, LARGEST)
        if self.scale == "log":
            return np.asarray(np.log10(np.maximum(values, 1e-320)))
        if self.scale == "asinh":
            return np.asarray(np.arcsinh(values / self.unit))
        return values

    @property
    def ticks(self) -> list[float]:
        """Round numbers between the limits."""
        if self.names:
            return [float(i) for i in range(len(self.names))]
        low, high = min(self.low, self.high), max(self.low, self.high)
        if self.scale == "log":
            found = _powers(low, high)
        elif self.scale == "asinh":
            top = max(abs(low), abs(high))
            powers = _powers(2.0 * self.unit, max(top, 4.0 * self.unit), most=3)
            found = [*(-p for p in reversed(powers)), 0.0, *powers]
            found = [tick for tick in found if low <= tick <= high]
        else:
            found = _multiples(low, high)
        return [tick for tick in found if not self.whole or tick == int(tick)]

    def tick_labels(self, ticks: Sequence[float]) -> list[str]:
        """Write ticks with as few digits as tell them apart, or as names."""
        if self.names:
            return [self.names[round(t)] if 0 <= t < len(self.names) else "" for t in ticks]
        labels: list[str] = []
        for digits in range(1, 8):
            labels = [number(tick, digits) for tick in ticks]
            if all(abs(float(f"{t:.{digits}g}") - t) <= 1e-9 * abs(t) for t in ticks):
                break
        return labels


def _range(values: Array) -> tuple[float, float]:
    values = np.asarray(values, dtype=float)
    finite = values[np.abs(values) <= LARGEST]
    return (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 0.0)


def _multiples(low: float, high: float, most: int = 6) -> list[float]:
    """Return multiples of 1, 2 or 5 times a power of ten."""
    span = high - low
    if not 0.0 < span < np.inf:
        return [low]
    power = 10.0 ** max(math.floor(math.log10(span / most)), -307)
    step = next(
        (f * power for f in (1.0, 2.0, 5.0, 10.0, 20.0) if span / (f * power) <= most), span
    )
    first = math.ceil(low / step)
    found = [(first + i) * step for i in range(most + 2)]
    # Steps below the resolution of a number would repeat a tick.
    return sorted({tick for tick in found if low <= tick <= high}) or [low]


def _powers(low: float, high: float, most: int = 5) -> list[float]:
    """Return powers of ten; over less than two decades, some of their multiples too."""
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


# Towards a value that lies beyond a limit.
SIDES = ("right", "left", "up", "down")


@dataclass(frozen=True)
class Series:
    """Points that look alike.

    The role says what they are: "kept", "suspect", "group", "others", "all rows", "kept rows",
    "path", "chosen", "radius", "zero", "offset", "median", "robust mean" or "plain mean". Back ends
    choose the look.
    """

    x: Array
    y: Array
    role: str
    index: int = 0  # which suspect or group
    label: str = ""  # in the legend; empty to leave it out
    joined: bool = False  # whether a line joins the points; otherwise each has a mark
    marked: bool = True  # whether points that are joined have marks as well
    rows: str = ""  # key of the class of rows that the points are; empty if they are no rows


class Bars(NamedTuple):
    """Horizontal bars: from `start` to `end` along x, from `low` to `high` along y."""

    start: Array
    end: Array
    low: Array
    high: Array
    role: str


class Level(NamedTuple):
    """A dashed line across the panel, at a value of y."""

    value: float
    label: str


class Note(NamedTuple):
    """Words at the upper right of a point, or centered above it."""

    x: float
    y: float
    text: str
    centered: bool = False


@dataclass(frozen=True)
class Panel:
    """All that is drawn between two axes."""

    title: str
    description: str  # for readers who do not see the drawing
    x: Axis
    y: Axis
    series: tuple[Series, ...] = ()
    bars: tuple[Bars, ...] = ()
    levels: tuple[Level, ...] = ()
    notes: tuple[Note, ...] = ()
    remarks: str = ""  # what a reader of the drawing must know, in sentences
    equal: bool = False  # whether both axes have the same unit

    def beyond(self, series: Series) -> list[tuple[str, Mask]]:
        """Return the points that lie outside of the axes by side, each point once."""
        outside = []
        for axis, values in ((self.x, series.x), (self.y, series.y)):
            low, high = sorted((axis.low, axis.high))
            outside += [values > high, values < low]
        found, seen = [], np.zeros(len(series.x), dtype=np.bool_)
        for side, mask in zip(SIDES, outside, strict=True):
            if (new := mask & ~seen).any():
                found.append((side, new))
            seen |= mask
        return found
