"""Write what matplotlib draws as inline SVG, whose colours and letters are those of the page."""

import re
from collections.abc import Callable
from functools import cache
from io import StringIO
from typing import Any, NamedTuple

import matplotlib
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.markers import MarkerStyle
from matplotlib.patches import PathPatch
from matplotlib.transforms import Affine2D

from inlier.report.figures import GRID, GROUPS, KEPT, LINE, Words, look

# A chart is as wide as a phone, so that its letters are never scaled down by much.
WIDTH, HEIGHT = 360.0, 264.0
# Left end, lower end, width and height of the axes, as parts of the chart.
INSIDE = (0.14, 0.17, 0.79, 0.7)
# As matplotlib draws by default, in any style that is set for notebooks; letters are left to the
# browser.
PAGE_STYLE: list[Any] = ["default", {"font.size": 11.0, "svg.fonttype": "none"}]
# The colours of the page, dark or light; those of groups are one, because their marks differ.
COLORS = {KEPT: "kept", LINE: "quiet", GRID: "quiet", "#ffffff": "paper"}
COLORS |= dict.fromkeys(GROUPS, "accent")


class Chart(NamedTuple):
    """A figure in words and as SVG, and its legend: glyphs and labels."""

    title: str
    description: str
    remarks: str
    drawing: str
    legend: list[tuple[str, str]]


def chart(anchor: str, draw: Callable[..., Words], *arguments: Any) -> Chart:
    """Draw a chart: its labels are at the corners, and its legend is left to the page.

    Its marks have ids, which no other chart of the page has by its title and the anchor.
    """
    figure = Figure(figsize=(WIDTH / 72.0, HEIGHT / 72.0), frameon=False)
    ax = figure.add_axes(INSIDE, facecolor="none")
    words = draw(ax, *arguments)
    ax.set_aspect("auto")
    ax.set_title(ax.get_ylabel(), loc="left", fontsize="medium", pad=16.0, gid="axis-label")
    ax.set_ylabel("")
    ax.set_xlabel(ax.get_xlabel(), loc="right", gid="axis-label")
    handles, labels = ax.get_legend_handles_labels()
    legend = [(_glyph(handle), label) for handle, label in zip(handles, labels, strict=True)]
    return Chart(*words, _inline(figure, anchor + words[0]), legend)


@cache
def glyph(role: str, index: int = 0) -> str:
    """Draw the mark of a class of rows, 12 pixels wide and high."""
    return _glyph(Line2D([], [], **look(role, index)))


def _glyph(line: Any) -> str:
    marker, size = MarkerStyle(line.get_marker()), min(12.0, max(6.0, line.get_markersize()))
    shape = marker.get_path().transformed(marker.get_transform())
    figure = Figure(figsize=(1.0 / 6.0, 1.0 / 6.0), frameon=False, dpi=72.0)
    mark = PathPatch(shape, transform=Affine2D().scale(size).translate(6.0, 6.0))
    mark.set(fc=line.get_markerfacecolor(), ec=line.get_markeredgecolor())
    mark.set_linewidth(line.get_markeredgewidth())
    figure.add_artist(mark)
    return _inline(figure, "")


def _inline(figure: Figure, salt: str) -> str:
    """Return the elements of a drawing; a class of rows has its key as `data-rows`."""
    file = StringIO()
    with matplotlib.rc_context({"svg.hashsalt": salt}):
        figure.savefig(file, format="svg")
    drawing = file.getvalue()
    drawing = drawing[drawing.index("</metadata>") + 11 : drawing.rindex("</svg>")]
    drawing = re.sub(r"(?s)<!--.*?-->|<clipPath.*?</clipPath>|<style.*?</style>", "", drawing)
    # Nothing is clipped, and ids are for marks only.
    drawing = re.sub(r' clip-path="[^"]*"| id="[a-zA-Z]\w*_\d+"| id="matplotlib[^"]*"', "", drawing)
    drawing = re.sub(r' id="(\w+-\d+)"', r' data-rows="\1"', drawing)
    drawing = re.sub(r' id="(axis-label|note|arrow)"', r' class="\1"', drawing)
    drawing = re.sub(r'style="([^"]*)"', _in_colors_of_the_page, drawing)
    drawing = drawing.replace("xlink:href", "href")
    # The style of many marks is that of the first.
    drawing = re.sub(r"<g>\s*((?:<use [^>]*/>\s*)+)</g>", _together, drawing)
    return re.sub(r">\s+<", "><", drawing)


def _in_colors_of_the_page(style: re.Match[str]) -> str:
    said = re.sub(r"font[^;]*(; )?", "", style[1])
    said = re.sub("#[0-9a-f]{6}", lambda color: f"var(--{COLORS.get(color[0], 'ink')})", said)
    return f'style="{said}"'


def _together(marks: re.Match[str]) -> str:
    places = re.findall(r'href="(#\w+)" x="([-\d.]+)" y="([-\d.]+)" (style="[^"]*")', marks[1])
    uses = (f'<use href="{m}" x="{float(x):.1f}" y="{float(y):.1f}"/>' for m, x, y, _ in places)
    return f"<g {places[0][3]}>{''.join(uses)}</g>"
