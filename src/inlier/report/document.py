"""A report as one HTML page that needs nothing else."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import resources
from string import Template

import numpy as np

from inlier._internal.atomic import replacing
from inlier.report import figures, tables
from inlier.report.images import check_image
from inlier.report.markup import NOTHING, Html, el, joined, name, text
from inlier.report.numbers import count, counted, fixed, number, percent
from inlier.report.sections import Context, all_sections
from inlier.results.summary import Summary

# Numbers are shown as they are, infinite or not: there is nothing to warn of.
as_they_are = np.errstate(all="ignore")

# More groups than these are in the table of contents only.
MOST_SECTIONS = 20


@as_they_are
def page(
    summary: Summary,
    *,
    title: str = "",
    image: tuple[int, int] | None = None,
    path: str | os.PathLike[str] | None = None,
    notes: Sequence[str] = (),
    source: str = "",
) -> str:
    """A page that explains an answer.

    Parameters
    ----------
    summary : Summary
    title : str, optional
        What the data are called.
    image : tuple of int, optional
        Height and width, if each row is a grey image.
    path : str or path, optional
        Where to write it.
    notes : sequence of str, optional
        What happened to the data before the fit: columns left out, rows dropped.
    source : str, optional
        Where the data are from.
    """
    image = check_image(image, summary.d)
    context = Context(summary, figures.kinds(summary), image, notes, 1.0, 2, "")
    what = f"{counted(summary.n, 'row')}, {counted(summary.d, 'column')}"
    top = _masthead(title, source, what)
    body = joined([top, el("main", all_sections(context))])
    return _written(title, summary.message, body, path)


@as_they_are
def pages(
    sections: Sequence[tuple[str, Summary]],
    *,
    title: str = "",
    image: tuple[int, int] | None = None,
    path: str | os.PathLike[str] | None = None,
    notes: Sequence[str] = (),
    source: str = "",
) -> str:
    """A page with a section for each group of rows, and a table of contents.

    The room of a page is shared: the more groups, the fewer marks and columns each of them has.

    Parameters
    ----------
    sections : sequence of (str, Summary)
        The name of a group, and its answer.
    title, image, path, notes, source
        See `page`.
    """
    if not sections:
        raise ValueError("sections must have at least one (name, summary).")
    sizes = [_size(summary) for _, summary in sections]
    # Those in which the plain mean is off most, in the order in which they came.
    told = set(np.argsort(-np.array(sizes), kind="stable")[:MOST_SECTIONS].tolist())
    articles = []
    for i, (label, summary) in enumerate(sections):
        if i not in told:
            continue
        share = 1.0 / min(len(sections), MOST_SECTIONS)
        context = Context(
            summary, figures.kinds(summary, share), check_image(image, summary.d), (), share, 3,
            f"s{i}-",
        )  # fmt: skip
        heading = el(
            "h2", name(label), el("small", text(f" {counted(summary.n, 'row')}")), id=f"s{i}"
        )
        articles.append(el("article", heading, all_sections(context), class_="group"))
    said = f"{counted(len(sections), 'group')}, {counted(sum(s.n for _, s in sections), 'row')}"
    remarks = [*notes]
    if len(told) < len(sections):
        remarks.append(
            f"The {len(told)} groups in which the plain mean is off most have a section of their "
            "own. Fit one of the others alone to see more of it."
        )
    contents = el(
        "nav",
        el("h2", text("The groups"), id="contents-title"),
        el("ul", *(el("li", text(note)) for note in remarks), class_="notes")
        if remarks
        else NOTHING,
        _contents(sections, told),
        id="contents",
        aria_labelledby="contents-title",
    )
    body = joined([_masthead(title, source, said), el("main", contents, *articles)])
    return _written(title, said, body, path)


def _off(summary: Summary) -> float:
    """How far the plain mean is off; rounding aside."""
    return summary.offset if summary.n_removed else 0.0


def _size(summary: Summary) -> float:
    """How far the plain mean is off, in deviations."""
    if _off(summary) == 0.0:
        return 0.0
    ratio = float(np.divide(summary.offset, summary.offset_deviation))
    return np.inf if np.isnan(ratio) else ratio


def _contents(sections: Sequence[tuple[str, Summary]], told: set[int]) -> Html:
    rows = []
    for i, (label, summary) in enumerate(sections):
        shown = name(label)
        link = el("a", shown, href=f"#s{i}") if i in told else shown
        state = "" if summary.converged else "did not end well"
        share = percent(summary.n_removed, summary.n)
        rows.append(
            el(
                "tr",
                el("th", link, scope="row"),
                tables.cell(text(count(summary.n)), summary.n),
                tables.cell(text(count(summary.n_removed)), summary.n_removed),
                tables.cell(text(share), summary.n_removed / max(1, summary.n)),
                tables.cell(text(number(_off(summary))), _off(summary)),
                tables.cell(text(fixed(_size(summary), 1)), _size(summary)),
                el("td", text(state), class_="accent"),
            )
        )
    table = el(
        "table",
        el("caption", text("Off: how far the plain mean is, also in deviations of the kept rows.")),
        tables.heads(
            ("group", "text"), ("rows", "number"), ("removed", "number"), ("share", "number"),
            ("off", "number"), ("in deviations", "number"), ("", "name"),
        ),
        el("tbody", *rows),
        class_="sortable",
    )  # fmt: skip
    return el(
        "div", table, class_="scroll", tabindex="0", role="region", aria_label="Table of the groups"
    )


def _masthead(title: str, source: str, what: str) -> Html:
    from_where = joined([text(" from "), name(source)]) if source and source != title else NOTHING
    toggle = el("button", text("Dark or light"), type="button", class_="theme", hidden=True)
    return el(
        "header",
        el("p", el("span", text("inlier"), class_="brand"), toggle, class_="strip"),
        el("h1", name(title) if title.strip() else text("The mean of the good rows")),
        el("p", text(what), from_where, class_="aside"),
    )


def _written(title: str, description: str, body: Html, path: str | os.PathLike[str] | None) -> str:
    files = resources.files("inlier.report")
    parts = {
        part: (files / part).read_text(encoding="utf-8")
        for part in ("page.html", "style.css", "page.js")
    }
    html = Template(parts["page.html"]).substitute(
        title=text(f"{title} · inlier" if title.strip() else "inlier"),
        description=text(description),
        style=parts["style.css"],
        script=parts["page.js"],
        body=body,
    )
    if path is not None:
        with replacing(path) as unfinished:
            unfinished.write_text(html, encoding="utf-8")
    return html
