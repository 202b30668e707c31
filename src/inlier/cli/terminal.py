"""Terminal output: verdicts and explanations, progress, and errors in one line."""

import os
import shlex
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import typer
from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table

from inlier._internal.typing import Array
from inlier.cli.fitting import Fitted
from inlier.data.base import RowNumbers
from inlier.report.numbers import MINUS, counted, decimals_for, fixed, signed
from inlier.results.cells import CODE, Cell, reasons
from inlier.results.explanation import Explanation, shortened
from inlier.results.summary import Summary
from inlier.results.wording import remarks

# What a message says one can do, as it is done here.
SPELLED = {"result.groups": "the groups", "result.keep": "--keep", "Pass sigma": "Give --sigma"}
# Kinds of cells, codes and rows that are listed, at most.
MOST_LISTED = 8
# Characters of the names of columns that are on one line, at least.
LEAST_NAME = 14
# Columns whose means are, and the heads of their table.
MOST_COLUMNS = 10
MEANS = ("robust mean", "std error", "plain mean", "shift", "cells")


class Output(Console):
    """Standard output, for people: wrapped on a terminal, and not in a pipe."""

    def __init__(self) -> None:
        super().__init__(highlight=False, emoji=False)
        self.soft_wrap = not self.is_terminal

    def item(self, text: str, indent: int = 2) -> None:
        """Print an item of a list; on a terminal, its further lines are indented too."""
        if self.soft_wrap:
            self.print(" " * indent + printable(text))
        else:
            self.print(Padding(printable(text), (0, 0, 0, indent)))

    def on_broken_pipe(self) -> None:
        """Rich would end the process with a code that has another meaning here."""
        raise BrokenPipeError


def printable(text: str) -> str:
    """Escape markup, and replace control characters."""
    return escape("".join(c if c.isprintable() else "\ufffd" for c in text))


@contextmanager
def reporting_errors(
    console: Console,
    spelled: Callable[[str], str] = str,
    interrupted: str = "No file was left half written.",
) -> Iterator[None]:
    """Print an error in one line, `spelled` as on the command line.

    Exit with 130 if interrupted, with 2 otherwise.
    """
    try:
        yield
    except KeyboardInterrupt:
        console.print(f"Interrupted. {interrupted}")
        raise typer.Exit(130) from None
    except BrokenPipeError:
        # The reader of our output has gone.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(0) from None
    except (ValueError, ImportError, OSError, MemoryError) as error:
        text = spelled(str(error)) or type(error).__name__
        console.print(f"Error: {text}", markup=False, highlight=False, soft_wrap=True)
        raise typer.Exit(2) from None


def show(console: Output, fit: Fitted) -> None:
    """Print the mean, then what was left out, by reason."""
    result, summary = fit.result, fit.result._summary
    n, removed, aside = summary.n, summary.n_removed, summary.n_set_aside
    headline = f"Kept all {n:,} rows"
    if removed:
        part = 100.0 * removed / n
        headline = f"Kept {n - removed:,} of {n:,} rows; removed {removed:,} ({part:.3g}%)"
    if aside.any():
        where = counted(int(np.count_nonzero(aside)), "column")
        headline += f"; set aside {counted(int(aside.sum()), 'cell')} in {where}"
    if fit.group is not None:
        console.rule(printable(f"group {fit.group}"), align="left")
    console.print(f"[bold]{headline}.[/bold]")
    if summary.d > MOST_COLUMNS:
        which = "first" if summary.is_plain else "most shifted"
        console.print(f"The {which} {MOST_COLUMNS} of {summary.d:,} columns:")
    console.print(_means(summary), soft_wrap=False)
    if not summary.is_plain:
        said = "Shift: plain less robust mean, in standard errors. Cells: how many were set aside."
        console.print(said, style="dim")
    if aside.any():
        console.print("[bold]Set aside[/bold]")
        _show_reasons(console, summary, [cell for cell in summary.cells if cell.set_aside])
        partners = [c for c in summary.cells if not c.set_aside and summary.support[c.row]]
        _show_reasons(console, summary, partners, done=" (kept)")
    if removed:
        console.print("[bold]Removed[/bold]")
    for i, group in enumerate(summary.groups):
        rows = _listed_rows(summary, np.flatnonzero(summary.group_of == i))
        far = summary.group_shift(i)
        console.item(f"group {i + 1}: {group}; farthest out in {far}: {rows}")
        cells = [c for c in summary.cells if not c.set_aside and summary.group_of[c.row] == i]
        _show_reasons(console, summary, cells, 4)
    others = np.flatnonzero(~summary.support & (summary.group_of < 0))
    if len(others):
        console.item(
            f"{counted(len(others), 'row')} beyond the cut: {_listed_rows(summary, others)}"
        )
    if summary.suspects:
        console.print("[bold]Seen, and kept[/bold]")
    for i, suspect in enumerate(summary.suspects):
        console.item(f"suspect {i + 1}: {suspect} (--drop {i + 1} removes it)")
    if summary.is_plain and summary.worst:
        far = _listed_rows(summary, np.array([why.row for why in summary.worst[:3]]))
        console.print(printable(f"Farthest out, and kept: {far}."))
    if said := remarks(result):
        for in_python, here in SPELLED.items():
            said = said.replace(in_python, here)
        label = "[yellow]Note:[/yellow] " if result._outcome.weak or not result.converged else ""
        console.print(label + printable(said))
    console.print(printable(summary.certificate.statement()))


