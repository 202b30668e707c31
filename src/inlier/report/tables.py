"""The tables of a report as plain data; the script sorts by the exact numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from inlier._internal.typing import Array
from inlier.report.numbers import (
    count,
    counted,
    decimals_for,
    fixed,
    number,
    percent,
    shared_decimals,
    signed,
)
from inlier.results.certificate import Certificate
from inlier.results.explanation import Explanation
from inlier.results.summary import Summary
from inlier.results.wording import certified_mean

# Columns of one of the worst rows, by their part in the score.
MOST_FEATURES = 6
# Fractions of bad rows for which the error radius is listed.
FRACTIONS = (0.01, 0.05, 0.1, 0.2, 0.3, 0.4)


class Bar(NamedTuple):
    """A bar beside a number, in percent of the room for it."""

    zero: float
    left: float
    width: float
    negative: bool


class PageColumn(NamedTuple):
    """A column of a table.

    `kind` is "name" (text from the data), "words" or "number"; `sort` is "text", "number", "size"
    (without the sign), or empty if the column cannot be sorted.
    """

    label: str
    kind: str = "number"
    sort: str = ""


class PageCell(NamedTuple):
    """A cell: what is shown, the exact number, and a bar."""

    text: str
    value: float | None = None
    bar: Bar | None = None
    css: str = ""


class PageRow(NamedTuple):
    """A row: its head, the cells after it, a word beside the head, and a link."""

    head: str
    cells: Sequence[PageCell]
    tag: str = ""
    href: str = ""
    css: str = ""
    span: int = 1


@dataclass(frozen=True)
class PageTable:
    """A table, with a name for readers who do not see it."""

    caption: str
    columns: Sequence[PageColumn]
    rows: Sequence[PageRow]
    css: str = ""
    label: str = ""


def bars(values: Array, least: float = 0.0) -> list[Bar]:
    """Return comparable bars: from 0 to the right, and to the left if some values are below 0.

    The longest stands for the largest value, or for `least` if all are smaller.
    """
    values = np.asarray(values, dtype=float)
    finite = values[np.isfinite(values)]
    longest = float(np.abs(finite).max(initial=least)) or 1.0
    below, above = bool((finite < 0.0).any()), bool((finite > 0.0).any())
    zero, room = (50.0, 50.0) if below and above else (100.0 if below else 0.0, 100.0)
    found = []
    for share in np.clip(np.nan_to_num(values / longest, nan=0.0), -1.0, 1.0).tolist():
        width = max(room * abs(share), 0.6) if share else 0.0
        found.append(Bar(zero, zero - width if share < 0.0 else zero, width, share < 0.0))
    return found


def means_table(summary: Summary, most: int) -> PageTable:
    """List robust mean, plain mean and median of the columns with the largest shift."""
    shift = summary.shift
    size = np.where(np.isnan(shift), np.inf, np.abs(shift))
    order = np.argsort(-size, kind="stable")[:most].tolist()
    digits, finer = decimals_for(summary.deviation), decimals_for(summary.standard_error)
    # A shift below a twentieth of a deviation is not worth a long bar.
    shift_bars = bars(shift[order], least=0.05)
    rows = []
    for j, bar in zip(order, shift_bars, strict=True):
        own = (summary.robust, summary.plain, summary.median, summary.deviation)
        cells = [PageCell(fixed(values[j], digits[j]), float(values[j])) for values in own]
        error = float(summary.standard_error[j])
        cells.append(PageCell(fixed(error, finer[j]), error))
        cells.append(PageCell(fixed(shift[j], 2), float(shift[j]), bar))
        rows.append(PageRow(summary.column_name(j), cells))
    numbers = ("robust mean", "plain mean", "median", "deviation", "standard error")
    columns = [
        PageColumn("column", "name", "text"),
        *(PageColumn(label, sort="number") for label in numbers),
        PageColumn("shift", sort="size"),
    ]
    caption = f"{counted(len(order), 'column')}, the largest shift first."
    return PageTable(caption, columns, rows, "features sortable", "Table of columns")


def cells_table(summary: Summary, most: int) -> PageTable:
    """List the gross cells, those that are farthest out if there are many."""
    times = np.array([one.times for one in summary.cells])
    chosen = np.sort(np.argsort(-times, kind="stable")[:most])
    rows = [
        PageRow(
            summary.row_name(one.row),
            [
                PageCell(one.name),
                PageCell(number(one.value, 6), one.value),
                PageCell(number(one.median, 6), one.median),
                PageCell(one.about, one.times),
                PageCell(one.slip),
            ],
        )
        for one in (summary.cells[i] for i in chosen)
    ]
    columns = [
        PageColumn("row", "name", "text"),
        PageColumn("column", "name", "text"),
        PageColumn("value", sort="number"),
        PageColumn("median", sort="number"),
        PageColumn("distance", sort="number"),
        PageColumn("what would explain it", "words", "text"),
    ]
    caption = f"{counted(len(rows), 'gross cell')}, by row."
    return PageTable(caption, columns, rows, "sortable gross-cells", "Table of cells")


def path_table(summary: Summary) -> PageTable:
    """List the points of the path, with the chosen one marked."""
    chosen_sigma = summary.path[min(summary.chosen, len(summary.path) - 1)].sigma
    digits = shared_decimals(np.array([chosen_sigma]))  # an earlier one may be larger by far
    rows = []
    for i, point in enumerate(summary.path):
        cells = [
            PageCell(count(int(point.removed.shape[0]))),
            PageCell(fixed(point.sigma, digits)),
            PageCell(fixed(point.price, 3)),
            PageCell(fixed(point.rank, 2)),
            PageCell(fixed(point.share, 3)),
        ]
        tag, css = ("chosen", "is-chosen") if i == summary.chosen else ("", "")
        rows.append(PageRow(str(i), cells, tag, css=css))
    labels = ("rows removed", "sigma", "price", "rank", "good share")
    columns = [PageColumn("point", "words"), *map(PageColumn, labels)]
    return PageTable("The points of the path.", columns, rows, label="Table of the path")


def explanation_table(why: Explanation, digits: Array) -> PageTable:
    """List the parts of a score by feature; the last line has the others, so that they add up."""
    shown = why.features(MOST_FEATURES)
    parts = np.array([feature.contribution for feature in shown])
    places = shared_decimals(np.abs(parts).max(initial=0.0, keepdims=True))
    rows = []
    for feature, part, bar in zip(shown, parts.tolist(), bars(parts), strict=True):
        value, expected = (
            fixed(one, digits[feature.column]) for one in (feature.value, feature.expected)
        )
        cells = [
            PageCell("missing" if feature.missing else value, feature.value),
            PageCell(expected, feature.expected),
            PageCell(signed(part, places), part, bar, "part"),
        ]
        rows.append(PageRow(feature.name, cells))
    rest = len(why.contributions) - len(shown)
    if rest:
        others = float(np.delete(why.contributions, [one.column for one in shown]).sum())
        cells = [PageCell(signed(others, places), others, css="part")]
        rows.append(PageRow(counted(rest, "other column"), cells, css="others", span=3))
    columns = [PageColumn("feature", "name"), *map(PageColumn, ("value", "expected", "part"))]
    return PageTable("", columns, rows, "parts", "Features, by their part in the score")


def radius_table(certificate: Certificate) -> PageTable:
    """List the error radius for some fractions of bad rows, and for those of the statement."""
    fractions = np.array(sorted({*FRACTIONS, *certificate.assumed}))
    found = np.atleast_1d(certificate.error_radius(fractions))
    places = shared_decimals(found)
    rows = [
        PageRow(
            f"{100.0 * alpha:.3g}%",
            [PageCell(fixed(radius, places) if np.isfinite(radius) else "nothing is known")],
            css="is-chosen" if alpha in certificate.assumed else "",
        )
        for alpha, radius in zip(fractions.tolist(), found.tolist(), strict=True)
    ]
    columns = [PageColumn("bad rows, at most", "words"), PageColumn("error radius")]
    caption = f"How far {certified_mean(certificate)} can be off."
    return PageTable(caption, columns, rows, "radii")


def contents_table(sections: Sequence[tuple[str, Summary]], linked: set[int]) -> PageTable:
    """List the groups of rows that were fitted apart, with links to their sections."""
    rows = []
    for i, (label, summary) in enumerate(sections):
        removed = summary.n_removed
        offset = summary.offset if removed else 0.0
        cells = [
            PageCell(count(summary.n), summary.n),
            PageCell(count(removed), removed),
            PageCell(percent(removed, summary.n), removed / max(1, summary.n)),
            PageCell(number(offset), offset),
            PageCell(fixed(relative_offset(summary), 1), relative_offset(summary)),
            PageCell("" if summary.converged else "did not converge"),
        ]
        rows.append(PageRow(label, cells, href=f"#s{i}" if i in linked else ""))
    labels = ("rows", "removed", "share", "off", "in deviations")
    columns = [
        PageColumn("group", "name", "text"),
        *(PageColumn(label, sort="number") for label in labels),
        PageColumn("", "words"),
    ]
    caption = "Off: how far the plain mean is, also in deviations of the kept rows."
    return PageTable(caption, columns, rows, "sortable", "Table of the groups")


def relative_offset(summary: Summary) -> float:
    """Return how far the plain mean is off, in deviations of the kept rows; 0 if all are kept."""
    if not summary.n_removed or summary.offset == 0.0:
        return 0.0
    ratio = float(np.divide(summary.offset, summary.offset_deviation))
    return np.inf if np.isnan(ratio) else ratio
