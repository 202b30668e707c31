"""The setup of an experiment, and its result: text, tables, figures and tidy records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inlier.research.comparison import Comparison
from inlier.research.comparison.plan import plan
from inlier.research.comparison.run import carry_out
from inlier.research.comparison.table import COLUMNS, markdown
from inlier.research.datasets.base import Images
from inlier.research.reproduce.methods import COLUMNS as METHODS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Called with the name of a stage, the number of steps done, and their total number.
Watch = Callable[[str, int, int], object]

# Seconds for one fit.
TIMEOUT = 120.0


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
    lines: Sequence[dict[str, Any]] = ()  # tidy records, one for each fit
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
        methods = {name: METHODS[name].method for name in names}
        return carry_out(
            [plan(model, methods, trials=trials) for model in models],
            n_jobs=self.n_jobs,
            timeout=TIMEOUT,
            store=self.store,
            watch=lambda done, total, method: self.watch(stage, done, total),
        )


def table(caption: str, head: Sequence[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table with its caption, in Markdown."""
    return f"**{caption}**\n\n{markdown(head, rows)}"


def table_by_method(caption: str, head: Sequence[str], cells: Mapping[str, Iterable[str]]) -> str:
    """Return a table with a row for each method, in Markdown."""
    return table(caption, head, ([METHODS[name].label, *row] for name, row in cells.items()))


# Columns of the tidy records: the experiment, and all fields of a fit except messages.
FIT_COLUMNS = COLUMNS[1:-1]
RESULT_COLUMNS = ("experiment", "data", "n", "d", "alpha", *FIT_COLUMNS)


def tidy(
    experiment: str, models: Sequence[Any], comparisons: Sequence[Comparison]
) -> list[dict[str, Any]]:
    """Return a record for each fit of comparisons on models."""
    found = []
    for model, comparison in zip(models, comparisons, strict=True):
        data = getattr(model, "name", type(model).__name__)
        values = (experiment, data, model.n, model.d, model.alpha)
        for record in comparison.records:
            fit = (getattr(record, name) for name in FIT_COLUMNS)
            found.append(dict(zip(RESULT_COLUMNS, (*values, *fit), strict=True)))
    return found


def draws(trials: int) -> str:
    """Return the number of draws in words."""
    return "one draw" if trials == 1 else f"{trials} draws"


def number(value: float | None) -> str:
    """Format with three digits; "-" for a missing value."""
    if value is None or value != value:
        return "-"
    return f"{value:.0f}" if value >= 1000.0 else f"{value:.3g}"
