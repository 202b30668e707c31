"""A result in a notebook: a few lines, from what the result knows already."""

from __future__ import annotations

from inlier.report.markup import NOTHING, el, text
from inlier.report.numbers import count, counted, number, percent
from inlier.results.result import RobustMeanResult

# A notebook may be dark or light and does not say which: its own ink, and greys and an accent that
# stand out from both.
QUIET = "opacity:.7"
ACCENT = "color:#d9622b"
FRAME = (
    "border-left:3px solid #d9622b;padding:.2em 0 .2em 1em;margin:.3em 0;max-width:44em;"
    "line-height:1.5;font-variant-numeric:tabular-nums"
)
# A list of more groups says little.
MOST_GROUPS = 8


def card(result: RobustMeanResult) -> str:
    """Verdict, groups, suspects and certificate; the data are not looked at."""
    known = result.certificate
    n, removed = known.n, known.n_removed
    verdict = el(
        "div",
        el("strong", text(f"{count(n - removed)} of {counted(n, 'row')} kept")),
        text(", "),
        el("strong", text(f"{count(removed)} removed"), style=ACCENT if removed else None),
        text(f" ({percent(removed, n)})" if removed else ""),
        style="font-size:1.15em",
    )
    groups = NOTHING
    if result.groups:
        items = [el("li", text(group)) for group in result.groups[:MOST_GROUPS]]
        rest = len(result.groups) - len(items)
        if rest:
            items.append(el("li", text(f"{counted(rest, 'more group')}: see result.groups")))
        groups = el("ol", *items, style="margin:.3em 0;padding-left:1.4em")
    suspects = NOTHING
    if result.suspects:
        listed = ". ".join(str(suspect) for suspect in result.suspects[:MOST_GROUPS])
        suspects = el("div", el("strong", text("Suspected:")), text(f" {listed}."))
    alarm = NOTHING
    if not result.converged:
        alarm = el(
            "div", el("strong", text("The fit did not end well."), style=ACCENT),
            text(f" {result.message}"),
        )  # fmt: skip
    more = el(
        "div",
        text(f"sigma {number(result.sigma)}, {counted(result.location.shape[0], 'column')}. "),
        text('result.to_html("report.html") has the whole report.'),
        style=f"{QUIET};font-size:.9em",
    )
    statement = el("div", text(known.statement()))
    return el("div", verdict, alarm, groups, suspects, statement, more, style=FRAME)
