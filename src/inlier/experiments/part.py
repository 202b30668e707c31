"""What an experiment needs, and what it leaves: text, tables, figures and tidy results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from joblib import Parallel, delayed  # type: ignore[import-untyped]
from tabulate import tabulate

from inlier.comparison import Comparison
from inlier.comparison.run import Plan, carry_out, plan
from inlier.experiments.columns import contenders

if TYPE_CHECKING:
    from matplotlib.figure import Figure

T = TypeVar("T")

# Told the name of a stage, how many of its steps are done, and of how many.
Watch = Callable[[str, int, int], object]

# One fit may take so long.
TIMEOUT = 120.0


@dataclass(frozen=True)
class Table:
    """A table that can be written in three ways.

    Attributes
    ----------
    caption : str
    head : sequence of str
    rows : sequence of sequences of str
    note : str
        What a reader has to know, below the table.
    """

    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""

    def markdown(self) -> str:
        """For docs."""
        text = f"**{self.caption}**\n\n{self._drawn('github')}"
        return f"{text}\n\n{self.note}" if self.note else text

    def html(self) -> str:
        """For browsers."""
        body = self._drawn("html").removeprefix("<table>")
        caption = f"<table>\n<caption>{_escaped(self.caption)}</caption>"
        return f"{caption}{body}" + (f"\n<p>{_escaped(self.note)}</p>" if self.note else "")

    def latex(self) -> str:
        """For papers; it needs the package booktabs."""
        caption = f"{self.caption}. {self.note}".rstrip(". ") + "."
        return "\n".join(
            (
                r"\begin{table}",
                r"\centering",
                rf"\caption{{{_in_latex(caption)}}}",
                self._drawn("latex_booktabs"),
                r"\end{table}",
            )
        )

    def _drawn(self, form: str) -> str:
        align = ("left", *("right" for _ in self.head[1:]))
        return tabulate(
            self.rows, headers=self.head, tablefmt=form, disable_numparse=True, colalign=align
        )


@dataclass(frozen=True)
class Drawing:
    """A figure, its name as a file and what it shows."""

    name: str
    caption: str
    figure: Figure


@dataclass(frozen=True)
class Part:
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
    tables: Sequence[Table] = ()
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
    pictures : path or None
        The user's faces.
    """

    trials: int
    quick: bool
    n_jobs: int
    store: Path
    watch: Watch = field(repr=False)
    pictures: Path | None = None

    def compare(
        self,
        stage: str,
        models: Sequence[Any],
        names: tuple[str, ...],
        trials: int,
        n_jobs: int | None = None,
    ) -> list[Comparison]:
        """Some methods on some models, each told the truth that it needs."""
        plans: list[Plan] = [plan(model, contenders(names), trials=trials) for model in models]
        return carry_out(
            plans,
            n_jobs=self.n_jobs if n_jobs is None else n_jobs,
            timeout=TIMEOUT,
            store=self.store,
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


def tidy(experiment: str, model: Any, comparison: Comparison, **more: Any) -> list[dict[str, Any]]:
    """A line for each fit."""
    about = {"n": model.n, "d": model.d, "alpha": model.alpha}
    return [
        {
            "experiment": experiment,
            "data": getattr(model, "name", type(model).__name__),
            **about,
            **more,
            "method": record.method,
            "trial": record.trial,
            "seed": record.seed,
            "status": record.status,
            "error": record.error,
            "exact": record.exact,
            "removed": record.removed,
            "passes": record.passes,
            "seconds": record.seconds,
        }
        for record in comparison.records
    ]


def number(value: float | None) -> str:
    """Three digits, as in the paper; "-" where there is none."""
    if value is None or value != value:
        return "-"
    return "0" if value == 0.0 else f"{value:.3g}"


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _in_latex(text: str) -> str:
    for sign in "&%#_$":
        text = text.replace(sign, f"\\{sign}")
    return text
