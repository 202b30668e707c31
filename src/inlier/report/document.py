"""A result as one HTML page that needs no network."""

import os
import re
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from inlier._internal.atomic import replacing
from inlier._internal.optional import optional
from inlier.report import numbers, tables
from inlier.report.card import printable
from inlier.report.pictures import check_image, picture
from inlier.report.rows import RowClass, row_classes, sample_rows, sampling_note
from inlier.results.explanation import Explanation, shortened
from inlier.results.summary import Summary

# Limits that keep a page small: rows that are drawn, table rows, and removed rows that are listed.
MOST_KEPT, MOST_REMOVED = 2000, 1500
MOST_COLUMNS, MOST_CELLS, MOST_LISTED = 500, 300, 1500
# More groups than these are in the table of contents only.
MOST_SECTIONS = 20

# Numbers are shown as they are, infinite or not: there is nothing to warn of.
_any_numbers = np.errstate(all="ignore")


@_any_numbers
def page(
    summary: Summary,
    *,
    title: str = "",
    image: tuple[int, int] | None = None,
    path: str | os.PathLike[str] | None = None,
    notes: Sequence[str] = (),
    source: str = "",
) -> str:
    """Write a page that explains an answer.

    Parameters
    ----------
    summary : Summary
    title : str
        The name of the data.
    image : (int, int), optional
        Height and width, if each row is a grey image.
    path : str or path, optional
        The file to write the page to.
    notes : sequence of str
        What happened to the data before the fit: columns left out, rows dropped.
    source : str
        Where the data are from.
    """
    size = f"{numbers.counted(summary.n, 'row')}, {numbers.counted(summary.d, 'column')}"
    answer = {"summary": summary, "notes": notes, "level": 2, "prefix": "", "share": 1.0}
    return _render(path, title, source, size, image, [answer], description=summary.message)


@_any_numbers
def pages(
    sections: Sequence[tuple[str, Summary]],
    *,
    title: str = "",
    image: tuple[int, int] | None = None,
    path: str | os.PathLike[str] | None = None,
    notes: Sequence[str] = (),
    source: str = "",
) -> str:
    """Write a page with a section for each group of rows, and a table of contents.

    A section is the name of a group and its answer. The more groups, the fewer marks and table rows
    each of them has. The other parameters are those of `page`.
    """
    if not sections:
        raise ValueError("sections must have at least one (name, summary).")
    offsets = np.array([tables.relative_offset(summary) for _, summary in sections])
    # The groups in which the plain mean is off most, in the order of the sections.
    shown = sorted(np.argsort(-offsets, kind="stable")[:MOST_SECTIONS].tolist())
    answers = [
        {
            "summary": sections[i][1], "name": sections[i][0], "anchor": f"s{i}", "notes": (),
            "level": 3, "prefix": f"s{i}-", "share": 1.0 / len(shown),
        }
        for i in shown
    ]  # fmt: skip
    n = sum(summary.n for _, summary in sections)
    size = f"{numbers.counted(len(sections), 'group')}, {numbers.counted(n, 'row')}"
    remarks = [*notes]
    if len(shown) < len(sections):
        remarks.append(
            f"The {len(shown)} groups in which the plain mean is off most have a section of their "
            "own. Fit one of the others alone to see more of it."
        )
    contents = tables.contents_table(sections, set(shown))
    return _render(
        path, title, source, size, image, answers, description=size, contents=contents,
        notes=remarks,
    )  # fmt: skip


def _render(
    path: str | os.PathLike[str] | None,
    title: str,
    source: str,
    size: str,
    image: tuple[int, int] | None,
    answers: list[dict[str, Any]],
    **content: Any,
) -> str:
    """Fill in the template, and write the page to a file if there is a path."""
    template = _environment().get_template("page.html")
    optional("matplotlib", "To write a report", "report")
    from inlier.report.svg import page_style

    with page_style():
        html: str = template.render(
            title=title.strip() and title,
            source="" if source == title else source,
            size=size,
            answers=[one | _content(one["summary"], image, one["share"]) for one in answers],
            **content,
        )
    if path is not None:
        with replacing(path) as unfinished:
            unfinished.write_text(html, encoding="utf-8")
    return html


