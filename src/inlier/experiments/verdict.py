"""Whether a measured mean error is better than a printed one, in the same band, or worse."""

from __future__ import annotations

import math
from enum import StrEnum

# Both figures are means over 20 draws, unless fewer were asked for; the printed one comes without
# its standard error, which is taken to be that of ours. Twice that of their difference is chance.
CHANCE = 2.0 * math.sqrt(2.0)
# Printed figures are rounded, and a spread over a few draws is itself uncertain.
ROUNDED = 0.05
# But a method that fails now and then varies much, and is no better for it; and a single draw says
# nothing about chance.
WIDEST = 0.5


class Verdict(StrEnum):
    """How a cell compares with the printed figure."""

    BETTER = "better"
    SAME = "same"
    WORSE = "worse"

    @property
    def mark(self) -> str:
        """Behind a figure in a table."""
        return {"better": "+", "same": "=", "worse": "-"}[self.value]


def judge(error: float, error_se: float, printed: float) -> Verdict:
    """The verdict on a mean error with its standard error; a single draw has none (nan)."""
    if math.isnan(error):
        return Verdict.WORSE
    chance = math.inf if math.isnan(error_se) else CHANCE * error_se
    band = min(max(chance, ROUNDED * printed), WIDEST * printed)
    if abs(error - printed) <= band:
        return Verdict.SAME
    return Verdict.BETTER if error < printed else Verdict.WORSE
