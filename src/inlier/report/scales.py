"""Limits, scale and ticks of an axis, for any numbers: huge, tiny or infinite."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from matplotlib import ticker
from matplotlib.axes import Axes

from inlier._internal.typing import Array
from inlier.report.numbers import LARGEST, finite_range, number


@dataclass(frozen=True)
class Scale:
    """Limits and scale of an axis."""

    low: float
    high: float
    label: str = ""
    kind: str = "linear"  # or "asinh": linear near 0 and logarithmic far from it
    unit: float = 1.0  # width of the linear part of "asinh"
    whole: bool = False  # whether only whole numbers get a tick

    @classmethod
    def linear(cls, values: Array, label: str = "", zero: bool = False, pad: float = 0.04) -> Self:
        """Return a linear scale that contains all finite values, and 0 if requested."""
        low, high = finite_range(np.append(values, 0.0) if zero else values)
        # A single value has a tenth of itself on each side.
        margin = pad * (high - low) or max(0.1 * abs(high), 1e-307 if high else 1.0)
        return cls(low if zero and low == 0.0 else low - margin, high + margin, label)

    @classmethod
    def positive(
        cls, values: Array, usual: Array, label: str = "", *, reference: float = 0.0
    ) -> Self:
        """Return a linear scale from 0, or an asinh one if some values are far above the usual.

        The usual values stay readable, and the reference, which is not far above them, is visible.
        Infinite values have room of their own at the upper limit.
        """
        positive, usual = (x[(x > 0.0) & (x <= LARGEST)] for x in (values, usual))
        typical = float(np.median(usual)) if len(usual) else float(positive.min(initial=LARGEST))
        highest = float(positive.max(initial=0.0))
        pad = 0.14 if np.isinf(values).any() else 0.04
        # Below a twentieth of the height, differences between the usual values are lost.
        if highest < 20.0 * (unit := max(typical, reference)):
            return cls.linear(np.append(positive, reference), label, zero=True, pad=pad)
        unit = max(unit, 1e-12 * highest)
        return cls(0.0, highest * max(1.3, (highest / unit) ** pad), label, "asinh", unit)

    @classmethod
    def centered(cls, values: Array, unit: float, label: str = "") -> Self:
        """Return a linear scale about 0, or an asinh one if some values are many units away.

        The limits ignore values that are too far away to be shown beside the others.
        """
        if unit > 0.0:
            values = np.append(values[np.abs(values) <= 1e6 * unit], 0.0)
        low, high = finite_range(values)
        if not unit > 0.0 or max(abs(low), abs(high)) < 60.0 * unit:
            return cls.linear(values, label)
        return cls(min(low, -unit) * 1.2, max(high, unit) * 1.2, label, "asinh", unit)


def set_scales(ax: Axes, x: Scale, y: Scale) -> None:
    """Set limits, scales, ticks and labels of axes."""
    # Limits come first: the margins of matplotlib overflow where numbers are huge.
    ax.set(xlim=(x.low, x.high), ylim=(y.low, y.high))
    for scale, axis, set_scale in ((x, ax.xaxis, ax.set_xscale), (y, ax.yaxis, ax.set_yscale)):
        if scale.kind == "asinh":
            set_scale("asinh", linear_width=scale.unit)
            axis.set_major_locator(ticker.AsinhLocator(scale.unit, numticks=7))
        else:
            round_numbers = ticker.MaxNLocator(6, steps=[1, 2, 5, 10], integer=scale.whole)
            axis.set_major_locator(round_numbers)
        axis.set_major_formatter(ticker.FuncFormatter(_tick_label))
        axis.set_minor_locator(ticker.NullLocator())
        axis.set_label_text(scale.label)


def _tick_label(value: float, position: int) -> str:
    """Return the label of a tick: more digits than round numbers have are not shown."""
    return number(value, 6)
