"""The setup of an experiment, and its result: text, tables and figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inlier._internal.atomic import replacing
from inlier.datasets import Images
from inlier.research.comparison import Comparison
from inlier.research.comparison.run import carry_out, plan
from inlier.research.reproduce.methods import COLUMNS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Called with the name of a stage, the number of steps done, and their total number.
Watch = Callable[[str, int, int], object]

# Seconds for one fit.
TIMEOUT = 120.0

STYLE: dict[Any, Any] = {
    "font.size": 9.0, "axes.titlesize": 9.0, "legend.fontsize": 8.0, "legend.frameon": False,
    "axes.spines.top": False, "axes.spines.right": False, "axes.axisbelow": True,
    "axes.grid": True, "grid.color": "0.9", "grid.linewidth": 0.6,
}  # fmt: skip


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


def number(value: float) -> str:
    """Format with three digits; "-" for nan."""
    if value != value:
        return "-"
    return f"{value:.0f}" if value >= 1000.0 else f"{value:.3g}"


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
