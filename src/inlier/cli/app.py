"""The commands."""

from typing import Annotated

import typer

import inlier
from inlier.cli.fit import fit
from inlier.research.reproduce.command import reproduce

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(fit)
app.command()(reproduce)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"inlier {inlier.__version__}")
        raise typer.Exit


@app.callback()
def inlier_(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Robust mean estimation: the mean of the good rows of a table, and which rows are bad."""
