"""The results of a comparison: a record for each fit, and summaries."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from scipy.linalg import norm  # does not overflow

from inlier._internal.optional import optional
from inlier._internal.typing import Array

Status = Literal["ok", "timeout", "failed"]

# Distances below this fraction of the lengths are rounding error.
ROUNDING = 1e-13

TO_OTHERS = (
    'The true mean is unknown. "to others" is the median distance to the estimates of the other '
    "methods, in units of the data: being near them does not mean being right."
)

MEASURED = ("status", "error", "exact", "removed", "passes", "seconds", "message")
COLUMNS = ("data", "method", "trial", "seed", *MEASURED)


@dataclass(frozen=True, eq=False)
class Trial:
    """One fit of one method."""

    method: str
    trial: int  # counted from 0; all methods of a trial have the same rows
    seed: int | None  # of the draw; None for a fixed table
    status: Status
    error: float = math.nan  # distance to the true mean, 0 if it is rounding error; nan if unknown
    exact: bool | None = None  # whether exactly the bad rows were removed; None if unknown
    removed: int | None = None  # number of rows; None if the method does not classify rows
    passes: int | None = None  # passes over the data, if the method counts them
    seconds: float = math.nan  # of `fit` on one thread, also if it timed out or failed
    message: str = ""  # the exception, or the warnings of the fit
    location: Array | None = field(default=None, repr=False)  # the estimate


@dataclass(frozen=True)
class ComparisonRow:
    """One method over all trials; means and medians are over trials with an estimate."""

    method: str
    error: float  # mean distance to the true mean; nan if unknown
    error_se: float  # standard error of that mean; nan for a single trial
    worst: float  # largest error
    exact: int | None  # number of trials in which exactly the bad rows were removed
    distance: float  # median distance to the estimates of the other methods
    seconds: float  # these three are medians
    passes: float
    removed: float
    trials: int
    failures: int  # trials without an estimate
    timeouts: int  # those of them that timed out


@dataclass(frozen=True, eq=False)
class Comparison:
    """Methods compared on the same data.

    Attributes
    ----------
    records : tuple of Trial
        One for each trial and method, in this order.
    data : str
        Description of the data.
    note : str
        Parameters given to the methods, and other remarks.
    truth_known : bool
        Whether the true mean is known.
    """

    records: tuple[Trial, ...] = field(repr=False)
    data: str
    note: str = ""
    truth_known: bool = True

    @property
    def methods(self) -> tuple[str, ...]:
        """Names of the methods, in the given order."""
        return tuple(dict.fromkeys(record.method for record in self.records))

    @property
    def title(self) -> str:
        """The data, and the number of trials if more than one."""
        trials = len({record.trial for record in self.records})
        return f"{self.data}, {trials} trials" if trials > 1 else self.data

    def of(self, method: str) -> list[Trial]:
        """Return the records of one method."""
        return [record for record in self.records if record.method == method]

    def summary(self) -> list[ComparisonRow]:
        """Return one row for each method, ordered by mean error.

        If the true mean is unknown, they are ordered by the distance to the other estimates.
        Methods without an estimate come last.
        """
        names, distances = self.distances()
        rows = []
        for i, name in enumerate(names):
            others = np.delete(distances[i], i)
            rows.append(_row(name, self.of(name), _nanmedian(others)))

        def place(row: ComparisonRow) -> tuple[bool, float, float]:
            by = row.error if self.truth_known else row.distance
            seconds = math.inf if math.isnan(row.seconds) else row.seconds
            return row.failures == row.trials, math.inf if math.isnan(by) else by, seconds

        return sorted(rows, key=place)

    def by_method(self) -> dict[str, ComparisonRow]:
        """Return the rows of `summary` by the name of the method."""
        return {row.method: row for row in self.summary()}

    def distances(self) -> tuple[tuple[str, ...], Array]:
        """Return the distances between the methods' estimates.

        Returns
        -------
        names : tuple of str
            The methods, in the order of the rows.
        matrix : array of shape (len(names), len(names))
            Mean over the trials in which both have an estimate, in units of the data, 0 if it is
            rounding error; nan without such a trial.
        """
        names = self.methods
        answers: dict[int, dict[str, Array]] = {}
        for record in self.records:
            if record.location is not None:
                answers.setdefault(record.trial, {})[record.method] = record.location
        total, count = np.zeros((2, len(names), len(names)))
        for found in answers.values():
            present = [i for i, name in enumerate(names) if name in found]
            rows = np.stack([found[names[i]] for i in present])
            lengths = np.array([norm(row) for row in rows])
            for k, i in enumerate(present):
                apart = np.array([norm(row - rows[k]) for row in rows])
                noise = ROUNDING * np.minimum(lengths, lengths[k])
                total[i, present] += np.where(apart <= noise, 0.0, apart)
                count[i, present] += 1.0
        matrix = np.full_like(total, np.nan)
        np.divide(total, count, out=matrix, where=count > 0.0)
        return names, matrix

    def to_pandas(self) -> Any:
        """Return a data frame of pandas with one line for each fit, without the locations."""
        pandas = optional("pandas", "To make a data frame", "research")
        frame = pandas.DataFrame(self._lines(), columns=list(COLUMNS))
        whole = dict.fromkeys(("seed", "removed", "passes"), "Int64")
        return frame.astype({**whole, "exact": "boolean"})

    def _lines(self) -> list[tuple[Any, ...]]:
        return [(self.data, *(getattr(r, name) for name in COLUMNS[1:])) for r in self.records]

    def __str__(self) -> str:
        cells = [self._cells(row) for row in self.summary()]
        table = markdown(list(cells[0]), (row.values() for row in cells))
        about = "" if self.truth_known else TO_OTHERS
        parts = [self.title, table, about, self._remarks(), self.note]
        return "\n\n".join(part for part in parts if part)

    def _cells(self, row: ComparisonRow) -> dict[str, str]:
        """Return the cells of a row by column."""
        cells = {"method": row.method}
        if self.truth_known:
            answered = row.trials - row.failures
            cells["error"] = _number(row.error)
            cells["± se"] = _number(row.error_se)
            cells["worst"] = _number(row.worst)
            cells["exact"] = "-" if row.exact is None else f"{row.exact}/{answered}"
        else:
            cells["to others"] = _number(row.distance)
        cells["seconds"] = _number(row.seconds)
        cells["passes"] = _number(row.passes, "g")
        cells["removed"] = _number(row.removed, "g")
        if any(record.status != "ok" for record in self.records):
            cells["failures"] = f"{row.failures}/{row.trials}" if row.failures else ""
        return cells

    def _remarks(self) -> str:
        """Return the first failure and the first warning of each method, and their numbers."""
        lines = []
        for method in self.methods:
            records = self.of(method)
            failed = [r for r in records if r.status != "ok"]
            warned = [r for r in records if r.status == "ok" and r.message]
            for what, found in (("no answer", failed), ("warning", warned)):
                if found:
                    many = f" in {len(found)} of {len(records)} trials" if len(records) > 1 else ""
                    lines.append(f"{method}: {what}{many}: {found[0].message}")
        return "\n".join(lines)


def _number(value: float, form: str = ".3g") -> str:
    return "-" if math.isnan(value) else f"{value:{form}}"


def _row(name: str, records: list[Trial], distance: float) -> ComparisonRow:
    answered = [record for record in records if record.status == "ok"]
    errors = np.array([record.error for record in answered])
    known = len(errors) > 0 and not np.isnan(errors).all()
    exact = [record.exact for record in answered if record.exact is not None]
    several = known and len(errors) > 1
    return ComparisonRow(
        method=name,
        error=float(errors.mean()) if known else math.nan,
        error_se=float(errors.std(ddof=1) / math.sqrt(len(errors))) if several else math.nan,
        worst=float(errors.max()) if known else math.nan,
        exact=sum(exact) if exact else None,
        distance=distance,
        seconds=_nanmedian([record.seconds for record in answered]),
        passes=_nanmedian([record.passes for record in answered]),
        removed=_nanmedian([record.removed for record in answered]),
        trials=len(records),
        failures=len(records) - len(answered),
        timeouts=sum(record.status == "timeout" for record in records),
    )


def _nanmedian(values: Any) -> float:
    numbers = np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    numbers = numbers[~np.isnan(numbers)]
    return float(np.median(numbers)) if len(numbers) else math.nan


def markdown(head: Sequence[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table in Markdown, the first column left and the others right."""
    tabulate = optional("tabulate", "To print a table", "research").tabulate
    # tabulate does not escape the pipe.
    lines = [[" ".join(cell.replace("|", "\\|").split()) for cell in row] for row in (head, *rows)]
    align = ("left", *("right" for _ in head[1:]))
    options = {"tablefmt": "pipe", "disable_numparse": True, "colalign": align}
    return str(tabulate(lines[1:], lines[0], **options))
