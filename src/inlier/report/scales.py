"""Limits, scale and ticks of an axis, for any numbers: huge, tiny or infinite."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from matplotlib import ticker
from matplotlib.axes import Axes

from inlier._internal.typing import Array
from inlier.report.numbers import finite_range, number


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
    def of(cls, values: Array, unit: float, label: str) -> Self:
        """Return a linear scale, or an asinh one if some values are many units away from 0.

        It begins at 0 if no value is negative. The limits ignore values that are too far away to
        be shown beside the others.
        """
        if unit > 0.0:
            values = values[np.abs(values) <= 1e9 * unit]
        low, high = finite_range(np.append(values, 0.0))
        if unit > 0.0 and max(-low, high) > 60.0 * unit:
            low = 1.2 * min(low, -unit) if low < 0.0 else 0.0
            return cls(low, 1.2 * max(high, unit), label, "asinh", unit)
        margin = 0.04 * (high - low) or 1.0
        return cls(low - margin if low < 0.0 else 0.0, high + margin, label)


class _Apart(ticker.AsinhLocator):
    """Without ticks so far within the linear part that their labels would lie on that of 0."""

    def tick_values(self, vmin: float, vmax: float) -> Any:
        ticks = np.asarray(super().tick_values(vmin, vmax))
        return ticks[(ticks == 0.0) | (np.abs(ticks) >= 0.3 * self.linear_width)]


def set_scales(ax: Axes, x: Scale, y: Scale) -> None:
    """Set limits, scales, ticks and labels of axes."""
    # Limits come first: the margins of matplotlib overflow where numbers are huge.
    ax.set(xlim=(x.low, x.high), ylim=(y.low, y.high))
    for scale, axis, set_scale in ((x, ax.xaxis, ax.set_xscale), (y, ax.yaxis, ax.set_yscale)):
        if scale.kind == "asinh":
            set_scale("asinh", linear_width=scale.unit)
            axis.set_major_locator(_Apart(scale.unit, numticks=7))
        else:
            round_numbers = ticker.MaxNLocator(6, steps=[1, 2, 5, 10], integer=scale.whole)
            axis.set_major_locator(round_numbers)
        axis.set_major_formatter(ticker.FuncFormatter(_tick_label))
        axis.set_minor_locator(ticker.NullLocator())
        axis.set_label_text(scale.label)


def _tick_label(value: float, position: int) -> str:
    """Return the label of a tick: more digits than round numbers have are not shown."""
    return number(value, 6)
