"""Compare methods on the same data: `compare` runs them and returns a `Comparison`."""

from inlier.research.comparison.run import compare
from inlier.research.comparison.table import Comparison

__all__ = ["Comparison", "compare"]
