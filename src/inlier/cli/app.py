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


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def explain(
    context: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE")],
    row: Annotated[
        str,
        typer.Option(help="Its number, counted from 1 without the header, or its name."),
    ],
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Explain why a row was kept or removed: `inlier fit FILE --explain ROW`, with its options."""
    app(["fit", file, *context.args, f"--explain={row}", *(["--json=-"] if json else [])])


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
