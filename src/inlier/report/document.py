"""A report as one HTML page that needs no network."""

import os
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from inlier._internal.atomic import replacing
from inlier._internal.optional import optional
from inlier.figures import numbers
from inlier.report import tables
from inlier.report.card import printable
from inlier.report.content import collect_content, split_code
from inlier.report.svg import mark
from inlier.results.explanation import shortened
from inlier.results.summary import Summary

# Numbers are shown as they are, infinite or not: there is nothing to warn of.
_any_numbers = np.errstate(all="ignore")

# More groups than these are in the table of contents only.
MOST_SECTIONS = 20


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

    It has the name of the data as title, where they are from, and notes on what happened to them
    before the fit: columns left out, rows dropped. If each row is a grey image, `image` is its
    height and width.
    """
    size = f"{numbers.counted(summary.n, 'row')}, {numbers.counted(summary.d, 'column')}"
    shown = [collect_content(summary, image=image, notes=notes)]
    return _render(path, title, source, size, description=summary.message, answers=shown)


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
    answers = []
    for i in shown:
        label, summary = sections[i]
        content = collect_content(
            summary, image=image, share=1.0 / len(shown), level=3, prefix=f"s{i}-"
        )
        answers.append({**content, "anchor": f"s{i}", "name": label})
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
        path, title, source, size, description=size, answers=answers, contents=contents,
        notes=remarks,
    )  # fmt: skip


def _render(
    path: str | os.PathLike[str] | None, title: str, source: str, size: str, **content: Any
) -> str:
    """Fill in the template, and write the page to a file if there is a path."""
    html: str = _environment().get_template("page.html").render(
        title=title.strip() and title, source="" if source == title else source, size=size,
        **content,
    )  # fmt: skip
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
        "shortened": shortened, "split_code": split_code,
    }  # fmt: skip
    environment.globals |= {"mark": mark}
    return environment
