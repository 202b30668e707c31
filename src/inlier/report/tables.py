"""The tables of a report as plain data; the script sorts by the exact numbers."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from inlier._internal.typing import Array
from inlier.report.numbers import counted, decimals_for, fixed, number, percent, signed
from inlier.results.certificate import Certificate
from inlier.results.explanation import Explanation
from inlier.results.summary import Summary
from inlier.results.wording import certified_mean


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
    shift = summary.shift
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
    # A shift below a twentieth of a deviation is not worth a long bar.
    for j, bar in zip(order, _bars(shift[order], least=0.05), strict=True):
        cells = [Cell(fixed(x[j], places[j]), float(x[j])) for x, places in shown.values()]
        cells.append(Cell(fixed(shift[j], 2), float(shift[j]), bar))
        rows.append(Row(summary.column_name(j), cells))
    columns = {"column": "name", **dict.fromkeys(shown, "number"), "shift": "size"}
    caption = f"{counted(len(order), 'column')}, the largest shift first."
    return PageTable("Table of columns", columns, rows, caption, "features sortable")


def cells_table(summary: Summary, most: int) -> PageTable:
    """List the extreme cells, those that are farthest out if there are many."""
    times = np.array([one.times for one in summary.cells])
    rows = []
    for one in (summary.cells[i] for i in np.sort(np.argsort(-times, kind="stable")[:most])):
        cells = [Cell(one.name)]
        cells += [Cell(number(value, 6), value) for value in (one.value, one.median)]
        cells += [Cell(one.about, one.times), Cell(one.slip)]
        cells.append(Cell("cell set aside" if one.set_aside else "row removed"))
        rows.append(Row(summary.row_name(one.row), cells))
    columns = dict.fromkeys(("row", "column"), "name")
    columns |= dict.fromkeys(("value", "median", "distance"), "number")
    columns |= dict.fromkeys(("what would explain it", "what was done"), "words")
    caption = f"{counted(len(rows), 'extreme cell')}, by row."
    return PageTable("Table of cells", columns, rows, caption, "sortable extreme-cells")


def path_table(summary: Summary) -> PageTable:
    """List the points of the path, with the chosen one marked."""
    chosen_sigma = summary.path[min(summary.chosen, len(summary.path) - 1)].sigma
    (digits,) = decimals_for(np.array([chosen_sigma]))  # an earlier one may be larger by far
    rows = []
    for i, point in enumerate(summary.path):
        cells = [
            Cell(f"{point.removed.shape[0]:,}"),
            Cell(fixed(point.sigma, digits)),
            Cell(fixed(point.price, 3)),
            Cell(fixed(point.rank, 2)),
            Cell(fixed(point.share, 3)),
        ]
        chosen = i == summary.chosen
        rows.append(Row(f"{i}, chosen" if chosen else f"{i}", cells, "is-chosen" if chosen else ""))
    labels = ("rows removed", "sigma", "price", "rank", "good share")
    columns = {"point": "words", **dict.fromkeys(labels, "number")}
    return PageTable("Table of the path", columns, rows, "The points of the path.")


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
    """List the error radius for some fractions of bad rows, and for those of the statement."""
    fractions = np.array(sorted({0.01, 0.05, 0.1, 0.2, 0.3, 0.4, *certificate.assumed}))
    found = np.atleast_1d(certificate.error_radius(fractions))
    (places,) = decimals_for(found[:1])
    rows = []
    for alpha, radius in zip(fractions.tolist(), found.tolist(), strict=True):
        text = fixed(radius, places) if np.isfinite(radius) else "nothing is known"
        css = "is-chosen" if alpha in certificate.assumed else ""
        rows.append(Row(f"{100.0 * alpha:.3g}%", [Cell(text)], css))
    columns = {"bad rows, at most": "words", "error radius": "number"}
    caption = f"How far {certified_mean(certificate)} can be off."
    return PageTable(caption, columns, rows, caption)


def contents_table(sections: Sequence[tuple[str, Summary]], linked: set[int]) -> PageTable:
    """List the groups of rows that were fitted apart, with links to their sections."""
    rows = []
    for i, (label, summary) in enumerate(sections):
        removed = summary.n_removed
        offset, relative = (summary.offset if removed else 0.0), relative_offset(summary)
        cells = [
            Cell(f"{summary.n:,}", summary.n),
            Cell(f"{removed:,}", removed),
            Cell(percent(removed, summary.n), removed / max(1, summary.n)),
            Cell(number(offset), offset),
            Cell(fixed(relative, 1), relative),
            Cell("" if summary.converged else "did not converge"),
        ]
        rows.append(Row(label, cells, href=f"#s{i}" if i in linked else ""))
    labels = ("rows", "removed", "share", "off", "in deviations")
    columns = {"group": "name", **dict.fromkeys(labels, "number"), "": "words"}
    caption = "Off: how far the plain mean is, also in deviations of the kept rows."
    return PageTable("Table of the groups", columns, rows, caption, "sortable")


def relative_offset(summary: Summary) -> float:
    """Return how far the plain mean is off, in deviations of the kept rows; 0 if all are kept."""
    if not summary.n_removed or summary.offset == 0.0:
        return 0.0
    ratio = float(np.divide(summary.offset, summary.offset_deviation))
    return np.inf if np.isnan(ratio) else ratio


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