def show_next(
    console: Console, fits: Sequence[Fitted], repairs: int, written: Collection[str]
) -> None:
    """Print the options for what to do next, but for what was `written`; of `repairs`, how many."""
    summaries = [fit.result._summary for fit in fits]
    cells = [cell for summary in summaries for cell in summary.cells]
    codes = sorted({cell.value for cell in cells if cell.slip.like == CODE})
    tips = {}
    if codes:
        markers = ",".join(f"{code:.15g}" for code in codes[:MOST_LISTED])
        tips["read these codes as missing values"] = f"--na-values={markers}"
    if repairs and "fix" not in written:
        what = f"repair {counted(repairs, 'cell')}, and list every change"
        tips[what] = "--clean clean.csv --fix changes.csv"
    elif "clean" not in written and not all(summary.is_plain for summary in summaries):
        tips["write the rows without what was left out"] = "--clean clean.csv"
    if all(summary.groups for summary in summaries):  # of --group-by, it is put back in each
        tips["put group 1 back"] = "--keep 1"
    worst = [summary for summary in summaries if summary.worst]
    if worst:
        summary = max(worst, key=lambda one: one.worst[0].score)
        name = summary.row_name(summary.worst[0].row)
        if isinstance(summary.names, RowNumbers):
            name = name.removeprefix("row ")
        tips["explain a row"] = f"--explain={shlex.quote(name)}"
    if tips:
        console.print("[bold]Next, the same command with[/bold]")
    width = max(map(len, tips.values()), default=0)
    for what, tip in tips.items():
        console.print(printable(f"  {tip:{width}}  to {what}"), soft_wrap=True)


def show_explanation(console: Console, explanation: Explanation, name: str) -> None:
    """Print why a row got its score, with its name in place of its index."""
    first, *lines = str(explanation).splitlines()
    console.print(f"[bold]{printable(name)}[/bold]: {printable(first.partition(': ')[2])}")
    for line in lines:
        console.print(printable(line))
    console.print("Contributions add up to the score; negative ones speak for the row.")


def _means(summary: Summary) -> Table:
    """List the means of the columns; of many, those that are shifted most."""
    order, shift, plain = np.arange(summary.d), summary.shift_in_errors, summary.is_plain
    if summary.d > MOST_COLUMNS:
        size = np.where(np.isnan(shift), np.inf, np.abs(shift)) * (not plain)
        order = np.argsort(-size, kind="stable")[:MOST_COLUMNS]
    digits, finer = decimals_for(summary.deviation), decimals_for(summary.standard_error)
    names = [printable(_short(summary.column_name(j))) for j in order.tolist()]
    table = Table(box=None, pad_edge=False)
    longest = max(map(len, names), default=0)
    table.add_column("column", overflow="fold", min_width=min(longest, LEAST_NAME))
    for head in ["mean", "std error"] if plain else MEANS:
        table.add_column(head, justify="right")
    for name, j in zip(names, order.tolist(), strict=True):
        shown = [fixed(summary.robust[j], digits[j]), fixed(summary.standard_error[j], finer[j])]
        if not plain:
            shown += [fixed(summary.plain[j], digits[j]), signed(shift[j], 1)]
            shown.append(f"{summary.n_set_aside[j]:,}")
        table.add_row(name, *(text.replace(MINUS, "-") for text in shown))
    return table


def _show_reasons(
    console: Output, summary: Summary, cells: Sequence[Cell], indent: int = 2, done: str = ""
) -> None:
    """Print what would explain some cells, and in which rows they are."""
    found = reasons(replace(cell, name=_short(cell.name)) for cell in cells)
    for reason in found[:MOST_LISTED]:
        rows = np.unique([cell.row for cell in reason.cells])
        console.item(f"{reason}{done}: {_listed_rows(summary, rows)}", indent)
    if len(found) > MOST_LISTED:
        console.item(f"and {counted(len(found) - MOST_LISTED, 'other kind')} of cells", indent)


def _listed_rows(summary: Summary, rows: Array) -> str:
    """Name some rows."""
    names = [_short(summary.row_name(i)) for i in rows[:MOST_LISTED].tolist()]
    if names and isinstance(summary.names, RowNumbers):
        names = [name.removeprefix("row ") for name in names]
        names[0] = f"{'row' if len(rows) == 1 else 'rows'} {names[0]}"
    more = f" and {len(rows) - len(names):,} more" if len(rows) > len(names) else ""
    return f"{', '.join(names)}{more}"


def _short(name: str) -> str:
    return shortened(name, 28)
