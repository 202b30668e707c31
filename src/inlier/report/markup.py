"""HTML that cannot be broken by what is in the data.

Names of rows and columns come from files and may be anything. Text becomes `Html` in `text` alone,
and `el` takes nothing else inside an element, so a type checker finds a name that was not escaped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from html import escape
from typing import Any, NewType

from inlier.results.explanation import shortened

Html = NewType("Html", str)
NOTHING = Html("")

# No browser shows these, and lone surrogates cannot be written to a file.
UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
# The longest name that is worth its place.
LONGEST = 1000
VOID = {"br", "hr", "img", "input", "link", "meta"}


def text(value: object) -> Html:
    """Anything, as text."""
    return Html(escape(UNPRINTABLE.sub("\ufffd", str(value))))


def el(tag: str, *inside: Html, **attributes: object) -> Html:
    """An element.

    Attributes are escaped here. Their names are written as in Python: `class_` for class,
    `data_value` for data-value. None leaves one out.
    """
    written = "".join(
        f" {name.rstrip('_').replace('_', '-')}" + ("" if value is True else f'="{text(value)}"')
        for name, value in attributes.items()
        if value is not None and value is not False
    )
    if tag in VOID:
        return Html(f"<{tag}{written}>")
    return Html(f"<{tag}{written}>{''.join(inside)}</{tag}>")


def joined(parts: Iterable[Html]) -> Html:
    """One after the other."""
    return Html("".join(parts))


def name(value: str) -> Html:
    """A name from the data: kept apart from the text around it, whatever way it is written.

    What does not fit is cut by the style sheet; the whole of it shows as a tooltip.
    """
    if not value.strip():
        return el("span", text("(no name)"), class_="unnamed")
    value = shortened(value, LONGEST)
    return el("bdi", text(value), class_="name", title=value if len(value) > 20 else None)


def embedded(value: Any) -> Html:
    """JSON inside a script element: nothing in it can end the element."""
    raw = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for sign in "<>&":
        raw = raw.replace(sign, f"\\u{ord(sign):04x}")
    return Html(f'<script type="application/json" class="rows">{raw}</script>')
