"""Judge a measured mean error: better than the printed one, in the same band, or worse."""

from __future__ import annotations

import math
from enum import StrEnum

# Half-width of the band in standard errors: twice that of the difference of two means, assuming
# that the printed mean, whose standard error is not printed, varies as much as ours.
CHANCE = 2.0 * math.sqrt(2.0)
# Smallest half-width, relative to the printed figure, which is rounded.
ROUNDED = 0.05
# Largest half-width: a method that fails now and then has a large standard error.
WIDEST = 0.5


class Verdict(StrEnum):
    """How a cell compares with the printed figure."""

    BETTER = "better"
    SAME = "same"
    WORSE = "worse"

    @property
    def mark(self) -> str:
        """The sign behind a figure in a table."""
        return {"better": "+", "same": "=", "worse": "-"}[self.value]


def judge(error: float, error_se: float, printed: float) -> Verdict:
    """Judge a mean error with its standard error, nan for a single draw."""
    if math.isnan(error):
        return Verdict.WORSE
    chance = math.inf if math.isnan(error_se) else CHANCE * error_se
    band = min(max(chance, ROUNDED * printed), WIDEST * printed)
    if abs(error - printed) <= band:
        return Verdict.SAME
    return Verdict.BETTER if error < printed else Verdict.WORSE
