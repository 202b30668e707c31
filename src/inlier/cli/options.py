"""Options that several commands share: how a file is read, and how it is fitted."""

from enum import StrEnum
from functools import partial
from typing import Annotated, Any

import typer

from inlier.io import FORMATS, MAX_BYTES

# Exit codes.
INTERRUPTED = 130
MISUSED = 2
NOT_CONVERGED = 1

FORMATS_LISTED = ", ".join(format.name for format in FORMATS)


class Missing(StrEnum):
    """Treatments of missing values."""

    auto = "auto"
    error = "error"
    drop = "drop"
    impute = "impute-robust"


# Assumptions on the good rows, and units in which rows are compared.
Assume = StrEnum("Assume", ["auto", "symmetric", "nothing"])
ScatterName = StrEnum("ScatterName", ["auto", "identity", "diagonal"])
DEFAULT_MAX_BYTES = f"{MAX_BYTES >> 30}G"


def _option(panel: str, help: str, *names: str, **settings: Any) -> Any:
    return typer.Option(*names, help=help, rich_help_panel=panel, **settings)


# Options in the panels of the help.
reading = partial(_option, "Reading")
fitting = partial(_option, "Fitting")
writing = partial(_option, "Writing")

File = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help=f"Table to read: {FORMATS_LISTED}. The suffix decides, or the first bytes; - for "
        "standard input.",
        show_default=False,
    ),
]
Columns = Annotated[
    list[str] | None,
    reading(
        "Columns to use: names, numbers from 0 or patterns such as 'gene_*', separated by commas."
    ),
]
Exclude = Annotated[list[str] | None, reading("Columns to leave out.")]
IdColumn = Annotated[str | None, reading("Column with the names of the rows.")]
GroupBy = Annotated[str | None, reading("Fit the rows of each value of this column separately.")]
Weights = Annotated[
    str | None,
    reading(
        "Column with what each row counts in the mean; rows are judged with each counted once."
    ),
]
MissingValues = Annotated[
    Missing,
    reading(
        "Missing values: judge each row by the values it has (auto), refuse the file (error), drop "
        "the rows (drop), or impute the median of the column (impute-robust).",
        "--missing",
    ),
]
NaValues = Annotated[
    list[str] | None,
    reading("Additional markers of missing values in a text, separated by commas."),
]
Delimiter = Annotated[str | None, reading("Delimiter; detected by default.")]
Header = Annotated[
    bool | None,
    reading(
        "Whether the first line is a header; detected by default.",
        "--header/--no-header",
        show_default=False,
    ),
]
Key = Annotated[str | None, reading("Array in a .npz, .mat, HDF5 or Zarr file.")]
Table = Annotated[str | None, reading("Table in an SQLite file.")]
Query = Annotated[str | None, reading("SQL query of an SQLite file, such as 'SELECT a, b FROM t'.")]
MaxBytes = Annotated[
    str,
    reading(
        "Memory for data that are loaded, such as 500M or 8G. Larger text, Parquet and Arrow files "
        "are streamed; larger pipes and query results are refused.",
        metavar="SIZE",
    ),
]
Sigma = Annotated[
    float | None,
    fitting("Bound on the standard deviation of the good rows in any direction, if known."),
]
AssumeChoice = Annotated[
    Assume,
    fitting(
        "Assumption on the good rows, without --sigma: symmetric about one center, or nothing.",
        "--assume",
    ),
]
ScatterChoice = Annotated[
    ScatterName,
    fitting(
        "Units of comparison; with --sigma, diagonal for columns in different units.", "--scatter"
    ),
]
Power = Annotated[
    float | None, fitting("Power of the surrogate; 0.5 by default. Needs --sigma.", "--p")
]
Keep = Annotated[
    list[int] | None, fitting("Put a removed group back, by its number in the verdict. Repeatable.")
]
Drop = Annotated[
    list[int] | None, fitting("Remove a suspect, by its number in the verdict. Repeatable.")
]
Threshold = Annotated[float | None, fitting("Remove the rows whose score is above this threshold.")]
Point = Annotated[int | None, fitting("Use this point of the path in the report, counted from 0.")]
Seed = Annotated[
    int, fitting("Seed of the eigensolver's starting vectors and of row sampling.", min=0)
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
