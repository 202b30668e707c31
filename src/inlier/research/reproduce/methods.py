"""The methods of the experiments: labels, and columns of the paper's tables."""

from collections.abc import Mapping
from dataclasses import dataclass

from inlier.estimators import RobustMean
from inlier.l0.fit import Options
from inlier.research.comparison.registry import PAPER, Method, methods


@dataclass(frozen=True)
class MethodColumn:
    """A method as it appears in tables and figures."""

    method: Method
    label: str
    printed: str | None = None  # the column of the paper's tables
    against: str | None = None  # the column it is judged by, if another one
    is_ours: bool = False  # whether the reproduction fails if a cell is worse than printed

    @property
    def name(self) -> str:
        """The name in results."""
        return self.method.name

    def held_against(self, printed: Mapping[str, float]) -> float | None:
        """Return the printed error that a cell is judged by, if there is one."""
        by = self.against or self.printed
        if by == "lp" and by not in printed:  # Table 6 has l1 only
            by = "l1"
        return None if by is None else printed.get(by)


_KNOWN = methods()
_REWEIGHTED_L1 = Method(
    "paper-lp-reweighted-l1",
    ("sigma",),
    PAPER,
    "Algorithm 1 as published, with p = 1/2 by re-weighted l1.",
    RobustMean,
    {"l0": Options(algorithm="paper", surrogate="reweighted-l1")},
)

_ALL = (
    MethodColumn(_KNOWN["mean"], "mean", "mean"),
    MethodColumn(_KNOWN["coordinate-median"], "coordinate median", "coordinate_median"),
    MethodColumn(_KNOWN["iterative-filtering"], "iter. filter", "iterative_filtering"),
    MethodColumn(_KNOWN["que"], "QUE", "que"),
    MethodColumn(_KNOWN["lrv"], "LRV", "lrv"),
    MethodColumn(_KNOWN["cdg"], "CDG", "cdg"),
    MethodColumn(_KNOWN["paper-l1"], "l1", "l1"),
    MethodColumn(_KNOWN["paper-lp"], "lp", "lp"),
    MethodColumn(_REWEIGHTED_L1, "lp by re-weighted l1", None, "lp"),
    MethodColumn(_KNOWN["inlier-sigma"], "inlier, sigma given", None, "lp", True),
    MethodColumn(_KNOWN["inlier"], "inlier, no parameters", None, "lp", True),
)
COLUMNS = {column.name: column for column in _ALL}

# The paper has the mean and the median for pictures only.
IN_TABLES = tuple(name for name in COLUMNS if name not in ("mean", "coordinate-median"))
