"""A result in a notebook: a few lines, without a new pass over the data and without a template."""

import re
from html import escape

from inlier.report.numbers import counted, percent
from inlier.results.result import RobustMeanResult

# No browser shows these characters, and lone surrogates cannot be written to a file.
UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def printable(text: str) -> str:
    """Replace the characters that cannot be shown."""
    return UNPRINTABLE.sub("\ufffd", text)


# A notebook may be dark or light: its own ink, and an accent that stands out from both.
ACCENT = "color:#d9622b"
FRAME = (
    "border-left:3px solid #d9622b;padding:.2em 0 .2em 1em;margin:.3em 0;max-width:44em;"
    "line-height:1.5;font-variant-numeric:tabular-nums"
)
# Of more groups or suspects, the first ones are listed.
MOST_LISTED = 8


def card(result: RobustMeanResult) -> str:
    """Write verdict, groups, suspects and certificate as HTML."""
    known = result.certificate
    n, removed = known.n, known.n_removed
    accent = f' style="{ACCENT}"' if removed else ""
    share = f" ({percent(removed, n)})" if removed else ""
    aside = int(result.details.n_set_aside.sum())
    cells = f", <strong>{counted(aside, 'cell')} set aside</strong>" if aside else ""
    lines = [
        f'<div style="font-size:1.15em"><strong>{n - removed:,} of {counted(n, "row")} kept'
        f"</strong>, <strong{accent}>{removed:,} removed</strong>{share}{cells}</div>"
    ]
    if not result.converged:
        alarm = f'<strong style="{ACCENT}">The fit did not converge.</strong>'
        lines.append(f"<div>{alarm} {_text(result.message)}</div>")
    if result.groups:
        items = [f"<li>{_text(group)}</li>" for group in result.groups[:MOST_LISTED]]
        if rest := len(result.groups) - len(items):
            items.append(f"<li>{counted(rest, 'more group')}: see result.groups</li>")
        lines.append(f'<ol style="margin:.3em 0;padding-left:1.4em">{"".join(items)}</ol>')
    if result.suspects:
        listed = ". ".join(_text(suspect) for suspect in result.suspects[:MOST_LISTED])
        lines.append(f"<div><strong>Suspected:</strong> {listed}.</div>")
    lines.append(f"<div>{_text(known.statement())}</div>")
    lines.append(
        f'<div style="opacity:.7;font-size:.9em">{counted(result._location.shape[0], "column")}. '
        "result.to_html(&quot;report.html&quot;) has the whole report.</div>"
    )
    return f'<div style="{FRAME}">{"".join(lines)}</div>'


def _text(value: object) -> str:
    return escape(printable(str(value)))
