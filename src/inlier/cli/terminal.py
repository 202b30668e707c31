"""What a terminal gets to see: progress, and what went wrong in one line."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from inlier.cli import interruptible
from inlier.cli.options import INTERRUPTED, MISUSED
from inlier.results.records import Step

# Of the functions behind the commands; each is an option here.
ARGUMENTS = (
    *("columns", "exclude", "id_column", "group_by", "missing", "na_values", "delimiter", "header"),
    *("key", "table", "query", "max_bytes", "sigma", "assume", "scatter", "p", "threshold"),
    "point",
)
QUOTES = "\"'"


class Output(Console):
    """Standard output, for people."""

    def __init__(self) -> None:
        super().__init__(highlight=False, emoji=False)

    def on_broken_pipe(self) -> None:
        """Rich would end the process with a code that has another meaning here."""
        raise BrokenPipeError


def printable(text: str) -> str:
    """Text as it is, not as markup; without what a terminal would obey."""
    return escape("".join(c if c.isprintable() else "\ufffd" for c in text))


@contextmanager
def complaints(console: Console) -> Iterator[None]:
    """What goes wrong is said in one line, with an exit code."""
    try:
        with interruptible():
            yield
    except KeyboardInterrupt:
        console.print("Interrupted. No file was left half written.")
        raise typer.Exit(INTERRUPTED) from None
    except BrokenPipeError:
        # Who reads our output has gone; nobody is left to complain to.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(0) from None
    except (ValueError, ImportError, OSError, MemoryError) as error:
        text = _spoken(str(error)) or type(error).__name__
        console.print(f"Error: {text}", markup=False, highlight=False, soft_wrap=True)
        raise typer.Exit(MISUSED) from None


def _spoken(text: str) -> str:
    """Arguments as they are called here: missing="drop" is --missing drop."""

    def option(found: re.Match[str]) -> str:
        return f"--{found[1].replace('_', '-')} {found[2].strip(QUOTES)}"

    names = "|".join(ARGUMENTS)
    text = re.sub(rf'\b({names})=("[^"]*"|\'[^\']*\'|\.\.\.|[\w-]+)', option, text)
    text = re.sub(rf"^({names}) ", lambda found: f"--{found[1].replace('_', '-')} ", text)
    text = re.sub(rf"\bleave ({names}) out", lambda found: f"leave --{found[1]} out", text)
    return re.sub(r"^path=", "--clean ", text)


@contextmanager
def progress(console: Console, quiet: bool) -> Iterator[Callable[[str, Step | None], None]]:
    """Says on a terminal what is going on, and how far it is."""
    with Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=quiet or not console.is_terminal,
    ) as bar:
        task = bar.add_task("reading", total=None)

        def tell(what: str, step: Step | None = None) -> None:
            if step is not None:
                what = (
                    f"{what}: {step.stage}, {step.n_removed:,.0f} rows removed, "
                    f"{step.n_passes} passes over the data"
                )
            bar.update(task, description=what)

        yield tell