@cache
def _environment() -> Any:
    """Return the templates: names in the data may be anything, so all text is escaped."""
    jinja2 = optional("jinja2", "To write a report", "report")
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("inlier.report"),
        autoescape=True,
        # Markup, which is escaped already, and numbers stay as they are.
        finalize=lambda value: printable(value) if type(value) is str else value,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "number": numbers.number, "count": numbers.count, "counted": numbers.counted,
        "percent": numbers.percent, "pixels": lambda value: f"{value:.1f}".removesuffix(".0"),
        "shortened": shortened,
        # A message in words and code, which is what can be typed: result.keep.
        "split_code": lambda text: re.split(r"(\bresult\.\w+)", text),
    }  # fmt: skip
    return environment


def _content(summary: Summary, image: tuple[int, int] | None, share: float) -> dict[str, Any]:
    """Collect what the sections about one answer show, with a share of all marks and table rows."""
    from inlier.report import figures, svg

    def most(number: int, least: int) -> int:
        return max(least, int(number * share))

    image = check_image(image, summary.d)
    known = summary.certificate
    classes = sample_rows(row_classes(summary), most(MOST_KEPT, 50), most(MOST_REMOVED, 50))
    pairs = figures.view_pairs(summary) if len(summary.view.rows) else []
    means = (summary.robust, summary.plain, summary.median)
    limits = numbers.finite_range(summary.robust, summary.median)
    known_at_all = np.isfinite(known.error_radius(0.0))
    n_worst = max(3, int(np.ceil(len(summary.worst) * min(1.0, 2.0 * share))))
    return {
        "certificate": known,
        "kept": summary.n - summary.n_removed,
        "classes": classes,
        "glyph": svg.glyph,
        "sampling_note": sampling_note(classes),
        "removed_rows": _removed_rows(classes, most(MOST_LISTED, 100)),
        "tooltips": [_tooltips(summary, one) for one in classes],
        "scores": [
            svg.chart(figures.draw_scores, summary, classes),
            svg.chart(figures.draw_histogram, summary),
        ],
        "spectrum": svg.chart(figures.draw_spectrum, summary),
        "path": [
            svg.chart(figures.draw_path, summary, what)
            for what in ("sigma", "price")
            if summary.path
        ],
        "path_from_infinity": any(np.isinf(point.sigma) for point in summary.path),
        "path_table": tables.path_table(summary) if summary.path else None,
        "projections": [svg.chart(figures.draw_rows, summary, classes, pair) for pair in pairs],
        "radius": svg.chart(figures.draw_radius, known) if known_at_all else None,
        "radius_table": tables.radius_table(known),
        "means_table": tables.means_table(summary, most(MOST_COLUMNS, 20)),
        "cells_table": tables.cells_table(summary, most(MOST_CELLS, 20)),
        "n_rows_with_cells": len({cell.row for cell in summary.cells}),
        "limits": limits,
        "pictures": [picture(values, image, limits) for values in means if image],
        "worst": [_worst_row(summary, why, image) for why in summary.worst[:n_worst]],
    }


def _removed_rows(classes: Sequence[RowClass], most: int) -> list[tuple[RowClass, list[int], int]]:
    """Return for each removed class the rows that are listed, and how many are not."""
    listed = []
    for one in classes:
        if one.removed and most > 0:
            shown = one.rows[:most].tolist()
            most -= len(shown)
            listed.append((one, shown, len(one.rows) - len(shown)))
    return listed


def _tooltips(summary: Summary, one: RowClass) -> dict[str, Any]:
    """Return what the script tells about the row under the pointer."""
    rows = one.drawn.tolist()
    names = None
    if summary.names is not None:
        names = [shortened(summary.row_name(i), 60) for i in rows]
    scores = [numbers.number(score) for score in summary.scores[one.drawn]]
    return {"key": one.key, "label": one.label, "rows": rows, "scores": scores, "names": names}


def _worst_row(summary: Summary, why: Explanation, image: tuple[int, int] | None) -> dict[str, Any]:
    """Collect what the card of one of the worst rows shows."""
    i = why.row
    group, suspect = int(summary.group_of[i]), int(summary.suspect_of[i])
    removed = not bool(summary.support[i])
    mark = ("kept", 0) if suspect < 0 else ("suspect", suspect)
    if removed:
        alone = ("others", 0) if summary.groups else ("group", 0)
        mark = ("group", group) if group >= 0 else alone
    return {
        "why": why,
        "name": summary.row_name(i),
        "score": float(summary.scores[i]),
        "mark": mark,
        "removed": removed,
        "group": group,
        "cells": summary.cells_of(i),
        "picture": picture(why.values, image) if image else "",
        "table": tables.explanation_table(why, numbers.decimals_for(summary.deviation)),
    }
