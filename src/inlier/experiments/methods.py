"""The methods side by side, each with its name, its place in the paper and its look in figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from inlier.comparison.registry import PAPER, Method, methods
from inlier.estimators import RobustMean


@dataclass(frozen=True)
class Column:
    """A method as it appears in tables and figures.

    Attributes
    ----------
    method : Method
    label : str
    color, marker : str
        The same in all figures. Colours are Paul Tol's "muted" ones, which colour-blind readers can
        tell apart.
    printed : str or None
        The column of the paper's tables that it is.
    against : str or None
        The one that it is judged by, if it is not the same.
    is_ours : bool
        Whether the reproduction fails if a cell is worse than printed.
    """

    method: Method
    label: str
    color: str
    marker: str
    printed: str | None = None
    against: str | None = None
    is_ours: bool = False

    @property
    def name(self) -> str:
        """In results."""
        return self.method.name

    def held_against(self, printed: Mapping[str, float]) -> float | None:
        """The printed figure that a cell is judged by, if there is one."""
        by = self.against or self.printed
        if by == "lp" and by not in printed:  # where the paper has no lp, it has l1
            by = "l1"
        return None if by is None else printed.get(by)


_KNOWN = methods()
_REWEIGHTED_L1 = Method(
    "paper-lp-reweighted-l1",
    ("sigma",),
    PAPER,
    "Algorithm 1 as published, with p = 1/2 by re-weighted l1.",
    RobustMean,
    {"algorithm": "paper", "surrogate": "reweighted-l1"},
)

COLUMNS = {
    column.name: column
    for column in (
        Column(_KNOWN["mean"], "mean", "#000000", "x", "mean"),
        Column(
            _KNOWN["coordinate-median"], "coordinate median", "#777777", "+", "coordinate_median"
        ),
        Column(
            _KNOWN["iterative-filtering"], "iter. filter", "#DDCC77", "v", "iterative_filtering"
        ),
        Column(_KNOWN["que"], "QUE", "#88CCEE", "^", "que"),
        Column(_KNOWN["lrv"], "LRV", "#999933", "<", "lrv"),
        Column(_KNOWN["cdg"], "CDG", "#44AA99", ">", "cdg"),
        Column(_KNOWN["paper-l1"], "l1", "#AA4499", "P", "l1"),
        Column(_KNOWN["paper-lp"], "lp", "#332288", "s", "lp"),
        Column(_REWEIGHTED_L1, "lp by re-weighted l1", "#117733", "D", against="lp"),
        Column(_KNOWN["inlier-sigma"], "inlier, told sigma", "#882255", "o", None, "lp", True),
        Column(_KNOWN["inlier"], "inlier, told nothing", "#CC6677", "*", None, "lp", True),
    )
}

# Those of the paper's tables; for pictures it has the plain ones as well.
IN_TABLES = tuple(name for name in COLUMNS if name not in ("mean", "coordinate-median"))


def contenders(names: tuple[str, ...]) -> dict[str, Method]:
    """The methods of some columns, as `compare` takes them."""
    return {name: COLUMNS[name].method for name in names}
