"""Write what matplotlib draws as inline SVG, whose colours and letters are those of the page."""

from collections.abc import Callable
from html import escape
from typing import Any, NamedTuple

import numpy as np
from matplotlib.backend_bases import GraphicsContextBase, RendererBase
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.path import Path
from matplotlib.text import Text
from matplotlib.transforms import IdentityTransform, Transform

from inlier._internal.typing import Array
from inlier.report.card import printable
from inlier.report.figures import GRID, GROUPS, KEPT, LINE, Words, look
from inlier.report.scales import tick_label

# A chart is as wide as a phone, so that its letters are never scaled down by much.
WIDTH, HEIGHT = 360.0, 264.0
TOP, RIGHT, BOTTOM = 30.0, 346.0, 222.0
# Width of a letter beside an axis.
LETTER = 6.2
# The colours of the page, dark or light; those of groups are one, because their marks differ.
COLORS = {KEPT: "kept", LINE: "quiet", GRID: "faint", "#000000": "ink", "#ffffff": "paper"}
COLORS |= dict.fromkeys(GROUPS, "accent")
COMMANDS = {Path.MOVETO: "M", Path.LINETO: "L", Path.CURVE3: "Q", Path.CURVE4: "C"}


class Chart(NamedTuple):
    """A figure in words and as SVG, and its legend: glyphs and labels."""

    title: str
    description: str
    remarks: str
    drawing: str
    legend: list[tuple[str, str]]


# As matplotlib draws by default, in any style that is set for notebooks.
PAGE_STYLE: list[Any] = ["default", {"font.size": 11.0}]


def chart(draw: Callable[..., Words], *arguments: Any) -> Chart:
    """Draw a chart: its labels are at the corners, and its legend is left to the page."""
    figure = Figure(figsize=(WIDTH / 72.0, HEIGHT / 72.0), dpi=72.0, frameon=False)
    ax = figure.add_axes((0.0, 0.0, 1.0, 1.0), facecolor="none")
    words = draw(ax, *arguments)
    ax.tick_params(axis="x", pad=5.0)
    ax.set_aspect("auto")
    low, high = sorted(ax.get_ylim())
    widest = max((len(tick_label(y)) for y in ax.get_yticks() if low <= y <= high), default=0)
    left = 12.0 + LETTER * widest
    box = np.array([left, HEIGHT - BOTTOM, RIGHT - left, BOTTOM - TOP])
    ax.set_position((box / [WIDTH, HEIGHT, WIDTH, HEIGHT]).tolist())
    ax.yaxis.label.set(rotation=0.0, ha="left", va="baseline", gid="axis-label")
    ax.yaxis.set_label_coords(0.0, 1.0 - 13.0 / HEIGHT, figure.transFigure)
    ax.xaxis.label.set(ha="right", va="baseline", gid="axis-label")
    ax.xaxis.set_label_coords(RIGHT / WIDTH, 5.0 / HEIGHT, figure.transFigure)
    renderer = SvgRenderer(WIDTH, HEIGHT)
    figure.draw(renderer)
    handles, labels = ax.get_legend_handles_labels()
    legend = [(_glyph(handle), label) for handle, label in zip(handles, labels, strict=True)]
    return Chart(*words, "\n".join(renderer.written), legend)


def glyph(role: str, index: int = 0) -> str:
    """Draw the mark of a class of rows, 12 pixels wide and high."""
    return _glyph(Line2D([], [], **look(role, index)))


def _glyph(line: Any) -> str:
    mark = Line2D([], [])
    mark.update_from(line)
    mark.set(data=([6.0], [6.0]), transform=IdentityTransform(), linestyle="none", alpha=1.0)
    mark.set(markersize=min(12.0, max(6.0, mark.get_markersize())), gid=None)
    renderer = SvgRenderer(12.0, 12.0)
    mark.draw(renderer)
    return "".join(renderer.written)


