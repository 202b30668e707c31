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

from inlier._internal.errors import Argument, ArgumentError
from inlier.cli import interruptible
from inlier.cli.fitting import Fitted
from inlier.cli.options import INTERRUPTED, MISUSED
from inlier.results.explanation import Explanation, shortened
from inlier.results.summary import Summary
from inlier.results.wording import COMMAND_LINE, remarks
from inlier.verdict.verdict import Step

# Arguments that are not called like their options.
OPTIONS = {"path": "clean", "random_state": "seed"}


class Output(Console):
    """Standard output, for people: lines are as long as they are."""

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
    """Print an error in one line, and exit with its code."""
    try:
        with interruptible():
            yield
    except KeyboardInterrupt:
        console.print(f"Interrupted. {interrupted}")
        raise typer.Exit(INTERRUPTED) from None
    except BrokenPipeError:
        # The reader of our output has gone.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(0) from None
    except (ValueError, ImportError, OSError, MemoryError) as error:
        spelled = error.spelled(as_option) if isinstance(error, ArgumentError) else str(error)
        text = spelled or type(error).__name__
        console.print(f"Error: {text}", markup=False, highlight=False, soft_wrap=True)
        raise typer.Exit(MISUSED) from None


def as_option(argument: Argument) -> str:
    """Spell an argument as on the command line: missing="drop" is --missing drop."""
    name = OPTIONS.get(argument.name, argument.name).replace("_", "-")
    return f"--{name}" if argument.value in (None, ...) else f"--{name} {argument.value}"


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


# Features that are named beside a row.
FEATURES = 3
LONGEST = 28
# Rows that are shown if none was removed.
KEPT_SHOWN = 3


def show(console: Console, fit: Fitted) -> None:
    """Print the verdict."""
    summary: Summary = fit.result._summary
    if fit.group is not None:
        console.rule(printable(f"group {fit.group}"), align="left")
    console.print(f"[bold]{printable(headline(summary))}[/bold]")
    console.print(printable(summary.distance()))
    console.print(printable(summary.statement()))
    if said := remarks(fit.result, COMMAND_LINE):
        label = "[yellow]Note:[/yellow] " if fit.weak or not summary.converged else ""
        console.print(label + printable(said))
    for i, group in enumerate(summary.groups):
        said = f"  group {i + 1}: {group}; farthest out in {summary.group_shift(i)}"
        console.print(printable(said))
    for i, suspect in enumerate(summary.suspects):
        said = f"  suspect {i + 1}: {suspect} (--drop {i + 1} removes it)"
        console.print(printable(said))
    console.print(_worst_rows(summary), soft_wrap=False)


def headline(summary: Summary) -> str:
    """Say how many rows are kept."""
    n, removed = summary.n, summary.n_removed
    if removed == 0:
        return f"Kept all {n:,} rows."
    return f"Kept {n - removed:,} of {n:,} rows; removed {removed:,} ({100.0 * removed / n:.3g}%)."


def show_explanation(console: Console, explanation: Explanation, name: str) -> None:
    """Print why a row got its score."""
    verdict = "removed" if explanation.removed else "kept"
    console.print(
        f"[bold]{printable(name)}: {verdict}.[/bold] Its score is {explanation.score:.4g}; the cut "
        f"is at {explanation.threshold:.4g}."
    )
    for part in explanation.directions:
        console.print(f"  {part.contribution:10.4g}  {printable(part.name)}")
    for words in (explanation.suspected, *explanation.cells):
        if words:
            console.print(f"  {printable(words)}")
    features = explanation.features()
    table = Table("feature", box=None, pad_edge=False)
    for head in ("value", "expected", "contribution"):
        table.add_column(head, justify="right")
    for f in features:
        value = "missing" if f.missing else f"{f.value:.6g}"
        table.add_row(printable(f.name), value, f"{f.expected:.6g}", f"{f.contribution:+.4g}")
    rest = len(explanation.contributions) - len(features)
    if rest:
        others = float(explanation.contributions.sum()) - sum(f.contribution for f in features)
        table.add_row(f"{rest:,} other columns", "", "", f"{others:+.4g}")
    console.print(table, soft_wrap=False)
    console.print("Contributions add up to the score; those below 0 speak for the row.")


def _worst_rows(summary: Summary) -> Table:
    worst = [why for why in summary.worst if not summary.support[why.row]]
    title = "The worst rows"
    if not worst:
        worst, title = list(summary.worst[:KEPT_SHOWN]), "The rows farthest out; all were kept"
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    table.add_column("row", overflow="fold")
    table.add_column("score", justify="right")
    table.add_column("because of", overflow="fold")
    for explanation in worst:
        name = shortened(summary.row_name(explanation.row), LONGEST)
        reasons = "\n".join(map(printable, _reasons(summary, explanation)))
        table.add_row(printable(name), f"{explanation.score:.3g}", reasons)
    return table


def _reasons(summary: Summary, explanation: Explanation) -> list[str]:
    """List the gross cells of a row; if there are none, its features."""
    cells = summary.cells_of(explanation.row)
    if cells:
        shown = [str(replace(c, name=shortened(c.name, LONGEST))) for c in cells[:FEATURES]]
        rest = len(cells) - len(shown)
        more = f"and {rest} more gross {'cell' if rest == 1 else 'cells'}"
        return [*shown, more] if rest else shown
    features = (
        f"{shortened(f.name, LONGEST)} = {f.value:.4g} (expected {f.expected:.4g})"
        for f in explanation.features(FEATURES)
        if f.contribution > 0.0 and not f.missing
    )
    return [", ".join(features)]
