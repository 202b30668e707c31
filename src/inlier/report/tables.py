"""The tables of a report as plain data; the script sorts by the exact numbers."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from inlier._internal.typing import Array
from inlier.given.sensitivity import FRACTIONS, Sensitivity
from inlier.report.numbers import counted, decimals_for, fixed, number, percent, signed
from inlier.results.certificate import Certificate
from inlier.results.explanation import Explanation
from inlier.results.summary import Summary


class Cell(NamedTuple):
    """What is shown, the exact number, and a bar: zero, left end and width in percent."""

    text: str
    value: float | None = None
    bar: tuple[float, float, float] | None = None


class Row(NamedTuple):
    """The head of a row, the cells after it, a class of the style sheet, and a link."""

    head: str
    cells: Sequence[Cell]
    css: str = ""
    href: str = ""


class PageTable(NamedTuple):
    """A table, with a label for readers who do not see it.

    Columns are labels and their kinds: "name" (text from the data), "words", "number" or "size",
    which is a number that is sorted without its sign.
    """

    label: str
    columns: dict[str, str]
    rows: Sequence[Row]
    caption: str = ""
    css: str = ""


def means_table(summary: Summary, most: int) -> PageTable:
    """List robust mean, plain mean and median of the columns with the largest shift."""
    shift = summary.shift_in_errors
    size = np.where(np.isnan(shift), np.inf, np.abs(shift))
    order = np.argsort(-size, kind="stable")[:most].tolist()
    digits, finer = decimals_for(summary.deviation), decimals_for(summary.standard_error)
    shown = {
        "robust mean": (summary.robust, digits),
        "plain mean": (summary.plain, digits),
        "median": (summary.median, digits),
        "deviation": (summary.deviation, digits),
        "standard error": (summary.standard_error, finer),
    }
    rows = []
    # A shift below one standard error is not worth a long bar.
    for j, bar in zip(order, _bars(shift[order], least=1.0), strict=True):
        cells = [Cell(fixed(x[j], places[j]), float(x[j])) for x, places in shown.values()]
        cells.append(Cell(fixed(shift[j], 1), float(shift[j]), bar))
        aside = int(summary.n_set_aside[j])
        rows.append(Row(summary.column_name(j), [*cells, Cell(f"{aside:,}", aside)]))
    columns = {"column": "name", **dict.fromkeys(shown, "number"), "shift": "size"}
    columns["cells set aside"] = "number"
    caption = f"{counted(len(order), 'column')}, the largest shift first."
    return PageTable("Table of columns", columns, rows, caption, "features sortable")


def cells_table(summary: Summary, most: int) -> PageTable:
    """List the extreme cells, those that are farthest out if there are many."""
    times = np.array([one.times for one in summary.cells])
    rows = []
    for one in (summary.cells[i] for i in np.sort(np.argsort(-times, kind="stable")[:most])):
        cells = [Cell(one.name), Cell(number(one.value, 6), one.value), Cell(str(one.slip))]
        cells += [Cell(number(one.median, 6), one.median), Cell(one.about, one.times)]
        done = "kept" if summary.support[one.row] else "row removed"
        cells.append(Cell("cell set aside" if one.set_aside else done))
        rows.append(Row(summary.row_name(one.row), cells))
    columns = {"row": "name", "column": "name", "value": "number"}
    columns |= {"what would explain it": "words", "median": "number", "distance": "number"}
    columns["what was done"] = "words"
    caption = f"{counted(len(rows), 'extreme cell')}, by row."
    return PageTable("Table of cells", columns, rows, caption, "sortable extreme-cells")


def sensitivity_table(sensitivity: Sensitivity) -> PageTable:
    """List what each fraction of bad rows would change."""
    rows = []
    for change in sensitivity:
        cells = [
            Cell(f"{change.n_removed:,}"),
            Cell(number(change.shift, 2)),
            Cell(", ".join(change.columns)),
        ]
        rows.append(Row(f"{change.fraction:g}", cells))
    labels = ("rows removed", "standard errors")
    columns = {"contamination": "words", **dict.fromkeys(labels, "number"), "most in": "words"}
    return PageTable("Table of fractions", columns, rows, "What each fraction would change.")


def explanation_table(why: Explanation, digits: Array, most: int = 6) -> PageTable:
    """List the parts of a score by feature; the last line has the others, so that they add up."""
    shown = why.features(most)
    parts = np.array([feature.contribution for feature in shown])
    (places,) = decimals_for(np.abs(parts).max(initial=0.0, keepdims=True))
    rows = []
    for feature, part, bar in zip(shown, parts.tolist(), _bars(parts), strict=True):
        value = "missing" if feature.missing else fixed(feature.value, digits[feature.column])
        value += " (set aside)" * feature.set_aside
        cells = [
            Cell(value, feature.value),
            Cell(fixed(feature.expected, digits[feature.column]), feature.expected),
            Cell(signed(part, places), part, bar),
        ]
        rows.append(Row(feature.name, cells))
    if rest := len(why.contributions) - len(shown):
        others = float(np.delete(why.contributions, [one.column for one in shown]).sum())
        cells = [Cell(""), Cell(""), Cell(signed(others, places), others)]
        rows.append(Row(counted(rest, "other column"), cells, "others"))
    columns = {"feature": "name", **dict.fromkeys(("value", "expected", "part"), "number")}
    return PageTable("Features, by their part in the score", columns, rows)


def radius_table(certificate: Certificate) -> PageTable:
    """List how far the mean can be off for some fractions of bad rows."""
    fractions = np.array(sorted({*FRACTIONS, *certificate.assumed}))
    found = np.atleast_1d(certificate.relative_radius(fractions))
    rows = []
    for alpha, radius in zip(fractions.tolist(), found.tolist(), strict=True):
        text = fixed(radius, 3) if np.isfinite(radius) else "nothing is known"
        css = "is-chosen" if alpha in certificate.assumed else ""
        rows.append(Row(f"{100.0 * alpha:.3g}%", [Cell(text)], css))
    columns = {"bad rows, at most": "words", "standard deviations": "number"}
    caption = f"How far {certificate.subject} can be off in each column."
    return PageTable(caption, columns, rows, caption)


def contents_table(sections: Sequence[tuple[str, Summary]], linked: set[int]) -> PageTable:
    """List the groups of rows that were fitted apart, with links to their sections."""
    rows = []
    for i, (label, summary) in enumerate(sections):
        removed, aside, shift = summary.n_removed, int(summary.n_set_aside.sum()), largest(summary)
        cells = [
            Cell(f"{summary.n:,}", summary.n),
            Cell(f"{removed:,}", removed),
            Cell(percent(removed, summary.n), removed / max(1, summary.n)),
            Cell(f"{aside:,}", aside),
            Cell(fixed(shift, 1), shift),
            Cell("" if summary.converged else "did not converge"),
        ]
        rows.append(Row(label, cells, href=f"#s{i}" if i in linked else ""))
    labels = ("rows", "removed", "share", "cells set aside", "largest shift")
    columns = {"group": "name", **dict.fromkeys(labels, "number"), "": "words"}
    caption = "Largest shift: of the plain mean, in standard deviations of a column."
    return PageTable("Table of the groups", columns, rows, caption, "sortable")


def largest(summary: Summary) -> float:
    """Return how far the plain mean is off in some column, in deviations of the kept rows."""
    return float(np.abs(np.nan_to_num(summary.shift, nan=np.inf)).max())


def _bars(values: Array, least: float = 0.0) -> list[tuple[float, float, float]]:
    """Return comparable bars: from 0 to the right, and to the left if some values are below 0.

    The longest stands for the largest value, or for `least` if all are smaller.
    """
    finite = values[np.isfinite(values)]
    longest = float(np.abs(finite).max(initial=least)) or 1.0
    below, above = bool((finite < 0.0).any()), bool((finite > 0.0).any())
    zero, room = (50.0, 50.0) if below and above else (100.0 if below else 0.0, 100.0)
    found = []
    for share in np.clip(np.nan_to_num(values / longest, nan=0.0), -1.0, 1.0).tolist():
        width = max(room * abs(share), 0.6) if share else 0.0
        found.append((zero, zero - width if share < 0.0 else zero, width))
    return found
