"""Terminal output: verdicts and explanations, progress, and errors in one line."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from inlier.cli import interruptible
from inlier.cli.fitting import Fitted
from inlier.cli.options import with_options_spelled
from inlier.results.explanation import Explanation, shortened
from inlier.results.summary import Summary
from inlier.results.wording import COMMAND_LINE, remarks
from inlier.verdict import Step


class Output(Console):
    """Standard output, for people: lines are not wrapped."""

    def __init__(self) -> None:
        super().__init__(highlight=False, emoji=False, soft_wrap=True)

    def on_broken_pipe(self) -> None:
        """Rich would end the process with a code that has another meaning here."""
        raise BrokenPipeError


def printable(text: str) -> str:
    """Escape markup, and replace control characters."""
    return escape("".join(c if c.isprintable() else "\ufffd" for c in text))


@contextmanager
def reporting_errors(
    console: Console, interrupted: str = "No file was left half written."
) -> Iterator[None]:
    """Print an error in one line, and exit with 130 if interrupted, with 2 otherwise."""
    try:
        with interruptible():
            yield
    except KeyboardInterrupt:
        console.print(f"Interrupted. {interrupted}")
        raise typer.Exit(130) from None
    except BrokenPipeError:
        # The reader of our output has gone.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(0) from None
    except (ValueError, ImportError, OSError, MemoryError) as error:
        text = with_options_spelled(str(error)) or type(error).__name__
        console.print(f"Error: {text}", markup=False, highlight=False, soft_wrap=True)
        raise typer.Exit(2) from None


@contextmanager
def progress(console: Console, quiet: bool) -> Iterator[Callable[[str, Step | None], None]]:
    """Show the progress on a terminal."""
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    hidden = quiet or not console.is_terminal
    bar = Progress(*columns, console=console, transient=True, disable=hidden)
    # One that is hidden is not begun: before rich 15 it ends in an empty line.
    with nullcontext() if hidden else bar:
        task = bar.add_task("reading", total=None)

        def tell(what: str, step: Step | None = None) -> None:
            if step is not None:
                what = (
                    f"{what}: {step.stage}, {step.n_removed:,.0f} rows removed, "
                    f"{step.n_passes} passes over the data"
                )
            bar.update(task, description=what)

        yield tell


def show(console: Console, fit: Fitted) -> None:
    """Print the verdict."""
    result, summary = fit.result, fit.result._summary
    n, removed = summary.n, summary.n_removed
    headline = f"Kept all {n:,} rows."
    if removed:
        part = 100.0 * removed / n
        headline = f"Kept {n - removed:,} of {n:,} rows; removed {removed:,} ({part:.3g}%)."
    if fit.group is not None:
        console.rule(printable(f"group {fit.group}"), align="left")
    console.print(f"[bold]{headline}[/bold]")
    console.print(printable(summary.distance()))
    console.print(printable(summary.statement()))
    if said := remarks(result, COMMAND_LINE):
        label = "[yellow]Note:[/yellow] " if result._outcome.weak or not result.converged else ""
        console.print(label + printable(said))
    for i, group in enumerate(summary.groups):
        said = f"  group {i + 1}: {group}; farthest out in {summary.group_shift(i)}"
        console.print(printable(said))
    for i, suspect in enumerate(summary.suspects):
        said = f"  suspect {i + 1}: {suspect} (--drop {i + 1} removes it)"
        console.print(printable(said))
    if any(cell.set_aside for cell in summary.cells):
        console.print(_cells_set_aside(summary), soft_wrap=False)
    console.print(_worst_rows(summary), soft_wrap=False)


def show_explanation(console: Console, explanation: Explanation, name: str) -> None:
    """Print why a row got its score, with its name in place of its index."""
    first, *lines = str(explanation).splitlines()
    console.print(f"[bold]{printable(name)}[/bold]: {printable(first.partition(': ')[2])}")
    for line in lines:
        console.print(printable(line))
    console.print("Contributions add up to the score; negative ones speak for the row.")


def _cells_set_aside(summary: Summary, most: int = 10) -> Table:
    """List the cells that were set aside, by row."""
    cells = [cell for cell in summary.cells if cell.set_aside]
    title = "The extreme cells that were set aside"
    if len(cells) > most:
        title += f", the first {most} of {summary.n_set_aside.sum():,}"
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    table.add_column("row", overflow="fold")
    table.add_column("cell", overflow="fold")
    for cell in cells[:most]:
        name = printable(_short(summary.row_name(cell.row)))
        table.add_row(name, printable(str(replace(cell, name=_short(cell.name)))))
    return table


def _worst_rows(summary: Summary) -> Table:
    """List the worst of the removed rows or, if none was removed, three that are farthest out."""
    worst = [why for why in summary.worst if not summary.support[why.row]]
    title = "The worst rows"
    if not worst:
        worst, title = list(summary.worst[:3]), "The rows farthest out; all were kept"
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    table.add_column("row", overflow="fold")
    table.add_column("score", justify="right")
    table.add_column("because of", overflow="fold")
    for why in worst:
        name = printable(_short(summary.row_name(why.row)))
        table.add_row(name, f"{why.score:.3g}", "\n".join(map(printable, _reasons(summary, why))))
    return table


def _reasons(summary: Summary, explanation: Explanation, most: int = 3) -> list[str]:
    """List the extreme cells of a row; if there are none, its features."""
    cells = summary.cells_of(explanation.row)
    if cells:
        shown = [str(replace(cell, name=_short(cell.name))) for cell in cells[:most]]
        rest = len(cells) - len(shown)
        more = f"and {rest} more extreme {'cell' if rest == 1 else 'cells'}"
        return [*shown, more] if rest else shown
    features = (
        f"{_short(f.name)} = {f.value:.4g} (expected {f.expected:.4g})"
        for f in explanation.features(most)
        if f.contribution > 0.0 and not f.missing
    )
    return [", ".join(features)]


def _short(name: str) -> str:
    return shortened(name, 28)
