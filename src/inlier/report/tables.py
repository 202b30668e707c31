"""The tables of a report. The script sorts by the exact numbers, which every cell carries."""

from __future__ import annotations

import numpy as np

from inlier._internal.typing import Array
from inlier.report.charts import Bars, glyph
from inlier.report.markup import Html, el, joined, name, text
from inlier.report.numbers import alike, count, counted, decimals, fixed, number, signed
from inlier.results.certificate import Certificate
from inlier.results.explanation import Explanation, Feature
from inlier.results.summary import Summary

# Of more columns, those in which the plain mean is off most.
MOST_COLUMNS = 500
# Of one of the worst rows.
MOST_FEATURES = 6
# Numbers of rows that are listed.
MOST_LISTED = 1500
# Gross cells that are listed.
MOST_CELLS = 300
# Of bad rows, for the error radius.
FRACTIONS = (0.01, 0.05, 0.1, 0.2, 0.3, 0.4)
SORTED = {"text", "number", "size"}


def cell(shown: Html, value: float | None = None, class_: str = "") -> Html:
    """A number in a table."""
    exact = None if value is None else repr(float(value))
    return el("td", shown, class_=f"number {class_}".strip(), data_value=exact)


def with_bar(bar: Html, shown: str, value: float, class_: str = "") -> Html:
    """A number with a bar before it."""
    figure = el("span", text(shown), class_="figure")
    return cell(joined([bar, figure]), value, f"with-bar {class_}".strip())


def heads(*labels: tuple[str, str]) -> Html:
    """The head of a table: for each column its title, and what it holds.

    Columns of "text", "number" and "size", numbers without their sign, can be sorted; "name" and
    "count" stay as they are.
    """
    return el(
        "thead",
        el(
            "tr",
            *(
                el("th", text(label), scope="col", data_sort=kind if kind in SORTED else None,
                   class_=None if kind in ("text", "name") else "number")
                for label, kind in labels
            ),
        ),
    )  # fmt: skip


def features(summary: Summary, most: int = MOST_COLUMNS) -> tuple[Html, str]:
    """Robust mean, plain mean and median by column; and what is left out of the table."""
    shift = summary.shift
    size = np.where(np.isnan(shift), np.inf, np.abs(shift))
    order = np.argsort(-size, kind="stable")[:most]
    digits, finer = decimals(summary.deviation), decimals(summary.standard_error)
    bars = Bars(shift[order], least=0.05)  # less is not worth a look
    rows = []
    for j in map(int, order):
        own = (summary.robust, summary.plain, summary.median, summary.deviation)
        error = float(summary.standard_error[j])
        rows.append(
            el(
                "tr",
                el("th", name(summary.column_name(j)), scope="row"),
                *(cell(text(fixed(float(v[j]), digits[j])), float(v[j])) for v in own),
                cell(text(fixed(error, finer[j])), error),
                with_bar(bars.bar(shift[j]), fixed(shift[j], 2), shift[j]),
            )
        )
    left_out = ""
    if summary.d > len(order):
        left_out = (
            f" Of {count(summary.d)} columns, the {count(len(order))} with the largest shift are "
            "listed."
        )
    table = el(
        "table",
        el("caption", text(f"{counted(len(order), 'column')}, the largest shift first.")),
        heads(
            ("column", "text"), ("robust mean", "number"), ("plain mean", "number"),
            ("median", "number"), ("deviation", "number"), ("standard error", "number"),
            ("shift", "size"),
        ),
        el("tbody", *rows),
        class_="features sortable",
    )  # fmt: skip
    controls = el(
        "p",
        el(
            "label",
            text("Find a column "),
            el("input", type="search", class_="filter", autocomplete="off", spellcheck="false"),
        ),
        el("output", class_="found", aria_live="polite"),
        class_="controls",
        hidden=True,
    )
    box = el(
        "div", table, class_="scroll", tabindex="0", role="region", aria_label="Table of columns"
    )
    return el("div", controls, box, class_="searchable"), left_out


def removed_rows(summary: Summary, groups: list[tuple[int, str, Array]], most: int) -> Html:
    """The removed rows by group, folded away."""
    lists = []
    room = most
    for mark, label, rows in groups:
        shown = rows[: max(room, 0)]
        room -= len(shown)
        if not len(shown):
            continue
        if summary.names is None:
            listed = text(", ".join(map(str, shown)))
        else:
            listed = joined(
                el("span", name(summary.row_name(int(i))), class_="listed") for i in shown
            )
        rest = len(rows) - len(shown)
        more = text(f" and {count(rest)} more") if rest else text("")
        lists.append(el("dt", glyph(mark), text(f" {label}: {counted(len(rows), 'row')}")))
        lists.append(el("dd", listed, more))
    if not lists:
        return text("")
    what = "The numbers" if summary.names is None else "The names"
    return el(
        "details",
        el("summary", text(f"{what} of the removed rows")),
        el("p", text("Rows are counted from 0."), class_="aside")
        if summary.names is None
        else text(""),
        el("dl", *lists, class_="removed-rows"),
    )


