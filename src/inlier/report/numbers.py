"""Numbers for a reader: few digits, thousands apart, a true minus sign."""

import numpy as np

from inlier._internal.typing import Array

MINUS = "\N{MINUS SIGN}"
# Larger numbers are treated as infinite: axes whose limits are smaller do not overflow.
LARGEST = 1e100


def number(value: float, digits: int = 3) -> str:
    """Write a number of significant digits, with an exponent only where it is shorter."""
    shown = f"{value:,.{digits}g}"
    if "e" in shown and 1.0 <= abs(value) < 1e6:
        shown = f"{value:,.0f}"
    return _typeset(shown)


def fixed(value: float, decimals: int) -> str:
    """Write with these decimals, fewer if the value is large; four digits if they are below 0."""
    if decimals < 0 or not abs(value) < 1e6:
        return number(value, 4)
    if abs(value) >= 1e3:
        decimals = min(decimals, 1 if abs(value) < 1e4 else 0)
    shown = f"{value:,.{decimals}f}"
    return _typeset(shown.lstrip("-") if not shown.strip("-0.") else shown)


def signed(value: float, decimals: int) -> str:
    """Write a number with its sign, also if it is a plus."""
    return f"+{fixed(value, decimals)}" if value > 0.0 else fixed(value, decimals)


def counted(value: int, what: str) -> str:
    """Write a number of things: 1 row, 2 rows."""
    return f"{value:,} {what}{'' if value == 1 else 's'}"


def percent(part: int, whole: int) -> str:
    """Write a fraction in percent; never 0% of something, never 100% of nearly all."""
    share = 100.0 * part / max(1, whole)
    if part > 0 and share < 0.1:
        return "below 0.1%"
    if part < whole and share > 99.9:
        return "above 99.9%"
    return f"{share:.3g}%" if share < 10.0 else f"{share:.1f}%".replace(".0%", "%")


def decimals_for(sizes: Array) -> Array:
    """Return the decimals that show three digits of each size; -1 where an exponent is better.

    The same for all sizes that are alike, so that decimal points are aligned.
    """
    found = np.full(len(sizes), -1)
    usable = np.isfinite(sizes) & (sizes > 1e-4)
    if usable.any():
        exponents = np.floor(np.log10(sizes[usable]))
        if np.ptp(exponents) <= 1:
            exponents[:] = exponents.min()
        found[usable] = np.clip(2 - exponents, 0, 8).astype(int)
    return found


def finite_range(values: Array) -> tuple[float, float]:
    """Return the lowest and the highest of all values that are finite and not huge; else 0, 0."""
    finite = values[np.abs(values) <= LARGEST]
    return (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 0.0)


def _typeset(shown: str) -> str:
    """Write 1.2e-05 as 1.2e−5, inf as ∞, and nan in words."""
    mantissa, e, exponent = shown.partition("e")
    shown = f"{mantissa}e{int(exponent)}" if e else shown
    return {"nan": "not a number"}.get(shown, shown.replace("-", MINUS).replace("inf", "∞"))
