"""Methods side by side on the same data: `compare` runs them, `Comparison` is what comes back."""

from inlier.comparison.run import compare
from inlier.comparison.table import Comparison, Row, Trial

__all__ = ["Comparison", "Row", "Trial", "compare"]
