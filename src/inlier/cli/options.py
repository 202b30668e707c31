"""The options that several commands have: how a file is read, and how it is fitted."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from inlier.io import FORMATS, MOST_BYTES

# As shells have it.
INTERRUPTED = 130
MISUSED = 2
NOT_CONVERGED = 1

READING = "Reading"
FITTING = "Fitting"
WRITING = "Writing"

FORMATS_LISTED = ", ".join(format.name for format in FORMATS)


class Missing(StrEnum):
    """What to do about missing values."""

    auto = "auto"
    error = "error"
    drop = "drop"
    impute = "impute-robust"


class Assume(StrEnum):
    """What is assumed of the good rows."""

    auto = "auto"
    symmetric = "symmetric"
    nothing = "nothing"


class ScatterName(StrEnum):
    """In which units rows are compared."""

    auto = "auto"
    identity = "identity"
    diagonal = "diagonal"


File = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help=f"The table: {FORMATS_LISTED}. The suffix tells, or the first bytes; - is standard "
        "input.",
        show_default=False,
    ),
]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        help="Use these columns only: names, numbers from 0, patterns such as 'gene_*', separated "
        "by commas.",
        rich_help_panel=READING,
    ),
]
Exclude = Annotated[
    list[str] | None, typer.Option(help="Leave these columns out.", rich_help_panel=READING)
]
IdColumn = Annotated[
    str | None, typer.Option(help="The column that names the rows.", rich_help_panel=READING)
]
GroupBy = Annotated[
    str | None,
    typer.Option(help="Fit the rows of each value of this column apart.", rich_help_panel=READING),
]
MissingValues = Annotated[
    Missing,
    typer.Option(
        "--missing",
        help="Missing values: judge each row by the values that it has, refuse the file, leave "
        "their rows out, or take the median of the column for a value. Only auto leaves them out "
        "of the mean of their column.",
        rich_help_panel=READING,
    ),
]
NaValues = Annotated[
    list[str] | None,
    typer.Option(
        help="What else stands for a missing value in a text, separated by commas.",
        rich_help_panel=READING,
    ),
]
Delimiter = Annotated[
    str | None,
    typer.Option(help="What separates the cells of a text; found out.", rich_help_panel=READING),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether the first line holds names; found out.",
        show_default=False,
        rich_help_panel=READING,
    ),
]
Key = Annotated[
    str | None,
    typer.Option(help="The array in a .npz, .mat, HDF5 or Zarr file.", rich_help_panel=READING),
]
Table = Annotated[
    str | None, typer.Option(help="The table of an SQLite file.", rich_help_panel=READING)
]
Query = Annotated[
    str | None,
    typer.Option(help="Or a query, such as 'SELECT a, b FROM t'.", rich_help_panel=READING),
]
MaxBytes = Annotated[
    str,
    typer.Option(
        metavar="SIZE",
        help="Read no more than this into memory, such as 500M or 8G: of a text, a pipe, what is "
        "packed, or a query's answer.",
        rich_help_panel=READING,
    ),
]
MOST = f"{MOST_BYTES >> 30}G"
Sigma = Annotated[
    float | None,
    typer.Option(
        help="A bound on how much good rows vary in any direction, if you know one.",
        rich_help_panel=FITTING,
    ),
]
AssumeChoice = Annotated[
    Assume,
    typer.Option(
        "--assume",
        help="What good rows are, where --sigma is not known: symmetric for noise about one "
        "centre, nothing for rows that may be skewed or in classes.",
        rich_help_panel=FITTING,
    ),
]
ScatterChoice = Annotated[
    ScatterName,
    typer.Option(
        "--scatter",
        help="Units of comparison; with --sigma, diagonal for columns in different units.",
        rich_help_panel=FITTING,
    ),
]
Power = Annotated[
    float | None,
    typer.Option(
        "--p", help="The power of the surrogate (0.5); needs --sigma.", rich_help_panel=FITTING
    ),
]
Keep = Annotated[
    list[int] | None,
    typer.Option(
        help="Put a group back that is good: its number in the verdict, from 1. Give it several "
        "times for several.",
        rich_help_panel=FITTING,
    ),
]
Drop = Annotated[
    list[int] | None,
    typer.Option(
        help="Remove a suspect that is bad: its number in the verdict, from 1. Give it several "
        "times for several.",
        rich_help_panel=FITTING,
    ),
]
Threshold = Annotated[
    float | None,
    typer.Option(
        help="Remove the rows with a higher score, whatever the fit says.",
        rich_help_panel=FITTING,
    ),
]
Point = Annotated[
    int | None,
    typer.Option(
        help="Take this point of the path in the report, not the chosen one.",
        rich_help_panel=FITTING,
    ),
]
Seed = Annotated[
    int, typer.Option(min=0, help="Of the random directions.", rich_help_panel=FITTING)
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