def cells(summary: Summary, most: int = MOST_CELLS) -> Html:
    """The gross cells, those that are farthest out if there are many."""
    times = np.array([one.times for one in summary.cells])
    chosen = np.sort(np.argsort(-times, kind="stable")[:most])
    rows = []
    for one in (summary.cells[i] for i in chosen):
        rows.append(
            el(
                "tr",
                el("th", name(summary.row_name(one.row)), scope="row"),
                el("td", name(one.name)),
                cell(text(number(one.value, 6)), one.value),
                cell(text(number(one.median, 6)), one.median),
                cell(text(one.about), one.times),
                el("td", el("bdi", text(one.slip), dir="ltr"), class_="slip"),
            )
        )
    table = el(
        "table",
        el("caption", text(f"{counted(len(rows), 'gross cell')}, by row.")),
        heads(
            ("row", "text"), ("column", "text"), ("value", "number"), ("median", "number"),
            ("distance", "number"), ("what would explain it", "text"),
        ),
        el("tbody", *rows),
        class_="sortable gross-cells",
    )  # fmt: skip
    return el(
        "div", table, class_="scroll", tabindex="0", role="region", aria_label="Table of cells"
    )


def path(summary: Summary) -> Html:
    """The points of the path, with the chosen one marked."""
    rows = []
    chosen_sigma = summary.path[min(summary.chosen, len(summary.path) - 1)].sigma
    places = alike(np.array([chosen_sigma]))  # an earlier one may be larger by far
    for i, point in enumerate(summary.path):
        chosen = i == summary.chosen
        label = joined([text(i), el("span", text(" chosen"), class_="tag")]) if chosen else text(i)
        gone = int(point.removed.shape[0])
        rows.append(
            el(
                "tr",
                el("th", label, scope="row"),
                cell(text(count(gone)), gone),
                cell(text(fixed(point.sigma, places)), point.sigma),
                cell(text(fixed(point.price, 3)), point.price),
                cell(text(fixed(point.rank, 2)), point.rank),
                cell(text(fixed(point.share, 3)), point.share),
                class_="is-chosen" if chosen else None,
            )
        )
    return el(
        "div",
        el(
            "table",
            el("caption", text("The points of the path.")),
            heads(
                ("point", "name"), ("rows removed", "count"), ("sigma", "count"),
                ("price", "count"), ("rank", "count"), ("good share", "count"),
            ),
            el("tbody", *rows),
        ),
        class_="scroll",
        tabindex="0",
        role="region",
        aria_label="Table of the path",
    )  # fmt: skip


def _value(feature: Feature, digits: Array) -> str:
    return "missing" if feature.missing else fixed(feature.value, digits[feature.column])


def explanation(why: Explanation, digits: Array, most: int = MOST_FEATURES) -> Html:
    """The parts of a score by feature. The last line has the others: the parts add up.

    `digits` says with how many decimals a column is shown.
    """
    shown = why.features(most)
    parts = np.array([feature.contribution for feature in shown])
    others = float(why.contributions.sum() - parts.sum())
    rest = len(why.contributions) - len(shown)
    bars = Bars(parts)
    places = alike(np.abs(parts).max(initial=0.0, keepdims=True))
    rows = [
        el(
            "tr",
            el("th", name(feature.name), scope="row"),
            cell(text(_value(feature, digits)), feature.value),
            cell(text(fixed(feature.expected, digits[feature.column])), feature.expected),
            with_bar(
                bars.bar(feature.contribution),
                signed(feature.contribution, places),
                feature.contribution,
                "part",
            ),
        )
        for feature in shown
    ]
    if rest:
        rows.append(
            el(
                "tr",
                el("th", text(counted(rest, "other column")), scope="row", colspan=3),
                cell(text(signed(others, places)), others, "part"),
                class_="others",
            )
        )
    return el(
        "table",
        el("caption", text("Features, by their part in the score."), class_="unseen"),
        heads(("feature", "name"), ("value", "count"), ("expected", "count"), ("part", "count")),
        el("tbody", *rows),
        class_="parts",
    )


def radii(certificate: Certificate) -> Html:
    """The error radius for some fractions of bad rows, and for those the verdict speaks of."""
    fractions = np.array(sorted({*FRACTIONS, *certificate.assumed}))
    found = np.atleast_1d(certificate.error_radius(fractions))
    places = alike(found)
    rows = [
        el(
            "tr",
            el("th", text(f"{100.0 * alpha:.3g}%"), scope="row"),
            cell(text(fixed(value, places) if np.isfinite(value) else "nothing is known"), value),
            class_="is-chosen" if alpha in certificate.assumed else None,
        )
        for alpha, value in zip(fractions, found, strict=True)
    ]
    return el(
        "table",
        el("caption", text("How far the mean can be off.")),
        heads(("bad rows, at most", "name"), ("error radius", "count")),
        el("tbody", *rows),
        class_="radii",
    )
