"""The options that `fit` and `explain` share: how a file is read, and how it is fitted."""

import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial, wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Any, Literal

import numpy as np
import typer

from inlier._internal.typing import Array
from inlier.api import Assumption, robust_mean
from inlier.data import Table
from inlier.io import FORMATS, MAX_BYTES, LoadedTable, read
from inlier.l0.fit import Options as L0Options
from inlier.results.result import RobustMeanResult
from inlier.verdict import Step


def _option(panel: str, help: str, *names: str, default: Any = None, **more: Any) -> Any:
    return typer.Option(default, *names, help=help, rich_help_panel=panel, **more)


# Options in the panels of the help.
reading = partial(_option, "Reading")
fitting = partial(_option, "Fitting")
writing = partial(_option, "Writing")

FORMATS_LISTED = ", ".join(format.name for format in FORMATS)


@dataclass(frozen=True)
class Options:
    """What `fit` and `explain` are given; `with_options` makes parameters of the fields."""

    file: str = typer.Argument(
        help=f"Table to read: {FORMATS_LISTED}. The suffix decides, or the first bytes; - for "
        "standard input.",
        metavar="FILE",
    )
    columns: list[str] | None = reading(
        "Columns to use: names, numbers from 0 or patterns such as 'gene_*', separated by commas."
    )
    exclude: list[str] | None = reading("Columns to leave out.")
    id_column: str | None = reading("Column with the names of the rows.")
    group_by: str | None = reading("Fit the rows of each value of this column separately.")
    weights: str | None = reading(
        "Column with the weight of each row in the mean; outliers are found without it."
    )
    trusted: str | None = reading(
        "Rows that somebody has checked: a file of such rows, or a column with 1 in them and 0 in "
        "the others.",
        metavar="FILE|COLUMN",
    )
    missing: Literal["auto", "error", "drop", "impute-robust"] = reading(
        "Missing values: judge each row by the values it has (auto), refuse the file (error), drop "
        "the rows (drop), or impute the median of the column (impute-robust).",
        default="auto",
    )
    na_values: list[str] | None = reading(
        "Additional markers of missing values, separated by commas; numbers are compared as "
        "numbers."
    )
    delimiter: str | None = reading("Delimiter of a text; detected by default.")
    decimal: str | None = reading(
        "Decimal mark of a text, such as ','; by default that which all numbers allow."
    )
    thousands: str | None = reading("Mark between thousands in a text, such as '.' or ' '.")
    header: bool | None = reading(
        "Whether the first line is a header; detected by default.", "--header/--no-header"
    )
    skip: int | None = reading(
        "Lines to leave out at the top; by default title lines above a header.", min=0
    )
    header_row: int | None = reading("Line with the header, counted from 1.", min=1)
    key: str | None = reading("Array in a .npz, .mat, HDF5 or Zarr file.")
    table: str | None = reading("Table in an SQLite or DuckDB file, or sheet of a workbook.")
    query: str | None = reading(
        "SQL query of an SQLite or DuckDB file, such as 'SELECT a, b FROM t'."
    )
    max_bytes: str = reading(
        "Memory for data that are loaded, such as 500M or 8G. Larger text, Parquet and Arrow files "
        "are streamed; larger pipes and query results are refused.",
        default=f"{MAX_BYTES >> 30}G",
        metavar="SIZE",
    )
    sigma: float | None = fitting(
        "Bound on the standard deviation of the good rows in any direction, if known."
    )
    contamination: float | None = fitting(
        "Largest fraction of the rows that may be bad, if known, such as 0.1."
    )
    assume: Assumption = fitting(
        "Assumption on the good rows, without --sigma: symmetric about one center, or nothing.",
        default="auto",
    )
    scatter: Literal["auto", "identity", "diagonal"] = fitting(
        "Units of comparison; with --sigma, diagonal for columns in different units.",
        default="auto",
    )
    p: float | None = fitting("Power of the surrogate; 0.5 by default. Needs --sigma.", "--p")
    keep: list[int] | None = fitting(
        "Put a removed group back, by its number in the verdict. Repeatable."
    )
    drop: list[int] | None = fitting("Remove a suspect, by its number in the verdict. Repeatable.")
    threshold: float | None = fitting("Remove the rows whose score is above this threshold.")
    seed: int = fitting(
        "Seed of the eigensolver's starting vectors and of row sampling.", default=0, min=0
    )

    @property
    def source(self) -> str:
        """What the file is called in the output."""
        return "standard input" if self.file == "-" else self.file

    def command(self, name: str) -> str:
        """Return another command with the same options, as it would be typed."""
        words = ["inlier", name, self.file]
        defaults = signature(Options).parameters
        for field in fields(self):
            value, given = getattr(self, field.name), defaults[field.name].default
            option = f"--{field.name.replace('_', '-')}"
            if field.name == "file" or value == given.default or value is None:
                continue
            if isinstance(value, bool):
                words.append(option if value else f"--no-{option[2:]}")
            else:
                values = value if isinstance(value, list) else [value]
                words += [f"{option}={one}" for one in values]
        return shlex.join(words)

    def read(self) -> LoadedTable:
        """Read the file."""
        names = ("id_column", "group_by", "weights", "missing", "delimiter", "decimal", "thousands")
        skip, header = self.skip, self.header
        if self.header_row is not None:
            if skip is not None or header is not None:
                raise ValueError("--header-row is enough: leave out --skip and --header.")
            skip, header = self.header_row - 1, True
        frame = read(
            self.file,
            skip=skip,
            header=header,
            columns=_separated(self.columns),
            exclude=_separated(self.exclude),
            na_values=_separated(self.na_values),
            max_bytes=_size(self.max_bytes),
            trusted=None if self._has_trusted_file else self.trusted,
            **{name: getattr(self, name) for name in (*names, "key", "table", "query")},
        )
        return replace(frame, notes=tuple(map(with_options_spelled, frame.notes)))

    @property
    def _has_trusted_file(self) -> bool:
        return self.trusted is not None and Path(self.trusted).exists()

    def trusted_rows(self, frame: LoadedTable, rows: Array) -> Any:
        """Return the trusted ones of some rows, or those of a file; None if none are known."""
        if not self._has_trusted_file:
            return None if frame.trusted is None else frame.trusted[rows]
        if frame.groups is not None:
            raise ValueError(
                f"--trusted {self.trusted} is a file, whose rows belong to no group of --group-by. "
                "Mark trusted rows in a column."
            )
        X = read(str(self.trusted), columns=list(frame.columns), missing="error").X
        return X.fetch(np.arange(X.shape[0])) if isinstance(X, Table) else X

    def fit(
        self, X: Any, sample_weight: Any, trusted: Any, callback: Callable[[Step], object]
    ) -> RobustMeanResult:
        """Fit a table, then apply `threshold`, `keep` and `drop`."""
        if self.p is not None and self.sigma is None:
            raise ValueError("--p needs --sigma. Give it too, or leave --p out.")
        result = robust_mean(
            X, sample_weight=sample_weight, sigma=self.sigma, assume=self.assume,
            trusted=trusted,
            contamination="auto" if self.contamination is None else self.contamination,
            scatter=self.scatter, random_state=self.seed, callback=callback,
            l0=None if self.p is None else L0Options(p=self.p),
        )  # fmt: skip
        if self.threshold is not None:
            result = result.at(threshold=self.threshold)
        # From the last to the first, because removal renumbers a list; groups before suspects,
        # which become groups.
        for group in _indices("--keep", self.keep, len(result.groups), "group"):
            result = result.keep(group)
        for suspect in _indices("--drop", self.drop, len(result.suspects), "suspect"):
            result = result.drop(suspect)
        return result


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the fields of `Options` as parameters, in place of its first."""
    shared = signature(Options).parameters
    own = list(signature(command).parameters.values())[1:]

    @wraps(command)
    def run(**given: Any) -> None:
        options = Options(**{name: given.pop(name) for name in shared})
        command(options, **given)

    parameters = [p.replace(kind=Parameter.KEYWORD_ONLY) for p in (*shared.values(), *own)]
    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return run


def with_options_spelled(message: str) -> str:
    """Spell arguments as on the command line: missing='drop' becomes --missing 'drop'."""
    options = {field.name: field.name.replace("_", "-") for field in fields(Options)}
    options |= {"path": "clean", "random_state": "seed"}
    # Not inside of a path, such as 'data/key=3.csv'.
    names = rf"(?<![^ (])({'|'.join(options)})="
    return re.sub(names, lambda found: f"--{options[found[1]]} ", message)


def _separated(values: Sequence[str] | None) -> list[str] | None:
    """Split the values of an option that was given several times, or with commas."""
    return [part.strip() for value in values for part in value.split(",")] if values else None


def _size(text: str) -> int:
    """Parse a number of bytes: 500M is 500 times 1024 squared."""
    found = re.fullmatch(r"\s*(\d+)\s*([KMGT]?)(?:i?B)?\s*", text, re.IGNORECASE)
    size = int(found[1]) << (10 * " KMGT".index(found[2].upper() or " ")) if found else 0
    if size < 1:
        raise ValueError(f"--max-bytes must be a size such as 500M or 8G, but is {text!r}.")
    return size


def _indices(option: str, numbers: list[int] | None, count: int, what: str) -> list[int]:
    """Return list indices from numbers that count from 1, the last first."""
    wanted = sorted(set(numbers or ()), reverse=True)
    for number in wanted:
        if not 1 <= number <= count:
            raise ValueError(
                f"{option} {number}: there is no such {what}. The verdict has {count}, counted "
                "from 1."
            )
    return [number - 1 for number in wanted]
