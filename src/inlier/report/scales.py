"""Limits, scale and ticks of an axis, for any numbers: huge, tiny or infinite."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import Formatter, Locator, MaxNLocator, NullLocator

from inlier._internal.typing import Array
from inlier.report.numbers import LARGEST, finite_range, number


@dataclass(frozen=True)
class Scale:
    """Limits and scale of an axis."""

    low: float
    high: float
    label: str = ""
    kind: str = "linear"  # or "log", or "asinh": linear near 0 and logarithmic far from it
    unit: float = 1.0  # width of the linear part of "asinh"
    whole: bool = False  # whether only whole numbers get a tick

    @classmethod
    def linear(cls, values: Array, label: str = "", zero: bool = False, pad: float = 0.04) -> Self:
        """Return a linear scale that contains all finite values, and 0 if requested."""
        low, high = finite_range(values)
        if zero:
            low, high = min(0.0, low), max(0.0, high)
        if high == low:
            width = max(abs(high) * 0.1, 1e-307) if high else 1.0
            low, high = (0.0 if zero and high >= 0.0 else low - width), high + width
        else:
            margin = pad * (high - low)
            low, high = (low if zero and low == 0.0 else low - margin), high + margin
        return cls(low, high, label)

    @classmethod
    def positive(
        cls, values: Array, usual: Array, label: str = "", *, reference: float = 0.0
    ) -> Self:
        """Return a scale from 0, or a logarithmic one if some values are far above the usual ones.

        The usual values stay readable, and the reference, which is not far above them, is visible.
        Infinite values have room of their own at the upper limit.
        """
        positive = values[(values > 0.0) & (values <= LARGEST)]
        usual = usual[(usual > 0.0) & (usual <= LARGEST)]
        typical = float(np.median(usual)) if len(usual) else float(positive.min(initial=LARGEST))
        highest = float(positive.max(initial=0.0))
        pad = 0.14 if np.isinf(values).any() else 0.04
        # Below a twentieth of the height, differences between the usual values are lost.
        if highest < 20.0 * max(typical, reference):
            return cls.linear(np.append(positive, reference), label, zero=True, pad=pad)
        # A few tiny values do not stretch the axis: they lie on its lower edge.
        low = max(float(positive.min()), 0.01 * typical)
        low = max(min(low, reference) if reference > 0.0 else low, 1e-300)
        margin = max(1.3, (highest / low) ** pad)
        return cls(max(low / margin, 1e-305), min(highest * margin, 1e305), label, "log")

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

    def clip(self, values: Array) -> Array:
        """Move values beyond a limit to that limit."""
        return np.asarray(np.clip(values, self.low, self.high))


def set_scales(ax: Axes, x: Scale, y: Scale) -> None:
    """Set limits, scales, ticks and labels of axes."""
    # Limits come first: the margins of matplotlib overflow where numbers are huge.
    ax.set(xlim=(x.low, x.high), ylim=(y.low, y.high))
    for scale, axis, set_scale in ((x, ax.xaxis, ax.set_xscale), (y, ax.yaxis, ax.set_yscale)):
        set_scale(scale.kind, **({"linear_width": scale.unit} if scale.kind == "asinh" else {}))
        axis.set_major_locator(Ticks(scale))
        axis.set_major_formatter(TickLabels())
        axis.set_minor_locator(NullLocator())
        axis.set_label_text(scale.label)


class Ticks(Locator):
    """A few round numbers between the limits of an axis, also after these have changed."""

    def __init__(self, scale: Scale):
        self.scale = scale

    def __call__(self) -> Any:
        """Return the ticks between the current limits."""
        return self.tick_values(*self.axis.get_view_interval())  # type: ignore[union-attr]

    def tick_values(self, vmin: float, vmax: float) -> Any:
        """Return the ticks between two limits."""
        low, high = sorted((float(vmin), float(vmax)))
        unit = self.scale.unit
        if self.scale.kind == "log":
            ticks = _powers(low, high)
        elif self.scale.kind == "asinh":
            powers = _powers(2.0 * unit, max(-low, high, 4.0 * unit), most=3)
            ticks = [*(-power for power in reversed(powers)), 0.0, *powers]
        else:
            nice = MaxNLocator(6, steps=[1, 2, 5, 10], integer=self.scale.whole)
            ticks = list(nice.tick_values(low, high))
        return [tick for tick in ticks if low <= tick <= high]


class TickLabels(Formatter):
    """Numbers with as few digits as tell the ticks apart."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        """Return the label of one tick."""
        return self.format_ticks([x])[0]

    def format_ticks(self, values: Sequence[float]) -> list[str]:
        """Return the labels of all ticks."""
        for digits in range(1, 8):
            if all(abs(float(f"{tick:.{digits}g}") - tick) <= 1e-9 * abs(tick) for tick in values):
                break
        return [number(tick, digits) for tick in values]


def _powers(low: float, high: float, most: int = 5) -> list[float]:
    """Return powers of ten; over less than two decades, some of their multiples too."""
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    if last - first >= 2:
        step = math.ceil((last - first + 1) / most)
        return [10.0**power for power in range(first, last + 1, step)]
    factors = (1, 2, 5) if last > first else (1, 2, 3, 4, 5, 6, 8)
    fine = [factor * 10.0**power for power in range(first - 1, last + 1) for factor in factors]
    return [tick for tick in fine if low <= tick <= high] or [low, high]
