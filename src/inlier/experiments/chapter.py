"""What an experiment needs, and what it leaves: text, tables, figures and tidy results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from joblib import Parallel, delayed  # type: ignore[import-untyped]

from inlier.comparison import Comparison
from inlier.comparison.run import Plan, carry_out, plan
from inlier.comparison.table import COLUMNS
from inlier.datasets import Images
from inlier.experiments.columns import contenders

if TYPE_CHECKING:
    from matplotlib.figure import Figure

T = TypeVar("T")

# Told the name of a stage, how many of its steps are done, and of how many.
Watch = Callable[[str, int, int], object]

# One fit may take so long.
TIMEOUT = 120.0


@dataclass(frozen=True)
class PrintableTable:
    """A table that can be written in three ways.

    Attributes
    ----------
    caption : str
    head : sequence of str
    rows : sequence of sequences of str
    """

    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]

    def markdown(self) -> str:
        """For docs."""
        return f"**{self.caption}**\n\n{self._drawn('pipe')}"

    def html(self) -> str:
        """For browsers."""
        body = self._drawn("html").removeprefix("<table>")
        return f"<table>\n<caption>{escape(self.caption)}</caption>{body}"

    def latex(self) -> str:
        """For papers; it needs the package booktabs."""
        return "\n".join(
            (
                r"\begin{table}",
                r"\centering",
                rf"\caption{{{_in_latex(self.caption)}}}",
                self._drawn("latex_booktabs"),
                r"\end{table}",
            )
        )

    def _drawn(self, form: str) -> str:
        from tabulate import tabulate  # an extra, asked for before anything is run

        rows, head = self.rows, self.head
        if form == "pipe":  # it does not escape its own sign
            rows = [[cell.replace("|", "\\|") for cell in row] for row in rows]
            head = [cell.replace("|", "\\|") for cell in head]
        align = ("left", *("right" for _ in self.head[1:]))
        return tabulate(rows, headers=head, tablefmt=form, disable_numparse=True, colalign=align)


@dataclass(frozen=True)
class Drawing:
    """A figure, its name as a file and what it shows."""

    name: str
    caption: str
    figure: Figure


@dataclass(frozen=True)
class Chapter:
    """A chapter of the reproduction.

    Attributes
    ----------
    title, text : str
        Markdown.
    tables, drawings : sequence
    lines : sequence of dict
        Tidy results, one for each fit.
    worse : sequence of str
        Cells of ours that are worse than printed.
    """

    title: str
    text: str
    tables: Sequence[PrintableTable] = ()
    drawings: Sequence[Drawing] = ()
    lines: Sequence[dict[str, Any]] = ()
    worse: Sequence[str] = ()


@dataclass(frozen=True)
class Setup:
    """How experiments are run.

    Attributes
    ----------
    trials : int
        Draws of each cell of the paper's tables.
    quick : bool
        A look at everything, on less of it.
    n_jobs : int
    store : Path
        Of finished fits.
    watch : callable
    pictures : Images or None
        The user's faces.
    """

    trials: int
    quick: bool
    n_jobs: int
    store: Path
    watch: Watch = field(repr=False)
    pictures: Images | None = None

    @property
    def timed_store(self) -> Path:
        """Of fits that ran one at a time."""
        return self.store.with_stem(f"{self.store.stem}-timed")

    def compare(
        self,
        stage: str,
        models: Sequence[Any],
        names: tuple[str, ...],
        trials: int,
        timed: bool = False,
    ) -> list[Comparison]:
        """Some methods on some models, each told the truth that it needs.

        If seconds matter, fits run one at a time, since they would share the memory's bandwidth,
        and none is taken from a run in which they did not.
        """
        plans: list[Plan] = [plan(model, contenders(names), trials=trials) for model in models]
        return carry_out(
            plans,
            n_jobs=1 if timed else self.n_jobs,
            timeout=TIMEOUT,
            store=self.timed_store if timed else self.store,
            watch=lambda done, total, method: self.watch(stage, done, total),
        )

    def each(
        self, stage: str, function: Callable[..., T], arguments: Sequence[tuple[Any, ...]]
    ) -> list[T]:
        """A function of each of some arguments, in parallel."""
        calls = (delayed(function)(*of_one) for of_one in arguments)
        self.watch(stage, 0, len(arguments))
        found = []
        for answer in Parallel(n_jobs=self.n_jobs, return_as="generator")(calls):
            found.append(answer)
            self.watch(stage, len(found), len(arguments))
        return found


# Of the tidy results: what a comparison knows of a fit, but for messages, and where it belongs.
OF_FIT = COLUMNS[1:-1]
RESULT_COLUMNS = ("experiment", "data", "n", "d", "alpha", "sigma_factor", *OF_FIT)


def tidy(experiment: str, model: Any, comparison: Comparison) -> list[dict[str, Any]]:
    """A line for each fit."""
    about = {
        "experiment": experiment,
        "data": getattr(model, "name", type(model).__name__),
        "n": model.n,
        "d": model.d,
        "alpha": model.alpha,
        "sigma_factor": getattr(model, "factor", 1.0),
    }
    return [
        {**about, **{name: getattr(record, name) for name in OF_FIT}}
        for record in comparison.records
    ]


def draws(trials: int) -> str:
    """In words."""
    return "one draw" if trials == 1 else f"{trials} draws"


def number(value: float | None) -> str:
    """Three digits; "-" where there is none."""
    if value is None or value != value:
        return "-"
    return f"{value:.0f}" if value >= 1000.0 else f"{value:.3g}"


# What means something else in LaTeX.
_LATEX: dict[str, str | int | None] = {sign: f"\\{sign}" for sign in "&%#_${}"}
_LATEX |= {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}"}


def _in_latex(text: str) -> str:
    return text.translate(str.maketrans(_LATEX))
