"""`inlier reproduce`: regenerate the tables and figures of the paper."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from inlier._internal.progress import bar
from inlier.cli.terminal import reporting_errors

WORSE = 1


def reproduce(
    out: Annotated[Path, typer.Option(help="Folder to write to.")] = Path("out/reproduce"),
    trials: Annotated[int, typer.Option(min=1, help="Draws for each cell of the tables.")] = 20,
    quick: Annotated[
        bool, typer.Option("--quick", help="Single draws, without Table 6: about a minute.")
    ] = False,
    only: Annotated[
        list[str] | None,
        typer.Option(help="Only one of tables, figures, faces. Repeatable."),
    ] = None,
    faces: Annotated[
        Path | None,
        typer.Option(help="Pictures to use: a folder with those of FEI, or an .npz of X and y."),
    ] = None,
    jobs: Annotated[int, typer.Option(help="Parallel trials; -1 for one on each core.")] = -1,
) -> None:
    """Regenerate the tables and figures of the paper, beside the printed figures.

    Writes a page (README.md) and figures (SVG). After an interruption the same command resumes with
    the fits in its folder `fits`: delete that after a change of the code. The exit code is 1 if a
    cell of ours is worse than the printed one.
    """
    console = Console(stderr=True)
    with reporting_errors(console, interrupted="The same command goes on from here."):
        from inlier.research.reproduce.reproduction import reproduce as run

        begun: set[str] = set()
        with bar(console.is_terminal) as update:

            def watch(stage: str, done: int, total: int) -> None:
                if stage not in begun and not console.is_terminal:  # a line of a log
                    console.print(f"{stage}: {total} steps")
                begun.add(stage)
                update(f"{stage}: {done} of {total}", done / max(1, total))

            made = run(
                out, trials=trials, quick=quick, only=only or None, faces=faces, n_jobs=jobs,
                watch=watch,
            )  # fmt: skip
    page = made.folder / "README.md"
    typer.echo(f"{page}: {len(made.files)} files in {made.seconds:.0f} seconds.")
    if made.worse:
        typer.echo("Worse than printed:\n  " + "\n  ".join(made.worse))
        raise typer.Exit(WORSE)
