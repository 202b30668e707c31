"""The sections of a report, from the verdict to what to try if it looks wrong."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from inlier.report import figures, tables
from inlier.report.charts import glyph
from inlier.report.images import ends_of, picture
from inlier.report.markup import NOTHING, Html, el, joined, name, text
from inlier.report.numbers import count, counted, decimals, number, percent
from inlier.results.summary import Summary

# Of one of the worst rows.
MOST_CELLS = 3


@dataclass(frozen=True)
class Context:
    """What all sections of one summary share.

    Attributes
    ----------
    summary : Summary
    kinds : list of Kind
    image : tuple of int, optional
    notes : sequence of str
    share : float
        Of the room of a page.
    level : int
        Of the headings.
    prefix : str
        Of the anchors.
    """

    summary: Summary
    kinds: list[figures.Kind]
    image: tuple[int, int] | None
    notes: Sequence[str]
    share: float
    level: int
    prefix: str


def paragraph(said: Html, class_: str | None = None) -> Html:
    """A paragraph."""
    return el("p", said, class_=class_)


def prose(said: str) -> Html:
    """A message, with what can be typed set as such."""
    pieces = re.split(r"(\bresult\.\w+)", said)
    return joined(el("code", text(p)) if i % 2 else text(p) for i, p in enumerate(pieces))


def figure(panels: Html, caption: str, *, aside: bool = False) -> Html:
    """Panels side by side, with a caption below, or in the place of a last panel."""
    said = el("figcaption", text(caption))
    if aside:
        return el("figure", panels, said, class_="panels")
    return el("figure", el("div", panels, class_="panels"), said)


# -- 1. The verdict -------------------------------------------------------------------------------


def verdict(context: Context) -> Html:
    """What was kept, how far the plain mean is off, and what is known."""
    summary = context.summary
    n, removed = summary.n, summary.n_removed
    kept = n - removed
    statement, remarks = summary.statement(), summary.remarks
    figure_of = el(
        "p",
        _large(count(kept), f"of {counted(n, 'row')} kept"),
        _large(count(removed), f"removed, {percent(removed, n)}", "accent" if removed else ""),
        class_="large",
    )
    parts = [figure_of, _proportions(summary, context.kinds)]
    if not summary.converged:
        parts.append(
            el(
                "div",
                el("strong", text("The fit did not end well.")),
                text(f" {summary.message}"),
                class_="alarm",
                role="alert",
            )
        )
        remarks = ""
    parts.append(paragraph(text(summary.distance()), class_="lead"))
    parts.append(paragraph(text(statement), class_="lead"))
    parts += [_groups(summary, context.kinds), _suspects(summary)]
    if remarks:
        parts.append(el("p", prose(remarks), class_="remark"))
    notes = [note for note in context.notes if note.strip()]
    if notes:
        parts.append(el("ul", *(el("li", text(note)) for note in notes), class_="notes"))
    return joined(parts)


def _large(figure_of: str, label: str, class_: str = "") -> Html:
    return el(
        "span",
        el("b", text(figure_of), class_=class_ or None),
        el("span", text(f" {label}")),
    )


def _proportions(summary: Summary, kinds: list[figures.Kind]) -> Html:
    """Kept and removed rows as lengths, a piece for each group."""
    pieces = []
    x = 0.0
    for kind in kinds:
        width = 1000.0 * len(kind.rows) / max(1, summary.n)
        if kind.mark != -1:
            width = max(width, 2.0)
        bar = "removed-bar" if kind.removed else "suspect-bar" if kind.mark < -1 else "kept-bar"
        if width:
            pieces.append(
                el("rect", x=f"{x:.1f}", y=0, width=f"{max(width - 1.5, 1.0):.1f}", height=10,
                   class_=bar)
            )  # fmt: skip
        x += width
    return el(
        "svg",
        *pieces,
        viewBox=f"0 0 {max(x, 1.0):.1f} 10",
        preserveAspectRatio="none",
        class_="proportions",
        aria_hidden="true",
    )


def _groups(summary: Summary, kinds: list[figures.Kind]) -> Html:
    items = []
    for kind in kinds:
        if not kind.removed:
            continue
        if kind.mark < len(summary.groups):
            items.append(
                el(
                    "li",
                    glyph(kind.mark),
                    el("span", el("strong", text(f"Group {kind.mark + 1}.")),
                       text(f" {summary.groups[kind.mark]}. Farthest out in "
                            f"{summary.group_shift(kind.mark)}, in deviations of the kept rows.")),
                )
            )  # fmt: skip
        elif summary.groups:
            items.append(
                el("li", glyph(kind.mark), el("span", text(f"{counted(len(kind.rows), 'row')} "
                   "that belong to no group")))
            )  # fmt: skip
    if not items:
        return NOTHING
    return el("ul", *items, class_="groups")


def _suspects(summary: Summary) -> Html:
    """What was kept although there is evidence against it, and how to remove it."""
    items = [
        el(
            "li",
            glyph(-2 - i),
            el("span", el("strong", text(f"Suspect {i + 1}.")), text(f" {suspect}. "),
               el("code", text(f"result.drop({i})")), text(" or "),
               el("code", text(f"--drop {i + 1}")), text(" removes it.")),
        )
        for i, suspect in enumerate(summary.suspects)
    ]  # fmt: skip
    return el("ul", *items, class_="groups suspects") if items else NOTHING


# -- 2. The means ---------------------------------------------------------------------------------


def means(context: Context) -> Html:
    """Robust mean against plain mean and median."""
    summary = context.summary
    table, left_out = tables.features(summary, max(20, int(tables.MOST_COLUMNS * context.share)))
    parts = [
        paragraph(
            text(
                "The deviation is the standard deviation of the kept rows, the standard error that "
                "of their mean. The shift is plain mean less robust mean, in these deviations."
                f"{left_out}"
            )
        ),
        table,
    ]
    if context.image is not None:
        rows = (summary.robust, summary.plain, summary.median)
        ends = ends_of(summary.robust, summary.median)
        labels = ("robust mean", "plain mean", "median")
        pictures = (
            picture(row, context.image, ends, label)
            for row, label in zip(rows, labels, strict=True)
        )
        parts.append(el("div", *pictures, class_="pictures"))
        parts.append(
            paragraph(
                text(
                    f"The same as images, black at {number(ends[0])}, white at {number(ends[1])}."
                ),
                class_="aside",
            )
        )
    return joined(parts)


# -- 3. to 6. The charts --------------------------------------------------------------------------


def scores(context: Context) -> Html:
    """The scores of all rows."""
    summary = context.summary
    panels, remarks = figures.scores(summary, context.kinds)
    caption = (
        "The score of every row; the higher, the worse. Rows above the cut are removed. The bars "
        f"count all rows by score.{remarks}{figures.sampled_note(context.kinds)}"
    )
    removed = [(kind.mark, kind.label, kind.rows) for kind in context.kinds if kind.removed]
    return joined([
        figures.legend(context.kinds),
        figure(panels, caption),
        tables.removed_rows(summary, removed, max(100, int(tables.MOST_LISTED * context.share))),
    ])  # fmt: skip


def cells(context: Context) -> Html:
    """The gross cells, and the slips that would explain them."""
    found = context.summary.cells
    if not found:
        return NOTHING
    most = max(20, int(tables.MOST_CELLS * context.share))
    rows = len({cell.row for cell in found})
    lie = "lies" if len(found) == 1 else "lie"
    listed = "" if len(found) <= most else f" The {count(most)} that are farthest out are listed."
    said = (
        f"{counted(len(found), 'cell')} of {counted(rows, 'row')} {lie} beyond what the tail of "
        "the column can reach; for that the row left. Distances are those from the median of the "
        f"column, over the usual one: the median of all distances in the column.{listed}"
    )
    return joined([paragraph(text(said)), tables.cells(context.summary, most)])


def spectrum(context: Context) -> Html:
    """Spread before and after."""
    summary = context.summary
    if summary.n_removed == summary.n:
        said = "No row is kept."
    elif len(summary.before) and len(summary.after):
        said = (
            "In the direction in which they vary most, all rows have a standard deviation of "
            f"{number(summary.before[0])}, the kept rows one of {number(summary.after[0])}. "
            "Outliers that agree with each other stretch a few directions; without them the "
            "largest values fall into line with the others."
        )
    else:
        said = (
            "Some rows are so far away that the spread of all rows cannot be computed; only that "
            "of the kept ones is shown."
        )
    caption = (
        "Largest standard deviations in any direction: of all rows about the plain mean "
        "(diamonds), and of the kept rows about the robust mean (dots)."
    )
    return el(
        "div",
        figure(figures.spectrum(summary), caption),
        el("div", paragraph(text(said))),
        class_="beside",
    )


def path(context: Context) -> Html:
    """The way down in the budget."""
    summary = context.summary
    if not summary.path:
        return paragraph(
            text(
                "There is no path: sigma was given, so there was nothing to choose, or the answer "
                "was chosen by hand from another result."
            )
        )
    said = (
        "With nothing given, the budget, n sigma², is lowered from that of all rows, a group at a "
        "time. Its price is the fraction of the rows that has to go each time it falls by a factor "
        "of e: low while groups leave, high once good rows would have to pay. It is shown, not "
        "used: the choice is made by the evidence for each group. The good share estimates how "
        "many of the rows that left last are good."
    )
    caption = (
        "Sigma, what the rows that are left vary by at most, and the price, against how many have "
        "left. The diamond is the answer; what comes after it is there for comparison."
    )
    if any(np.isinf(point.sigma) for point in summary.path):
        caption += " Where some rows are too far away to square, sigma is infinite: below an arrow."
    return joined([
        paragraph(text(said)),
        figure(figures.path(summary), caption),
        tables.path(summary),
    ])  # fmt: skip


def view(context: Context) -> Html:
    """The rows in the directions that matter."""
    panels, remarks = figures.view(context.summary, context.kinds)
    if not panels:
        return paragraph(text("There is no direction in which the rows vary."))
    caption = (
        "The rows seen from the robust mean (upright cross); the oblique cross is the plain mean."
        if len(context.summary.view.rows) > 1
        else "The rows seen from the robust mean."
    )
    return joined([
        figures.legend(context.kinds),
        figure(panels, f"{caption}{remarks}{figures.sampled_note(context.kinds)}", aside=True),
        figures.tooltips(context.summary, context.kinds),
    ])  # fmt: skip


# -- 7. The worst rows ----------------------------------------------------------------------------


def worst(context: Context) -> Html:
    """The rows with the highest scores, and the features that put them there."""
    summary = context.summary
    most = max(3, int(np.ceil(len(summary.worst) * min(1.0, 2.0 * context.share))))
    digits = decimals(summary.deviation)
    cards = []
    for why in summary.worst[:most]:
        i = why.row
        gone = not bool(summary.support[i])
        group = int(summary.group_of[i])
        mark = -1 if summary.suspect_of[i] < 0 else -2 - int(summary.suspect_of[i])
        if gone:
            mark = group if group >= 0 else len(summary.groups)
        state = "removed" if gone else "kept"
        if gone and group >= 0:
            state += f" with group {group + 1}: {summary.groups[group]}"
        score = number(float(summary.scores[i]))
        compared = "" if why.pruned else f" (cut at {number(why.threshold)})"
        parts = [
            el(f"h{context.level + 1}", glyph(mark), name(summary.row_name(i))),
            paragraph(text(f"Score {score}{compared}, {state}."), class_="aside"),
        ]
        if why.suspected:
            parts.append(paragraph(text(f"It belongs to {why.suspected}."), class_="aside"))
        parts.append(_gross(summary, i))
        if why.pruned:
            parts.append(
                paragraph(
                    text(
                        "Too far away to be looked at: the parts are those of its squared "
                        "distance, in units of the distance that was allowed."
                    ),
                    class_="aside",
                )
            )
        if context.image is not None:
            parts.append(picture(why.values, context.image, ends_of(why.values), "the row"))
        parts.append(el("div", tables.explanation(why, digits), class_="scroll"))
        cards.append(el("article", *parts, class_="row-card", data_score=repr(why.score)))
    intro = (
        "A score is a square, and splits by feature. Parts to the right speak against the row, "
        "parts to the left for it; they add up to the score. What is expected is the centre that "
        "the row was seen from: about the robust mean, as it was when the row left."
    )
    return joined([paragraph(text(intro)), el("div", *cards, class_="cards")])


def _gross(summary: Summary, row: int) -> Html:
    """The gross cells of a row in words; names are kept apart, whatever way they are written."""
    found = summary.cells_of(row)
    if not found:
        return NOTHING
    items = [
        el("li", el("bdi", text(cell.name)), el("bdi", text(cell.words), dir="ltr"))
        for cell in found[:MOST_CELLS]
    ]
    rest = len(found) - len(items)
    if rest:
        items.append(el("li", text(f"and {counted(rest, 'more gross cell')}")))
    return el("ul", *items, class_="gross", dir="ltr")


# -- 8. The certificate ---------------------------------------------------------------------------


def certificate(context: Context) -> Html:
    """What is proved, and what is assumed."""
    summary = context.summary
    known = summary.certificate
    kept = known.n - known.n_removed
    fractions = np.unique(np.append(np.linspace(0.0, 0.5, 101), known.assumed))
    radii = np.atleast_1d(known.error_radius(fractions))
    measured = f"the largest eigenvalue of their scatter is {number(known.lambda_max)}"
    source = "Computed from the whole spectrum."
    if known.failure:
        measured = (
            f"the largest eigenvalue of their scatter is between {number(known.lambda_max)} and "
            f"{number(known.bound)}"
        )
        source = (
            "The upper bound comes from random directions; the chance that it fails is "
            f"{known.failure:.0e}."
        )
    if known.feasible:
        within = f"They stay within the budget: {measured}, and {number(known.budget)} is allowed."
    elif known.exceeded:
        within = (
            f"They do not stay within the budget: {measured}, but only {number(known.budget)} is "
            "allowed."
        )
    else:
        within = (
            f"Whether they stay within the budget is not decided: {measured}, and "
            f"{number(known.budget)} is allowed."
        )
    bound = known.l0_lower_bound
    had_to = (
        f"About this mean and within this budget, at least {counted(bound, 'row')} had to go; "
        f"{count(known.n_removed)} went."
        if bound
        else "That rows had to go at all is not proved: the lower bound on their number is 0."
    )
    if not known.n_removed and not bound:
        had_to = "No row had to go."
    items = [
        ("Measured", f"The {counted(kept, 'kept row')} vary by at most {number(known.sigma_kept)} "
         f"in any direction. {within} {source}" if kept else "No row is kept."),
        ("Proved", "For every set of good rows: if at most so many rows are bad, and the good ones "
         f"vary by at most {number(known.sigma_kept)} in any direction, the mean of the kept rows "
         "is no farther from the mean of the good ones than the radius in the table. Nothing is "
         f"random in this, and it does not matter how the rows were found. {had_to}"),
        ("Assumed", "How many rows are bad, and how much the good ones vary, cannot be seen in the "
         "data. You decide whether a line of the table applies. If good rows may vary by more, "
         "certificate.error_radius(alpha, sigma) says what follows."),
    ]  # fmt: skip
    words = el(
        "dl", *(joined([el("dt", text(term)), el("dd", text(said))]) for term, said in items),
        class_="terms",
    )  # fmt: skip
    table = tables.radii(known)
    if not np.isfinite(radii).any():
        return joined([words, table])
    caption = (
        "The error radius over the fraction of bad rows. Diamonds: where the verdict states it."
    )
    drawn = figures.radius(fractions, radii, known.assumed)
    return joined([
        words,
        el("div", figure(drawn, caption), table, class_="beside"),
    ])  # fmt: skip


# -- 9. What to try -------------------------------------------------------------------------------


def advice(context: Context) -> Html:
    """What to try if it looks wrong."""
    summary = context.summary

    def code(words: str) -> Html:
        return el("code", text(words))

    items: list[list[Html]] = []
    if summary.groups:
        items.append([
            text("A group that left is good after all: "), code("result.groups"),
            text(" lists them, "), code("result.keep(0)"),
            text(" puts the first one back, without a new fit."),
        ])  # fmt: skip
    if summary.suspects:
        items.append([
            text("A suspect is bad after all: "), code("result.suspects"),
            text(" lists them, "), code("result.drop(0)"),
            text(" removes the first one, without a new fit."),
        ])  # fmt: skip
    if summary.path:
        items += [
            [
                text("Good rows are noise about one centre, such as measurements, and too few "
                "left: "), code('robust_mean(X, assume="symmetric")'), text(", or "),
                code("--assume symmetric"),
                text(". Then any surplus on one side is evidence."),
            ],
            [
                text("Good rows may be skewed, or in classes, and too many left: "),
                code('robust_mean(X, assume="nothing")'), text(", or "),
                code("--assume nothing"), text("."),
            ],
        ]  # fmt: skip
        items.append([
            text("Too many or too few rows left: "), code("result.at(1)"),
            text(" takes another point of the path, "), code("result.at(threshold=2)"),
            text(" moves the cut."),
        ])  # fmt: skip
    items += [
        [
            text("You know how much good rows vary, at most, in any direction: "),
            code("robust_mean(X, sigma=1.5)"), text(", or "), code("--sigma 1.5"),
            text(". It is one bound for all columns: if these have different units, add "),
            code('scatter="diagonal"'), text(", or "), code("--scatter diagonal"), text("."),
        ],
        [
            text("Some columns are codes, counts or dates: leave them out, with "),
            code("--exclude"), text(" or "), code("--columns"),
            text(". Each rare code looks like a group."),
        ],
        [
            text("A row puzzles you: "), code("print(result.explain(row))"),
            text(", or "), code("inlier explain"),
            text(", gives its score by direction and feature."),
        ],
    ]  # fmt: skip
    return el("ul", *(el("li", *item) for item in items), class_="tips")


SECTIONS: tuple[tuple[str, str, Callable[[Context], Html]], ...] = (
    ("verdict", "The verdict", verdict),
    ("means", "Robust mean, plain mean, median", means),
    ("scores", "The score of every row", scores),
    ("cells", "The gross cells", cells),
    ("spectrum", "Spread before and after", spectrum),
    ("path", "The budget path", path),
    ("view", "The rows in the directions that matter", view),
    ("worst", "The worst rows", worst),
    ("certificate", "What is proved, and what is assumed", certificate),
    ("advice", "If it looks wrong", advice),
)


def all_sections(context: Context) -> Html:
    """One after the other, but for those with nothing in them."""
    return joined(
        el(
            "section",
            el(f"h{context.level}", text(title), id=f"{context.prefix}{key}-title"),
            inside,
            id=f"{context.prefix}{key}",
            class_=key,
            aria_labelledby=f"{context.prefix}{key}-title",
        )
        for key, title, build in SECTIONS
        if (inside := build(context))
    )
