"""A panel: data, axes and words of a figure, without a way to draw them."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from inlier._internal.typing import Array, Mask
from inlier.figures.axis import Axis

# Towards a value that lies beyond a limit.
SIDES = ("right", "left", "up", "down")


@dataclass(frozen=True)
class Series:
    """Points that look alike.

    Attributes
    ----------
    x, y : array of shape (k,)
    role : str
        What they are: "kept", "suspect", "group", "others", "all rows", "kept rows", "path",
        "chosen", "radius", "zero", "offset", "median", "robust mean" or "plain mean". Back ends
        choose the look.
    index : int
        Which suspect or group.
    label : str
        In the legend; empty to leave it out.
    joined : bool
        Whether a line joins the points; otherwise each has a mark.
    marked : bool
        Whether points that are joined have marks as well.
    rows : str
        Key of the class of rows that the points are; empty if they are no rows.
    """

    x: Array
    y: Array
    role: str
    index: int = 0
    label: str = ""
    joined: bool = False
    marked: bool = True
    rows: str = ""


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
    """All that is drawn between two axes.

    Attributes
    ----------
    title, description : str
        For readers who do not see the drawing.
    x, y : Axis
    series : tuple of Series
    bars : tuple of Bars
    levels : tuple of Level
    notes : tuple of Note
    remarks : str
        What a reader of the drawing must know, in sentences.
    equal : bool
        Whether both axes have the same unit.
    """

    title: str
    description: str
    x: Axis
    y: Axis
    series: tuple[Series, ...] = ()
    bars: tuple[Bars, ...] = ()
    levels: tuple[Level, ...] = ()
    notes: tuple[Note, ...] = ()
    remarks: str = ""
    equal: bool = False

    def beyond(self, series: Series) -> list[tuple[str, Mask]]:
        """Return the points that lie outside of the axes by side, each point once."""
        outside = []
        for axis, values in ((self.x, series.x), (self.y, series.y)):
            low, high = sorted((axis.low, axis.high))
            outside += [values > high, values < low]
        found = []
        seen = np.zeros(len(series.x), dtype=np.bool_)
        for side, mask in zip(SIDES, outside, strict=True):
            found.append((side, mask & ~seen))
            seen |= mask
        return [(side, mask) for side, mask in found if mask.any()]
