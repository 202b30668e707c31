"""A result as one HTML page that needs no network."""

import base64
import hashlib
import os
import re
from collections.abc import Sequence
from functools import cache, partial
from typing import Any

import numpy as np

from inlier._internal.atomic import replacing
from inlier._internal.optional import optional
from inlier.report import numbers, tables
from inlier.report.card import printable
from inlier.report.rows import RowClass, row_classes, sampling_note
from inlier.results.cells import reasons
from inlier.results.explanation import shortened
from inlier.results.summary import Summary

# Limits that keep a page small: rows that are drawn, table rows, and rows of a group that are
# listed. Of more groups than MOST_SECTIONS, the others are in the table of contents only.
MOST_KEPT, MOST_REMOVED = 1500, 1000
MOST_COLUMNS, MOST_CELLS, MOST_LISTED = 500, 300, 1500
MOST_SECTIONS = 20
MOST_REASONS = 12


@np.errstate(all="ignore")  # numbers are shown as they are, infinite or not
def page(
    answer: Summary | Sequence[tuple[str, Summary]],
    *,
    title: str | None = None,
    path: str | os.PathLike[str] | None = None,
    notes: Sequence[str] = (),
    source: str = "",
) -> str:
    """Write a page that explains an answer, or those of groups of rows.

    With groups, there is a table of contents and a section for each; the more groups, the fewer
    marks and table rows each of them has.

    Parameters
    ----------
    answer : Summary, or sequence of (str, Summary)
        What to explain; of groups their names and answers.
    title : str, optional
        The name of the data.
    path : str or path, optional
        The file to write the page to.
    notes : sequence of str
        What happened to the data before the fit: columns left out, rows dropped.
    source : str
        Where the data are from.
    """
    if not isinstance(title, str | None):
        raise ValueError(f"title must be a text, but is {title!r}.")
    title, contents = (title or "").strip(), None
    if isinstance(answer, Summary):
        answers, description = {"": ("", answer)}, answer.message
        size = f"{numbers.counted(answer.n, 'row')}, {numbers.counted(answer.d, 'column')}"
    else:
        # The groups in which the plain mean is off most, in the order of the sections.
        order = np.argsort([-tables.largest(summary) for _, summary in answer], kind="stable")
        shown = sorted(order[:MOST_SECTIONS].tolist())
        answers = {f"s{i}": answer[i] for i in shown}
        contents = tables.contents_table(answer, set(shown))
        n = sum(summary.n for _, summary in answer)
        size = f"{numbers.counted(len(answer), 'group')}, {numbers.counted(n, 'row')}"
        description = size
        if len(shown) < len(answer):
            notes = [
                *notes,
                f"The {len(shown)} groups in which the plain mean is off most have a section of "
                "their own. Fit one of the others alone to see more of it.",
            ]
    environment = _environment()
    template = environment.get_template("page.html")
    # Its hash in the policy of the page: a browser runs no other script.
    script = environment.get_template("page.js").render()
    digest = hashlib.sha256(script.encode()).digest()
    optional("matplotlib", "To write a report", "report")
    from matplotlib import style

    from inlier.report.svg import PAGE_STYLE, glyph

    with style.context(PAGE_STYLE):
        html: str = template.render(
            title=title,
            source="" if source == title else source,
            size=size,
            description=description,
            notes=notes,
            contents=contents,
            glyph=glyph,
            script=script,
            script_hash=base64.b64encode(digest).decode(),
            answers=[
                {"name": name, "anchor": anchor} | _content(summary, anchor, 1.0 / len(answers))
                for anchor, (name, summary) in answers.items()
            ],
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
        "number": numbers.number,
        "count": "{:,}".format,
        "counted": numbers.counted,
        "percent": numbers.percent,
        "shortened": shortened,
        # A message in words and code, which is what can be typed: result.keep.
        "split_code": lambda text: re.split(r"(\bresult\.\w+)", text),
    }
    return environment


def _content(summary: Summary, anchor: str, share: float) -> dict[str, Any]:
    """Collect what the sections about one answer show, with a share of all marks and table rows."""
    from inlier.report import figures, svg

    chart = partial(svg.chart, anchor)

    def most(number: int, least: int) -> int:
        return max(least, int(number * share))

    known = summary.certificate
    classes = row_classes(summary, most(MOST_KEPT, 50), most(MOST_REMOVED, 50))
    pairs = figures.view_pairs(summary) if len(summary.view.rows) else []
    changes = summary.sensitivity
    n_worst = max(3, int(np.ceil(len(summary.worst) * min(1.0, 2.0 * share))))
    return {
        "summary": summary,
        "certificate": known,
        "kept": summary.n - summary.n_removed,
        "reasons": reasons(summary.cells)[:MOST_REASONS],
        "classes": classes,
        "sampling_note": sampling_note(classes),
        "most_listed": most(MOST_LISTED, 100),
        "tooltips": [_tooltips(summary, one) for one in classes],
        "scores": chart(figures.draw_scores, summary, classes),
        "spectrum": chart(figures.draw_spectrum, summary),
        "sensitivity": chart(figures.draw_sensitivity, summary) if changes else None,
        "sensitivity_table": tables.sensitivity_table(changes) if changes else None,
        "projections": [chart(figures.draw_rows, summary, classes, pair) for pair in pairs],
        "radius_table": tables.radius_table(known),
        "means_table": tables.means_table(summary, most(MOST_COLUMNS, 20)),
        "cells_table": tables.cells_table(summary, most(MOST_CELLS, 20)),
        "worst": [
            {
                "why": why,
                "row_class": next(one for one in classes if why.row in one.rows),
                "table": tables.explanation_table(why, numbers.decimals_for(summary.deviation)),
            }
            for why in summary.worst[:n_worst]
        ],
    }


def _tooltips(summary: Summary, one: RowClass) -> dict[str, Any]:
    """Return what the script tells about the row under the pointer."""
    rows = one.drawn.tolist()
    names = None
    if summary.names is not None:
        names = [shortened(summary.row_name(i), 60) for i in rows]
    scores = [numbers.number(score) for score in summary.scores[one.drawn]]
    return {"key": one.key, "label": one.label, "rows": rows, "scores": scores, "names": names}
