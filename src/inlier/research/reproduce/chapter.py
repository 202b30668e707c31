"""What the experiments share: their methods, setup and results: text, tables and figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inlier._internal.atomic import replacing
from inlier.datasets import Images
from inlier.estimators import RobustMean
from inlier.l0.fit import Options
from inlier.research.comparison import Comparison
from inlier.research.comparison.registry import PAPER, Method, methods
from inlier.research.comparison.run import carry_out, plan

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Called with the name of a stage, the number of steps done, and their total number.
Watch = Callable[[str, int, int], object]

# Seconds for one fit.
TIMEOUT = 120.0
# Errors below it are what summing the rows in another order leaves.
ROUNDING = 1e-9

STYLE: dict[Any, Any] = {
    "font.size": 9.0, "axes.titlesize": 9.0, "legend.fontsize": 8.0, "legend.frameon": False,
    "axes.spines.top": False, "axes.spines.right": False, "axes.axisbelow": True,
    "axes.grid": True, "grid.color": "0.9", "grid.linewidth": 0.6,
}  # fmt: skip


# The methods --------------------------------------------------------------------------------------


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


# The results --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Drawing:
    """A figure with the name of its file and its caption."""

    name: str
    caption: str
    figure: Figure


@dataclass(frozen=True)
class Chapter:
    """A chapter of the reproduction, with title, text and tables in Markdown."""

    title: str
    text: str
    tables: Sequence[str] = ()
    drawings: Sequence[Drawing] = ()
    worse: Sequence[str] = ()  # cells of our own methods that are worse than printed

    def markdown(self) -> str:
        """Return the chapter as it stands on the page."""
        drawings = (f"![{drawing.caption}]({drawing.name}.svg)" for drawing in self.drawings)
        return "\n\n".join((f"## {self.title}", self.text, *drawings, *self.tables))


@dataclass(frozen=True)
class Setup:
    """Settings of all experiments."""

    trials: int  # draws of each cell of the paper's tables
    quick: bool  # run every experiment on less data
    n_jobs: int
    store: Path  # the folder of finished fits
    watch: Watch = field(repr=False)
    pictures: Images | None = None  # the user's faces

    def compare(
        self, stage: str, models: Sequence[Any], names: tuple[str, ...], trials: int
    ) -> list[Comparison]:
        """Compare methods on models, each with the true alpha or sigma if it needs it."""
        methods = {name: COLUMNS[name].method for name in names}
        return carry_out(
            [plan(model, methods, trials=trials) for model in models],
            n_jobs=self.n_jobs,
            timeout=TIMEOUT,
            store=self.store,
            watch=lambda done, total, method: self.watch(stage, done, total),
        )


def markdown(records: Iterable[Mapping[str, object]], text: Sequence[str] = ()) -> str:
    """Return a table of records with the same keys: figures, but for the first one and `text`."""
    records = list(records)
    if not records:
        return ""
    left = (next(iter(records[0])), *text)
    rule = "|" + "".join("---|" if key in left else "---:|" for key in records[0])
    cells: list[list[object]] = [list(records[0])]
    cells += [list(record.values()) for record in records]
    head, *lines = ("| " + " | ".join(map(str, line)) + " |" for line in cells)
    return "\n".join([head, rule, *lines])


def number(error: float) -> str:
    """Return three digits, all of those before the point; "0" for what is rounding, "-" for nan."""
    if error != error:
        return "-"
    return "0" if error < ROUNDING else f"{error:.0f}" if error >= 1000.0 else f"{error:.3g}"


@contextmanager
def styled(width: float, height: float) -> Iterator[Figure]:
    """Yield a new figure in this style; pyplot does not manage it, and nobody has to close it."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(STYLE):
        yield Figure(figsize=(width, height), layout="constrained")


def save(figure: Figure, path: Path) -> Path:
    """Save as SVG, the same bytes each time."""
    from matplotlib import rc_context

    with rc_context(STYLE | {"svg.hashsalt": "inlier"}), replacing(path) as unfinished:
        figure.savefig(unfinished, format="svg", metadata={"Date": None})
    return path
