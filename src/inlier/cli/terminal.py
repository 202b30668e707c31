"""Terminal output: progress, and errors in one line."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from inlier._internal.errors import Argument, ArgumentError
from inlier.cli import interruptible
from inlier.cli.options import INTERRUPTED, MISUSED
from inlier.results.records import Step

# Arguments that are not called like their options.
OPTIONS = {"path": "clean", "random_state": "seed"}


class Output(Console):
    """Standard output, for people."""

    def __init__(self) -> None:
        super().__init__(highlight=False, emoji=False)

    def on_broken_pipe(self) -> None:
        """Rich would end the process with a code that has another meaning here."""
        raise BrokenPipeError


def printable(text: str) -> str:
    """Escape markup, and replace control characters."""
    return escape("".join(c if c.isprintable() else "\ufffd" for c in text))


@contextmanager
def reporting_errors(console: Console) -> Iterator[None]:
    """Print an error in one line, and exit with its code."""
    try:
        with interruptible():
            yield
    except KeyboardInterrupt:
        console.print("Interrupted. No file was left half written.")
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