class SvgRenderer(RendererBase):
    """Write elements of SVG: a path for all marks of a kind, so that the page stays small.

    Nothing is clipped. What has an id in the figure has it as class, or, if it is a class of rows,
    as `data-rows`.
    """

    def __init__(self, width: float, height: float):
        super().__init__()
        self.width, self.height = width, height
        self.written: list[str] = []
        self._ids: list[str | None] = [None]

    def open_group(self, s: str, gid: str | None = None) -> None:
        """Enter an artist."""
        self._ids.append(gid)

    def close_group(self, s: str) -> None:
        """Leave an artist."""
        self._ids.pop()

    def get_canvas_width_height(self) -> tuple[float, float]:
        """Return the size of the drawing."""
        return self.width, self.height

    def get_text_width_height_descent(
        self, s: str, prop: Any, ismath: Any
    ) -> tuple[float, float, float]:
        """Estimate the size of a text, whose letters are chosen by the browser."""
        return LETTER * len(s), 8.0, 0.0

    def draw_path(
        self, gc: GraphicsContextBase, path: Path, transform: Transform, rgbFace: Any = None
    ) -> None:
        """Write a line or an area."""
        points = []
        for place, code in path.iter_segments(transform, simplify=False):
            at = np.reshape(place, (-1, 2)) * [1.0, -1.0] + [0.0, self.height]
            points.append("z" if code == Path.CLOSEPOLY else COMMANDS[code] + _numbers(at))
        if len(points) > 1 and (rgbFace is not None or gc.get_linewidth() > 0.0):
            self._write("".join(points), gc, rgbFace)

    def draw_markers(
        self,
        gc: GraphicsContextBase,
        marker_path: Path,
        marker_trans: Transform,
        path: Path,
        trans: Transform,
        rgbFace: Any = None,
    ) -> None:
        """Write one path with a mark at each point."""
        # What has no place is not seen, but it counts: the script finds rows by their number.
        places = np.nan_to_num(trans.transform(path.vertices), nan=-99.0)
        places = places * [1.0, -1.0] + [0.0, self.height]
        outline = marker_trans.transform(marker_path.vertices) * [1.0, -1.0]
        codes: Any = marker_path.codes
        if codes is not None and Path.CURVE4 in codes:
            # A point with round ends is the shortest circle.
            gc.set_linewidth(float(np.ptp(outline[:, 0])))
            gc.set_foreground(rgbFace, isRGBA=True)
            gc.set_capstyle("round")
            shape, rgbFace = "h.01", None
        else:
            codes = [Path.MOVETO] + [Path.LINETO] * len(outline) if codes is None else codes
            steps = np.diff(outline, axis=0, prepend=0.0)[:, None]
            shape = "".join(
                "z" if code == Path.CLOSEPOLY else COMMANDS[code].lower() + _numbers(step)
                for step, code in zip(steps, codes, strict=False)
            )
        if len(places):
            self._write("".join(f"M{_numbers(at[None])}{shape}" for at in places), gc, rgbFace)

    def _write(self, d: str, gc: GraphicsContextBase, face: Any) -> None:
        """Write a path with its colours, which are those of the page."""
        parts = [f"fill:{_color(face)}"]
        if face is not None and len(face) > 3 and face[3] < 1.0:
            parts.append(f"fill-opacity:{face[3]:.2g}")
        if (width := gc.get_linewidth()) > 0.0:
            parts += [f"stroke:{_color(gc.get_rgb())}", f"stroke-width:{width:.3g}"]
            if (opacity := gc.get_rgb()[3]) < 1.0 and to_hex(gc.get_rgb()) != GRID:
                parts.append(f"stroke-opacity:{opacity:.2g}")
            if gc.get_capstyle() == "round":
                parts.append("stroke-linecap:round")
            dashes: Any = gc.get_dashes()[1]
            if dashes is not None:
                parts.append(f"stroke-dasharray:{' '.join(f'{dash:g}' for dash in dashes)}")
        rows = self._ids[-1]
        kind = "" if rows is None else f' {"class" if rows == "arrow" else "data-rows"}="{rows}"'
        self.written.append(f'<path d="{d}" style="{";".join(parts)}"{kind}></path>')

    def draw_text(
        self, gc: GraphicsContextBase, x: float, y: float, s: str, prop: Any, angle: float,
        ismath: Any = False, mtext: Text | None = None,
    ) -> None:  # fmt: skip
        """Write a text within the drawing."""
        width = LETTER * len(s)
        align = "left" if mtext is None else mtext.get_horizontalalignment()
        share, anchor = {"left": (0.0, "start"), "center": (0.5, "middle")}.get(align, (1.0, "end"))
        x = float(np.clip(x, 0.0, max(0.0, self.width - width))) + share * width
        kind = next((gid for gid in reversed(self._ids) if gid), "tick")
        self.written.append(
            f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">'
            f"{escape(printable(s))}</text>"
        )


def _color(color: Any) -> str:
    return "none" if color is None else f"var(--{COLORS[to_hex(color)]})"


def _numbers(points: Array) -> str:
    return " ".join(f"{value + 0.0:.1f}".removesuffix(".0") for value in np.ravel(points))
